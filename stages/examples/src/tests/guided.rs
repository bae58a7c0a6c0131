//! The items of `guided`.

use std::collections::BTreeSet;

use cwm_questions::{UnknownTasks, read_items};
use serde_json::Value as Json;
use shakmaty::Position;
use shakmaty::uci::UciMove;

use super::*;

#[test]
fn every_mode_makes_items_of_legal_lines() {
    for (mode, plies, least, most) in
        [("good", 7, 50, i64::MAX), ("reasonable", 5, i64::MIN, i64::MAX), ("blunder", 4, 200, i64::MAX)]
    {
        let folder = tempdir().unwrap();
        let run = |name: &str, cores| {
            let trial = on_games(&folder.path().join(name), "guided", 2, 30).cores(cores).with("mode", text(mode));
            trial.with("depth", Value::Int(1)).with("limit", Value::Int(8)).run(&Examples).unwrap()
        };
        let outcome = run("one", 1);
        let bytes = |outcome: &Outcome| std::fs::read(&outcome.outputs["items"]).unwrap();
        assert!(bytes(&outcome) == bytes(&run("two", 2)), "{mode}");
        assert_eq!(std::fs::read(&outcome.outputs["examples"]).unwrap(), b"");
        let items = read_items(&*bytes(&outcome), "items", UnknownTasks::Fail).unwrap();
        assert_eq!((items.len(), counts(&outcome)["examples"].as_u64().unwrap()), (8, 8), "{mode}");
        assert_eq!(items[3].task_id, format!("guided_{mode}_0003"));
        let mut firsts = BTreeSet::new();
        for item in items {
            let start = chess_of_fen(&item.input).unwrap().0;
            let line: Vec<&str> =
                item.metadata.get("line").and_then(Json::as_array).unwrap().iter().filter_map(Json::as_str).collect();
            let end = line.iter().fold(start, |position, uci| {
                position.clone().play(uci.parse::<UciMove>().unwrap().to_move(&position).unwrap()).unwrap()
            });
            assert!(line.len() == plies || end.is_game_over(), "{line:?}");
            let gain = item.metadata.get("gain").and_then(Json::as_i64).unwrap();
            let gain = if mode == "blunder" { gain.abs() } else { gain };
            assert!((least..=most).contains(&gain), "{mode} {gain}");
            firsts.insert(line[0].to_owned());
        }
        assert!(firsts.len() > 1);
    }
}
