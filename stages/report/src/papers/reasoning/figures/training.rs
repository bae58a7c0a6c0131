//! Curves of reinforcement learning.

use std::collections::BTreeMap;

use cwm_page::{Axis, Figure, Grid, Layer, Panel, PanelRow, Point, Series, Style, number};

use super::ABREAST;
use crate::papers::drawing::{panel, row};
use crate::papers::reasoning::curves::Curve;
use crate::papers::reasoning::id;
use crate::papers::reasoning::measured::TASKS;
use crate::papers::training_points::averaged;

const HEIGHT: u32 = 200;

/// The points of a curve: step and value.
type Points = Vec<(u64, f64)>;

/// Figure 4: rewards and lengths by step, then rewards by task, of rollouts and of validation.
pub(crate) fn training(curves: &[Curve]) -> Figure {
    if curves.is_empty() {
        return Figure::default();
    }
    let all = |points: &dyn Fn(&Curve) -> Points| curves.iter().map(points).collect::<Vec<_>>();
    let first = vec![
        drawn("Reward of rollouts", "Reward", curves, &all(&|curve| curve.reward.clone())),
        drawn("Length of rollouts", "Tokens", curves, &all(&|curve| curve.length.clone())),
    ];
    let mut rows = vec![row(String::new(), HEIGHT, ABREAST, first)];
    rows.extend(by_task("Reward of rollouts by task", curves, |curve| &curve.by_task));
    rows.extend(by_task("Reward of validation by task", curves, |curve| &curve.validation));
    Figure {
        id: id("training"),
        title: "Reinforcement learning".into(),
        paper: Some("Figure 4, Section 4"),
        description: "Mean reward and mean length of rollouts by step, then rewards by task, of rollouts and of items that are not learned from. \
                      Many steps are averaged in stretches."
            .into(),
        rows,
        ..Figure::default()
    }
}

fn by_task(heading: &str, curves: &[Curve], of: impl Fn(&Curve) -> &BTreeMap<String, Points>) -> Vec<PanelRow> {
    let has = |task: &&&str| curves.iter().any(|curve| of(curve).contains_key(**task));
    let panels = TASKS.iter().filter(has).map(|task| {
        let points: Vec<Points> =
            curves.iter().map(|curve| of(curve).get(*task).cloned().unwrap_or_default()).collect();
        drawn(task, "Reward", curves, &points)
    });
    let panels: Vec<Panel> = panels.collect();
    let heading = |nth| if nth == 0 { heading.to_owned() } else { String::new() };
    panels
        .chunks(ABREAST)
        .enumerate()
        .map(|(nth, panels)| row(heading(nth), HEIGHT, ABREAST, panels.to_vec()))
        .collect()
}

/// A line for each curve.
fn drawn(title: &str, axis: &str, curves: &[Curve], points: &[Points]) -> Panel {
    let series = curves.iter().zip(points).enumerate().filter(|(_, (_, points))| !points.is_empty());
    let series = series.map(|(nth, (curve, points))| {
        let mut points = averaged(points);
        for point in &mut points {
            point.note = format!("{}: step {}, {}", curve.name, point.x, number::decimals(point.y, 3));
        }
        Series { name: curve.name.clone(), style: Style::solid(nth), joined: true, points }
    });
    let series: Vec<Series> = series.collect();
    let values = |of: fn(&Point) -> f64| series.iter().flat_map(|series| &series.points).map(of).collect::<Vec<f64>>();
    let (x, y) = (values(|point| point.x), values(|point| point.y));
    let x = Axis::linear("Step", x.into_iter().chain([0.0]));
    let y = Axis::linear(axis, y.into_iter().chain([0.0]));
    panel(title, x, y, Grid::Horizontal, series.into_iter().map(Layer::Series).collect())
}
