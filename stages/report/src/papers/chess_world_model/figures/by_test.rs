//! The accuracy of each family under each shift of the data.

use cwm_page::{Axis, Figure, Grid, Height, Layer, MeanStd, Panel, PanelRow, Point, Series, Style, Tile, number};

use crate::papers::chess_world_model::figures::{family_colour, largest, legend_name};
use crate::papers::chess_world_model::results::{Overall, Results};
use crate::papers::chess_world_model::test_set::TestSet;

/// Pixels for each marker of a test set, and between test sets.
const MARKER: u32 = 8;
const BETWEEN: u32 = 8;

/// Test sets one below the other, in each the largest model of every family; nothing where only the paper's were run.
pub(crate) fn by_test(results: &Results) -> Figure {
    let shifts = results.tests.iter().any(|test| matches!(test, TestSet::Other(_)));
    let shown = if shifts { largest(&results.models, |_| true) } else { Vec::new() };
    let exact = panel(results, &shown, "Exact-state accuracy", |overall| overall.exact);
    let labelwise = panel(results, &shown, "Labelwise accuracy", |overall| overall.labelwise);
    let height = results.tests.len() as u32 * (MARKER * shown.len() as u32 + BETWEEN);
    let panels = vec![exact, Panel { y: labelwise.y.clone().shown(false), ..labelwise }];
    Figure {
        id: "by-test-set".into(),
        title: "Accuracy on each test set".into(),
        paper: None,
        description: "Accuracy of each family's largest model on every test set, in percent. All numbers, their \
                      intervals and how many games each set has are in the tables of test results."
            .into(),
        rows: vec![PanelRow { heading: String::new(), key: None, height: Height::Pixels(height), columns: 2, panels }],
        legend: Vec::new(),
    }
}

fn panel(results: &Results, shown: &[usize], title: &str, read: fn(&Overall) -> MeanStd) -> Panel {
    let tests = results.tests.len() as f64;
    let step = f64::from(MARKER) / f64::from(MARKER * shown.len() as u32 + BETWEEN);
    let middle = (shown.len() as f64 - 1.0) / 2.0;
    let series = shown.iter().enumerate().map(|(place, model)| {
        let described = &results.models[*model];
        let points = results.tests.iter().enumerate().filter_map(|(test, set)| {
            let mean = read(results.overall.get(&(*model, test))?).mean;
            Some(Point {
                x: mean * 100.0,
                y: tests - test as f64 - 0.5 - (place as f64 - middle) * step,
                range: None,
                note: format!("{}, {set}: {} %", legend_name(described), number::percent(mean)),
            })
        });
        let style = Style::solid(family_colour(&results.models, &described.family));
        Series { name: legend_name(described), style, joined: false, points: points.collect() }
    });
    let series: Vec<Series> = series.collect();
    let values = series.iter().flat_map(|series| &series.points).map(|point| point.x);
    let x = Axis::linear(&format!("{title} (%)"), values);
    // Every other test set stands on a shade, so that the markers of one are seen together.
    let shades = (0..results.tests.len()).step_by(2).map(|test| Tile {
        x: (x.low, x.high),
        y: (tests - test as f64 - 1.0, tests - test as f64),
        colour: None,
        strength: 0.3,
        value: None,
        note: String::new(),
    });
    let shades: Vec<Tile> = shades.collect();
    Panel {
        title: title.to_owned(),
        marker: None,
        note: String::new(),
        x,
        y: Axis::of_names("", results.tests.iter().rev().map(TestSet::to_string)),
        grid: Grid::Vertical,
        layers: shades.into_iter().map(Layer::Tile).chain(series.into_iter().map(Layer::Series)).collect(),
    }
}
