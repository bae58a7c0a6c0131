//! Verdicts and rewards.

use crate::reading::{ReadAnswer, ReadingRule};
use crate::values::{Scaling, Values};

/// The options of rewards; the default is the published way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RewardOptions {
    /// The rule by which the answer is found.
    pub reading: ReadingRule,
    /// The scale of rewards of legal moves.
    pub scaling: Scaling,
    /// A legal move whose reward is below this gets 0.
    pub cut: f64,
}

impl Default for RewardOptions {
    fn default() -> Self {
        RewardOptions { reading: ReadingRule::Release, scaling: Scaling::Normalise, cut: 0.3 }
    }
}

/// The verdict on an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AnswerVerdict {
    /// The candidate that was wanted.
    Right,
    /// Another candidate.
    Wrong,
    /// A text that is no candidate.
    NotACandidate,
    /// A legal move.
    Legal,
    /// A text that is no legal move.
    Illegal,
    /// A list.
    Scored,
    /// No answer was found.
    Unreadable,
}

impl AnswerVerdict {
    /// The name in grades.
    pub fn name(self) -> &'static str {
        match self {
            AnswerVerdict::Right => "right",
            AnswerVerdict::Wrong => "wrong",
            AnswerVerdict::NotACandidate => "not_a_candidate",
            AnswerVerdict::Legal => "legal",
            AnswerVerdict::Illegal => "illegal",
            AnswerVerdict::Scored => "scored",
            AnswerVerdict::Unreadable => "unreadable",
        }
    }
}

/// A judged answer.
#[derive(Clone, Debug, PartialEq)]
pub struct VerifiedAnswer {
    /// The answer that was read.
    pub read: Option<ReadAnswer>,
    /// The verdict on it.
    pub verdict: AnswerVerdict,
    /// The rank of a legal move among all (1 is the best), 1 for the candidate that was wanted and 0 for any other answer, or the
    /// intersection of the list with the true one by their union; none where one move is wanted and none that is legal was read.
    pub score: Option<f64>,
    /// The reward.
    pub reward: f64,
}

/// The verdict, the score and the reward where any legal move may be answered.
pub(crate) fn of_move(
    values: &Values,
    read: Option<&str>,
    options: &RewardOptions,
) -> (AnswerVerdict, Option<f64>, f64) {
    let Some(uci) = read else { return (AnswerVerdict::Unreadable, None, -0.5) };
    let Some(at) = values.place(uci) else { return (AnswerVerdict::Illegal, None, -0.2) };
    (AnswerVerdict::Legal, Some(values.rank(at)), values.scaled(at, options.scaling, options.cut))
}

/// The verdict, the score and the reward where one of `candidates` is wanted.
pub(crate) fn of_candidate(answer: &str, candidates: &[String], read: Option<&str>) -> (AnswerVerdict, f64, f64) {
    match read {
        None => (AnswerVerdict::Unreadable, 0., -0.2),
        Some(read) if read == answer => (AnswerVerdict::Right, 1., 1.),
        Some(read) if candidates.iter().any(|candidate| candidate == read) => (AnswerVerdict::Wrong, 0., 0.),
        Some(_) => (AnswerVerdict::NotACandidate, 0., -0.2),
    }
}

/// The verdict and the score, which is the reward, where the list `truth` is wanted: its intersection with the answer by their
/// union. A move that is answered again counts as a false one.
pub(crate) fn of_list(truth: &[String], read: Option<&[String]>) -> (AnswerVerdict, f64) {
    let Some(read) = read else { return (AnswerVerdict::Unreadable, 0.) };
    let found = truth.iter().filter(|uci| read.contains(uci)).count();
    let union = truth.len() + read.len() - found;
    (AnswerVerdict::Scored, found as f64 / union as f64)
}
