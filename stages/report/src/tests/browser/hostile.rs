//! Text from games and pipelines stays text, whatever it looks like.

use cwm_contract::Label;
use serde_json::json;

use super::super::boards::{board, labels};
use super::*;

#[test]
fn markup_in_games_and_names_is_inert() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut browser) = Browser::start() else { return };
    let hostile = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>&lt;b&gt;<!--\u{202e}\u{0}\u{7}\n'\"`{{";
    let path = folder.path().join("boards");
    let positions = labels(&["e2e4"]);
    let san = [hostile];
    let mut line = board(hostile, &[hostile], Some(&san), &positions, json!([[], [[0, 1]]]), json!(null), 0);
    line["result"] = json!(hostile);
    line["model"] = json!({"family": hostile, "size": hostile});
    std::fs::write(&path, format!("{line}\n")).unwrap();
    let cell = Label { stage: hostile.into(), coordinates: vec![("test".into(), hostile.into())] };
    let mut row = scored("d32/l1", 0, "held_out", [0.5, 0.9, 0.2, 0.1], &[(0.9, 0.2), (0.8, 0.1)]);
    row.label = format!("evaluation[size={hostile},variant={hostile}]");
    (row.family, row.size, row.test) = (hostile.into(), hostile.into(), hostile.into());
    let report = run(trial(folder.path(), &[row]).labelled("boards", cell, &path)).unwrap();
    browser.open(&report.join("index.html"));
    let shown = hostile.replace(['\u{202e}', '\u{0}', '\u{7}', '\n'], "\u{fffd}");
    assert_eq!(browser.eval("window.hacked ?? null"), json!(null));
    assert_eq!(browser.eval("document.images.length"), 0);
    assert_eq!(browser.eval("document.querySelectorAll('script:not([type])').length"), 1);
    assert_eq!(browser.text("document.getElementById('board-test').options[0].text"), shown);
    assert!(browser.text("document.getElementById('board-game').options[0].text").contains(&shown));
    assert!(browser.text("document.getElementById('board-cell').textContent").contains(&shown));
    browser.eval("document.getElementById('board-end').click()");
    assert!(browser.text("document.getElementById('board-status').textContent").contains(&shown));
    assert!(browser.text("document.querySelector('[data-ply=\"1\"]').textContent").contains(&shown));
    assert!(!read(&report, "index.html").contains(['\u{202e}', '\u{0}', '\u{7}']));
    browser.check_quiet();
}
