//! What the numbers of sequences of this language stand for.

use cwm_sequences::Vocabulary;

use crate::{COUNT, PositionForm};

/// Raised when a number means something else.
const VERSION: u32 = 1;

impl PositionForm {
    /// The vocabulary of sequences of at most so many words, with positions in this form.
    pub fn vocabulary(self, longest: u32) -> Vocabulary {
        Vocabulary { form: format!("speech/{}", self.name()), version: VERSION, inputs: COUNT, targets: COUNT, longest }
    }

    /// The form of positions of a vocabulary.
    ///
    /// # Errors
    /// The vocabulary is not one of this language; the error names it and those that are.
    pub fn of(vocabulary: &Vocabulary) -> Result<Self, String> {
        let found = PositionForm::ALL.into_iter().find(|form| form.vocabulary(vocabulary.longest) == *vocabulary);
        found.ok_or_else(|| {
            let written = |Vocabulary { form, version, inputs, .. }: &Vocabulary| {
                format!("`{form}`, version {version}, of {inputs} words")
            };
            let known = PositionForm::ALL.map(|form| written(&form.vocabulary(0)));
            format!("its words are {}, and those of this language are {}", written(vocabulary), known.join(" or "))
        })
    }
}
