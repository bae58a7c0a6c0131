//! Positions and games that an independent program encoded, for tests.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, Setup};

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
    /// In UCI, a space between them.
    pub moves: String,
    pub ids: Vec<u16>,
    pub phase: Vec<u8>,
    pub board_after: Vec<u32>,
    pub board_before: Vec<u32>,
}

/// A line of `legal.jsonl` of inside models: the words of legal moves.
#[derive(Debug, Deserialize)]
pub struct GoldenLegal {
    pub fen: String,
    pub origins: Vec<u16>,
    /// By origin.
    pub targets: BTreeMap<String, Vec<u16>>,
    /// By "origin target".
    pub promotions: BTreeMap<String, Vec<u16>>,
    /// The word of a square, the piece on it, and the origins when it is gone.
    pub without: Vec<(u16, String, Vec<u16>)>,
    /// The position six plies on.
    pub future_fen: Option<String>,
}

impl GoldenLegal {
    pub fn setup(&self) -> Setup {
        self.fen.parse::<Fen>().unwrap().into_setup()
    }

    /// `None` where the side to move could take the king.
    pub fn chess(&self) -> Option<Chess> {
        self.setup().position(CastlingMode::Standard).ok()
    }

    pub fn future(&self) -> Option<Chess> {
        self.future_fen.as_deref().map(position)
    }
}

/// An entry of `mass.json`, with its row of `mass.safetensors`.
#[derive(Debug, Deserialize)]
pub struct GoldenMass {
    pub original: f64,
    /// A word, and the mass without the piece on its square.
    pub without: Vec<(u16, f64)>,
    pub future: Option<f64>,
    #[serde(skip)]
    pub logits: Vec<f32>,
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

pub fn legal_words() -> Vec<GoldenLegal> {
    lines("inside-models", "legal.jsonl")
}

pub fn masses() -> Vec<GoldenMass> {
    let Some(text) = read_of("inside-models", "mass.json") else { return Vec::new() };
    let mut masses: Vec<GoldenMass> = serde_json::from_slice(&text).unwrap();
    let bytes = read_of("inside-models", "mass.safetensors").unwrap();
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let logits = file.tensor("logits").unwrap();
    assert_eq!(logits.shape(), [masses.len(), 72]);
    let rows = logits.data().chunks_exact(72 * 4);
    for (mass, row) in masses.iter_mut().zip(rows) {
        mass.logits = row.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    }
    masses
}
