//! `parse` as the executor runs it.

mod awkward;
mod faults;
mod golden;
mod sample;

use std::path::{Path, PathBuf};

use cwm_chess::Games;
use cwm_contract::testing::{Outcome, Trial};
use cwm_contract::{Failure, Value};

use crate::Parse;

/// The folder of golden data; `None`, said on the way, where it is absent.
fn shared() -> Option<PathBuf> {
    let shared = std::env::var_os("CWM_SHARED").map(PathBuf::from).unwrap_or_else(|| {
        PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../../shared")
    });
    if shared.join("golden/kept.parquet").exists() {
        return Some(shared);
    }
    println!("skipped: {} is not there", shared.display());
    None
}

/// Runs `parse` on a file with the test key.
fn parse(folder: &Path, pgn: &Path, parameters: &[(&str, Value)]) -> Result<Outcome, Failure> {
    let key = folder.join("key");
    std::fs::write(&key, " cwm-test-key\n").unwrap();
    let mut trial = Trial::new(folder).input("pgn", pgn).with("id_key_file", Value::Text(key.display().to_string()));
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

fn games(outcome: &Outcome) -> Games {
    Games::open(&outcome.outputs["games"]).unwrap()
}

fn counts(outcome: &Outcome) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(&outcome.outputs["counts"]).unwrap()).unwrap()
}

/// What was dropped for what, zeros aside: `short 2, variant 1`.
fn dropped(outcome: &Outcome) -> String {
    let counts = counts(outcome);
    let reasons = counts["dropped"].as_object().unwrap().iter().filter(|(_, games)| **games != 0);
    reasons.map(|(reason, games)| format!("{reason} {games}")).collect::<Vec<_>>().join(", ")
}
