//! The sample of Lichess games, its positions, and stages that run on it.

use std::path::{Path, PathBuf};

use cwm_chess::Games;
use cwm_contract::testing::{Outcome, Trial};
use cwm_contract::{Stage, Value};
use cwm_encoding::PlainMove;
use shakmaty::fen::Fen;
use shakmaty::{Chess, EnPassantMode, Position};

/// The folder that holds the sample and golden data; none, with a line that states so, if it is not there.
pub fn shared() -> Option<PathBuf> {
    let named = std::env::var_os("CWM_SHARED").map_or_else(|| Path::new("..").join("shared"), PathBuf::from);
    // `cargo bench` starts in the folder of this package.
    let found = [named.clone(), Path::new("..").join(&named)].into_iter().find(|folder| sample(folder).exists());
    if found.is_none() {
        println!("skipped: there is no {}", sample(&named).display());
    }
    found
}

/// The games below the folder.
pub fn sample(shared: &Path) -> PathBuf {
    shared.join("data/lichess-sample.pgn.zst")
}

/// A trial on one core in a folder of its own: a stage continues from what it finds there.
pub fn trial(folder: &Path) -> Trial {
    let work = folder.join("work");
    if work.exists() {
        std::fs::remove_dir_all(&work).expect("the last run's folder");
    }
    Trial::new(work).cores(1)
}

pub fn run(stage: &dyn Stage, folder: &Path, (input, path): (&str, &Path), parameters: &[(&str, Value)]) -> Outcome {
    let trial = trial(folder).input(input, path);
    let trial = parameters.iter().fold(trial, |trial, (name, value)| trial.with(name, value.clone()));
    trial.run(stage).expect("the stage runs")
}

/// An output, in a place where the next run does not overwrite it.
pub fn kept(outcome: &Outcome, output: &str, folder: &Path) -> PathBuf {
    let to = folder.join(output);
    std::fs::rename(&outcome.outputs[output], &to).expect("a new name");
    to
}

/// Positions of the games with the moves played in them.
pub fn positions(games: &Path, count: usize) -> Vec<(String, PlainMove)> {
    let opened = Games::open(games).expect("games");
    let mut found = Vec::new();
    for game in 0..opened.len() {
        let moves = opened.get(game).expect("games").expect("a game").row().moves.to_vec();
        let mut position = Chess::default();
        for one in moves.iter().filter_map(|packed| PlainMove::from_packed(*packed)) {
            found.push((Fen::from_position(&position, EnPassantMode::Legal).to_string(), one));
            let played = cwm_encoding::legal(&position, one).expect("a legal move");
            position.play_unchecked(played);
            if found.len() == count {
                return found;
            }
        }
    }
    found
}
