//! Games that are validated on.

use cwm_contract::Value;

use super::{curves, dataset, shuffle_knights, trial};
use crate::Train;

#[test]
fn more_games_than_are_held_at_once_are_all_measured() {
    let data = tempfile::tempdir().unwrap();
    let folder = |name: &str| data.path().join(name);
    let (short, long) = (shuffle_knights(2, 0), shuffle_knights(5, 1));
    dataset(&folder("train"), [short.clone()]);
    let at_end = |validation: Vec<Vec<u16>>| {
        let work = tempfile::tempdir().unwrap();
        let _ = std::fs::remove_dir_all(folder("validation"));
        dataset(&folder("validation"), validation);
        let all = [("epochs", Value::Int(1)), ("validation_games", Value::Int(1 << 40))];
        trial(work.path(), data.path(), &all).run(&Train).unwrap();
        curves(work.path()).pop().unwrap()
    };
    let loss = |line: &serde_json::Value| line["loss"].as_f64().unwrap();
    let (of_short, of_long) = (loss(&at_end(vec![short.clone()])), loss(&at_end(vec![long.clone()])));
    // What is held is the first 1,280.
    let found = at_end([vec![short; 1_280], vec![long; 1_290]].concat());
    assert_eq!(found["games"], 2_570);
    // Of 3 and of 6 positions.
    let expected = (1_280.0 * 3.0 * of_short + 1_290.0 * 6.0 * of_long) / (1_280.0 * 3.0 + 1_290.0 * 6.0);
    assert!((of_short - of_long).abs() > 1e-5 && (loss(&found) - expected).abs() < 1e-6, "{found} {expected}");
}
