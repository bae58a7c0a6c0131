//! Loss and best moves along training.

use cwm_page::{Axis, Figure, Grid, Layer, LegendEntry, Panel, Point, Series, Style, number};

use crate::papers::board_vs_moves::common::id;
use crate::papers::board_vs_moves::curves::Curve;
use crate::papers::board_vs_moves::facts::Facts;
use crate::papers::board_vs_moves::figures::{panel, row, styles};
use crate::papers::board_vs_moves::groups::nats;
use crate::papers::board_vs_moves::tables::MASKS;
use crate::papers::training_points::averaged;

/// The board with and without mask, ours before the repository's.
pub(crate) fn masks(curves: &[Curve], facts: &Facts) -> Figure {
    let is_board = |curve: &&Curve| {
        let arm = curve.arm.as_ref().map(|(arm, _)| arm.name.as_str());
        arm.is_some_and(|arm| MASKS.iter().any(|(name, _)| *name == arm)) && !curve.validation.is_empty()
    };
    let ours: Vec<&Curve> = curves.iter().filter(is_board).collect();
    let styles = styles_of(&ours);
    let (mut losses, mut best): (Vec<Series>, Vec<Series>) = (Vec::new(), Vec::new());
    for (place, (_, row)) in MASKS.iter().enumerate().filter(|_| !ours.is_empty()) {
        let light = Style { light: true, ..Style::solid(place) };
        let series = |points: Vec<Point>| Series { name: String::new(), style: light, joined: true, points };
        let checkpoints = facts.checkpoints(row);
        let point = |step: u64, y: f64, text: String| {
            let note = format!("authors' repository, {row}, step {}: {text}", number::count(step));
            Point { x: step as f64, y, range: None, note }
        };
        losses.push(series(checkpoints.iter().map(|(step, loss, _)| point(*step, *loss, nats(*loss))).collect()));
        best.push(series(
            checkpoints.iter().map(|(step, _, best)| point(*step, *best, format!("{best:.2} %"))).collect(),
        ));
    }
    for (curve, style) in ours.iter().zip(&styles) {
        losses.push(validation(curve, *style));
        let point = |(step, _, best): &(u64, f64, Option<f64>)| {
            let best = (*best)?;
            let note = format!("{}, step {}: {} %", curve.name(true), number::count(*step), number::percent(best));
            Some(Point { x: *step as f64, y: best * 100.0, range: None, note })
        };
        let points = curve.validation.iter().filter_map(point).collect();
        best.push(Series { name: curve.name(true), style: *style, joined: true, points });
    }
    let steps = losses.iter().flat_map(|series| &series.points).map(|point| point.x).collect::<Vec<_>>();
    let x = Axis::logarithmic("Training step", steps.into_iter());
    let panels = vec![
        along("Loss a move (nats)", x.clone(), Axis::linear("", heights(&losses)), losses.clone()),
        along("Best (%)", x, Axis::linear("", heights(&best)), best.clone()),
    ];
    let light = Style { colour: None, light: true, ..Style::solid(0) };
    let legend = LegendEntry { name: "authors' repository".into(), style: light };
    Figure {
        id: id("masks"),
        title: "The board with and without a causal mask".into(),
        paper: None,
        description: "Validation loss and best moves by step: ours, and the logs of the authors' repository in lighter lines, of other data, sizes \
                      and batches. There the two masks cross only after some 60,000 steps."
            .into(),
        rows: if ours.is_empty() { Vec::new() } else { vec![row(String::new(), 240, 2, panels)] },
        legend: if ours.is_empty() { Vec::new() } else { vec![legend] },
    }
}

/// Validation and training loss of every training.
pub(crate) fn curves(curves: &[Curve]) -> Figure {
    let all: Vec<&Curve> = curves.iter().collect();
    let styles = styles_of(&all);
    let each = || all.iter().zip(&styles);
    let validation: Vec<Series> = each().map(|(curve, style)| validation(curve, *style)).collect();
    let training: Vec<Series> = each()
        .map(|(curve, style)| {
            let losses: Vec<(u64, f64)> = curve.train.iter().map(|(step, loss, _)| (*step, *loss)).collect();
            Series { name: curve.name(true), style: *style, joined: true, points: averaged(&losses) }
        })
        .collect();
    let last =
        validation.iter().chain(&training).flat_map(|series| &series.points).map(|point| point.x).fold(0.0, f64::max);
    let panel = |title: &str, series: Vec<Series>| {
        along(title, Axis::up_to("Training step", last), Axis::linear("Loss (nats)", heights(&series)), series)
    };
    let panels = [panel("Validation, an answer", validation), panel("Training, a target", training)];
    let panels: Vec<Panel> = panels.into_iter().filter(|panel| !panel.layers.is_empty()).collect();
    Figure {
        id: id("curves"),
        title: "Loss against training steps".into(),
        paper: Some("Figures of Appendices D.2 and G"),
        description: "Validation loss of a move (of `characters`, of a character), and training loss of a target averaged over short \
                      stretches. A target is a move where answers are one token and a token of text elsewhere, so training losses of \
                      arms with other answers are not to be compared."
            .into(),
        rows: if panels.is_empty() { Vec::new() } else { vec![row(String::new(), 240, 2, panels)] },
        legend: Vec::new(),
    }
}

/// Styles by arm; a training whose arm is unknown is one of its own.
fn styles_of(curves: &[&Curve]) -> Vec<Style> {
    styles(curves.iter().map(|curve| curve.arm.as_ref().map_or(curve.label.as_str(), |(arm, _)| arm.name.as_str())))
}

fn validation(curve: &Curve, style: Style) -> Series {
    let point = |(step, loss, _): &(u64, f64, Option<f64>)| {
        let note = format!("{}, step {}: {} nats", curve.name(true), number::count(*step), nats(*loss));
        Point { x: *step as f64, y: *loss, range: None, note }
    };
    Series { name: curve.name(true), style, joined: true, points: curve.validation.iter().map(point).collect() }
}

fn along(title: &str, x: Axis, y: Axis, series: Vec<Series>) -> Panel {
    let layers = series.into_iter().filter(|series| !series.points.is_empty()).map(Layer::Series).collect();
    panel(title, x, y, Grid::Horizontal, layers)
}

fn heights(series: &[Series]) -> impl Iterator<Item = f64> {
    series.iter().flat_map(|series| &series.points).map(|point| point.y).filter(|y| y.is_finite())
}
