use crate::words;

mod answers;
mod builders;
mod prompts;

/// The names of words, with a space between.
fn names(words: &[u16]) -> String {
    words.iter().map(|&word| words::name(word)).collect::<Vec<_>>().join(" ")
}
