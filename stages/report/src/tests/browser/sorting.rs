//! Tables that sort, by keyboard.

use serde_json::json;

use super::*;

#[test]
fn a_table_sorts_up_down_and_back_at_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut browser) = opened(folder.path()) else { return };
    let table = "document.querySelector('#table-08 table')";
    // Model, size and source come before the loss.
    let column = 3;
    let values = format!("[...{table}.tBodies].map((body) => body.rows[0].cells[{column}].textContent)");
    let sort = format!("[...{table}.tHead.rows].pop().cells[{column}].getAttribute('aria-sort')");
    let before = browser.eval(&values);
    assert!(before.as_array().unwrap().len() > 1, "{before}");
    browser.eval(&format!("[...{table}.tHead.rows].pop().cells[{column}].querySelector('button').focus()"));
    let mut orders = Vec::new();
    for wanted in [json!("ascending"), json!("descending"), json!(null)] {
        browser.press("Enter");
        assert_eq!(browser.eval(&sort), wanted);
        orders.push(browser.eval(&values));
    }
    assert_eq!(orders[2], before);
    let mut turned = orders[1].as_array().unwrap().clone();
    turned.reverse();
    assert_eq!(orders[0], json!(turned));
    assert_ne!(orders[0], orders[1]);
    browser.check_quiet();
}
