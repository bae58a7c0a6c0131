//! Counts the tokens of texts.

use std::path::Path;

use cwm_contract::Failure;
use tokenizers::Tokenizer;

/// Counts tokens.
pub enum TokenCounter {
    /// Words, separated by white space.
    Words,
    /// Tokens of a model.
    Model(Box<Tokenizer>),
}

impl TokenCounter {
    /// Reads a `tokenizer.json` as Hugging Face's libraries write it; without a path, words are counted.
    ///
    /// # Errors
    /// The file is no such tokenizer.
    pub fn open(path: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = path else { return Ok(TokenCounter::Words) };
        let bytes = fs_err::read(path)?;
        let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(|error| {
            Failure::input(format!("{} is not a tokenizer: {error}", path.display()))
                .hint("`tokenizer` names the `tokenizer.json` beside a model's weights")
        })?;
        // Whole texts are counted, whatever length the model was trained with.
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(|error| Failure::internal(error.to_string()))?;
        Ok(TokenCounter::Model(Box::new(tokenizer)))
    }

    /// The tokens of a text; those that a model's template adds around it do not count.
    ///
    /// # Errors
    /// The tokenizer has no token for a part of the text, and none for unknown text.
    pub fn count(&self, text: &str) -> Result<u64, Failure> {
        Ok(match self {
            TokenCounter::Words => text.split_whitespace().count() as u64,
            TokenCounter::Model(tokenizer) => {
                let encoding = tokenizer.encode_fast(text, false);
                encoding.map_err(|error| Failure::input(format!("`tokenizer`: {error}")))?.len() as u64
            }
        })
    }
}
