//! The sections of the report, in their order.

use cwm_page::{Block, Section, Table, Widget};

use crate::papers::chess_world_model::boards;
use crate::papers::chess_world_model::errors::Errors;
use crate::papers::chess_world_model::facts::PaperFacts;
use crate::papers::chess_world_model::figures::{
    ablations as ablation_pairs, by_parameters, by_prefix, by_prefix_under_shifts, by_test, errors, learning_curves,
};
use crate::papers::chess_world_model::read::counts::LabelledCounts;
use crate::papers::chess_world_model::read::curves::Curve;
use crate::papers::chess_world_model::read::json_lines::{Candidate, Difference};
use crate::papers::chess_world_model::results::Results;
use crate::papers::chess_world_model::tables::{
    Accuracy, ablations, candidates, differences, drops, final_settings, first_stage, parameter_counts, played,
    prefix_bins, second_stage, sets, shift_bins, shifts, splits, test_results, token_coverage, winners,
};
use crate::papers::chess_world_model::test_set::TestSet;

/// The measurements beside the bins.
#[derive(Debug, Default)]
pub(crate) struct Measurements {
    /// The labels that are wrong; meaningless without the bins.
    pub(crate) errors: Vec<Errors>,
    pub(crate) counts: Vec<LabelledCounts>,
    pub(crate) curves: Vec<Curve>,
    /// The candidates of each `select`, by its label.
    pub(crate) candidates: Vec<(String, Vec<Candidate>)>,
    /// The differences of each `compare`, by its label.
    pub(crate) differences: Vec<(String, Vec<Difference>)>,
}

impl Measurements {
    /// Returns true if there is nothing.
    pub(crate) fn is_empty(&self) -> bool {
        let Measurements { errors: _, counts, curves, candidates, differences } = self;
        counts.is_empty() && curves.is_empty() && candidates.is_empty() && differences.is_empty()
    }
}

/// Every section, whether anything was measured for it or not.
pub(crate) fn sections(
    results: &Results,
    measurements: &Measurements,
    paper: &PaperFacts,
    boards: Option<Widget>,
) -> Vec<Section> {
    let Measurements { counts, curves, .. } = measurements;
    // Without a model of ours the paper's would stand alone.
    let mut tested = match results.models.as_slice() {
        [] => Vec::new(),
        _ => {
            let ablations = TestSet::PAPER.iter().filter_map(|test| ablations(results, paper, test));
            [test_results(results, paper)].into_iter().chain(ablations).map(Block::Table).collect()
        }
    };
    tested.push(Block::Table(differences(&measurements.differences)));
    tested.extend([by_parameters(results, paper), ablation_pairs(results, paper)].map(Block::Figure));
    let mut along = Vec::new();
    let mut further = vec![Block::Figure(by_test(results)), Block::Table(shifts(results))];
    for accuracy in [Accuracy::Exact, Accuracy::Labelwise] {
        along.push(Block::Figure(by_prefix(results, paper, accuracy)));
        // The paper's own table, then what it does not print.
        for test in [TestSet::RandomUniform, TestSet::HeldOut] {
            along.push(Block::Table(prefix_bins(results, paper, &test, accuracy)));
        }
        further.push(Block::Figure(by_prefix_under_shifts(results, paper, accuracy)));
        further.push(Block::Table(shift_bins(results, paper, accuracy)));
    }
    let chosen = [
        first_stage(&measurements.candidates, paper),
        winners(&measurements.candidates, paper),
        second_stage(&measurements.candidates, paper),
        candidates(&measurements.candidates),
    ];
    // Without a model of ours the paper's would stand alone here, too.
    let models = match results.models.as_slice() {
        [] => Vec::new(),
        _ => vec![parameter_counts(results, paper), final_settings(results, paper)],
    };
    let data = [splits(counts, results, paper), token_coverage(counts, paper), sets(counts), played(counts)];
    let wrong = errors(&measurements.errors, results).into_iter().map(Block::Figure).collect();
    let curves = vec![Block::Figure(learning_curves(curves, results, &measurements.candidates))];
    let tables = |tables: Vec<Table>| tables.into_iter().map(Block::Table).collect();
    vec![
        Section::new("test-results", "Test results", "Results", tested),
        // Nothing else shows as fast what a model predicts.
        Section::new(boards::ANCHOR, "Board by board", "Boards", boards.map(Block::Widget).into_iter().collect()),
        Section::new("along-the-game", "Accuracy along the game", "Along the game", along),
        Section::new("further-shifts", "Further shifts of the data", "Further shifts", further),
        Section::new("errors", "What goes wrong", "Errors", wrong),
        Section::new("learning", "Learning", "Learning", curves),
        Section::new("choices", "Choices", "Choices", tables(chosen.into())),
        Section::new("models", "Models", "Models", tables(models)),
        Section::new("data", "Data", "Data", tables(data.into_iter().flatten().collect())),
        Section::new("games", "Games kept and dropped", "Games", tables(drops(counts).into_iter().collect())),
    ]
}
