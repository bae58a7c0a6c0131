//! Whole artifacts, told.

use cwm_chess::{DatasetRow, DatasetWriter, GameRow, GamesWriter};
use tempfile::tempdir;

use super::*;

const DETAIL: Detail = Detail { examples: 1, cores: 2 };

/// 1. e4 and 1. e4 e5, as tokens and packed.
const TOKENS: [u16; 3] = [20480, (12 * 64 + 28) * 5, (52 * 64 + 36) * 5];
const MOVES: [u16; 2] = [12 | 28 << 6, 52 | 36 << 6];

#[test]
fn a_dataset_is_told_in_figures_and_games() {
    let folder = tempdir().unwrap();
    let mut writer = DatasetWriter::create(folder.path(), 2).unwrap();
    for (index, tokens, result) in [(4, &TOKENS[..], "1-0"), (5, &TOKENS[..2], "0-1"), (8, &TOKENS[..2], "1-0")] {
        writer.push(DatasetRow { index, id: "cwm_a", tokens, result, labels: None }).unwrap();
    }
    writer.finish().unwrap();
    let told = Inspect.describe(&Format::DATASET, folder.path(), DETAIL).unwrap().unwrap();
    assert_eq!(told.facts["totals"]["games"], 3);
    assert_eq!((&told.facts["totals"]["plies"], &told.facts["totals"]["positions"]), (&4.into(), &7.into()));
    assert_eq!((&told.facts["files"], &told.facts["totals"]["unique_moves"]), (&2.into(), &2.into()));
    assert_eq!(told.facts["examples"][0]["opening"], "1. e4 e5");
    assert_eq!(
        told.lines[..6],
        [
            "games       3",
            "plies       4",
            "positions   7",
            "length      1 to 2 plies, median 1",
            "results     1-0 2 (66.7 %), 0-1 1 (33.3 %)",
            "moves       2 different ones",
        ]
    );
    assert!(told.lines[6].starts_with("on disk     ") && told.lines[6].contains(" in 2 files ("), "{}", told.lines[6]);
    assert_eq!(told.lines[7..9], ["", "game 0      cwm_a, 1-0, 2 plies"]);
    assert_eq!(told.lines.len(), 11);
}

#[test]
fn games_are_told_with_their_sites_and_damage_in_words() {
    let folder = tempdir().unwrap();
    let mut writer = GamesWriter::create(folder.path(), 9).unwrap();
    writer.push(GameRow { index: 0, id: "x", site: "https://a/b", result: "*", moves: &MOVES, labels: None }).unwrap();
    writer.push(GameRow { index: 1, id: "y", site: "?", result: "*", moves: &[0xffff], labels: None }).unwrap();
    writer.finish().unwrap();
    let told = Inspect.describe(&Format::GAMES, folder.path(), Detail { examples: 9, cores: 1 }).unwrap().unwrap();
    let text = told.lines.join("\n");
    assert!(text.contains("game 0      x, https://a/b, *, 2 plies\n            1. e4 e5\n"), "{text}");
    assert!(text.contains("is no game: token 65535 at ply 1 is not a move"), "{text}");
    assert_eq!(told.facts["examples"][0]["site"], "https://a/b");
    std::fs::write(folder.path().join("games-00000.arrow"), "x").unwrap();
    let failure = Inspect.describe(&Format::GAMES, folder.path(), DETAIL).unwrap_err();
    assert!(failure.message.ends_with("is not a games file: it is too short"), "{failure}");
}

#[test]
fn what_is_not_known_is_passed_over() {
    assert_eq!(Inspect.describe(&Format::ANY, Path::new("nowhere"), DETAIL).unwrap(), None);
    assert_eq!(Inspect.background(&Format::DATASET), [Format::COUNTS]);
    assert!(Inspect.background(&Format::REPORT).is_empty());
}
