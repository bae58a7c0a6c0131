//! Boards files: a game a line, as `evaluate` writes them.

use std::fs::File;
use std::io::{BufRead, BufReader};

use cwm_contract::{Failure, GroupInput};
use cwm_page::escape_controls;
use serde::Deserialize;
use serde_json::Value;

use super::name::{BoardName, board_name};
use super::pack::pack;

/// The version that is read.
const FORMAT: u64 = 1;
/// Labels of a position.
const LABELS: usize = 75;

/// The predictions of one model for one game.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PredictedGame {
    /// Label of the cell that wrote it.
    pub(crate) cell: String,
    pub(super) board_name: BoardName,
    pub(super) game: Game,
    /// The predicted labels of each position, packed.
    pub(super) labels: String,
    /// The loss of each position, to three digits; a text where it is not finite.
    pub(super) loss: Option<Vec<Value>>,
}

/// A game without predictions.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Game {
    /// Its place in the test set, from 0.
    pub(super) place: u64,
    pub(super) id: String,
    pub(super) result: String,
    /// The moves, such as `e2e4`.
    pub(super) moves: Vec<String>,
    /// The moves, such as `Nf3`, where they are a game of chess.
    pub(super) san: Option<Vec<String>>,
    /// The labels of each position, packed.
    pub(super) labels: String,
}

#[derive(Deserialize)]
struct Version {
    format: u64,
}

#[derive(Deserialize)]
struct Line {
    game: u64,
    id: String,
    labels: Vec<Vec<u8>>,
    loss: Option<Vec<Value>>,
    model: ModelLine,
    moves: Vec<String>,
    result: String,
    san: Option<Vec<String>>,
    wrong: Vec<Vec<(u8, Option<u8>)>>,
}

/// The model, in the header.
#[derive(Debug, Default, Deserialize)]
pub(super) struct ModelLine {
    pub(super) family: Option<String>,
    pub(super) seed: Option<i64>,
    pub(super) size: Option<String>,
    pub(super) test: Option<String>,
}

/// Reads all boards.
///
/// # Errors
/// A file cannot be read, or one of its lines is no such game.
pub(crate) fn read(inputs: &[GroupInput]) -> Result<Vec<PredictedGame>, Failure> {
    let mut boards = Vec::new();
    for input in inputs {
        let file = File::open(&input.path).map_err(|error| Failure::io("open", &input.path, error))?;
        for (index, line) in BufReader::new(file).lines().enumerate() {
            let line = line.map_err(|error| Failure::io("read", &input.path, error))?;
            boards.push(board(input, &line).map_err(|reason| {
                let (number, path) = (index + 1, input.path.display());
                let label = &input.label;
                Failure::input(format!(
                    "line {number} of the boards of {label} ({path}) cannot be understood: {reason}"
                ))
            })?);
        }
    }
    Ok(boards)
}

fn board(input: &GroupInput, line: &str) -> Result<PredictedGame, String> {
    let Version { format } = serde_json::from_str(line).map_err(|error| error.to_string())?;
    if format != FORMAT {
        return Err(format!("it is of version {format} of the format, and this cwm reads version {FORMAT}"));
    }
    let line: Line = serde_json::from_str(line).map_err(|error| error.to_string())?;
    check(&line)?;
    let texts = |texts: &[String]| texts.iter().map(|text| escape_controls(text)).collect();
    let labels: Vec<Vec<Option<u8>>> =
        line.labels.iter().map(|labels| labels.iter().copied().map(Some).collect()).collect();
    let mut predicted = labels.clone();
    for (labels, wrong) in predicted.iter_mut().zip(&line.wrong) {
        wrong.iter().for_each(|(label, class)| labels[usize::from(*label)] = *class);
    }
    let losses = |losses: Vec<Value>| losses.into_iter().map(rounded).collect::<Result<Vec<_>, _>>();
    Ok(PredictedGame {
        cell: escape_controls(&input.label.to_string()),
        board_name: board_name(&input.label, &line.model),
        game: Game {
            place: line.game,
            id: escape_controls(&line.id),
            result: escape_controls(&line.result),
            moves: texts(&line.moves),
            san: line.san.as_deref().map(texts),
            labels: pack(&labels),
        },
        labels: pack(&predicted),
        loss: line.loss.map(losses).transpose()?,
    })
}

/// Checks that all parts are of the same game.
fn check(line: &Line) -> Result<(), String> {
    let positions = line.moves.len() + 1;
    let counts = [
        ("labels", line.labels.len(), positions),
        ("wrong", line.wrong.len(), positions),
        ("loss", line.loss.as_ref().map_or(positions, Vec::len), positions),
        ("san", line.san.as_ref().map_or(positions, |san| san.len() + 1), positions),
    ];
    if let Some((name, found, wanted)) = counts.into_iter().find(|(_, found, wanted)| found != wanted) {
        return Err(format!("`{name}` is of {found} positions, and the moves make {wanted}"));
    }
    if let Some(labels) = line.labels.iter().find(|labels| labels.len() != LABELS) {
        return Err(format!("a position has {} labels, not {LABELS}", labels.len()));
    }
    for wrong in &line.wrong {
        let ascends = wrong.is_sorted_by(|(before, _), (after, _)| before < after);
        if !ascends || wrong.last().is_some_and(|(label, _)| usize::from(*label) >= LABELS) {
            return Err(format!("labels in `wrong` go up and are below {LABELS}"));
        }
    }
    Ok(())
}

/// Rounds a loss to three digits, which suffice on the page.
fn rounded(loss: Value) -> Result<Value, String> {
    match &loss {
        Value::Number(number) => {
            let number = number.as_f64().ok_or_else(|| format!("`{number}` is no 64-bit float"))?;
            let rounded: f64 = format!("{number:.2e}").parse().map_err(|_| format!("`{number}` is no number"))?;
            Ok(rounded.into())
        }
        Value::String(text) if ["inf", "-inf", "nan"].contains(&text.as_str()) => Ok(loss),
        other => Err(format!("`{other}` is no loss")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_text(text: &str) -> Result<Vec<PredictedGame>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("boards");
        std::fs::write(&path, text).unwrap();
        let input = GroupInput { label: "e[size=d32/l1,test=held_out]".parse().unwrap(), path };
        read(&[input]).map_err(|failure| failure.message)
    }

    fn line() -> Value {
        serde_json::json!({
            "format": 1, "game": 0, "id": "a\u{202e}", "labels": [vec![0; 75], vec![1; 75]], "loss": [0.123456, "nan"],
            "model": {"family": "slice"}, "moves": ["e2e4"], "result": "*", "san": null, "wrong": [[], [[3, 5], [74, null]]],
        })
    }

    #[test]
    fn a_game_is_read() {
        let read = check_text(&format!("{}\n", line())).unwrap();
        assert_eq!((read.len(), read[0].game.id.as_str()), (1, "a\u{fffd}"));
        assert_eq!(read[0].loss, Some(vec![0.123.into(), "nan".into()]));
        assert_eq!(check_text("").unwrap(), []);
    }

    #[test]
    fn what_is_no_board_is_refused_in_words() {
        let with = |key: &str, value: Value| {
            let mut line = line();
            line[key] = value;
            check_text(&line.to_string()).unwrap_err()
        };
        let one = |labels: usize| Value::from(vec![vec![0; labels]; 2]);
        for (key, value, said) in [
            ("format", 2.into(), "it is of version 2 of the format, and this cwm reads version 1"),
            ("labels", one(74), "a position has 74 labels, not 75"),
            ("labels", Value::Array(vec![]), "`labels` is of 0 positions, and the moves make 2"),
            ("wrong", serde_json::json!([[], [[75, 1]]]), "labels in `wrong` go up and are below 75"),
            ("wrong", serde_json::json!([[], [[5, 1], [5, 2]]]), "labels in `wrong` go up and are below 75"),
            ("san", serde_json::json!([]), "`san` is of 1 positions, and the moves make 2"),
            ("loss", serde_json::json!([0, "much"]), "`\"much\"` is no loss"),
            ("id", 3.into(), "invalid type: integer `3`, expected a string"),
        ] {
            let message = with(key, value);
            assert!(message.starts_with("line 1 of the boards of e[size=d32/l1,test=held_out] ("), "{message}");
            assert!(message.contains(said), "{message}");
        }
    }
}
