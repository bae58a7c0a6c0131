//! Positions and games that an independent program encoded, for tests.

use std::path::PathBuf;

use serde::Deserialize;
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess};

/// A line of `positions.jsonl`.
#[derive(Debug, Deserialize)]
pub struct GoldenPosition {
    pub fen: String,
    /// The 77 ids.
    pub board: Vec<u8>,
    /// Legal moves by id, and their ids; none where the game has ended.
    pub legal: Vec<String>,
    #[serde(default)]
    pub actions: Vec<u16>,
    #[serde(default)]
    pub san: Vec<String>,
    /// The move of the label.
    pub best: Option<String>,
    /// None with more than 60 legal moves.
    pub prompt: Option<String>,
    pub prompt_tokens: Option<Vec<u8>>,
}

impl GoldenPosition {
    pub fn chess(&self) -> Chess {
        self.fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap()
    }
}

/// A line of `movetexts.jsonl`.
#[derive(Debug, Deserialize)]
pub struct GoldenText {
    pub site: String,
    pub text: String,
    pub tokens: Vec<u8>,
    /// Begin and end of each move in the text.
    pub answers: Vec<[usize; 2]>,
}

/// The text of a file; `None`, with a line that states so, where the shared folder is absent.
pub fn read(file: &str) -> Option<String> {
    let shared = std::env::var_os("CWM_SHARED").map(PathBuf::from).unwrap_or_else(|| {
        PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../../shared")
    });
    let path = shared.join("systems/board-vs-moves-golden").join(file);
    if !path.exists() {
        println!("skipped: {} is not there", path.display());
        return None;
    }
    Some(std::fs::read_to_string(path).unwrap())
}

fn lines<T: for<'de> Deserialize<'de>>(file: &str) -> Vec<T> {
    let text = read(file).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub fn positions() -> Vec<GoldenPosition> {
    lines("positions.jsonl")
}

pub fn texts() -> Vec<GoldenText> {
    lines("movetexts.jsonl")
}
