//! A search in words.

use super::phrases::Phrases;
use super::tree::Node;
use crate::draws::RandomChoices;
use crate::pieces::{move_in_words, uci};

/// The centipawns that a root move may be behind the best one before its lines are left out.
const ROOT_PRUNING_MARGIN: i32 = 100;

/// The centipawns that a move may be behind the best of its position before its lines are left out.
const PRUNING_MARGIN: i32 = 60;

/// The assistant's text: the search between thinking tags, and the move of `best` between answer tags. A root move far
/// behind the best has its lines all the same with the probability `weak_root_lines`.
pub(super) fn target(
    roots: &[Node],
    best: &Node,
    phrases: &Phrases,
    weak_root_lines: f64,
    draws: &mut RandomChoices,
) -> String {
    let mut paragraphs = Vec::with_capacity(roots.len() + 1);
    let opening = phrase(phrases.opening, draws).to_owned();
    for root in roots {
        let mut thoughts = SearchWriter { phrases, draws, sentences: Vec::new() };
        thoughts.root(root, best.minimax, weak_root_lines);
        paragraphs.push(thoughts.text());
    }
    let last = filled(phrase(phrases.last, draws), &[("move", &in_words(best)), ("value", &minimax(best))]);
    paragraphs.push(last);
    format!("{opening}\n<think> {} </think>\n\n<answer> {} </answer>", paragraphs.join("\n\n"), uci(best.played))
}

struct SearchWriter<'a> {
    phrases: &'a Phrases,
    draws: &'a mut RandomChoices,
    /// Each with its depth.
    sentences: Vec<(u8, String)>,
}

impl SearchWriter<'_> {
    fn root(&mut self, root: &Node, best: i32, weak_root_lines: f64) {
        self.sentence(0, self.phrases.root_considered, &[("move", &in_words(root)), ("value", &value(root))]);
        if root.minimax < best - ROOT_PRUNING_MARGIN && !self.draws.chance(weak_root_lines) {
            self.sentence(0, self.phrases.root_written_off, &[("value", &minimax(root))]);
            return;
        }
        self.below(root);
        let board = (self.phrases.board_value)(root.minimax, self.draws);
        self.sentences.push((0, filled(board, &[("value", &minimax(root))])));
    }

    /// The lines below a node, and the best of its children if several were followed to their ends.
    fn below(&mut self, node: &Node) {
        let mut followed = 0;
        for (at, child) in node.children.iter().enumerate() {
            let slot = match (child.is_own(), at) {
                (true, 0) => self.phrases.own_first,
                (true, _) => self.phrases.own_sibling,
                (false, 0) => self.phrases.opponent_first,
                (false, _) => self.phrases.opponent_sibling,
            };
            self.sentence(child.depth, slot, &[("move", &in_words(child)), ("value", &value(child))]);
            if child.is_own() && child.minimax < node.minimax - PRUNING_MARGIN {
                self.sentence(child.depth, self.phrases.own_pruned, &[]);
            } else if !child.is_own() && child.minimax > node.minimax + PRUNING_MARGIN {
                self.sentence(child.depth, self.phrases.opponent_pruned, &[]);
            } else {
                self.below(child);
                followed += 1;
            }
        }
        let best = node.children.iter().find(|child| child.minimax == node.minimax);
        if let Some(best) = best.filter(|_| followed > 1) {
            let is_branch = node.children.iter().any(|child| !child.children.is_empty());
            let slot = match (best.is_own(), is_branch) {
                (true, false) => self.phrases.own_best_leaf,
                (true, true) => self.phrases.own_best_branch,
                (false, false) => self.phrases.opponent_best_leaf,
                (false, true) => self.phrases.opponent_best_branch,
            };
            let moves = node.children.iter().map(|child| uci(child.played)).collect::<Vec<_>>().join(" and ");
            let slots = [("moves", &*moves), ("move", &in_words(best)), ("value", &minimax(best))];
            self.sentence(best.depth, slot, &slots);
        }
    }

    fn sentence(&mut self, depth: u8, slot: &'static [&'static str], slots: &[(&str, &str)]) {
        let sentence = filled(phrase(slot, self.draws), slots);
        self.sentences.push((depth, sentence));
    }

    /// Sentences of one depth in a row are one line, with `| ` before it once for each depth.
    fn text(self) -> String {
        let mut text = String::new();
        let mut last = None;
        for (depth, sentence) in self.sentences {
            if last == Some(depth) {
                text.push(' ');
            } else {
                text.push_str(if last.is_some() { "\n" } else { "" });
                text.push_str(&"| ".repeat(depth.into()));
            }
            text.push_str(&sentence);
            last = Some(depth);
        }
        text
    }
}

fn in_words(node: &Node) -> String {
    move_in_words(&node.before, node.played)
}

/// The engine's value of the move.
fn value(node: &Node) -> String {
    format!("[v{:+}]", node.score)
}

fn minimax(node: &Node) -> String {
    format!("[mm{:+}]", node.minimax)
}

/// One of the phrases of a slot.
fn phrase(slot: &'static [&'static str], draws: &mut RandomChoices) -> &'static str {
    draws.one_of(slot).copied().unwrap_or_default()
}

fn filled(phrase: &str, slots: &[(&str, &str)]) -> String {
    slots.iter().fold(phrase.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}
