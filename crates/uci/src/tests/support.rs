//! Support for tests: the engine, the golden data, and engines that misbehave.

use std::fs;
use std::path::{Path, PathBuf};

use cwm_contract::testing::shared;
use serde_json::Value;
use sha2::{Digest, Sha256};
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess};
use tempfile::TempDir;

use super::stockfish::{skipped, stockfish};
use crate::SearchRoot;

/// The engine with which the golden data was made: Debian's 15.1-4 for amd64.
const GOLDEN_ENGINE: &str = "af67e5f96d92cf6a730f89291ea439ba90ca5bf7921e5d740d79ccfc4584bc92";

/// The same, if it is the very program with which the golden data was made.
pub fn golden_stockfish() -> Option<PathBuf> {
    let program = stockfish()?;
    let digest = Sha256::digest(fs::read(&program).unwrap());
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    if digest == GOLDEN_ENGINE {
        return Some(program);
    }
    skipped(&format!("{} is another version than that of the golden data ({digest})", program.display()))
}

/// A file of golden data; or nothing, and the reason is printed, where it is absent.
pub fn golden(name: &str) -> Option<String> {
    Some(fs::read_to_string(shared(&format!("systems/{name}"))?).unwrap())
}

/// The rows of a golden file of JSON lines.
pub fn golden_rows(name: &str) -> Option<Vec<Value>> {
    Some(golden(name)?.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// The position of a FEN.
pub fn position(fen: &str) -> Chess {
    fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap()
}

/// The root of a FEN.
pub fn root(fen: &str) -> SearchRoot {
    SearchRoot::position(&position(fen)).unwrap()
}

/// The engine of `engine.sh` that does this wrong. (A link: a script that another thread writes cannot be started.)
pub fn bad_engine(fault: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/engine.sh");
    let link = folder.path().join(fault);
    std::os::unix::fs::symlink(script, &link).unwrap();
    (folder, link)
}
