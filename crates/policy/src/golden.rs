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
    /// The prompt; none with more than 60 legal moves.
    pub prompt: Option<String>,
    pub prompt_tokens: Option<Vec<u8>>,
}

impl GoldenPosition {
    pub fn chess(&self) -> Chess {
        position(&self.fen)
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

/// A line of `tokens.jsonl` of inside models.
#[derive(Debug, Deserialize)]
pub struct GoldenWords {
    pub game: u64,
    /// The moves in UCI, a space between them.
    pub moves: String,
    pub ids: Vec<u16>,
    pub phase: Vec<u8>,
    pub board_after: Vec<u32>,
    pub board_before: Vec<u32>,
}

fn position(fen: &str) -> Chess {
    fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap()
}

/// The text of a file of board-vs-moves; `None`, with a line that states so, where the shared folder is absent.
pub fn read(file: &str) -> Option<String> {
    Some(String::from_utf8(read_of("board-vs-moves", file)?).unwrap())
}

fn read_of(system: &str, file: &str) -> Option<Vec<u8>> {
    let shared = std::env::var_os("CWM_SHARED").map(PathBuf::from).unwrap_or_else(|| {
        PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../../shared")
    });
    let path = shared.join(format!("systems/{system}-golden")).join(file);
    if !path.exists() {
        println!("skipped: {} is not there", path.display());
        return None;
    }
    Some(std::fs::read(path).unwrap())
}

fn lines<T: for<'de> Deserialize<'de>>(system: &str, file: &str) -> Vec<T> {
    let text = read_of(system, file).unwrap_or_default();
    String::from_utf8(text).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub fn positions() -> Vec<GoldenPosition> {
    lines("board-vs-moves", "positions.jsonl")
}

pub fn texts() -> Vec<GoldenText> {
    lines("board-vs-moves", "movetexts.jsonl")
}

pub fn word_games() -> Vec<GoldenWords> {
    lines("inside-models", "tokens.jsonl")
}
