//! Judges answers to an item: the published verdict, and whether a chess player would be right.

use cwm_contract::Failure;

use crate::form::{AnswerType, Form};
use crate::item::Item;
use crate::reading::{Answer, extract, final_answer, is_none, read_answer};
use crate::truth::{Keys, Position, key};
use crate::verdict::{Length, PublishedVerdict, verdict};

/// An item, with what is needed to judge any number of answers to it.
pub struct Judge<'i> {
    item: &'i Item,
    /// None of an item whose task is not known.
    sound: Option<SoundKey>,
}

struct SoundKey {
    form: Form,
    /// The position of items whose answers are moves.
    position: Option<Position>,
    /// All that is true, or of [`Form::Move`] all moves of which each is.
    key: Answer,
}

/// The judgement of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The text of the answer by the published rule.
    pub extracted: Option<String>,
    /// The published verdict.
    pub verdict: PublishedVerdict,
    /// True if the answer is that of a chess player who follows the prompt; none if it cannot be read, or the task is
    /// not known.
    pub sound: Option<bool>,
    /// The fault of a wrong move.
    pub fault: Option<MoveFault>,
}

/// The fault of a wrong move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MoveFault {
    /// A move that is not legal.
    IllegalMove,
    /// No move.
    NotAMove,
    /// Another legal move than the right one.
    LegalButWrong,
    /// The answer that there is no move.
    NoMove,
}

impl MoveFault {
    /// The name in grades.
    pub fn name(self) -> &'static str {
        match self {
            MoveFault::IllegalMove => "illegal_move",
            MoveFault::NotAMove => "not_a_move",
            MoveFault::LegalButWrong => "legal_but_wrong",
            MoveFault::NoMove => "says_none",
        }
    }
}

impl<'i> Judge<'i> {
    /// A judge of answers to `item`.
    ///
    /// # Errors
    ///
    /// The item is graded; or its task is known, and its input, its metadata or its key is not what the task needs.
    pub fn new(item: &'i Item) -> Result<Self, Failure> {
        if item.answer_type == AnswerType::Graded {
            return Err(Failure::input(format!("{}: a graded item has no key to compare answers with", item.task_id)));
        }
        let sound = item.task().map(|task| SoundKey::new(item, task.form())).transpose()?;
        Ok(Judge { item, sound })
    }

    /// Judges the text of an answer.
    pub fn judge(&self, response: &str, length: Length) -> Judgement {
        let extracted = extract(response);
        let verdict = verdict(extracted.as_deref(), &self.item.correct_answer, self.item.answer_type, length);
        let text = self.sound.as_ref().and_then(|_| final_answer(response));
        let (sound, fault) = match (&self.sound, &text) {
            (Some(sound), Some(text)) => sound.judge(text),
            _ => (None, None),
        };
        Judgement { extracted, verdict, sound, fault: fault.filter(|_| verdict == PublishedVerdict::WrongAnswer) }
    }

    /// The accuracy that chance has: one of the legal moves, or of the options; 0 where there are none to choose among.
    pub fn chance(&self) -> f64 {
        let options = match &self.sound {
            Some(SoundKey { form: Form::Move, position, .. }) => {
                position.as_ref().map(|position| position.moves().len())
            }
            Some(SoundKey { form: Form::Centipawns | Form::Letter, .. }) => {
                self.item.metadata.get("options").and_then(|options| Some(options.as_array()?.len()))
            }
            _ => None,
        };
        options.filter(|options| *options > 0).map_or(0.0, |options| 1.0 / options as f64)
    }
}

impl SoundKey {
    fn new(item: &Item, form: Form) -> Result<Self, Failure> {
        let asks_for_moves = matches!(form, Form::Move | Form::Moves);
        let position = asks_for_moves.then(|| Position::of_fen(&item.input)).transpose();
        let position = position.map_err(|wrong| Failure::input(format!("{}: {wrong}", item.task_id)))?;
        // What input and metadata do not decide, the item does.
        let key = key(item, Keys::Sound)?.unwrap_or_else(|| item.correct_answer.clone());
        let key = match key.is_empty() {
            true => Answer::new(),
            false => read_answer(form, &key, position.as_ref()).ok_or_else(|| {
                Failure::input(format!("{}: its key {key:?} is not the answer to a question of its task", item.task_id))
            })?,
        };
        Ok(SoundKey { form, position, key })
    }

    fn judge(&self, text: &str) -> (Option<bool>, Option<MoveFault>) {
        if self.key.is_empty() && is_none(text) {
            return (Some(true), None);
        }
        let answer = read_answer(self.form, text, self.position.as_ref());
        let is_right = |answer: &Answer| match self.form {
            Form::Move => answer.len() == 1 && answer.is_subset(&self.key),
            _ => *answer == self.key,
        };
        let sound = answer.as_ref().map(is_right);
        let fault = match (self.form, &self.position, answer) {
            (Form::Move, Some(position), answer) if sound != Some(true) => Some(match answer {
                None if is_none(text) => MoveFault::NoMove,
                Some(moves) if moves.len() == 1 => match moves.iter().all(|one| is_legal(position, one)) {
                    true => MoveFault::LegalButWrong,
                    false => MoveFault::IllegalMove,
                },
                _ => MoveFault::NotAMove,
            }),
            _ => None,
        };
        (sound, fault)
    }
}

fn is_legal(position: &Position, uci: &str) -> bool {
    position.moves().iter().any(|played| shakmaty::uci::UciMove::from_standard(*played).to_string() == uci)
}
