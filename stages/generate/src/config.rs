//! Parameters of `generate`.

use cwm_contract::{ParameterError, Type, parameters};
use cwm_generation::Sampling;
use cwm_speech::END;

parameters! {
    /// The rules by which words are drawn. The defaults are those of the paper's evaluation, but for the penalty: here
    /// the word list is closed, and moves share their squares.
    pub struct Config {
        /// The name of this run in tables. Without it, that of the cell.
        pub name: Option<String> = None,
        /// Divides the logits before a word is drawn; 0 takes the likeliest word.
        pub temperature: f64 = 0.7,
        /// Tokens are drawn among the likeliest whose probabilities add up to this share; 1 leaves out none.
        pub top_p: f64 = 0.9,
        /// Tokens whose probability is below this share of the largest are not drawn; 0 leaves out none.
        pub min_p: f64 = 0.02,
        /// Tokens are drawn among this many of the likeliest; by `null` among all.
        pub top_k: Option<u64> = Some(40), kind = Type::Optional(Box::new(Type::Integer { min: 1, max: 65_535 })),
        /// Divides the positive logits of tokens that the answer has already, and multiplies their negative ones; 1
        /// changes nothing.
        pub repetition_penalty: f64 = 1.0,
        /// Tokens of an answer, its end included, at most. A longer one is cut there.
        pub max_tokens: u64 = 64, kind = Type::Integer { min: 1, max: 65_535 },
        /// Answers to each item.
        pub samples: u64 = 1, kind = Type::Integer { min: 1, max: 1_000_000 },
        /// Seed of the draws. Each answer has a random stream of its own.
        pub seed: u64 = 0,
    }
}

impl Config {
    /// The rules of drawing.
    pub fn sampling(&self) -> Sampling {
        Sampling {
            repetition_penalty: self.repetition_penalty,
            temperature: self.temperature,
            min_p: self.min_p,
            top_k: self.top_k.map(|count| count as usize),
            top_p: self.top_p,
            end: END,
            max_tokens: self.max_tokens as usize,
        }
    }

    /// Returns the faults of these values beyond their types.
    pub fn validate(&self) -> Vec<ParameterError> {
        let is_share = |value: f64| (0.0..=1.0).contains(&value);
        let wrong = [
            ("temperature", !(self.temperature >= 0.0 && self.temperature.is_finite()), "a number from 0"),
            ("top_p", !is_share(self.top_p), "a number from 0 to 1"),
            ("min_p", !is_share(self.min_p), "a number from 0 to 1"),
            (
                "repetition_penalty",
                !(self.repetition_penalty > 0.0 && self.repetition_penalty.is_finite()),
                "a positive number",
            ),
        ];
        let wrong = wrong.into_iter().filter(|(_, is_wrong, _)| *is_wrong);
        wrong.map(|(name, _, wanted)| ParameterError::new(name, format!("must be {wanted}"))).collect()
    }

    /// Parameters without effect with these values.
    pub fn unused_parameters(&self) -> Vec<&'static str> {
        if self.temperature == 0.0 { vec!["top_p", "min_p", "top_k", "seed"] } else { Vec::new() }
    }
}
