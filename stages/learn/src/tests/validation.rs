//! Sequences that are validated on.

use cwm_contract::Value;

use super::{curves, data_of, row, trained, vocabulary, write};

#[test]
fn an_answer_of_a_prompt_is_all_of_its_targets() {
    let last = |form: &str| {
        let data = data_of(form);
        curves(trained(data.path(), &[]).path()).pop().unwrap()
    };
    let (letters, prompt) = (last("letters"), last("prompt"));
    // Sequences of 6, 7 and 8 tokens have 2, 3 and 3 targets.
    assert_eq!((&letters["positions"], &prompt["positions"]), (&8.into(), &3.into()));
    let sum = |line: &serde_json::Value| line["loss"].as_f64().unwrap() * line["positions"].as_f64().unwrap();
    assert!((sum(&letters) - sum(&prompt)).abs() < 1e-9 * sum(&letters), "the same model");
}

#[test]
fn the_first_rows_are_measured_and_more_than_are_held_at_once_are_all_measured() {
    let data = data_of("letters");
    let at_end = |rows: Vec<super::Row>, limit: i128| {
        let folder = data.path().join("validation");
        std::fs::remove_dir_all(&folder).unwrap();
        write(&folder, &vocabulary("letters"), rows);
        curves(trained(data.path(), &[("epochs", Value::Int(1)), ("validation_rows", Value::Int(limit))]).path())
            .pop()
            .unwrap()
    };
    let loss = |line: &serde_json::Value| line["loss"].as_f64().unwrap();
    let (short, long) = (row(3, 1), row(9, 2));
    let (of_short, of_long) = (loss(&at_end(vec![short.clone()], 9)), loss(&at_end(vec![long.clone()], 9)));
    // What is held is the first 1,280.
    let all = [vec![short; 1_280], vec![long; 1_290]].concat();
    let first = loss(&at_end(all.clone(), 1_280));
    assert!((first - of_short).abs() < 1e-6, "{first} {of_short}");
    let found = at_end(all, 1 << 40);
    // One target and three.
    assert_eq!(found["positions"], 1_280 + 3 * 1_290);
    let expected = (1_280.0 * of_short + 3.0 * 1_290.0 * of_long) / (1_280.0 + 3.0 * 1_290.0);
    assert!((of_short - of_long).abs() > 1e-3 && (loss(&found) - expected).abs() < 1e-6, "{found} {expected}");
}
