//! Decides which comments are kept.

use crate::config::Config;
use crate::keywords::Keywords;
use cwm_contract::Failure;

/// The conditions of a kept comment.
pub struct CommentFilter {
    keywords: Keywords,
    min_words: u64,
    min_characters: u64,
}

impl CommentFilter {
    /// The conditions of the parameters.
    ///
    /// # Errors
    ///
    /// The file of keywords cannot be read.
    pub fn of(config: &Config) -> Result<Self, Failure> {
        Ok(CommentFilter {
            keywords: Keywords::of(config)?,
            min_words: config.min_words,
            min_characters: config.min_characters,
        })
    }

    /// The phrases of a comment as it was written.
    ///
    /// # Errors
    ///
    /// The name of the reason for which it is dropped.
    pub fn keywords(&self, comment: &str) -> Result<Vec<String>, &'static str> {
        if count_words(comment) < self.min_words {
            return Err("few_words");
        }
        let found = self.keywords.found_in(comment);
        if found.is_empty() { Err("no_keyword") } else { Ok(found) }
    }

    /// True if a cleaned comment is long enough.
    pub fn is_long(&self, cleaned: &str) -> bool {
        cleaned.chars().count() as u64 >= self.min_characters
    }
}

/// Words: of letters, digits and apostrophes.
pub(crate) fn count_words(text: &str) -> u64 {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '\'')).filter(|word| !word.is_empty()).count() as u64
}
