//! The rule of levels against an independent implementation, and against what Stockfish itself chose.

use std::collections::BTreeMap;

use serde_json::Value;
use shakmaty::CastlingMode;

use super::support::{golden, golden_rows, golden_stockfish, root};
use crate::{Engine, KNOWN_ENGINES, Level, Limit, Score, SearchResult, Settings};

const STOCKFISH: &str = KNOWN_ENGINES[0].name;

fn score(kind: &str, value: i32) -> Score {
    match kind {
        "cp" => Score::Centipawns(value),
        "mate" => Score::Mate(value),
        other => panic!("{other}"),
    }
}

/// The lines of a row of `levels.jsonl`: score and move, the best first.
fn lines(row: &Value) -> Vec<(Score, String)> {
    let line = |line: &Value| {
        let value = i32::try_from(line[1].as_i64().unwrap()).unwrap();
        (score(line[0].as_str().unwrap(), value), line[2].as_str().unwrap().to_owned())
    };
    row["lines"].as_array().unwrap().iter().map(line).collect()
}

fn level(row: &Value) -> Level {
    Level::new(row["level"].as_u64().unwrap().try_into().unwrap(), STOCKFISH).unwrap()
}

#[test]
fn moves_are_those_of_the_golden_data() {
    let Some(rows) = golden_rows("board-vs-moves-golden/levels.jsonl") else { return };
    assert_eq!(rows.len(), 444);
    for row in &rows {
        let lines = lines(row);
        let scores: Vec<Score> = lines.iter().map(|(score, _)| *score).collect();
        let draws = row["draws"].as_array().unwrap().iter().map(|draw| draw.as_u64().unwrap().try_into().unwrap());
        let chosen = level(row).choose(&scores, &draws.collect::<Vec<u32>>()).unwrap();
        assert_eq!(lines[chosen].1, row["move"].as_str().unwrap(), "{row}");
    }
}

#[test]
fn the_engine_reports_the_lines_of_the_golden_data() {
    let (Some(program), Some(rows)) = (golden_stockfish(), golden_rows("board-vs-moves-golden/levels.jsonl")) else {
        return;
    };
    let settings = Settings { lines: Level::LINES, ..Settings::default() };
    let mut engine = Engine::start(&program, settings).unwrap();
    let mut last = None;
    for row in &rows {
        let asked = (row["fen"].as_str().unwrap(), row["level"].as_u64());
        if last.replace(asked) == Some(asked) {
            continue;
        }
        let result = engine.query(&root(asked.0), &level(row).limit()).unwrap();
        assert_eq!(moves_and_scores(&result), lines(row), "{row}");
    }
}

fn moves_and_scores(result: &SearchResult) -> Vec<(Score, String)> {
    let lines = result.lines.iter();
    lines.map(|line| (line.score, line.moves[0].to_uci(CastlingMode::Standard).to_string())).collect()
}

#[test]
fn levels_are_of_known_engines() {
    assert!(Level::new(0, STOCKFISH).is_ok() && Level::new(19, STOCKFISH).is_ok());
    let failure = Level::new(20, STOCKFISH).unwrap_err();
    assert_eq!(failure.message, "there is no level 20; levels are 0 to 19");
    let failure = Level::new(3, "Stockfish 16").unwrap_err();
    assert_eq!(failure.message, "levels of the engine `Stockfish 16` are not known");
    assert!(failure.hint.unwrap().contains(STOCKFISH));
    assert_eq!(Level::new(4, STOCKFISH).unwrap().limit(), Limit::depth(5));
}

#[test]
fn a_missing_number_or_line_is_no_choice() {
    let level = Level::new(0, STOCKFISH).unwrap();
    let scores = [Score::Mate(1), Score::Centipawns(i32::MIN), Score::Mate(i32::MIN)];
    assert_eq!(level.choose(&[], &[1, 2]), None);
    assert_eq!(level.choose(&scores, &[1, 2]), None);
    assert_eq!(level.choose(&scores[..1], &[7, 8]), Some(0));
    assert!(level.choose(&scores, &[0, u32::MAX, 5]).is_some());
}

/// Uniform numbers of 32 bits: splitmix64.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 32) as u32
    }
}

/// The share of each line in 20,000 choices of the rule.
fn shares(level: Level, scores: &[Score]) -> Vec<f64> {
    let (mut draws, mut counts) = (Draws(1), vec![0.0; scores.len()]);
    for _ in 0..20_000 {
        let draws: Vec<u32> = scores.iter().map(|_| draws.next()).collect();
        counts[level.choose(scores, &draws).unwrap()] += 1.0 / 20_000.0;
    }
    counts
}

/// χ² of counts against shares, over what is expected at least 5 times, and its degrees of freedom.
fn chi_square(counts: &[u32], shares: &[f64]) -> (f64, f64) {
    let total = f64::from(counts.iter().sum::<u32>());
    let expected = shares.iter().map(|share| share * total);
    let cells = counts.iter().zip(expected).filter(|(_, expected)| *expected >= 5.0);
    let terms: Vec<f64> = cells.map(|(count, expected)| (f64::from(*count) - expected).powi(2) / expected).collect();
    (terms.iter().sum(), (terms.len() as f64 - 1.0).max(0.0))
}

/// True if χ² is so large with a probability above that of `deviations` of a normal number (Wilson and Hilferty).
fn is_likely((chi_square, freedom): (f64, f64), deviations: f64) -> bool {
    let variance = 2.0 / (9.0 * freedom);
    ((chi_square / freedom).cbrt() - (1.0 - variance)) / variance.sqrt() < deviations
}

/// p = 0.001.
const DEVIATIONS: f64 = 3.09;

fn sum(all: impl IntoIterator<Item = (f64, f64)>) -> (f64, f64) {
    all.into_iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

#[test]
fn the_rule_chooses_as_often_as_the_engine_did() {
    let Some(text) = golden("board-vs-moves-golden/levels-seen.csv") else { return };
    let mut positions: BTreeMap<(&str, u8), Vec<Vec<&str>>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        positions.entry((fields[0], fields[1].parse().unwrap())).or_default().push(fields);
    }
    assert_eq!(positions.len(), 18);
    let mut levels: BTreeMap<u8, Vec<(f64, f64)>> = BTreeMap::new();
    for ((fen, level), rows) in positions {
        let scores: Vec<Score> = rows.iter().map(|row| score(row[3], row[4].parse().unwrap())).collect();
        let found = shares(Level::new(level, STOCKFISH).unwrap(), &scores);
        for (row, share) in rows.iter().zip(&found) {
            let expected: f64 = row[7].parse().unwrap();
            // Four standard deviations of the difference of two samples of 20,000.
            assert!(
                (expected - share).abs() <= 4.0 * (2.0 * expected * (1.0 - expected) / 20_000.0).sqrt() + 2e-4,
                "{fen} {row:?}"
            );
        }
        let counts: Vec<u32> = rows.iter().map(|row| row[5].parse().unwrap()).collect();
        levels.entry(level).or_default().push(chi_square(&counts, &found));
    }
    for (level, positions) in levels {
        let result = sum(positions);
        assert!(is_likely(result, DEVIATIONS), "level {level}: χ² {result:?}");
    }
}

#[test]
fn the_rule_chooses_as_often_as_the_engine_does() {
    let (Some(program), Some(text)) = (golden_stockfish(), golden("board-vs-moves-golden/labels.csv")) else { return };
    let fens: Vec<&str> = text.lines().skip(1).step_by(40).map(|line| line.split_once(',').unwrap().0).collect();
    for number in [0, 3] {
        let level = Level::new(number, STOCKFISH).unwrap();
        let weakened = [("Skill Level".to_owned(), number.to_string())].into();
        let mut weakened = Engine::start(&program, Settings { options: weakened, ..Settings::default() }).unwrap();
        let full = Settings { lines: Level::LINES, ..Settings::default() };
        let mut full = Engine::start(&program, full).unwrap();
        let results = fens.iter().map(|fen| {
            let root = root(fen);
            let result = full.query(&root, &level.limit()).unwrap();
            let scores: Vec<Score> = result.lines.iter().map(|line| line.score).collect();
            let mut counts = vec![0; scores.len()];
            for _ in 0..60 {
                let best = weakened.query(&root, &level.limit()).unwrap().best;
                counts[result.lines.iter().position(|line| line.moves[0] == best).unwrap()] += 1;
            }
            chi_square(&counts, &shares(level, &scores))
        });
        let result = sum(results);
        // The engine draws by the clock: p = 1e-7, so that the test does not fail by chance.
        assert!(is_likely(result, 5.2), "level {number}: χ² {result:?}");
    }
}

#[test]
fn improbable_counts_are_noticed() {
    // Of tables: χ² of 10, 40 and 100 degrees at p = 0.001 is 29.59, 73.40 and 149.45.
    for (freedom, limit) in [(10.0, 29.59), (40.0, 73.40), (100.0, 149.45)] {
        assert!(is_likely((limit * 0.99, freedom), DEVIATIONS) && !is_likely((limit * 1.01, freedom), DEVIATIONS));
    }
    // 30 and 10 of 40, where 20 of each are expected; the third is expected too seldom.
    assert_eq!(chi_square(&[30, 10, 0], &[0.5, 0.5, 0.0]), (10.0, 1.0));
}
