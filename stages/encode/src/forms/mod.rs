//! The forms of sequences.
//!
//! A new form is one file beside this one, one `mod` line and one line in [`FORMS`]. Nothing else here names a form: each is
//! hashed by itself, so that a new one reruns none.

use cwm_contract::Failure;
use cwm_evaluations::Evaluation;
use cwm_reasoning::Example;
use cwm_sequences::Vocabulary;

use crate::config::Config;
use crate::encoded_sequence::EncodedSequence;
use crate::labels::LabelledGame;

mod board;
mod characters;
mod moves;
mod prompt;
mod speech;
mod words;

/// A form of sequences.
#[derive(Debug)]
pub struct Form {
    /// Its name in pipelines and files.
    pub name: &'static str,
    /// Raised when its rows mean something else.
    pub version: u32,
    /// The files of `forms`, and of `inputs` in cwm-policy, that it uses.
    pub parts: &'static [&'static str],
    /// The inputs that it reads.
    pub inputs: &'static [&'static str],
    /// Number of input tokens, and of targets.
    pub vocabulary: (u16, u16),
    /// Largest number of tokens of a row.
    pub longest: fn(&Config) -> usize,
    /// The reasons for which something is dropped.
    pub reasons: &'static [&'static str],
    /// The function that makes its rows.
    pub encoder: Encoder,
}

/// The function that makes the rows of a form. An error is a phrase about the position or the game.
#[derive(Clone, Copy, Debug)]
pub enum Encoder {
    /// A row a position.
    Position(fn(&Evaluation) -> Result<EncodedSequence, String>),
    /// A row a game.
    Game(fn(&LabelledGame) -> Result<EncodedSequence, String>),
    /// Rows of games that are packed together. The error is complete.
    Games(fn(&[LabelledGame], &Config) -> Result<Vec<EncodedSequence>, Failure>),
    /// A row an example. The vocabulary names the form of its positions too.
    Example(fn(&Example, &Config) -> Result<EncodedSequence, String>),
}

/// All forms.
pub static FORMS: &[Form] = &[board::FORM, prompt::FORM, characters::FORM, moves::FORM, words::FORM, speech::FORM];

/// Returns the form of this name, or an error that lists all names.
pub fn find(name: &str) -> Result<&'static Form, String> {
    let names = || FORMS.iter().map(|form| form.name).collect::<Vec<_>>().join(", ");
    FORMS.iter().find(|form| form.name == name).ok_or_else(|| format!("must be one of {}, not {name:?}", names()))
}

impl Form {
    /// Returns the vocabulary of its sequences.
    pub fn vocabulary(&self, config: &Config) -> Vocabulary {
        let (inputs, targets) = self.vocabulary;
        let form = match self.encoder {
            Encoder::Example(_) => format!("{}/{}", self.name, config.position),
            _ => self.name.to_owned(),
        };
        Vocabulary { form, version: self.version, inputs, targets, longest: (self.longest)(config) as u32 }
    }

    /// A phrase after the stage's name that names the input that is missing, if one is.
    pub fn missing_input(&self, is_connected: impl Fn(&str) -> bool) -> Option<String> {
        let missing = self.inputs.iter().find(|name| !is_connected(name))?;
        Some(format!("needs an input `{missing}`, which the form `{}` reads", self.name))
    }
}
