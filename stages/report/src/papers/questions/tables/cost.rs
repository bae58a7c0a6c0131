//! Tokens and dollars by run.

use cwm_page::{Column, Table, TableCell, number};

use super::by_run::{Numbers, by_run};
use super::{accuracy, mean};
use crate::papers::questions::facts::{Facts, PER_DOLLAR};
use crate::papers::questions::id;
use crate::papers::questions::measured::{MeasuredRun, Measurements};

/// Figures 5 and 6.
pub(crate) fn cost(measured: &Measurements, facts: &Facts) -> Table {
    let column = |heading: &str, ours: fn(&MeasuredRun) -> TableCell| Numbers {
        heading: Column::number(heading),
        category: None,
        fact: if heading == EARNED { PER_DOLLAR.to_owned() } else { String::new() },
        ours: Box::new(ours),
        print: number::two_decimals,
        is_approximate: heading == EARNED,
    };
    let tokens = |heading, sum: fn(&MeasuredRun) -> Option<u64>| Numbers {
        ours: Box::new(move |run| mean(sum(run), run.overall.with_tokens)),
        ..column(heading, |_| TableCell::none())
    };
    let columns = vec![
        column("Accuracy (%)", |run| accuracy(&run.overall)),
        tokens("Tokens an item", |run| run.overall.total_tokens),
        tokens("Of the prompt", |run| run.overall.prompt_tokens),
        tokens("Of the completion", |run| run.overall.completion_tokens),
        tokens("Of reasoning", |run| run.overall.reasoning_tokens),
        column("Dollars", |run| dollars(run.overall.cost)),
        column("Dollars an item", |run| dollars(dollars_an_item(run))),
        column(EARNED, |run| {
            let earned = dollars_an_item(run).filter(|cost| *cost > 0.0).map(|cost| run.overall.accuracy / cost);
            earned.map_or(TableCell::none(), |earned| TableCell::number(earned, number::decimals(earned, 1)))
        }),
    ];
    let table = Table {
        id: id("cost"),
        title: "Tokens and dollars".into(),
        paper: Some("Figures 5 and 6, Section 4.2 and Appendix B"),
        caption: "Means over the answers whose tokens, or dollars, are known: what the server charged, otherwise by the price list of `grade`. A \
                  run without both has no dollars. Tokens of the completion include those of reasoning."
            .into(),
        ..Table::default()
    };
    let has = |run: &MeasuredRun| run.overall.total_tokens.is_some() || run.overall.cost.is_some();
    by_run(measured, facts, columns, has, table)
}

const EARNED: &str = "Correct a dollar";

/// Mean dollars of the answers whose cost is known.
pub(crate) fn dollars_an_item(run: &MeasuredRun) -> Option<f64> {
    let known = run.overall.with_cost;
    run.overall.cost.filter(|_| known > 0).map(|cost| cost / known as f64)
}

fn dollars(cost: Option<f64>) -> TableCell {
    cost.map_or(TableCell::none(), |cost| {
        let digits = if cost >= 1.0 { 2 } else { 6 };
        TableCell::number(cost, number::decimals(cost, digits))
    })
}
