//! Judges answers to an item of one of the four tasks.

use cwm_contract::Failure;
use cwm_encoding::PlainMove;
use cwm_questions::truth::chess_of_fen;
use cwm_questions::{AnswerType, Item};
use shakmaty::{Chess, Position};

use crate::claims::{ClaimRule, Claims, claims};
use crate::measures::MoveMeasures;
use crate::reading::{ReadAnswer, read};
use crate::reward::{self, RewardOptions, VerifiedAnswer};
use crate::task::ReasoningTask;
use crate::values::Values;

/// Judges any number of answers to an item.
#[derive(Clone, Debug)]
pub struct Verifier {
    task: ReasoningTask,
    position: Chess,
    truth: Truth,
    values: Option<Values>,
}

#[derive(Clone, Debug)]
enum Truth {
    /// Any legal move, by its value.
    Values(Values),
    /// One of the candidates.
    OneOf { answer: String, candidates: Vec<String> },
    /// A list of moves.
    List(Vec<String>),
}

impl Verifier {
    /// A verifier of answers to `item`.
    ///
    /// # Errors
    ///
    /// The item is not graded, its task is not one of the four, its input is no position, or its key or its metadata is not what
    /// the task needs.
    pub fn new(item: &Item) -> Result<Verifier, Failure> {
        Verifier::of_item(item).map_err(|wrong| Failure::input(format!("{}: {wrong}", item.task_id)))
    }

    fn of_item(item: &Item) -> Result<Verifier, String> {
        let task = ReasoningTask::of_name(&item.task_type).ok_or_else(|| {
            let names = ReasoningTask::ALL.map(ReasoningTask::name).join(", ");
            format!("an item of {:?} is not graded; graded are those of {names}", item.task_type)
        })?;
        if item.answer_type != AnswerType::Graded {
            return Err("the item is not graded: its `answer_type` must be `graded`".to_owned());
        }
        let (position, _) = chess_of_fen(&item.input)?;
        let mut legal: Vec<String> =
            position.legal_moves().iter().map(|played| PlainMove::from(*played).to_string()).collect();
        legal.sort_unstable();
        let values = item.metadata.get("values").map(|values| Values::of_json(values, &legal)).transpose()?;
        let truth = match task {
            ReasoningTask::PredictMove => Truth::Values(values.clone().ok_or("its metadata lack `values`")?),
            ReasoningTask::BestMove | ReasoningTask::WorstMove => one_of(item, &legal)?,
            ReasoningTask::LegalMoves => Truth::List(moves_of_a_piece(&item.correct_answer, &legal)?),
        };
        Ok(Verifier { task, position, truth, values })
    }

    /// The item's task.
    pub fn task(&self) -> ReasoningTask {
        self.task
    }

    /// The values of the legal moves; an item of [`ReasoningTask::PredictMove`] has them.
    pub fn values(&self) -> Option<&Values> {
        self.values.as_ref()
    }

    /// The moves that can be right: all legal ones, the candidates, or the true list.
    pub fn choices(&self) -> Vec<&str> {
        match &self.truth {
            Truth::Values(values) => values.iter().map(|(uci, _)| uci).collect(),
            Truth::OneOf { candidates: moves, .. } | Truth::List(moves) => moves.iter().map(String::as_str).collect(),
        }
    }

    /// The accuracy of a choice by chance: the share of the choices that are right; 0 where a list is wanted.
    pub fn chance(&self) -> f64 {
        match &self.truth {
            Truth::Values(values) => {
                let best = values.best().1;
                values.iter().filter(|(_, win)| *win == best).count() as f64 / values.len() as f64
            }
            Truth::OneOf { candidates, .. } => 1. / candidates.len() as f64,
            Truth::List(_) => 0.,
        }
    }

    /// Judges the text of an answer.
    pub fn judge(&self, text: &str, options: &RewardOptions) -> VerifiedAnswer {
        let read = read(text, self.task.wants_a_list(), options.reading);
        let (one, list) = match &read {
            Some(ReadAnswer::Move(one)) => (Some(one.as_str()), None),
            Some(ReadAnswer::Moves(list)) => (None, Some(list.as_slice())),
            None => (None, None),
        };
        let (verdict, score, reward) = match &self.truth {
            Truth::Values(values) => reward::of_move(values, one, options),
            Truth::OneOf { answer, candidates } => {
                let (verdict, score, reward) = reward::of_candidate(answer, candidates, one);
                (verdict, Some(score), reward)
            }
            Truth::List(truth) => {
                let (verdict, score) = reward::of_list(truth, list);
                (verdict, Some(score), score)
            }
        };
        VerifiedAnswer { read, verdict, score, reward }
    }

    /// The measures of the answered move; each is none if no legal move was answered, or if the task is not
    /// [`ReasoningTask::PredictMove`].
    pub fn measures(&self, judged: &VerifiedAnswer) -> MoveMeasures {
        match (&self.truth, &judged.read) {
            (Truth::Values(values), Some(ReadAnswer::Move(uci))) => MoveMeasures::of(values, uci),
            _ => MoveMeasures::default(),
        }
    }

    /// The claims of the text about the item's position before its answer.
    pub fn claims(&self, text: &str, rule: ClaimRule) -> Claims {
        claims(&self.position, text, rule)
    }
}

/// The candidates, among which the key is.
fn one_of(item: &Item, legal: &[String]) -> Result<Truth, String> {
    let candidates = item.metadata.get("candidates").and_then(|candidates| candidates.as_array());
    let candidates = candidates.ok_or("its metadata lack the list `candidates`")?;
    let text = |candidate: &serde_json::Value| candidate.as_str().map(str::to_owned);
    let candidates: Vec<String> =
        candidates.iter().map(text).collect::<Option<_>>().ok_or("its `candidates` are not texts")?;
    if let Some(illegal) = candidates.iter().find(|candidate| !legal.contains(candidate)) {
        return Err(format!("its candidate {illegal:?} is not legal"));
    }
    if !candidates.contains(&item.correct_answer) {
        return Err(format!("its key {:?} is not among its `candidates`", item.correct_answer));
    }
    Ok(Truth::OneOf { answer: item.correct_answer.clone(), candidates })
}

/// The moves of the key, which are all legal moves of a piece.
fn moves_of_a_piece(key: &str, legal: &[String]) -> Result<Vec<String>, String> {
    let mut moves: Vec<String> = key.split(", ").map(str::to_owned).collect();
    moves.sort_unstable();
    let origin = |uci: &String| uci.get(..2).map(str::to_owned);
    let square = moves.first().and_then(origin);
    let of_piece: Vec<&String> = legal.iter().filter(|uci| origin(uci) == square).collect();
    if !moves.iter().eq(of_piece) {
        return Err(format!("its key {key:?} is not the list of all legal moves of a piece"));
    }
    Ok(moves)
}

#[cfg(test)]
mod tests;
