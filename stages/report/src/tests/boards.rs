//! Boards on the page, and made-up ones for the tests.

use std::path::Path;

use cwm_contract::Value;
use cwm_contract::testing::Trial;
use cwm_encoding::{EnPassant, LABELS, PlainMove, START, replay_into};
use serde_json::{Value as Json, json};

use super::{label, read, rows, run, trial};

/// A short game with castling, a capture and an en passant square.
pub const MOVES: [&str; 10] = ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6", "b5c6", "d7c6", "e1g1", "g8f6"];
pub const SAN: [&str; 10] = ["e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Bxc6", "dxc6", "O-O", "Nf6"];

/// The labels of each of its positions.
pub fn labels(moves: &[&str]) -> Vec<Vec<u8>> {
    let square = |text: &str| text.as_bytes()[0] as u16 - 97 + 8 * (text.as_bytes()[1] as u16 - 49);
    let token = |text: &&str| (square(text) * 64 + square(&text[2..])) * 5;
    let tokens: Vec<u16> = std::iter::once(START).chain(moves.iter().map(token)).collect();
    assert!(tokens[1..].iter().all(|&token| PlainMove::from_token(token).is_some()));
    let mut labels = vec![0; tokens.len() * LABELS];
    replay_into(&tokens, EnPassant::Always, &mut labels).unwrap();
    labels.chunks(LABELS).map(<[u8]>::to_vec).collect()
}

/// The errors at a ply, by label, of the model that errs: none before ply 3 and at ply 5, otherwise more and more; at
/// ply 6 a square has no prediction.
pub fn wrong(t: usize, labels: &[u8]) -> Vec<(u8, Option<u8>)> {
    let other = |label: usize, classes: u8| (label as u8, Some((labels[label] + 1) % classes));
    match t {
        0..3 | 5 => vec![],
        6 => vec![other(0, 13), (27, None), other(64, 2)],
        _ => (0..t).map(|at| other(at * 5, 13)).chain([other(69, 9), other(74, 255)]).collect(),
    }
}

/// Writes two games of a test set with the model's predictions; one with `errs` 0 is never wrong.
pub fn write_boards(path: &Path, errs: usize, test: &str) {
    let line = |game: usize| {
        let moves = &MOVES[..if test == "held_out" { 10 } else { 7 } - game];
        let labels = labels(moves);
        let wrong: Vec<_> =
            labels.iter().enumerate().map(|(t, labels)| if errs == 0 { vec![] } else { wrong(t, labels) }).collect();
        let loss: Vec<f64> = (0..labels.len()).map(|t| t as f64 / 7.0).collect();
        board(&format!("{test}-{game}"), moves, Some(&SAN[..moves.len()]), &labels, json!(wrong), json!(loss), game)
    };
    std::fs::write(path, format!("{}\n{}\n", line(0), line(1))).unwrap();
}

/// A line of a boards file.
pub fn board(
    id: &str,
    moves: &[&str],
    san: Option<&[&str]>,
    labels: &[Vec<u8>],
    wrong: Json,
    loss: Json,
    game: usize,
) -> Json {
    json!({
        "format": 1, "game": game, "id": id, "labels": labels, "loss": loss, "model": {"family": "transformer"},
        "moves": moves, "result": "1-0", "san": san, "wrong": wrong,
    })
}

/// The data block of a page.
pub fn embedded(page: &str) -> Json {
    let block = page.split("id=\"cwm-boards\">").nth(1).expect("boards").split("</script>").next().unwrap();
    serde_json::from_str(block).unwrap()
}

fn with_boards(folder: &Path) -> Trial {
    let mut trial = trial(folder, &rows());
    for (label_text, errs, test) in [
        ("evaluation[size=d32/l1,seed=0,test=held_out]", 1, "held_out"),
        ("evaluation[size=d32/l1,seed=1,test=held_out]", 0, "held_out"),
        ("evaluation[size=d32/l1,seed=0,test=random_uniform]", 1, "random_uniform"),
        ("best[size=d32/l1,seed=0,test=held_out]", 0, "held_out"),
    ] {
        let path = folder.join(label_text.replace(['/', '['], "-"));
        write_boards(&path, errs, test);
        trial = trial.labelled("boards", label(label_text), path);
    }
    trial
}

#[test]
fn games_stand_once_and_models_by_the_names_of_the_tables() {
    let folder = tempfile::tempdir().unwrap();
    let page = read(&run(with_boards(folder.path())).unwrap(), "index.html");
    assert!(page.contains("Predictions of 3 models after each move of 4 games, beside the true positions."), "{page}");
    assert!(!page.contains("Left out, since"));
    let data = embedded(&page);
    let models = [
        "Transformer d32/l1, seed 0, from best",
        "Transformer d32/l1, seed 0, from evaluation",
        "Transformer d32/l1, seed 1",
    ];
    assert_eq!(data["models"], json!(models));
    assert_eq!(data["tests"], json!(["Held-out games", "Random-uniform games"]));
    let ids: Vec<_> = data["games"].as_array().unwrap().iter().map(|game| game["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["held_out-0", "random_uniform-0", "held_out-1", "random_uniform-1"]);
    assert_eq!(data["predictions"].as_array().unwrap().len(), 8);
    assert!(page.contains("<a href=\"#boards\">"));
}

#[test]
fn what_does_not_fit_is_left_out_whole_and_said() {
    let folder = tempfile::tempdir().unwrap();
    let report = run(with_boards(folder.path()).with("board_bytes", Value::Int(2_500))).unwrap();
    let page = read(&report, "index.html");
    let data = embedded(&page);
    let shown = data["predictions"].as_array().unwrap().len();
    assert!((1..8).contains(&shown), "{shown}");
    let said = format!("Left out, since the page takes 2,500 bytes of boards: {} of 8 boards,", 8 - shown);
    assert!(page.contains(&said), "{said}");
    // In order: the first games before the second.
    let first = &data["predictions"][0];
    assert_eq!(
        (&first["model"], &first["game"], &data["games"][0]["id"]),
        (&json!(0), &json!(0), &json!("held_out-0"))
    );

    let page = read(&run(with_boards(folder.path()).with("board_bytes", Value::Int(0))).unwrap(), "index.html");
    assert!(page.contains("8 of 8 boards") && embedded(&page).is_null());
}

#[test]
fn boards_alone_make_a_report_and_none_make_no_part_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("boards");
    write_boards(&path, 1, "held_out");
    let alone = Trial::new(folder.path().join("trial"));
    let page = read(&run(alone.labelled("boards", label("said"), &path)).unwrap(), "index.html");
    assert_eq!(embedded(&page)["models"], json!(["Transformer"]));
    assert_eq!(embedded(&page)["tests"], json!(["Held-out games"]));
    let named = std::fs::read_to_string(&path).unwrap().replace("\"model\":{", "\"model\":{\"test\":\"en_passant\",");
    std::fs::write(&path, named).unwrap();
    let alone = Trial::new(folder.path().join("trial"));
    let page = read(&run(alone.labelled("boards", label("a[test=held_out]"), &path)).unwrap(), "index.html");
    assert_eq!(embedded(&page)["tests"], json!(["En passant"]));

    std::fs::write(&path, "").unwrap();
    let page =
        read(&run(trial(folder.path(), &rows()).labelled("boards", label("said"), &path)).unwrap(), "index.html");
    assert!(!page.contains("id=\"cwm-boards\"") && !page.contains("href=\"#boards\""));
}
