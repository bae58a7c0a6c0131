//! Golden data of tests, made by an independent program (python-chess 1.11.2, Stockfish 15.1).

use cwm_contract::testing::shared;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The lines of a golden file, each read as JSON; none, with a note, if it is not there.
pub(crate) fn lines<T: DeserializeOwned>(name: &str) -> Option<Vec<T>> {
    let text = std::fs::read_to_string(shared(&format!("systems/reasoning-golden/{name}"))?).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[derive(Deserialize)]
struct Position {
    id: usize,
    fen: String,
}

/// The FENs of the golden positions, by their ids.
pub(crate) fn fens() -> Option<Vec<String>> {
    let positions: Vec<Position> = lines("positions.jsonl")?;
    assert!(positions.iter().enumerate().all(|(at, position)| position.id == at));
    Some(positions.into_iter().map(|position| position.fen).collect())
}

/// The position of a FEN.
pub(crate) fn position(fen: &str) -> shakmaty::Chess {
    cwm_questions::truth::chess_of_fen(fen).unwrap().0
}
