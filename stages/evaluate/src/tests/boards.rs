//! Boards beside the scores: the same mistakes, the same truth.

use arrow_array::Array;
use serde_json::Value as Json;

use super::*;

fn lines(path: &Path) -> Vec<Json> {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Checks that every board agrees with its rows of scores: the wrong labels, by bit, and the loss to the last digit.
#[track_caller]
pub fn check(outcome: &Outcome, games: usize) -> Vec<Json> {
    let (rows, _) = read(&outcome.outputs["scores"]);
    let boards = lines(&outcome.outputs["boards"]);
    assert_eq!(boards.len(), games);
    let column = |name: &str| rows.column_by_name(name).unwrap();
    let mut row = 0;
    for (game, board) in boards.iter().enumerate() {
        assert_eq!((&board["format"], &board["game"]), (&1.into(), &game.into()));
        let positions = board["labels"].as_array().unwrap().len();
        assert_eq!(board["wrong"].as_array().unwrap().len(), positions);
        assert_eq!(board["moves"].as_array().unwrap().len(), positions - 1);
        for t in 0..positions {
            assert_eq!(column("game").as_primitive::<UInt32Type>().value(row), game as u32);
            assert_eq!(column("t").as_primitive::<UInt32Type>().value(row), t as u32);
            let right = u128::from(column("right_squares").as_primitive::<UInt64Type>().value(row))
                | u128::from(column("right_state").as_primitive::<UInt16Type>().value(row)) << 64;
            let mut wrong = 0u128;
            for pair in board["wrong"][t].as_array().unwrap() {
                let label = pair[0].as_u64().unwrap() as usize;
                wrong |= 1 << label;
                assert_ne!(pair[1], board["labels"][t][label], "what is wrong is not the truth");
                assert!(pair[1].is_null() || pair[1].as_u64().unwrap() < classes(label) as u64);
            }
            assert_eq!(wrong, !right & ((1 << LABELS) - 1), "game {game}, position {t}");
            let losses = column("loss").as_primitive::<Float64Type>();
            match &board["loss"] {
                Json::Null => assert!(losses.is_null(row)),
                loss => match &loss[t] {
                    Json::String(text) => {
                        assert_eq!(text.parse::<f64>().unwrap().to_string(), losses.value(row).to_string())
                    }
                    number => assert_eq!(number.as_f64().unwrap().to_bits(), losses.value(row).to_bits()),
                },
            }
            row += 1;
        }
    }
    boards
}

#[test]
fn boards_hold_the_truth_and_what_the_scores_say_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    dataset(folder.path(), &games());
    model(folder.path(), |_| {});
    let boards = check(&evaluate(folder.path(), 2, &[]).unwrap(), 2);
    for (board, tokens) in boards.iter().zip(games()) {
        let mut labels = vec![0; tokens.len() * LABELS];
        replay_into(&tokens, EnPassant::Always, &mut labels).unwrap();
        let found: Vec<u8> = serde_json::from_value::<Vec<Vec<u8>>>(board["labels"].clone()).unwrap().concat();
        assert_eq!(found, labels);
    }
    assert_eq!(boards[0]["id"], "game0");
    assert_eq!(boards[0]["model"], serde_json::json!({"family": "transformer", "seed": 7, "size": "d16/l1"}));
    assert_eq!(boards[0]["result"], "*");
    let first = |name: &str| boards[0][name].as_array().unwrap()[..4].to_vec();
    assert_eq!(first("moves"), ["b1c3", "b8c6", "c3b1", "c6b8"].map(Json::from));
    assert_eq!(first("san"), ["Nc3", "Nc6", "Nb1", "Nb8"].map(Json::from));
    let wrong =
        |board: &Json| board["wrong"].as_array().unwrap().iter().map(|at| at.as_array().unwrap().len()).sum::<usize>();
    assert!(wrong(&boards[0]) > 500, "a model without training believes little");
}

#[test]
fn boards_change_nothing_of_the_scores_and_nothing_changes_them() {
    let folder = tempfile::tempdir().unwrap();
    dataset(folder.path(), &games());
    model(folder.path(), |_| {});
    let bytes = |boards: i128, cores: usize, limit: i128| {
        let more = [("board_games", Value::Int(boards)), ("batch_tokens", Value::Int(limit))];
        let outcome = evaluate(folder.path(), cores, &more).unwrap();
        check(&outcome, boards.min(9) as usize);
        ["scores", "boards"].map(|name| std::fs::read(&outcome.outputs[name]).unwrap())
    };
    let [scores, none] = bytes(0, 1, 64);
    assert!(none.is_empty());
    let first = bytes(2, 1, 64);
    assert!(first[0] == scores, "boards change the scores");
    assert!(first == bytes(2, 3, 64) && first == bytes(2, 2, 64), "cores change the boards");
    let all = bytes(100, 2, 64);
    assert!(all[0] == scores && all[1].starts_with(&first[1]), "the first games are the first of all");
}

#[test]
fn a_label_without_finite_logits_has_no_belief_and_losses_may_be_infinite() {
    let folder = tempfile::tempdir().unwrap();
    dataset(folder.path(), &[shuffle_knights(4)]);
    for (odd, loss) in [(f32::NAN, "nan"), (f32::INFINITY, "nan")] {
        let _ = std::fs::remove_dir_all(folder.path().join("checkpoint"));
        model(folder.path(), |weights| {
            let bias = weights.layout().find("output_head.bias").unwrap();
            weights.get_mut(bias)[1877] = odd;
        });
        let boards = check(&evaluate(folder.path(), 1, &[]).unwrap(), 1);
        let last = boards[0]["wrong"][0].as_array().unwrap().last().unwrap().clone();
        let believed = if odd.is_nan() { Json::Null } else { 255.into() };
        assert_eq!(last, Json::from(vec![74.into(), believed]));
        assert_eq!(boards[0]["loss"][0], loss);
    }
}

#[test]
fn a_game_that_carries_labels_and_is_none_has_moves_without_their_short_form() {
    let folder = tempfile::tempdir().unwrap();
    model(folder.path(), |_| {});
    let mut tokens = shuffle_knights(3);
    tokens[2] = (8 * 64 + 40) * 5;
    let labels = vec![1; tokens.len() * LABELS];
    let mut writer = DatasetWriter::create(&folder.path().join("dataset"), 10).unwrap().labelled(true);
    writer
        .push(DatasetRow { index: 0, id: "<b>\u{202e}", tokens: &tokens, result: "*", labels: Some(&labels) })
        .unwrap();
    writer.finish().unwrap();
    let boards = check(&evaluate(folder.path(), 1, &[]).unwrap(), 1);
    assert_eq!((&boards[0]["san"], &boards[0]["moves"][1]), (&Json::Null, &"a2a6".into()));
    assert_eq!(boards[0]["id"], "<b>\u{202e}", "as it stands in the dataset");
}
