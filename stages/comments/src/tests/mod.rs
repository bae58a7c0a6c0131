mod faults;
mod golden;
mod model;
mod texts;
mod written;

use std::path::Path;

use cwm_contract::testing::{Outcome, Trial};
use cwm_contract::{Failure, Value};
use cwm_questions::{Comment, read_comments};

use crate::Comments;

/// Runs the stage on a PGN's text.
fn on_pgn(folder: &Path, pgn: impl AsRef<[u8]>, with: &[(&str, &str)]) -> Result<Outcome, Failure> {
    let path = folder.join("annotated.pgn");
    std::fs::write(&path, pgn).unwrap();
    let parameters = with.iter().map(|(name, value)| (*name, Value::Text((*value).to_owned())));
    parameters
        .fold(Trial::new(folder), |trial, (name, value)| trial.with(name, value))
        .input("pgn", path)
        .run(&Comments)
}

fn text(outcome: &Outcome, output: &str) -> String {
    std::fs::read_to_string(&outcome.outputs[output]).unwrap()
}

fn comments(outcome: &Outcome) -> Vec<Comment> {
    read_comments(text(outcome, "comments").as_bytes(), "comments").unwrap()
}

fn counts(outcome: &Outcome) -> serde_json::Value {
    serde_json::from_str(&text(outcome, "counts")).unwrap()
}
