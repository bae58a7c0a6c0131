//! Measures after fine-tuning against models after reinforcement learning.

use cwm_page::{Axis, Figure, Grid, Layer, LegendEntry, Panel, Point, Series, Style, number};

use super::ABREAST;
use crate::papers::drawing::{panel, row};
use crate::papers::reasoning::id;
use crate::papers::reasoning::predictors::{Points, Source};

const HEIGHT: u32 = 200;

const OURS: Style = Style { colour: Some(0), dash: 0, filled: true, light: false };
const PAPER: Style = Style { colour: Some(1), dash: 1, filled: false, light: false };

/// Figure 7.
pub(crate) fn predictors(all: &[Points]) -> Figure {
    let panels: Vec<Panel> = all.chunk_by(|one, next| one.predictor.name == next.predictor.name).map(drawn).collect();
    let entry = |name: &str, style| LegendEntry { name: name.to_owned(), style };
    Figure {
        id: id("predictors"),
        title: "What foretells the final model".into(),
        paper: Some("Figure 7, Section 4.3"),
        description: "Each measure of fine-tuned models against the mean, after reinforcement learning, of legal moves, rank, IoU, best and worst \
                      move; lines by least squares. Of our models, and of the printed values of the paper's tables."
            .into(),
        rows: panels.chunks(ABREAST).map(|panels| row(String::new(), HEIGHT, ABREAST, panels.to_vec())).collect(),
        legend: vec![entry("this run", OURS), entry("printed values", PAPER)],
    }
}

fn drawn(sources: &[Points]) -> Panel {
    let mut layers = Vec::new();
    let (mut x, mut y, mut note) = (Vec::new(), Vec::new(), Vec::new());
    for Points { source, points, line, .. } in sources {
        let style = if *source == Source::Ours { OURS } else { PAPER };
        let point = |(name, x, y): &(String, f64, f64)| Point {
            x: *x,
            y: *y,
            range: None,
            note: format!("{name}: {}, {}", number::decimals(*x, 3), number::decimals(*y, 3)),
        };
        x.extend(points.iter().map(|(_, x, _)| *x));
        y.extend(points.iter().map(|(.., y)| *y));
        if let Some(line) = line {
            let own = || points.iter().map(|(_, x, _)| *x);
            let ends = [own().fold(f64::INFINITY, f64::min), own().fold(f64::NEG_INFINITY, f64::max)];
            let at = |x: f64| Point { x, y: line.intercept + line.slope * x, ..Point::default() };
            layers.push(Layer::Series(Series {
                name: String::new(),
                style,
                joined: true,
                points: ends.map(at).into(),
            }));
            note.push(format!("p {}", number::decimals(line.p, 3)));
        }
        let points = points.iter().map(point).collect();
        layers.push(Layer::Series(Series { name: String::new(), style, joined: false, points }));
    }
    let name = sources.first().map_or("", |points| points.predictor.name);
    let panel = panel(
        name,
        Axis::linear("After fine-tuning", x.into_iter()),
        Axis::linear("After reinforcement learning", y.into_iter()),
        Grid::Both,
        layers,
    );
    Panel { note: note.join(", "), ..panel }
}
