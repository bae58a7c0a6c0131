//! Tables 1 and 2: the measures of each model before and after reinforcement learning, the paper's beneath ours.

use cwm_page::{Column, PaperComparison, Table, TableCell, comparison_rows, number};

use super::{Unit, cell, three};
use crate::papers::reasoning::facts::Facts;
use crate::papers::reasoning::id;
use crate::papers::reasoning::measured::{BEST, Experiment, LEGAL, Measurements, PREDICT, Phase, WORST};

/// A measure that has a column before and one after reinforcement learning.
struct Spec {
    heading: &'static str,
    task: &'static str,
    measure: &'static str,
    unit: Unit,
    /// The paper's column without its ending; empty if it has none.
    fact: &'static str,
}

const fn spec(
    heading: &'static str,
    task: &'static str,
    measure: &'static str,
    unit: Unit,
    fact: &'static str,
) -> Spec {
    Spec { heading, task, measure, unit, fact }
}

const TABLE_1: [Spec; 3] = [
    spec("Legal (%)", PREDICT, "legal", Unit::Percent, "predict_legal"),
    spec("Average rank", PREDICT, "rank", Unit::Score, "predict_rank"),
    spec("Trivial (%)", PREDICT, "trivial", Unit::Percent, "trivial"),
];

const TABLE_2: [Spec; 6] = [
    spec("Legal moves IoU", LEGAL, "iou", Unit::Score, "legal_iou"),
    spec("IoU of all answers", LEGAL, "iou_all", Unit::Score, ""),
    spec("Best move (%)", BEST, "accuracy", Unit::Percent, "best_accuracy"),
    spec("Worst move (%)", WORST, "accuracy", Unit::Percent, "worst_accuracy"),
    spec("True move claims (%)", PREDICT, "referenced_accuracy", Unit::Percent, "referenced_accuracy"),
    spec("Reasoning quality", PREDICT, "quality", Unit::Points, "reasoning_quality"),
];

/// The paper's columns of a model besides measures: heading and fact.
const BUDGETS: [(&str, &str); 2] = [("SFT tokens (million)", "sft_tokens"), ("RL items (thousand)", "rl_samples")];

const PHASES: [Phase; 2] = [Phase::Before, Phase::After];

/// Table 1.
pub(crate) fn table_1(measured: &Measurements, facts: &Facts) -> Table {
    let table = Table {
        id: id("table-1"),
        title: "Predict move".into(),
        paper: Some("Table 1, Appendix D"),
        caption: "Share of legal moves; mean rank of legal moves, 1 for the best and 0 for the worst; share of legal moves that are one of 16 \
                  trivial ones. SFT is after fine-tuning, RL after reinforcement learning; models and players that were not trained here \
                  stand under SFT. Tokens of the mix are ours: what is learnt of it in one pass. The paper's are over all epochs."
            .into(),
        ..Table::default()
    };
    results(measured, facts, &TABLE_1, true, table)
}

/// Table 2.
pub(crate) fn table_2(measured: &Measurements, facts: &Facts) -> Table {
    let table = Table {
        id: id("table-2"),
        title: "The other tasks, and claims".into(),
        paper: Some("Table 2, Appendix D"),
        caption: "IoU is the mean score of readable answers, as in the release; that of all answers counts unreadable ones as 0. True move claims \
                  are found by rule, the paper's by a language model. Reasoning quality is the mean of a judge's three points (of 10) for \
                  answers to Predict move. 95 % intervals are in the files."
            .into(),
        ..Table::default()
    };
    results(measured, facts, &TABLE_2, false, table)
}

fn results(measured: &Measurements, facts: &Facts, specs: &[Spec], budgets: bool, table: Table) -> Table {
    let (mut groups, mut compared) = (Vec::new(), Vec::new());
    for experiment in &measured.experiments {
        let printed = |spec: &Spec, phase| facts.of_phase(experiment.paper?, spec.fact, phase);
        let comparable = |spec: &Spec, phase| printed(spec, phase).filter(|_| measured.is_published(spec.task));
        let columns = || specs.iter().flat_map(|spec| PHASES.map(|phase| (spec, phase)));
        if columns().all(|(spec, phase)| printed(spec, phase).is_none() || comparable(spec, phase).is_some()) {
            compared.extend(experiment.paper);
        }
        let mut numbers = Vec::new();
        if budgets {
            numbers.push(PaperComparison::without_paper(mix_tokens(measured, experiment)));
            let paper = experiment.paper.filter(|_| measured.is_published(PREDICT));
            let of_paper = |(_, fact): (&str, &str)| facts.get(paper?, fact);
            numbers.extend(
                BUDGETS.map(|budget| PaperComparison::new(TableCell::none(), of_paper(budget), number::setting)),
            );
        }
        numbers.extend(columns().map(|(spec, phase)| {
            let ours = cell(experiment.of(phase), spec.task, spec.measure, spec.unit);
            let ours = if budgets { ours } else { ours.without_printed_interval() };
            let print = if spec.unit == Unit::Score { three } else { number::two_decimals };
            PaperComparison::new(ours, comparable(spec, phase), print)
        }));
        groups.push(comparison_rows(&[TableCell::text(&experiment.name)], Some("this run"), &numbers));
    }
    let alone = facts.models().into_iter().filter(|model| !compared.contains(model)).map(|model| {
        let mut numbers = Vec::new();
        if budgets {
            numbers.push(PaperComparison::without_paper(TableCell::none()));
            numbers.extend(
                BUDGETS
                    .map(|(_, fact)| PaperComparison::new(TableCell::none(), facts.get(model, fact), number::setting)),
            );
        }
        let columns = specs.iter().flat_map(|spec| PHASES.map(|phase| facts.of_phase(model, spec.fact, phase)));
        numbers.extend(columns.map(|printed| PaperComparison::new(TableCell::none(), printed, number::setting)));
        comparison_rows(&[TableCell::text(model)], None, &numbers)
    });
    let not_run = alone.collect();
    let mut columns = vec![Column::text("Model").naming_rows(), Column::text("Source")];
    if budgets {
        columns.push(Column::number("Tokens of the mix"));
        columns.extend(BUDGETS.map(|(heading, _)| Column::number(heading)));
    }
    columns.extend(specs.iter().flat_map(|spec| PHASES.map(|phase| Column::number(phase.name()).under(spec.heading))));
    Table { columns, groups, not_run, noun: "models", folds: true, ..table }
}

/// The number of tokens that are learnt of the mix of an experiment.
fn mix_tokens(measured: &Measurements, experiment: &Experiment) -> TableCell {
    let mixture = measured.mixtures.iter().find(|(name, ..)| *name == experiment.name && !experiment.alone);
    mixture.map_or(TableCell::none(), |(_, label, mixture)| TableCell::count(mixture.tokens).with_sources([label]))
}
