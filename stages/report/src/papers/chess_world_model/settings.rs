//! The hyper-parameters that the paper reports of a training.

use cwm_page::{Column, TableCell};

/// The settings of a training; `None` where one is not known, or means nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Settings([Option<f64>; 5]);

impl Settings {
    /// Their names in `train`, in the columns of the bins and in the paper's facts, in the order of the paper's Table 7.
    pub(crate) const NAMES: [&'static str; 5] = ["lr", "warmup", "beta2", "weight_decay", "lr_floor"];
    /// The headings of their columns in the paper.
    pub(crate) const HEADINGS: [&'static str; 5] = ["LR", "Warmup", "β₂", "Weight decay", "LR floor"];

    /// Collects values in the order of [`Settings::NAMES`].
    pub(crate) fn of(values: impl IntoIterator<Item = Option<f64>>) -> Self {
        let mut settings = Settings::default();
        settings.0.iter_mut().zip(values).for_each(|(setting, value)| *setting = value);
        settings
    }

    /// The values in the order of [`Settings::NAMES`].
    pub(crate) fn values(&self) -> [Option<f64>; 5] {
        self.0
    }

    /// Returns true if nothing is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    /// The first `number` of them as columns.
    pub(crate) fn columns(number: usize) -> impl Iterator<Item = Column> {
        Settings::HEADINGS
            .into_iter()
            .zip(Settings::NAMES)
            .take(number)
            .map(|(heading, name)| Column::number(heading).with_key(name))
    }
}

/// A setting as a cell.
pub(crate) fn cell(value: Option<f64>) -> TableCell {
    value.map_or(TableCell::none(), |value| TableCell::number(value, cwm_page::number::setting(value)))
}
