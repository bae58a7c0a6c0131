//! Pictures for people: `CWM_SCREENSHOTS` is the folder that they go into, `CWM_REPORT` the page, which is one made up
//! here unless it is given.

use super::*;

#[test]
fn screenshots_of_a_report() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut browser) = Browser::start() else { return };
    let named = std::env::var_os("CWM_SCREENSHOTS").map(PathBuf::from);
    let into = named.unwrap_or_else(|| folder.path().join("screenshots"));
    std::fs::create_dir_all(&into).unwrap();
    let page = std::env::var_os("CWM_REPORT").map(PathBuf::from);
    let (name, page) = match page {
        Some(page) => ("report", page),
        None => ("made-up", report(folder.path()).join("index.html")),
    };
    browser.open(&page);
    let mut pictures = Vec::new();
    for scheme in ["light", "dark"] {
        browser.colours(scheme);
        for width in [1200, 400] {
            browser.window(width, 900);
            for (place, target) in [("top", "body"), ("boards", "#boards")] {
                browser.eval("document.getElementById('board-first')?.click()");
                browser.eval(&format!("document.querySelector('{target}')?.scrollIntoView({{ behavior: 'instant' }})"));
                let file = into.join(format!("{name}-{place}-{scheme}-{width}.png"));
                browser.screenshot(&file);
                pictures.push(std::fs::read(&file).unwrap());
            }
        }
    }
    assert!(pictures.iter().all(|picture| picture.starts_with(b"\x89PNG") && picture.len() > 5_000));
    pictures.sort();
    pictures.dedup();
    assert_eq!(pictures.len(), 8, "light is not dark, and wide not narrow");
    browser.check_quiet();
}
