//! Bars by run, a panel for each category.

use cwm_answers::Tally;
use cwm_page::{Axis, Figure, Grid, Layer, LegendEntry, Panel, Point, Series, Style, TILE_COLOUR, Tile, number};

use super::BAR;
use crate::papers::drawing::{bar, panel, row};
use crate::papers::questions::facts::{Facts, OVERALL, TOKENS};
use crate::papers::questions::id;
use crate::papers::questions::measured::{MeasuredRun, Measurements};

/// Panels side by side.
const ABREAST: usize = 2;

/// Hollow markers of the paper's numbers.
const PAPER: Style = Style { colour: Some(0), dash: 0, filled: false, light: false };

/// The value of a tally in a figure: a number, its interval, and the text in its tooltip.
type Value = (f64, Option<(f64, f64)>, String);

/// Figure 3.
pub(crate) fn accuracy(measured: &Measurements, facts: &Facts) -> Figure {
    let value = |tally: &Tally| -> Option<Value> {
        let percent = tally.accuracy * 100.0;
        (tally.items > 0).then(|| {
            let text = format!("{} % of {}", number::percent(tally.accuracy), number::count(tally.items));
            (percent, Some((tally.low * 100.0, tally.high * 100.0)), text)
        })
    };
    let fact = |category: Option<&str>| category.unwrap_or(OVERALL).to_owned();
    Figure {
        id: id("accuracy"),
        title: "Accuracy by category".into(),
        paper: Some("Figure 3, Section 4.2"),
        description:
            "Correct answers of each run in percent, with 95 % intervals, over all items and in each category.".into(),
        ..drawn(measured, facts, value, fact, |_| Axis::up_to("Accuracy (%)", 100.0))
    }
}

/// Figure 7.
pub(crate) fn tokens(measured: &Measurements, facts: &Facts) -> Figure {
    let value = |tally: &Tally| -> Option<Value> {
        let (mean, text) = number::mean(tally.total_tokens?, tally.with_tokens)?;
        Some((mean, None, text))
    };
    let fact = |category: Option<&str>| category.map_or(TOKENS.to_owned(), |category| format!("{TOKENS} {category}"));
    Figure {
        id: id("tokens"),
        title: "Tokens an item by category".into(),
        paper: Some("Figure 7, Appendix B"),
        description: "Mean number of tokens of each run, over all items and in each category.".into(),
        ..drawn(measured, facts, value, fact, |most| Axis::linear("Tokens an item", [0.0, most].into_iter()))
    }
}

fn drawn(
    measured: &Measurements,
    facts: &Facts,
    value: impl Fn(&Tally) -> Option<Value>,
    fact: impl Fn(Option<&str>) -> String,
    axis: impl Fn(f64) -> Axis,
) -> Figure {
    let runs: Vec<&MeasuredRun> = measured.runs.iter().filter(|run| value(&run.overall).is_some()).collect();
    let categories = measured.categories();
    let subjects: Vec<Option<&str>> =
        std::iter::once(None).chain(categories.iter().map(|name| Some(&**name))).collect();
    let mut has_paper = false;
    let mut panel_of = |category: Option<&str>| {
        let (mut layers, mut papers, mut most) = (Vec::new(), Vec::new(), 0.0_f64);
        for (place, run) in runs.iter().rev().enumerate() {
            let middle = place as f64 + 0.5;
            let Some((number, range, text)) = run.tally(category).and_then(&value) else { continue };
            let note = format!("{}: {text}", run.name);
            layers.push(bar((0.0, number), (middle - 0.38, middle + 0.38), TILE_COLOUR, number, note));
            layers.extend(range.map(|range| interval(range, middle)));
            let name = run.paper_name().filter(|_| measured.is_published(run, category));
            let printed = name.and_then(|name| facts.get(&name, &fact(category)));
            papers.extend(printed.map(|printed| Point {
                x: printed.value,
                y: middle,
                range: None,
                note: format!("{}, paper: {}", run.name, printed.text),
            }));
            most = [most, number, printed.map_or(0.0, |printed| printed.value)].into_iter().fold(0.0, f64::max);
        }
        has_paper |= !papers.is_empty();
        layers.push(Layer::Series(Series { name: String::new(), style: PAPER, joined: false, points: papers }));
        let names = Axis::of_names("", runs.iter().rev().map(|run| run.name.clone()));
        panel(category.unwrap_or("Overall"), axis(most), names, Grid::Vertical, layers)
    };
    let panels: Vec<Panel> = subjects.into_iter().map(&mut panel_of).collect();
    let rows = panels
        .chunks(ABREAST)
        .map(|panels| row(String::new(), BAR * runs.len() as u32 + BAR, ABREAST, panels.to_vec()));
    let rows = rows.collect();
    let legend = has_paper.then(|| LegendEntry { name: "paper".into(), style: PAPER });
    Figure { rows, legend: legend.into_iter().collect(), ..Figure::default() }
}

/// A thin bar over an interval.
fn interval((low, high): (f64, f64), middle: f64) -> Layer {
    let y = (middle - 0.06, middle + 0.06);
    Layer::Tile(Tile { x: (low, high), y, colour: Some(0), strength: 1.0, value: None, note: String::new() })
}
