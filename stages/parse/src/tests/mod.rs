//! `parse` as the executor runs it.

mod authors;
mod awkward;
mod compressed;
mod faults;
mod files;
mod golden;
mod mutated;
mod sample;

use std::path::Path;

use cwm_chess::{GameRow, Games};
use cwm_contract::testing::{Outcome, Trial};
use cwm_contract::{Failure, Value};

use crate::Parse;

/// Twenty plies.
const MOVES: &str =
    "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O 9. h3 Nb8 10. d4 Nbd7";

fn game(site: &str, moves: &str) -> String {
    format!("[Event \"x\"]\n[Site \"{site}\"]\n[Result \"1-0\"]\n\n{moves} 1-0\n\n")
}

/// Runs `parse` on a file or folder with the test key.
fn parse(folder: &Path, pgn: &Path, parameters: &[(&str, Value)]) -> Result<Outcome, Failure> {
    parse_files(folder, &[pgn], parameters)
}

/// The same on several.
fn parse_files(folder: &Path, files: &[&Path], parameters: &[(&str, Value)]) -> Result<Outcome, Failure> {
    let key = folder.join("key");
    std::fs::write(&key, " cwm-test-key\n").unwrap();
    let mut trial = Trial::new(folder).with("id_key_file", Value::Text(key.display().to_string()));
    for file in files {
        trial = trial.input("pgn", file);
    }
    for (name, value) in parameters {
        trial = match *name {
            "cores" => trial.cores(value.to_string().parse().unwrap()),
            _ => trial.with(name, value.clone()),
        };
    }
    trial.run(&Parse)
}

/// The same on PGN text.
fn parse_text(folder: &Path, text: &[u8], parameters: &[(&str, Value)]) -> Result<Outcome, Failure> {
    let pgn = folder.join("games.pgn");
    std::fs::write(&pgn, text).unwrap();
    parse(folder, &pgn, parameters)
}

/// A kept game.
#[derive(Debug, PartialEq)]
struct KeptGame {
    index: u64,
    id: String,
    site: String,
    result: String,
    moves: Vec<u16>,
    labels: Option<Vec<u8>>,
}

fn games(outcome: &Outcome) -> Vec<KeptGame> {
    let games = Games::open(&outcome.outputs["games"]).unwrap();
    let kept = |game: GameRow<'_>| KeptGame {
        index: game.index,
        id: game.id.to_owned(),
        site: game.site.to_owned(),
        result: game.result.to_owned(),
        moves: game.moves.to_vec(),
        labels: game.labels.map(<[u8]>::to_vec),
    };
    games.iter().map(|game| kept(game.unwrap().row())).collect()
}

fn counts(outcome: &Outcome) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(&outcome.outputs["counts"]).unwrap()).unwrap()
}

/// Returns the counts of dropped games, zeros aside: `short 2, variant 1`.
fn dropped(outcome: &Outcome) -> String {
    let counts = counts(outcome);
    let reasons = counts["dropped"].as_object().unwrap().iter().filter(|(_, games)| **games != 0);
    reasons.map(|(reason, games)| format!("{reason} {games}")).collect::<Vec<_>>().join(", ")
}
