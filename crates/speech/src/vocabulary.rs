//! The vocabulary of sequences of this language.

use cwm_sequences::Vocabulary;

use crate::{COUNT, PositionForm};

/// Raised when a number means something else.
const VERSION: u32 = 1;

impl PositionForm {
    /// The vocabulary of sequences of at most so many words, with positions in this form.
    pub fn vocabulary(self, longest: u32) -> Vocabulary {
        Vocabulary { form: format!("speech/{}", self.name()), version: VERSION, inputs: COUNT, targets: COUNT, longest }
    }

    /// The form of positions of a vocabulary; of none, for a model that reads no words.
    ///
    /// # Errors
    /// The vocabulary is not one of this language; the error names it and those that are.
    pub fn of(vocabulary: Option<&Vocabulary>) -> Result<Self, String> {
        let is_own = |form: &PositionForm| vocabulary.is_some_and(|other| form.vocabulary(other.longest) == *other);
        PositionForm::ALL.into_iter().find(is_own).ok_or_else(|| {
            let written = |Vocabulary { form, version, inputs, .. }: &Vocabulary| {
                format!("`{form}`, version {version}, of {inputs} words")
            };
            let found = vocabulary.map_or("none, as it answers with labels".to_owned(), written);
            let known = PositionForm::ALL.map(|form| written(&form.vocabulary(0)));
            format!("its words are {found}, and those of the small language are {}", known.join(" or "))
        })
    }
}
