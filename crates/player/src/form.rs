//! The forms in which a model reads a position or a game and answers with a move.

use cwm_policy::actions::{ACTIONS, move_of};
use cwm_policy::answers::Notation;
use cwm_policy::inputs::{board, characters, moves, prompt, words};
use cwm_sequences::Vocabulary;

/// A form of sequences that has an answer (docs/formats.md, "sequences").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// 77 symbols of a position; the answer is one token.
    Board,
    /// A position with its legal moves as text; the answer is a move in UCI and `$`.
    Prompt,
    /// The moves of a game as text; the answer is a move in SAN and a space.
    Characters,
    /// A token for each move of a game; the answer is one token.
    Moves,
}

/// The version of the forms that are known.
const VERSION: u32 = 1;

/// The form of move models, which predict words of moves and have no moves as answers.
const WORDS: &str = "words";

/// The vocabulary of the form of this name: one of [`Form::ALL`], or `words`.
///
/// # Errors
/// There is no form of this name; the error lists all.
pub fn vocabulary(name: &str) -> Result<Vocabulary, String> {
    if name == WORDS {
        let count = words::VOCABULARY as u16;
        let longest = words::DEFAULT_CONTEXT as u32;
        return Ok(Vocabulary { form: name.to_owned(), version: VERSION, inputs: count, targets: count, longest });
    }
    Form::of_name(name).map(Form::vocabulary).map_err(|error| format!("{error}, {WORDS}"))
}

impl Form {
    /// All of them.
    pub const ALL: [Form; 4] = [Form::Board, Form::Prompt, Form::Characters, Form::Moves];

    /// The form of a vocabulary.
    ///
    /// # Errors
    /// It is none of these, as a phrase about the vocabulary.
    pub fn of(vocabulary: &Vocabulary) -> Result<Self, String> {
        let Some(form) = Form::ALL.into_iter().find(|form| form.name() == vocabulary.form) else {
            let known = Form::ALL.map(Form::name).join(", ");
            return Err(format!(
                "its form is `{}`, which has no moves as answers; those that have are {known}",
                vocabulary.form
            ));
        };
        if vocabulary.version != VERSION {
            let (version, name) = (vocabulary.version, form.name());
            return Err(format!("version {version} of its form `{name}` is not known, only {VERSION}"));
        }
        let expected = form.vocabulary();
        if *vocabulary != expected {
            return Err(format!("its vocabulary is {vocabulary:?}, and that of its form is {expected:?}"));
        }
        Ok(form)
    }

    /// The form of this name.
    ///
    /// # Errors
    /// There is no form of this name; the error lists all.
    pub fn of_name(name: &str) -> Result<Self, String> {
        let all = Form::ALL.map(Form::name).join(", ");
        let found = Form::ALL.into_iter().find(|form| form.name() == name);
        found.ok_or_else(|| format!("there is no form `{name}`; there are {all}"))
    }

    /// Its name in pipelines and files.
    pub fn name(self) -> &'static str {
        match self {
            Form::Board => "board",
            Form::Prompt => "prompt",
            Form::Characters => "characters",
            Form::Moves => "moves",
        }
    }

    /// The vocabulary of its sequences.
    pub fn vocabulary(self) -> Vocabulary {
        let (inputs, targets) = match self {
            Form::Board => (ACTIONS, ACTIONS),
            Form::Prompt => (prompt::VOCABULARY, prompt::VOCABULARY),
            Form::Characters => (characters::VOCABULARY, characters::VOCABULARY),
            Form::Moves => (moves::VOCABULARY, ACTIONS),
        };
        Vocabulary {
            form: self.name().to_owned(),
            version: VERSION,
            inputs: inputs as u16,
            targets: targets as u16,
            longest: self.context() as u32,
        }
    }

    /// The largest number of tokens that a model of this form reads.
    pub(crate) fn context(self) -> usize {
        match self {
            Form::Board => 1 + board::LENGTH,
            Form::Prompt => prompt::CONTEXT,
            Form::Characters => characters::MOST_CHARACTERS - 1,
            Form::Moves => moves::CONTEXT,
        }
    }

    /// The notation of moves in its answers.
    pub fn notation(self) -> Notation {
        match self {
            Form::Board | Form::Prompt | Form::Moves => Notation::Uci,
            Form::Characters => Notation::San,
        }
    }

    /// An answer in words, up to what ends it. A token without a symbol, such as the one for padding, is `?`.
    pub(crate) fn text(self, answer: &[u16]) -> String {
        let symbols = match self {
            Form::Board | Form::Moves => {
                let moves = answer.iter().filter_map(|&action| move_of(action));
                return moves.map(|plain| plain.to_string()).collect();
            }
            Form::Prompt => prompt::SYMBOLS,
            Form::Characters => characters::SYMBOLS,
        };
        let end = self.end().map(|(end, _)| end);
        let answer = answer.iter().take_while(|token| Some(**token) != end);
        answer.map(|&token| symbols.as_bytes().get(usize::from(token)).map_or('?', |&byte| char::from(byte))).collect()
    }

    /// The token that ends an answer, and the largest number of tokens of one with it; none where one token is the answer.
    pub(crate) fn end(self) -> Option<(u16, usize)> {
        match self {
            Form::Board | Form::Moves => None,
            Form::Prompt => Some((prompt::END, prompt::MOST_ANSWER)),
            Form::Characters => Some((characters::END, characters::MOST_ANSWER)),
        }
    }
}
