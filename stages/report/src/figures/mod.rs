//! The figures, one file each, and how models are told apart in all of them.

mod by_prefix;
mod learning_curves;

pub(crate) use by_prefix::{by_prefix, by_prefix_under_shifts};
pub(crate) use learning_curves::learning_curves;

use crate::figure::{COLOURS, DASHES, Style};
use crate::model::Model;

/// The style of each model: a colour of its own while colours last, else a colour for the family and dashes for the
/// size.
fn styles(models: &[Model]) -> Vec<Style> {
    if models.len() <= COLOURS {
        return (0..models.len()).map(|colour| Style { colour, dash: 0 }).collect();
    }
    let distinct = |read: fn(&Model) -> &str| {
        let mut values: Vec<&str> = Vec::new();
        for model in models {
            if !values.contains(&read(model)) {
                values.push(read(model));
            }
        }
        values
    };
    let (families, sizes) = (distinct(|model| &model.family), distinct(|model| &model.size));
    let place = |values: &[&str], value: &str| values.iter().position(|known| *known == value).unwrap_or(0);
    models
        .iter()
        .map(|model| Style {
            colour: place(&families, &model.family) % COLOURS,
            dash: place(&sizes, &model.size) % DASHES,
        })
        .collect()
}

/// Name of a model in a legend.
fn legend_name(model: &Model) -> String {
    format!("{} {}", model.name(), model.size)
}
