//! Tests of `shakmaty-uci`, the parser of engines' output: the behaviour that we rely on.

use proptest::prelude::*;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess};
use shakmaty_uci::UciMessage;

use super::support::position;
use crate::search::Reports;
use crate::{Bound, Score, SearchResult};

/// The result that follows from lines, in this position.
fn result(position: &Chess, lines: &[&str]) -> Result<SearchResult, UciMove> {
    let mut reports = Reports::default();
    for line in lines {
        match line.parse() {
            Ok(UciMessage::Info(info)) => reports.push(info),
            Ok(UciMessage::BestMove { best_move, .. }) => return reports.result(position, best_move),
            other => panic!("{line}: {other:?}"),
        }
    }
    panic!("no bestmove")
}

/// Depth, score and bound of each line, and its moves.
fn lines(result: &SearchResult) -> Vec<(u32, Score, Option<Bound>, String)> {
    let words = |moves: &[shakmaty::Move]| {
        let words = moves.iter().map(|made| made.to_uci(CastlingMode::Standard).to_string());
        words.collect::<Vec<_>>().join(" ")
    };
    result.lines.iter().map(|line| (line.depth, line.score, line.bound, words(&line.moves))).collect()
}

#[test]
fn the_score_is_the_last_that_is_exact() {
    let result = result(
        &Chess::default(),
        &[
            "info string NNUE evaluation using nn-ad9b42354671.nnue enabled",
            "info depth 1 seldepth 1 multipv 1 score cp 18 nodes 20 nps 10000 hashfull 0 tbhits 0 time 2 pv e2e4",
            "info depth 2 currmove e2e4 currmovenumber 1",
            "info depth 2 seldepth 2 multipv 1 score mate -3 nodes 40 nps 10000 tbhits 0 time 2 pv d2d4 d7d5",
            "info depth 3 seldepth 2 multipv 1 score cp 46 lowerbound nodes 66 nps 10000 tbhits 0 time 2 pv g1f3",
            "info depth 3 seldepth 2 multipv 1 score cp 40 upperbound nodes 67 nps 10000 tbhits 0 time 2 pv b1c3",
            "info nodes 68 time 2",
            "bestmove g1f3 ponder d7d5",
        ],
    )
    .unwrap();
    assert_eq!(result.best.to_uci(CastlingMode::Standard).to_string(), "g1f3");
    let exact = result.exact.clone().unwrap();
    assert_eq!((exact.depth, exact.score, exact.moves.len()), (2, Score::Mate(-3), 2));
    assert_eq!(lines(&result), [(3, Score::Centipawns(40), Some(Bound::Upper), "b1c3".to_owned())]);
}

#[test]
fn lines_are_those_of_the_last_whole_report() {
    let result = result(
        &Chess::default(),
        &[
            "info depth 1 multipv 1 score cp 3 pv e2e4",
            "info depth 1 multipv 2 score cp 2 pv d2d4",
            "info depth 2 multipv 1 score cp 9 pv d2d4",
            "info depth 1 multipv 2 score cp 3 upperbound pv e2e4",
            "info depth 3 multipv 1 score cp 7 pv c2c4",
            "bestmove c2c4",
        ],
    )
    .unwrap();
    let second = (1, Score::Centipawns(3), Some(Bound::Upper), "e2e4".to_owned());
    assert_eq!(lines(&result), [(2, Score::Centipawns(9), None, "d2d4".to_owned()), second]);
    assert_eq!(result.exact.unwrap().score, Score::Centipawns(7));
}

#[test]
fn castling_is_the_kings_move_however_it_is_written() {
    let board = position("4k3/8/8/8/8/8/8/4K2R w K - 0 1");
    let castle = |word: &str| result(&board, &[&format!("bestmove {word}")]).unwrap().best;
    assert_eq!(castle("e1g1"), castle("e1h1"));
    assert_eq!(castle("e1h1").to_uci(CastlingMode::Standard).to_string(), "e1g1");
}

#[test]
fn a_search_without_scores_has_no_lines() {
    let result = result(&Chess::default(), &["bestmove e2e4"]).unwrap();
    assert_eq!((result.exact, result.lines.len()), (None, 0));
}

/// Words of the protocol, and what is between them.
fn words() -> impl Strategy<Value = String> {
    let known = prop::sample::select(
        "info depth seldepth time nodes pv multipv score cp mate lowerbound upperbound currmove currmovenumber hashfull nps \
         tbhits sbhits cpuload string refutation currline bestmove ponder option name type spin default min max var check \
         combo button id author uciok readyok (none) 0000 e2e4 e7e8q E2E4 a9a1 99999999999999999999 -1 0 7 wdl"
            .split_whitespace()
            .collect::<Vec<_>>(),
    );
    let word = prop_oneof![8 => known.prop_map(str::to_owned), 1 => "\\PC{0,6}"];
    prop::collection::vec(word, 0..30).prop_map(|words| words.join(" "))
}

#[test]
fn the_nodes_are_those_at_which_the_move_was_first_the_best() {
    let held = |best: &str| {
        let best = format!("bestmove {best}");
        let lines = [
            "info depth 1 nodes 20 score cp 30 pv d2d4",
            "info depth 2 nodes 40 score cp 20 pv e2e4",
            "info depth 3 nodes 60 multipv 1 score cp 20 pv d2d4 d7d5",
            "info depth 3 nodes 70 multipv 2 score cp 10 pv e2e4",
            "info depth 4 nodes 90 multipv 1 score cp 20 pv d2d4",
            "info depth 4 nodes 91 multipv 2 score cp 20 pv e2e4",
            best.as_str(),
        ];
        result(&Chess::default(), &lines).unwrap().best_since_nodes
    };
    assert_eq!([held("d2d4"), held("e2e4")], [Some(60), None]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_line_makes_the_parser_panic(words in words(), bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let mut reports = Reports::default();
        let prefixed = [format!("info {words}"), format!("option name {words}"), format!("bestmove {words}")];
        for line in prefixed.into_iter().chain([words, String::from_utf8_lossy(&bytes).into_owned()]) {
            if let Ok(UciMessage::Info(info)) = line.parse() {
                reports.push(info);
            }
        }
        let best = UciMove::from_ascii(b"e2e4").unwrap();
        if let Ok(result) = reports.result(&Chess::default(), best) {
            prop_assert!(result.lines.iter().all(|line| line.depth <= 255));
        }
    }
}
