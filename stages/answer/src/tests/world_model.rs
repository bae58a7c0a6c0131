//! A world model's beliefs.

use std::sync::Arc;

use arrow_array::{ArrayRef, FixedSizeListArray, Int32Array, RecordBatch, StringArray, UInt8Array};
use cwm_encoding::{EnPassant, LABELS, labels_of};
use cwm_questions::truth::chess_of_fen;

use super::*;

/// Predictions of one game: for each number of plies the labels.
fn predictions(path: &Path, rows: &[(&str, u64, [u8; LABELS])]) {
    let ids: ArrayRef = Arc::new(StringArray::from_iter_values(rows.iter().map(|row| row.0)));
    let plies: ArrayRef = Arc::new(Int32Array::from_iter_values(rows.iter().map(|row| row.1 as i32)));
    let labels = UInt8Array::from_iter_values(rows.iter().flat_map(|row| row.2));
    let field = Arc::new(arrow_schema::Field::new("item", arrow_schema::DataType::UInt8, false));
    let labels: ArrayRef = Arc::new(FixedSizeListArray::new(field, LABELS as i32, Arc::new(labels), None));
    let batch = RecordBatch::try_from_iter([("id", ids), ("t", plies), ("labels", labels)]).unwrap();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

#[test]
fn a_world_model_is_asked_from_the_board_it_believes_in() {
    let folder = tempfile::tempdir().unwrap();
    let of_game = |id: &str, task: Task, input: &str| {
        let mut one = Item { task_id: id.into(), input: input.into(), ..item(task) };
        one.metadata.insert("game_id", "g");
        one.metadata.insert("moves", serde_json::json!(["e2e4", "e7e5"]));
        one.metadata.insert("moves_uci", serde_json::json!(["g1f3"]));
        one
    };
    let position = |fen: &str| chess_of_fen(fen).unwrap().0;
    let before = position("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2");
    let after = "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2";
    let items = [
        of_game("a", Task::LegalMovePiece, "-"),
        of_game("b", Task::StateTrackingShort, "- | g1f3"),
        of_game("c", Task::CheckDetection, "-"),
        of_game("d", Task::of_name("position_judgement_neutral").unwrap(), "-"),
    ];
    let truth = labels_of(&before, EnPassant::Always);
    let run = |rows: &[(&str, u64, [u8; LABELS])]| {
        write_items(&folder.path().join("items.jsonl"), &items);
        predictions(&folder.path().join("predictions.parquet"), rows);
        let _ = std::fs::remove_dir_all(folder.path().join("work"));
        Trial::new(folder.path().join("work"))
            .input("items", folder.path().join("items.jsonl"))
            .input("predictions", folder.path().join("predictions.parquet"))
            .with("player", text("world_model"))
            .run(&Answer)
    };
    let next = labels_of(&position(after), EnPassant::Always);
    let responses =
        |rows: &[_]| -> Vec<_> { answers(&run(rows).unwrap()).1.into_iter().map(|row| row.response).collect() };
    // The bishop on c4 of the item's square is nowhere believed, so it has no move.
    let expected = [Some("none".to_owned()), Some(after.to_owned()), Some("none".to_owned()), None];
    let expected = expected.map(|answer| answer.map(|answer| format!("FINAL ANSWER: {answer}")));
    assert_eq!(responses(&[("g", 2, truth), ("g", 3, next), ("h", 2, next)]), expected);
    // Without a king there is no board, and so no answer.
    let mut kingless = next;
    kingless[60] = 0;
    let without = responses(&[("g", 2, truth), ("g", 3, kingless)]);
    assert_eq!(without[1].as_deref(), Some(""));
    let failure = fails(run(&[("g", 2, truth)]));
    assert_eq!(failure.message, "b: the predictions have no row of game `g`, t 3");
    let mut sideless = next;
    sideless[64] = 2;
    let failure = fails(run(&[("g", 2, truth), ("g", 3, sideless)]));
    assert!(failure.message.ends_with("game `g`, t 3: 2 is no class of label 64"), "{failure}");
    let failure = fails(run(&[("g", 2, truth), ("g", 2, truth)]));
    assert!(failure.message.ends_with("game `g`, t 2 has two rows"), "{failure}");
    let failure = fails(run(&[]));
    assert!(failure.message.ends_with("there are no rows"), "{failure}");
    assert!(failure.hint.unwrap().contains("keep_predictions"));
}

#[test]
fn a_world_model_answers_with_the_keys_that_the_items_have() {
    let folder = tempfile::tempdir().unwrap();
    let mut pinned = item(Task::ControlSquares);
    pinned.metadata.insert("target_square", "e3");
    pinned.metadata.insert("game_id", "g");
    pinned.metadata.insert("moves", serde_json::json!([]));
    write_items(&folder.path().join("items.jsonl"), &[pinned]);
    let board = chess_of_fen("4k3/4r3/8/8/8/4R3/8/4K3 w - - 0 1").unwrap().0;
    predictions(&folder.path().join("predictions.parquet"), &[("g", 0, labels_of(&board, EnPassant::Always))]);
    let response = |keys: &str| {
        let run = Trial::new(folder.path().join(keys))
            .input("items", folder.path().join("items.jsonl"))
            .input("predictions", folder.path().join("predictions.parquet"))
            .with("player", text("world_model"))
            .with("keys", text(keys))
            .run(&Answer);
        answers(&run.unwrap()).1[0].response.clone().unwrap()
    };
    assert_eq!(response("published"), "FINAL ANSWER: none");
    assert_eq!(response("sound"), "FINAL ANSWER: e2, e4, e5, e6");
}
