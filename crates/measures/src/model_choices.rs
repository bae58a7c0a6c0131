//! The choices of one model.

use cwm_choices::{Choice, Choices, Chooser};
use cwm_contract::{Failure, GroupInput, Label};

/// The test set of a label without an axis `test`, as of scores.
const DEFAULT_TEST_SET: &str = "held_out";

/// The choices of one model on one test set.
#[derive(Clone, Debug)]
pub struct ModelChoices {
    /// The cell that made them.
    pub label: Label,
    /// The model that chose.
    pub chooser: Chooser,
    /// The choices, sorted by record; each record once.
    pub choices: Vec<Choice>,
}

impl ModelChoices {
    /// Reads one file.
    ///
    /// # Errors
    /// It is no file of choices, or has a record twice.
    pub fn read(input: &GroupInput) -> Result<Self, Failure> {
        let file = Choices::open(&input.path)?;
        let chooser = file.description().clone();
        let mut choices = file.collect::<Result<Vec<_>, _>>()?;
        choices.sort_by_key(|choice| choice.record);
        if let Some([twice, _]) = choices.array_windows().find(|[one, next]| one.record == next.record) {
            let (label, record) = (&input.label, twice.record);
            return Err(Failure::input(format!("the choices of {label} have record {record} twice")));
        }
        Ok(ModelChoices { label: input.label.clone(), chooser, choices })
    }

    /// The name of its test set: the coordinate `test` of its label, otherwise `held_out`.
    pub fn test(&self) -> &str {
        self.label.coordinate("test").unwrap_or(DEFAULT_TEST_SET)
    }

    /// Its seed, from the file or from the label.
    pub fn seed(&self) -> Option<String> {
        let seed = self.chooser.seed.map(|seed| seed.to_string());
        seed.or_else(|| self.label.coordinate("seed").map(str::to_owned))
    }

    /// The choice of this record.
    pub(crate) fn of_record(&self, record: u64) -> Option<&Choice> {
        let place = self.choices.binary_search_by_key(&record, |choice| choice.record).ok()?;
        self.choices.get(place)
    }
}
