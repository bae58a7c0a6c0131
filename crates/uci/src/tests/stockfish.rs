//! Finds Stockfish. Stages that use engines have this file in their tests, too.

use std::path::PathBuf;

/// Stockfish; or nothing, and the reason is printed, unless `CWM_REQUIRE` names `engine`.
pub fn stockfish() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/games".into()]);
    let found = folders.map(|folder| folder.join("stockfish")).find(|program| program.is_file());
    found.or_else(|| skipped("there is no stockfish: run tests/programs/setup"))
}

/// Nothing, and the reason is printed, unless `CWM_REQUIRE` names `engine`.
pub fn skipped<T>(why: &str) -> Option<T> {
    let required = std::env::var("CWM_REQUIRE").unwrap_or_default();
    assert!(required.split(',').all(|name| name != "engine"), "engine is required (CWM_REQUIRE), but {why}");
    println!("skipped: {why}");
    None
}
