//! Parameters of `comments`.

use cwm_contract::{SourceFile, Type, parameters};

parameters! {
    /// The comments that are kept, and what cleans them.
    pub struct Config {
        /// A file of phrases, one a line (lines that begin with # are passed over): a comment is kept if it contains
        /// one of them. Without it, a list of ours.
        pub keywords: Option<SourceFile> = None,
        /// Fewest words of a kept comment, before it is cleaned.
        pub min_words: u64 = 5,
        /// Fewest characters of a kept comment, once it is cleaned.
        pub min_characters: u64 = 25,
        /// The cleaning of the comments of `pgn`: by `rules`, or by a `model`, whose answers are the input `answers`.
        pub clean: String = "rules".into(), kind = Type::Choice(&["rules", "model"]),
        /// Treatment of comments in which rules find a capitalised name beside the players': leave them out, or keep them.
        pub names: String = "drop".into(), kind = Type::Choice(&["drop", "keep"]),
    }
}

impl Config {
    /// A phrase for what is wrong with the inputs, which have answers or not.
    pub fn problem_with(&self, answers: bool) -> Option<String> {
        match (self.clean == "model", answers) {
            (true, false) => Some("has `clean: model` and needs an input `answers`".into()),
            (false, true) => Some("has an input `answers`, and needs `clean: model`".into()),
            _ => None,
        }
    }
}
