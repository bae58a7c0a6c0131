//! A judge's answer about an output.

use std::fmt;

use cwm_contract::Failure;
use cwm_questions::truth::chess_of_fen;
use cwm_questions::{Item, is_space};
use shakmaty::Chess;

use super::JudgeTask;
use super::item::output_of;
use crate::claims::{ClaimRule, Claims, claims};
use crate::reading::{Literal, last_answer, literal};

/// The criteria that have points, in their order.
const POINTS: [&str; 3] = ["efficacy", "efficiency", "faithfulness"];

/// The most points.
const MAX_POINTS: u8 = 10;

/// The strategies, in their order.
const STRATEGIES: [&str; 6] =
    ["enumeration", "tree_search", "backtracking", "self_correction", "subgoal_setting", "verification"];

/// A judge's answer, read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JudgeScores {
    /// Points of efficacy, efficiency and faithfulness, from 1 to 10.
    Quality([u8; 3]),
    /// True for each that is there: enumeration, tree search, backtracking, self correction, subgoal setting,
    /// verification.
    Strategies([bool; 6]),
    /// The number of moves and pieces that the output names.
    Claims {
        /// All of them.
        all: u64,
        /// The number of them that are true in the item's position.
        are_true: u64,
    },
}

impl JudgeScores {
    /// A number from 0 to 1: the mean of the points by 10, the share of the strategies, or that of true claims; none without a
    /// claim.
    pub fn score(&self) -> Option<f64> {
        let share = |count: u64, all: u64| (all > 0).then(|| count as f64 / all as f64);
        match *self {
            JudgeScores::Quality(points) => share(sum(points), u64::from(MAX_POINTS) * 3),
            JudgeScores::Strategies(present) => share(present.into_iter().map(u64::from).sum(), 6),
            JudgeScores::Claims { all, are_true } => share(are_true, all),
        }
    }

    /// Its measures by name, each with a numerator and a denominator. The measure of several answers is the sum of the
    /// numerators divided by that of the denominators. Points are divided by 10.
    pub fn measures(&self) -> Vec<(String, [f64; 2])> {
        match *self {
            JudgeScores::Quality(points) => {
                let each = POINTS.into_iter().zip(points.map(|points| f64::from(points) / f64::from(MAX_POINTS)));
                let mean = sum(points) as f64 / (f64::from(MAX_POINTS) * 3.);
                each.chain([("quality", mean)]).map(|(name, value)| (name.to_owned(), [value, 1.])).collect()
            }
            JudgeScores::Strategies(present) => {
                let each = STRATEGIES.into_iter().zip(present);
                each.map(|(name, is)| (format!("strategy_{name}"), [f64::from(u8::from(is)), 1.])).collect()
            }
            JudgeScores::Claims { all, are_true } => {
                vec![("judged_accuracy".to_owned(), [are_true as f64, all as f64])]
            }
        }
    }
}

fn sum(points: [u8; 3]) -> u64 {
    points.into_iter().map(u64::from).sum()
}

impl fmt::Display for JudgeScores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JudgeScores::Quality([efficacy, efficiency, faithfulness]) => {
                write!(f, "efficacy {efficacy}, efficiency {efficiency}, faithfulness {faithfulness}")
            }
            JudgeScores::Strategies(present) => {
                let names = STRATEGIES.iter().zip(present).filter(|(_, is)| **is).map(|(name, _)| *name);
                let names: Vec<&str> = names.collect();
                f.write_str(if names.is_empty() { "none" } else { "" })?;
                f.write_str(&names.join(", "))
            }
            JudgeScores::Claims { all, are_true } => write!(f, "{are_true} of {all} claims are true"),
        }
    }
}

/// Reads any number of answers to an item of a judge.
#[derive(Clone, Debug)]
pub struct JudgeReader {
    task: JudgeTask,
    position: Chess,
    /// The output that is judged, with single spaces.
    output: String,
}

impl JudgeReader {
    /// A reader of answers to `item`.
    ///
    /// # Errors
    ///
    /// The item's task is none of a judge, its input is no position, its metadata do not name the judged answer, or its
    /// question has no output between fences.
    pub fn new(item: &Item) -> Result<JudgeReader, Failure> {
        JudgeReader::of_item(item).map_err(|wrong| Failure::input(format!("{}: {wrong}", item.task_id)))
    }

    fn of_item(item: &Item) -> Result<JudgeReader, String> {
        let task = JudgeTask::of_name(&item.task_type);
        let task = task.ok_or_else(|| format!("the task {:?} is none of a judge", item.task_type))?;
        let (position, _) = chess_of_fen(&item.input)?;
        if let Some(missing) = ["of", "task", "run"].into_iter().find(|name| item.metadata.text(name).is_none()) {
            return Err(format!("its metadata lack the text `{missing}`"));
        }
        let output = output_of(&item.question).ok_or("its question has no output between lines of equals signs")?;
        Ok(JudgeReader { task, position, output: folded(output) })
    }

    /// Reads a judge's text; none if it cannot be read. The answer is a dictionary in Python's syntax within the last answer tags;
    /// further names in it do not matter, and the last of equal ones counts.
    pub fn read(&self, text: &str) -> Option<JudgeScores> {
        let Literal::Dictionary(entries) = literal(last_answer(text)?)? else { return None };
        let entry = |wanted: &str| entries.iter().rev().find(|(name, _)| name == wanted).map(|(_, value)| value);
        Some(match self.task {
            JudgeTask::Quality => {
                let points = |name| match entry(name)? {
                    Literal::Whole(points) => {
                        u8::try_from(*points).ok().filter(|points| (1..=MAX_POINTS).contains(points))
                    }
                    _ => None,
                };
                JudgeScores::Quality(all_of(POINTS.map(points))?)
            }
            JudgeTask::Strategies => {
                let is_present = |name| match entry(name)? {
                    Literal::Text(quotation) => Some(self.has(quotation)),
                    Literal::Nothing => Some(false),
                    _ => None,
                };
                JudgeScores::Strategies(all_of(STRATEGIES.map(is_present))?)
            }
            JudgeTask::Claims => {
                let texts = |name| match entry(name)? {
                    // A comma between two texts keeps a claim from going on in the next.
                    Literal::List(texts) => {
                        Some(texts.iter().map(Option::as_deref).collect::<Option<Vec<_>>>()?.join(", "))
                    }
                    _ => None,
                };
                let named = |text: &str| claims(&self.position, text, ClaimRule::Position);
                let moves = named(&texts("moves")?).moves;
                let found = Claims { moves, pieces: named(&texts("pieces")?).pieces };
                let all = found.moves.len() + found.pieces.len();
                JudgeScores::Claims { all: all as u64, are_true: (found.true_moves() + found.true_pieces()) as u64 }
            }
        })
    }

    /// Returns true if the output has this quotation; an empty one is none.
    fn has(&self, quotation: &str) -> bool {
        let quotation = folded(quotation);
        !quotation.is_empty() && self.output.contains(&quotation)
    }
}

/// All values, if none is missing.
fn all_of<T: Copy + Default, const N: usize>(values: [Option<T>; N]) -> Option<[T; N]> {
    values.iter().all(Option::is_some).then(|| values.map(Option::unwrap_or_default))
}

/// The words of a text with single spaces.
fn folded(text: &str) -> String {
    let words: Vec<&str> = text.split(is_space).filter(|word| !word.is_empty()).collect();
    words.join(" ")
}
