//! Stepping through a game, with keys and without.

use cwm_contract::Value;
use serde_json::json;

use super::super::boards::{MOVES, SAN, labels, wrong};
use super::*;

const PIECES: &str = ".PNBRQKpnbrqk";

/// The pieces in the view now: the 64 squares of a board, row by row.
fn squares(browser: &mut Browser, board: &str) -> String {
    browser.text(&format!(
        "[...document.querySelectorAll('#board-{board} [data-piece]')].map((square) => square.dataset.piece).join('')"
    ))
}

/// The marked squares of a board, as places from 0 to 63.
fn marked(browser: &mut Browser, board: &str) -> serde_json::Value {
    browser.eval(&format!(
        "[...document.querySelectorAll('#board-{board} [data-piece]')].flatMap((square, at) =>
             getComputedStyle(square.querySelector('.mark')).display === 'none' ? [] : [at])"
    ))
}

fn status_text(browser: &mut Browser) -> String {
    browser.text("document.getElementById('board-status').textContent")
}

fn focus(browser: &mut Browser, id: &str) {
    browser.eval(&format!("document.getElementById('board-{id}').focus()"));
}

fn click(browser: &mut Browser, id: &str) {
    browser.eval(&format!("document.getElementById('board-{id}').click()"));
}

fn pick(browser: &mut Browser, id: &str, option: usize) {
    browser.eval(&format!(
        "(() => {{ const select = document.getElementById('board-{id}'); select.selectedIndex = {option};
             select.dispatchEvent(new Event('change')); }})()"
    ));
}

#[test]
fn every_ply_shows_the_prediction_beside_the_truth() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut browser) = opened(folder.path()) else { return };
    focus(&mut browser, "view");
    for (t, labels) in labels(&MOVES).iter().enumerate() {
        let wrong = wrong(t, labels);
        let mut predicted: Vec<Option<u8>> = labels.iter().map(|&class| Some(class)).collect();
        wrong.iter().for_each(|&(label, class)| predicted[usize::from(label)] = class);
        let read = |class: Option<u8>| class.map_or('?', |class| PIECES.as_bytes()[usize::from(class)] as char);
        let (said, truth): (String, String) =
            (0..64).map(|square| (read(predicted[square]), read(Some(labels[square])))).unzip();
        assert_eq!(squares(&mut browser, "true"), truth, "ply {t}");
        assert_eq!(squares(&mut browser, "predicted"), said, "ply {t}");
        let places: Vec<u8> = wrong.iter().map(|(label, _)| *label).filter(|label| *label < 64).collect();
        assert_eq!(marked(&mut browser, "predicted"), json!(places), "ply {t}");
        assert_eq!(marked(&mut browser, "true"), json!(places), "ply {t}");
        // The eleven others, of which each is marked that is wrong.
        let crossed = browser.eval(
            "[...document.querySelectorAll('#board-state tr')].flatMap((row, at) =>
                 row.cells[1].textContent.startsWith('✗ ') && row.className === 'wrong' ? [64 + at] : [])",
        );
        let others: Vec<u8> = wrong.iter().map(|(label, _)| *label).filter(|label| *label >= 64).collect();
        assert_eq!(crossed, json!(others), "ply {t}");
        // The text for screen readers.
        let said = status_text(&mut browser);
        let place = match t {
            0 => "Before the first move: ".to_owned(),
            t => format!("Ply {t} of 10, {}{} {}: ", t.div_ceil(2), if t % 2 == 1 { "." } else { "…" }, SAN[t - 1]),
        };
        assert!(said.starts_with(&place), "{said}");
        let count = if wrong.is_empty() {
            "all 75 labels right.".into()
        } else {
            format!("{} of 75 labels wrong.", wrong.len())
        };
        assert!(said.contains(&count), "{said}");
        for label in &places {
            let name = format!("{}{}", (b'a' + label % 8) as char, 8 - label / 8);
            assert!(said.split("Wrong square").nth(1).unwrap().contains(&name), "{name}: {said}");
        }
        browser.press("ArrowRight");
    }
    // The end is the end.
    assert!(status_text(&mut browser).starts_with("Ply 10 of 10"));
    browser.check_quiet();
}

#[test]
fn keys_and_buttons_go_to_errors_and_ends() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut browser) = opened(folder.path()) else { return };
    let at = |browser: &mut Browser| browser.text("document.getElementById('board-ply').value");
    // Outside the view keys are the page's.
    browser.eval("document.querySelector('nav a').focus()");
    browser.press("f");
    assert_eq!(at(&mut browser), "0");
    focus(&mut browser, "view");
    for (key, ply) in [
        ("f", "3"),
        ("n", "4"),
        ("n", "6"),
        ("p", "4"),
        ("End", "10"),
        ("ArrowLeft", "9"),
        ("p", "8"),
        ("f", "3"),
        ("Home", "0"),
        ("ArrowLeft", "0"),
    ] {
        browser.press(key);
        assert_eq!(at(&mut browser), ply, "{key}");
    }
    for (button, ply) in [
        ("first", "3"),
        ("next", "4"),
        ("forward", "5"),
        ("next", "6"),
        ("previous", "4"),
        ("end", "10"),
        ("back", "9"),
        ("start", "0"),
    ] {
        click(&mut browser, button);
        assert_eq!(at(&mut browser), ply, "{button}");
    }
    browser.press("End");
    browser.press("n");
    assert!(status_text(&mut browser).starts_with("No position after this ply is wrong. Ply 10"));
    // The slider has the arrow keys as well; the focus stays with it.
    focus(&mut browser, "ply");
    browser.press("ArrowLeft");
    assert_eq!(at(&mut browser), "9");
    assert_eq!(browser.text("document.activeElement.id"), "board-ply");
    assert!(
        browser.text("document.getElementById('board-ply').getAttribute('aria-valuetext')").starts_with("ply 9, O-O, ")
    );
    // In a select letters choose.
    focus(&mut browser, "model");
    browser.press("f");
    assert_eq!(at(&mut browser), "9");
    browser.check_quiet();
}

#[test]
fn moves_are_a_list_with_one_stop_for_the_tab_key() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut browser) = opened(folder.path()) else { return };
    let names = browser
        .eval("[...document.querySelectorAll('#board-moves button')].map((move) => move.getAttribute('aria-label'))");
    assert_eq!(names[0], "start, all 75 labels right");
    assert_eq!(names[3], "2. Nf3, 5 of 75 labels wrong");
    assert_eq!(names.as_array().unwrap().len(), 11);
    let wrong =
        browser.eval("[...document.querySelectorAll('#board-moves .wrong')].map((move) => Number(move.dataset.ply))");
    assert_eq!(wrong, json!([3, 4, 6, 7, 8, 9, 10]));
    assert!(browser.text("document.querySelector('[data-ply=\"3\"]').textContent").ends_with("✗5"));
    browser.eval("document.querySelector('[data-ply=\"4\"]').click()");
    assert!(status_text(&mut browser).starts_with("Ply 4 of 10, 2… Nc6:"));
    let stops = "[...document.querySelectorAll('#board-moves button')].filter((move) => move.tabIndex === 0).map((move) => move.dataset.ply)";
    assert_eq!(browser.eval(stops), json!(["4"]));
    browser.eval("document.querySelector('[data-ply=\"4\"]').focus()");
    browser.press("ArrowRight");
    assert_eq!(browser.text("document.activeElement.dataset.ply"), "5", "the focus goes along");
    assert_eq!(browser.eval("document.querySelectorAll('#board-moves [aria-current=step]').length"), 1);
    browser.check_quiet();
}

#[test]
fn another_model_keeps_the_ply_and_another_game_begins_anew() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut browser) = opened(folder.path()) else { return };
    let names = browser.eval("[...document.getElementById('board-model').options].map((option) => option.text)");
    assert_eq!(names, json!(["Transformer d32/l1", "Transformer d128/l1"]));
    focus(&mut browser, "view");
    browser.press("f");
    pick(&mut browser, "model", 1);
    assert!(status_text(&mut browser).starts_with("Ply 3 of 10, 2. Nf3: all 75 labels right."));
    click(&mut browser, "first");
    assert!(
        status_text(&mut browser).starts_with("No position in this game is wrong."),
        "{}",
        status_text(&mut browser)
    );
    pick(&mut browser, "test", 1);
    assert!(status_text(&mut browser).starts_with("Before the first move"));
    let games = browser.eval("[...document.getElementById('board-game').options].map((option) => option.text)");
    assert_eq!(games, json!(["1: random_uniform-0 (1-0, 7 plies)", "2: random_uniform-1 (1-0, 6 plies)"]));
    pick(&mut browser, "game", 1);
    browser.eval("document.getElementById('board-end').click()");
    assert!(status_text(&mut browser).starts_with("Ply 6 of 6, 3… a6:"));
    assert!(browser.text("document.getElementById('board-cell').textContent").contains("size=d128/l1"));
    browser.check_quiet();
}

#[test]
fn what_was_left_out_cannot_be_picked() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut browser) = Browser::start() else { return };
    let limited = |bytes| run(with_boards(folder.path()).with("board_bytes", Value::Int(bytes))).unwrap();
    // Room for the first board and no more: the next takes more than a hundred bytes.
    let one = |report: &PathBuf| read(report, "index.html").contains(": 7 of 8 boards");
    let report = (1..30).map(|hundreds| limited(hundreds * 100)).find(one).expect("a board alone");
    browser.open(&report.join("index.html"));
    for (select, options) in [("model", 1), ("test", 1), ("game", 1)] {
        assert_eq!(
            browser.eval(&format!("document.getElementById('board-{select}').options.length")),
            options,
            "{select}"
        );
    }
    assert!(status_text(&mut browser).starts_with("Before the first move"));
    browser.open(&limited(0).join("index.html"));
    assert_eq!(browser.eval("document.getElementById('board-view').hidden"), true);
    browser.check_quiet();
}
