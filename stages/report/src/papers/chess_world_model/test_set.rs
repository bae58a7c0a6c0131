//! The games of a score.

use std::fmt;

/// A test set, ordered as in the paper: held-out games, random-uniform games, then all others by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TestSet {
    /// Games of the same kind as those trained on.
    HeldOut,
    /// Uniformly random legal play.
    RandomUniform,
    /// Anything else, by the name that the pipeline gives it.
    Other(String),
}

impl TestSet {
    /// The two that the paper has.
    pub(crate) const PAPER: [TestSet; 2] = [TestSet::HeldOut, TestSet::RandomUniform];

    /// Reads a name from the `test` column of the bins, or as the headings write it.
    pub(crate) fn from_name(name: &str) -> Self {
        match name {
            "held_out" | "held-out" => TestSet::HeldOut,
            "random_uniform" | "random-uniform" => TestSet::RandomUniform,
            other => TestSet::Other(other.to_owned()),
        }
    }

    /// Its words within a sentence.
    pub(crate) fn phrase(&self) -> String {
        match self {
            TestSet::HeldOut => "held-out games".to_owned(),
            TestSet::RandomUniform => "random-uniform games".to_owned(),
            TestSet::Other(name) => {
                let words = name.split('_').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
                if words.is_empty() { name.clone() } else { words }
            }
        }
    }

    /// Its name for programs: the paper's sets as its tables name them, any other unchanged.
    pub(crate) fn data_name(&self) -> String {
        match self {
            TestSet::Other(name) => name.clone(),
            paper => paper.to_string(),
        }
    }

    /// The name as in the `test` column.
    pub(crate) fn name(&self) -> &str {
        match self {
            TestSet::HeldOut => "held_out",
            TestSet::RandomUniform => "random_uniform",
            TestSet::Other(name) => name,
        }
    }
}

/// Prints the words with a capital letter, for headings.
impl fmt::Display for TestSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.phrase();
        let mut letters = words.chars();
        letters.next().map_or(Ok(()), |first| write!(f, "{}{}", first.to_uppercase(), letters.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_words() {
        let check = |name: &str, heading: &str, words: &str| {
            let test = TestSet::from_name(name);
            assert_eq!((test.to_string().as_str(), test.phrase().as_str(), test.name()), (heading, words, name));
        };
        check("held_out", "Held-out games", "held-out games");
        check("random_uniform", "Random-uniform games", "random-uniform games");
        check("en_passant", "En passant", "en passant");
        check("_élite__2025-03_", "Élite 2025-03", "élite 2025-03");
        check("__", "__", "__");
        check("", "", "");
        assert_eq!(TestSet::from_name("en_passant").data_name(), "en_passant");
        assert_eq!(TestSet::HeldOut.data_name(), "Held-out games");
        assert_eq!(TestSet::from_name("held-out"), TestSet::HeldOut);
    }
}
