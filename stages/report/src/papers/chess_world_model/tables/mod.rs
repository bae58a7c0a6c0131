//! The paper's tables, one file each, and the further tables.

mod candidates;
mod choices;
mod differences;
mod drops;
mod final_settings;
mod first_stage;
mod parameter_counts;
mod prefix_bins;
mod remarks;
mod second_stage;
mod sets;
mod shift_bins;
mod shifts;
mod splits;
mod test_results;
mod token_coverage;
mod wider_bins;
mod winners;

pub(crate) use candidates::candidates;
pub(crate) use differences::differences;
pub(crate) use drops::drops;
pub(crate) use final_settings::final_settings;
pub(crate) use first_stage::first_stage;
pub(crate) use parameter_counts::parameter_counts;
pub(crate) use prefix_bins::{Accuracy, prefix_bins};
pub(crate) use remarks::worse_than_chance_warning;
pub(crate) use second_stage::second_stage;
pub(crate) use sets::{played, sets};
pub(crate) use shift_bins::shift_bins;
pub(crate) use shifts::shifts;
pub(crate) use splits::splits;
pub(crate) use test_results::{ablations, test_results};
pub(crate) use token_coverage::token_coverage;
pub(crate) use winners::winners;

use cwm_page::{Column, file_name};

use crate::papers::chess_world_model::test_set::TestSet;
use crate::papers::chess_world_model::training::Departures;

/// Name of the table `base` for one test set: the paper's own (random-uniform games) keeps the bare name.
fn table_id(base: &str, test: &TestSet) -> String {
    match test {
        TestSet::RandomUniform => base.to_owned(),
        other => format!("{base}-{}", file_name(other.name())),
    }
}

/// The heading of exact-state accuracy over a column, and its name for programs, which is that of the bins.
const EXACT_HEADING: &str = "ExactState (%)";
const EXACT_KEY: &str = "exact_percent";

/// A column of numbers under the heading of a metric.
fn metric_column(heading: &str) -> Column {
    let column = Column::number(heading);
    if heading == EXACT_HEADING { column.with_key(EXACT_KEY) } else { column }
}

/// `this run` or the number of runs that a mean is over, and the number of them that depart from the paper's protocol.
fn source(runs: impl Iterator<Item = usize> + Clone, departures: Departures) -> String {
    let (fewest, most) = (runs.clone().min().unwrap_or(0), runs.max().unwrap_or(0));
    let runs = match (fewest, most) {
        (0, _) => "not run".to_owned(),
        (1, 1) => "this run".to_owned(),
        (fewest, most) if fewest == most => format!("{most} runs"),
        (fewest, most) => format!("{fewest} to {most} runs"),
    };
    let departing = [(departures.diverged, "diverged"), (departures.best, "best checkpoint")];
    let departing = departing.into_iter().map(|(number, what)| match number {
        0 => String::new(),
        all if all == most => format!(", {what}"),
        some => format!(", {some} {what}"),
    });
    departing.fold(runs, |source, what| source + &what)
}
