//! What the report holds, in which order.

use std::collections::BTreeSet;

use crate::errors::Errors;
use crate::figure::Chart;
use crate::figures::{
    ablations as ablation_pairs, by_parameters, by_prefix, by_prefix_under_shifts, by_test, errors, learning_curves,
};
use crate::paper::Paper;
use crate::read::counts::Labelled;
use crate::read::curves::Curve;
use crate::read::json_lines::{Candidate, Difference};
use crate::results::Results;
use crate::table::Table;
use crate::tables::{
    Accuracy, ablations, candidates, differences, drops, final_settings, first_stage, parameter_counts, played,
    prefix_bins, second_stage, sets, shift_bins, shifts, splits, test_results, token_coverage, winners,
};
use crate::test_set::TestSet;

/// A chapter of the page.
pub(crate) struct Section {
    /// Anchor.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// The same in a word or two.
    pub(crate) menu: &'static str,
    pub(crate) parts: Vec<Part>,
}

/// What is told beside the bins.
#[derive(Debug, Default)]
pub(crate) struct Given {
    /// Which labels are wrong; tells nothing without the bins.
    pub(crate) errors: Vec<Errors>,
    pub(crate) counts: Vec<Labelled>,
    pub(crate) curves: Vec<Curve>,
    /// What each `select` chose from, by its label.
    pub(crate) candidates: Vec<(String, Vec<Candidate>)>,
    /// What each `compare` found, by its label.
    pub(crate) differences: Vec<(String, Vec<Difference>)>,
}

impl Given {
    /// Whether there is nothing.
    pub(crate) fn is_empty(&self) -> bool {
        let Given { errors: _, counts, curves, candidates, differences } = self;
        counts.is_empty() && curves.is_empty() && candidates.is_empty() && differences.is_empty()
    }
}

/// One table or figure.
pub(crate) enum Part {
    Table(Table),
    Chart(Chart),
}

/// Everything that can be told from what was given; sections with nothing in them are left out.
pub(crate) fn sections(results: &Results, given: &Given, paper: &Paper) -> Vec<Section> {
    let Given { counts, curves, .. } = given;
    // Without a model of ours the paper's would stand alone.
    let mut tested = match results.models.as_slice() {
        [] => Vec::new(),
        _ => {
            let ablations = TestSet::PAPER.iter().filter_map(|test| ablations(results, paper, test));
            [test_results(results, paper)].into_iter().chain(ablations).map(Part::Table).collect()
        }
    };
    tested.push(Part::Table(differences(&given.differences)));
    tested.extend([by_parameters(results, paper), ablation_pairs(results, paper)].map(Part::Chart));
    let mut along = Vec::new();
    let mut further = vec![Part::Chart(by_test(results)), Part::Table(shifts(results))];
    for accuracy in [Accuracy::Exact, Accuracy::Labelwise] {
        along.push(Part::Chart(by_prefix(results, paper, accuracy)));
        // The paper's own table, then what it does not print.
        for test in [TestSet::RandomUniform, TestSet::HeldOut] {
            along.push(Part::Table(prefix_bins(results, paper, &test, accuracy)));
        }
        further.push(Part::Chart(by_prefix_under_shifts(results, paper, accuracy)));
        further.push(Part::Table(shift_bins(results, paper, accuracy)));
    }
    let chosen = [
        first_stage(&given.candidates, paper),
        winners(&given.candidates, paper),
        second_stage(&given.candidates, paper),
        candidates(&given.candidates),
    ];
    // Without a model of ours the paper's would stand alone here, too.
    let models = match results.models.as_slice() {
        [] => Vec::new(),
        _ => vec![parameter_counts(results, paper), final_settings(results, paper)],
    };
    let data = [Some(splits(counts, results, paper)), token_coverage(counts, paper), sets(counts), played(counts)];
    let wrong = errors(&given.errors, results).into_iter().map(Part::Chart).collect();
    let curves = vec![Part::Chart(learning_curves(curves, results, &given.candidates))];
    let tables = |tables: Vec<Table>| tables.into_iter().map(Part::Table).collect();
    let section = |id, title, menu, parts| Section { id, title, menu, parts };
    let mut sections = vec![
        section("test-results", "Test results", "Results", tested),
        section("along-the-game", "Accuracy along the game", "Along the game", along),
        section("further-shifts", "Further shifts of the data", "Further shifts", further),
        section("errors", "What goes wrong", "Errors", wrong),
        section("learning", "Learning", "Learning", curves),
        section("choices", "Choices", "Choices", tables(chosen.into())),
        section("models", "Models", "Models", tables(models)),
        section("data", "Data", "Data", tables(data.into_iter().flatten().collect())),
        section("games", "Games kept and dropped", "Games", tables(drops(counts).into_iter().collect())),
    ];
    for section in &mut sections {
        section.parts.retain(|part| match part {
            Part::Table(table) => !table.is_empty(),
            Part::Chart(chart) => !chart.is_empty(),
        });
    }
    sections.retain(|section| !section.parts.is_empty());
    name_apart(&mut sections);
    sections
}

/// Two test sets whose names differ only in odd characters would share a file: the second gets a number.
fn name_apart(sections: &mut [Section]) {
    let mut taken = BTreeSet::new();
    for part in sections.iter_mut().flat_map(|section| &mut section.parts) {
        if let Part::Table(table) = part {
            let base = table.id.clone();
            let mut number = 2;
            while !taken.insert(table.id.clone()) {
                table.id = format!("{base}-{number}");
                number += 1;
            }
        }
    }
}
