//! The needs of readers who do not see the page, or not well.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;

/// The texts of the page whose contrast with what is behind them is below the standard's (WCAG 2.2, 1.4.3): 4.5, or 3 for
/// large text.
const FAINT: &str = r#"(() => {
  const numbers = (colour) => (colour.match(/[\d.]+/g) ?? []).map(Number);
  const light = (colour) => {
    const [r, g, b] = numbers(colour).slice(0, 3).map((part) => part / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      const [, , , alpha = 1] = numbers(colour);
      if (alpha > 0.99) return colour;
    }
    return matchMedia("(prefers-color-scheme: dark)").matches ? "rgb(18, 18, 18)" : "rgb(255, 255, 255)";
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let checked = 0;
  while (walker.nextNode()) {
    const [text, element] = [walker.currentNode.textContent.trim(), walker.currentNode.parentElement];
    if (!text || ["SCRIPT", "STYLE", "TITLE", "DESC", "title", "desc", "NOSCRIPT"].includes(element.tagName)) continue;
    if (element.getClientRects().length === 0) continue;
    const style = getComputedStyle(element);
    const colour = element instanceof SVGElement ? style.fill : style.color;
    if (colour === "none" || element.closest(".unknown")) continue;
    const [a, b] = [light(colour), light(behind(element))].sort((a, b) => b - a);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    checked += 1;
    if ((a + 0.05) / (b + 0.05) < (isLarge ? 3 : 4.5)) found.push(`${text.slice(0, 40)}: ${colour} on ${behind(element)}`);
  }
  return { checked, found };
})()"#;

#[test]
fn every_text_stands_out_in_light_and_dark() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut browser) = opened(folder.path()) else { return };
    browser.eval("document.querySelectorAll('details').forEach((details) => (details.open = true))");
    browser.eval("document.getElementById('board-first').click()");
    let mut grounds = BTreeSet::new();
    for scheme in ["light", "dark"] {
        browser.colours(scheme);
        let found = browser.eval(FAINT);
        assert!(found["checked"].as_u64().unwrap() > 500, "{found}");
        assert_eq!(found["found"], json!([]), "{scheme}");
        grounds.insert(browser.text("getComputedStyle(document.body).backgroundColor"));
    }
    assert_eq!(grounds.len(), 2, "dark is another page than light");
}

#[test]
fn everything_that_can_be_used_has_a_name_and_headings_go_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut browser) = opened(folder.path()) else { return };
    let tree = browser.call("Accessibility.getFullAXTree", json!({}));
    let nodes: Vec<&Value> = tree["nodes"].as_array().unwrap().iter().filter(|node| node["ignored"] == false).collect();
    let role = |node: &Value| node["role"]["value"].as_str().unwrap_or_default().to_owned();
    let name = |node: &Value| node["name"]["value"].as_str().unwrap_or_default().trim().to_owned();
    let named = ["button", "link", "combobox", "slider", "region", "table", "image", "img", "navigation"];
    let mut seen = BTreeSet::new();
    for node in &nodes {
        let role = role(node);
        // A fold is a group too, named by its summary.
        if named.contains(&role.as_str()) || (role == "group" && !name(node).is_empty()) {
            assert!(!name(node).is_empty(), "a {role} has no name: {node}");
            seen.insert(role);
        }
    }
    for wanted in ["button", "link", "combobox", "slider", "table", "navigation", "group"] {
        assert!(seen.contains(wanted), "{wanted} of {seen:?}");
    }
    let level = |node: &&Value| {
        let properties = node["properties"].as_array()?;
        properties.iter().find(|property| property["name"] == "level")?["value"]["value"].as_u64()
    };
    let levels: Vec<u64> =
        nodes.iter().copied().filter(|node| role(node) == "heading").filter_map(|node| level(&node)).collect();
    assert_eq!((levels[0], levels.iter().filter(|level| **level == 1).count()), (1, 1), "{levels:?}");
    assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "a level is left out: {levels:?}");
    // Screen readers announce changes.
    let live = nodes.iter().filter(|node| role(node) == "status").count();
    assert_eq!(live, 1);
    for scope in ["th:not([scope])", "table:not(:has(> caption))", "[id]:not(body):is([id=''])", "img:not([alt])"] {
        assert_eq!(browser.eval(&format!("document.querySelectorAll({scope:?}).length")), 0, "{scope}");
    }
    // References lead somewhere.
    let lost = browser.eval(
        "[...document.querySelectorAll('[aria-labelledby], [aria-describedby]')].flatMap((element) =>
             `${element.getAttribute('aria-labelledby') ?? ''} ${element.getAttribute('aria-describedby') ?? ''}`.trim()
                 .split(/\\s+/)).concat([...document.querySelectorAll('a[href^=\"#\"]')].map((link) => link.hash.slice(1)))
             .filter((id) => !document.getElementById(id))",
    );
    assert_eq!(lost, json!([]));
}

#[test]
fn the_first_tab_stop_skips_to_the_content() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut browser) = opened(folder.path()) else { return };
    browser.press("Tab");
    assert_eq!(browser.text("document.activeElement.hash"), "#content");
    let left = browser.eval("document.activeElement.getBoundingClientRect().left");
    assert!(left.as_f64().unwrap() >= 0.0, "it is seen when it has the focus");
}

#[test]
fn a_narrow_window_scrolls_nothing_but_tables_and_figures() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut browser) = opened(folder.path()) else { return };
    for width in [320, 400, 1200] {
        browser.window(width, 800);
        let wide = browser.eval("document.documentElement.scrollWidth");
        assert!(wide.as_u64().unwrap() <= u64::from(width), "{wide} of {width}");
    }
}

#[test]
fn the_list_of_sections_says_where_the_reader_is() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut browser) = opened(folder.path()) else { return };
    for section in ["models", "boards", "test-results"] {
        browser.eval(&format!("document.getElementById('{section}').scrollIntoView({{ behavior: 'instant' }})"));
        // The observer runs a frame or two later.
        let current = browser.eval(&format!(
            "new Promise((found) => {{
                 const look = () => {{
                     const current = [...document.querySelectorAll('nav [aria-current]')].map((link) => link.hash);
                     current.join() === '#{section}' ? found(current) : requestAnimationFrame(look);
                 }};
                 look();
             }})"
        ));
        assert_eq!(current, json!([format!("#{section}")]));
        let covered = browser.eval(&format!(
            "document.querySelector('nav').getBoundingClientRect().bottom
                 > document.getElementById('{section}').getBoundingClientRect().top"
        ));
        assert_eq!(covered, false, "the list stays in view, above the heading");
    }
}
