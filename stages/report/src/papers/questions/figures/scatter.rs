//! Accuracy by the tokens and dollars of an item.

use cwm_page::{Axis, COLOURS, Figure, Grid, Layer, Point, Series, Style, number};

use crate::papers::drawing::{panel, row};
use crate::papers::questions::id;
use crate::papers::questions::measured::{MeasuredRun, Measurements};
use crate::papers::questions::tables::dollars_an_item;

/// Figure 5.
pub(crate) fn tokens_and_accuracy(measured: &Measurements) -> Figure {
    let mean = |run: &MeasuredRun| Some(number::mean(run.overall.total_tokens?, run.overall.with_tokens)?.0);
    Figure {
        id: id("tokens-accuracy"),
        title: "Accuracy by tokens".into(),
        paper: Some("Figure 5, Section 4.2"),
        description: "Mean tokens an item and accuracy of each run; bars are 95 % intervals.".into(),
        ..points(measured, mean, |values| Axis::logarithmic("Tokens an item", values), " tokens")
    }
}

/// Figure 6.
pub(crate) fn cost_and_accuracy(measured: &Measurements) -> Figure {
    Figure {
        id: id("cost-accuracy"),
        title: "Accuracy by dollars".into(),
        paper: Some("Figure 6, Appendix B"),
        description:
            "Mean dollars an item and accuracy of each run, of runs whose cost is known; bars are 95 % intervals."
                .into(),
        ..points(measured, dollars_an_item, |values| Axis::logarithmic("Dollars an item", values), " dollars")
    }
}

fn points(
    measured: &Measurements,
    value: impl Fn(&MeasuredRun) -> Option<f64>,
    axis: impl Fn(std::vec::IntoIter<f64>) -> Axis,
    unit: &str,
) -> Figure {
    let with = |run| Some((run, value(run).filter(|value| *value > 0.0)?));
    let runs: Vec<(&MeasuredRun, f64)> = measured.runs.iter().filter_map(with).collect();
    let series = runs.iter().enumerate().map(|(nth, (run, x))| {
        let overall = &run.overall;
        let note = format!("{}: {}{unit}, {} %", run.name, number::setting(*x), number::percent(overall.accuracy));
        let range = Some((overall.low * 100.0, overall.high * 100.0));
        let points = vec![Point { x: *x, y: overall.accuracy * 100.0, range, note }];
        let style = Style { filled: (nth / COLOURS).is_multiple_of(2), ..Style::solid(nth) };
        Layer::Series(Series { name: run.name.clone(), style, joined: false, points })
    });
    let x = axis(runs.iter().map(|(_, x)| *x).collect::<Vec<_>>().into_iter());
    let panel = panel("", x, Axis::up_to("Accuracy (%)", 100.0), Grid::Both, series.collect());
    Figure { rows: vec![row(String::new(), 300, 1, vec![panel])], ..Figure::default() }
}
