use std::collections::{HashMap, HashSet};
use std::convert::Infallible;

use serde::Deserialize;
use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{Color, EnPassantMode};

use super::*;
use crate::golden;
use crate::pieces::uci;

#[derive(Deserialize)]
struct GoldenNode {
    #[serde(rename = "move")]
    played: String,
    depth: u8,
    score: i32,
    minimax: i32,
    children: Vec<GoldenNode>,
    #[serde(default)]
    lines: Vec<(String, i32)>,
}

#[derive(Deserialize)]
struct Golden {
    fen: String,
    root_lines: Vec<(String, i32)>,
    roots: Vec<GoldenNode>,
    answer: String,
    text: String,
}

fn legal(position: &Chess, uci: &str) -> Move {
    uci.parse::<UciMove>().unwrap().to_move(position).unwrap()
}

fn fen(position: &Chess) -> String {
    Fen::from_position(position, EnPassantMode::Legal).to_string()
}

/// Lines with the root player's values, and the moves that were drawn of them.
type Looked<'a> = (&'a [(String, i32)], Vec<&'a str>);

/// The lines and the drawn moves of a golden search, by FEN.
struct GoldenSearch<'a> {
    root_player: Color,
    of: HashMap<String, Looked<'a>>,
}

impl<'a> GoldenSearch<'a> {
    fn new(golden: &'a Golden) -> GoldenSearch<'a> {
        let position = golden::position(&golden.fen);
        let mut search = GoldenSearch { root_player: position.turn(), of: HashMap::new() };
        search.add(&position, &golden.root_lines, &golden.roots);
        search
    }

    fn add(&mut self, position: &Chess, lines: &'a [(String, i32)], children: &'a [GoldenNode]) {
        self.of.insert(fen(position), (lines, children.iter().map(|child| &*child.played).collect()));
        for child in children {
            let mut after = position.clone();
            after.play_unchecked(legal(position, &child.played));
            self.add(&after, &child.lines, &child.children);
        }
    }
}

impl MoveSource for GoldenSearch<'_> {
    type Error = Infallible;

    fn lines(&mut self, position: &Chess) -> Result<Vec<ScoredMove>, Infallible> {
        let sign = if position.turn() == self.root_player { 1 } else { -1 };
        let scored =
            |(uci, value): &(String, i32)| ScoredMove { played: legal(position, uci), centipawns: sign * value };
        Ok(self.of[&fen(position)].0.iter().map(scored).collect())
    }

    fn drawn(&mut self, position: &Chess, lines: &[ScoredMove], _: &Rule) -> Vec<usize> {
        let drawn = &self.of[&fen(position)].1;
        drawn.iter().map(|drawn| lines.iter().position(|line| uci(line.played) == **drawn).unwrap()).collect()
    }
}

fn assert_same(node: &Node, golden: &GoldenNode) {
    let found = (uci(node.played), node.depth, node.score, node.minimax, node.children.len());
    assert_eq!(found, (golden.played.clone(), golden.depth, golden.score, golden.minimax, golden.children.len()));
    node.children.iter().zip(&golden.children).for_each(|(node, golden)| assert_same(node, golden));
}

#[test]
fn golden_searches() {
    let Some(rows) = golden::lines::<Golden>("searches.jsonl") else { return };
    assert!(!rows.is_empty());
    for row in rows {
        let position = golden::position(&row.fen);
        let roots = tree::roots(&position, &mut GoldenSearch::new(&row)).unwrap();
        assert_eq!(roots.len(), row.roots.len());
        roots.iter().zip(&row.roots).for_each(|(node, golden)| assert_same(node, golden));
        let best = tree::best(&roots).unwrap();
        assert_eq!(uci(best.played), row.answer);
        // In the golden texts no root move far behind the best has its lines.
        let text = text::target(&roots, best, &Wording::Plain.phrases(), 0., &mut RandomChoices::new("test", 0, 0));
        assert_eq!(text, row.text);
    }
}

/// Two moves of every position, all equally good.
struct Level;

impl MoveSource for Level {
    type Error = Infallible;

    fn lines(&mut self, position: &Chess) -> Result<Vec<ScoredMove>, Infallible> {
        Ok(position.legal_moves().into_iter().map(|played| ScoredMove { played, centipawns: 0 }).collect())
    }

    fn drawn(&mut self, _: &Chess, _: &[ScoredMove], _: &Rule) -> Vec<usize> {
        vec![0, 1]
    }
}

#[test]
fn a_window_that_is_closed_cuts() {
    let roots = tree::roots(&Chess::default(), &mut Level).unwrap();
    let replies = |root: &Node| root.children.iter().map(|reply| reply.children.len()).collect::<Vec<_>>();
    // The second reply cannot be better for the opponent than the first once one own move is as good.
    assert_eq!(roots.iter().map(replies).collect::<Vec<_>>(), [[2, 1], [2, 1]]);
}

/// Values made of the moves' own names: any will do for the form of a text.
fn made_up(position: &Chess) -> Result<Vec<ScoredMove>, Infallible> {
    let value = |played: &Move| {
        let name = format!("{}{}", fen(position), uci(*played));
        name.bytes().fold(7_i32, |sum, byte| (sum * 31 + i32::from(byte)) % 601) - 300
    };
    Ok(position.legal_moves().into_iter().map(|played| ScoredMove { played, centipawns: value(&played) }).collect())
}

/// The value that a text must give a move of `position`, for the side that moves at the root.
fn expected_value(position: &Chess, played: Move, root_player: Color) -> i32 {
    let mut after = position.clone();
    after.play_unchecked(played);
    match GameState::from(after.clone()).ending(&after.legal_moves(), DrawRules::Claimable) {
        Some(cwm_game::Ending::Checkmate) => {
            if position.turn() == root_player {
                MATE
            } else {
                -MATE
            }
        }
        Some(_) => 0,
        None => {
            let line = made_up(position).unwrap().into_iter().find(|line| line.played == played).unwrap();
            if position.turn() == root_player { line.centipawns } else { -line.centipawns }
        }
    }
}

/// Checks the text by itself: a move is legal after the last one of the depth above, its value is the engine's, and the answer has
/// the greatest minimax of the root moves. Returns the values that were checked.
fn check_text(position: &Chess, text: &str, answer: &str) -> usize {
    let thoughts = text.split_once("<think> ").unwrap().1.split_once(" </think>").unwrap().0;
    assert!(text.ends_with(&format!("</think>\n\n<answer> {answer} </answer>")), "{text}");
    let (thoughts, last) = thoughts.rsplit_once("\n\n").unwrap();
    // The position in which the moves of each depth are made.
    let mut positions = vec![position.clone()];
    let (mut root, mut roots, mut checked) = (String::new(), Vec::new(), 0);
    for line in thoughts.lines() {
        let depth = line.matches("| ").count();
        let mut last_move = None;
        for token in line.split_inclusive([')', ']']) {
            if let Some(uci) = token.strip_suffix(')').and_then(|token| token.rsplit('(').next()) {
                last_move = Some(legal(&positions[depth], uci));
            } else if let Some((_, value)) = token.trim_end_matches(']').split_once("[v") {
                let played = last_move.unwrap();
                let expected = expected_value(&positions[depth], played, position.turn());
                assert_eq!(value, format!("{expected:+}"), "{} in {text}", uci(played));
                let mut after = positions[depth].clone();
                after.play_unchecked(played);
                positions.truncate(depth + 1);
                positions.push(after);
                checked += 1;
                if depth == 0 {
                    root = uci(played);
                }
            } else if let (0, Some((_, value))) = (depth, token.trim_end_matches(']').split_once("[mm")) {
                roots.push((root.clone(), value.parse::<i32>().unwrap()));
            }
        }
    }
    let greatest = roots.iter().map(|(_, minimax)| *minimax).max().unwrap();
    assert_eq!(roots.iter().find(|(_, minimax)| *minimax == greatest).unwrap().0, answer, "{text}");
    assert!(last.contains(&format!("({answer})")) && last.contains(&format!("[mm{greatest:+}]")), "{text}");
    checked
}

#[test]
fn varied_texts_name_legal_moves_and_the_best_of_them() {
    let Some(fens) = golden::fens() else { return };
    let (mut texts, mut checked) = (HashSet::new(), 0);
    for (at, fen) in fens.iter().enumerate() {
        let position = golden::position(fen);
        for seed in 0..20 {
            let mut draws = RandomChoices::new("verbalised", seed, at as u64);
            let built = verbalised(&position, BoardForm::UniformVisual, Wording::Varied, &mut draws, made_up).unwrap();
            let Some(built) = built else {
                assert!(
                    GameState::from(position.clone()).ending(&position.legal_moves(), DrawRules::Claimable).is_some()
                );
                continue;
            };
            assert!(built.contradicted <= built.nodes && built.nodes <= 21);
            let text = built.example.target();
            checked += check_text(&position, text, built.example.meta.text("move").unwrap());
            assert!(!text.contains(['{', '}']), "{text}");
            texts.insert(text.to_owned());
        }
    }
    assert!(texts.len() > 1_000 && checked > 5_000, "{} texts, {checked} values", texts.len());
}
