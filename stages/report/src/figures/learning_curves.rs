//! Loss against training steps.

use crate::figure::{Axis, Chart, Grid, Layer, Panel, Point, Series, Style};
use crate::figures::{Group, SIZES_ABREAST, groups, rows};
use crate::number;
use crate::read::curves::Curve;
use crate::results::Results;

/// Points of a training curve at most; between them losses are averaged.
const TRAINING_POINTS: usize = 120;
/// Over the panel of runs whose models were not scored.
const OTHERS: &str = "Not scored";

/// Validation and training loss of every run: a row of panels each, a panel a size where there are several families.
pub(crate) fn learning_curves(curves: &[Curve], results: &Results) -> Chart {
    let groups = groups(&results.models);
    // In the order of the models, as in every other legend; those that were not scored last.
    let mut curves: Vec<&Curve> = curves.iter().collect();
    curves.sort_by_key(|curve| known(curve, results).unwrap_or(usize::MAX));
    let shown = shown(&curves, results, &groups);
    // All panels are of steps, so they share their axes.
    let steps = curves.iter().flat_map(|curve| curve.train.iter().chain(&curve.validation)).map(|(step, _)| *step);
    let last_step = steps.max().unwrap_or(0) as f64;
    let row = |kind: &str, points: &dyn Fn(&Curve, &str) -> Vec<Point>| {
        let titles = groups.iter().map(|group| group.title.as_str()).chain([OTHERS]).enumerate();
        let panels = titles.map(|(place, title)| {
            let inside = shown.iter().filter(|shown| shown.group == place);
            let series = inside.map(|Shown { curve, name, style, .. }| Series {
                name: name.clone(),
                style: *style,
                joined: true,
                points: points(curve, name),
            });
            let layers: Vec<Layer> = series.filter(|series| !series.points.is_empty()).map(Layer::Series).collect();
            Panel {
                title: if title.is_empty() { kind.to_owned() } else { title.to_owned() },
                about: None,
                note: String::new(),
                x: Axis::up_to("", last_step),
                y: Axis::linear("", std::iter::empty()),
                grid: Grid::Horizontal,
                layers,
            }
        });
        panels.filter(|panel| !panel.layers.is_empty()).collect::<Vec<_>>()
    };
    let validation = row("Validation", &|curve, name| {
        let point = |(step, loss): &(u64, f64)| Point {
            x: *step as f64,
            y: *loss,
            range: None,
            note: format!("{name}, {}: step {}, loss {}", curve.label, number::count(*step), number::loss(*loss)),
        };
        curve.validation.iter().map(point).collect()
    });
    let training = row("Training", &|curve, _| averaged(&curve.train));
    let losses = validation.iter().chain(&training).flat_map(|panel| panel.series()).flat_map(|series| &series.points);
    let y = Axis::logarithmic("Loss (nats per label)", losses.map(|point| point.y));
    let small = validation.len().max(training.len()) > 1;
    let headed = match small {
        true => vec![("Validation".to_owned(), validation), ("Training".to_owned(), training)],
        false => vec![(String::new(), validation.into_iter().chain(training).collect())],
    };
    Chart {
        id: "learning-curves".into(),
        title: "Loss against training steps".into(),
        paper: None,
        description: "Validation loss where it was measured, and training loss averaged over short stretches, for \
                      every run, on a logarithmic axis."
            .into(),
        rows: rows(headed, if small { SIZES_ABREAST } else { 2 }, &y, "Training step"),
        legend: Vec::new(),
    }
}

/// A run, and how and in which panel it is shown.
struct Shown<'a> {
    curve: &'a Curve,
    name: String,
    style: Style,
    group: usize,
}

/// As in the other figures where the run's model was scored; others are named by their label, in colours not yet used
/// while there are any.
fn shown<'a>(curves: &[&'a Curve], results: &Results, groups: &[Group]) -> Vec<Shown<'a>> {
    let mut others: Vec<&[(String, String)]> = Vec::new();
    let mut all = Vec::new();
    for curve in curves.iter().copied() {
        let places = groups.iter().enumerate().flat_map(|(at, group)| group.members.iter().map(move |one| (at, one)));
        let index = known(curve, results);
        if let Some((group, member)) = places.into_iter().find(|(_, member)| Some(member.model) == index) {
            all.push(Shown { curve, name: member.name.clone(), style: member.style, group });
            continue;
        }
        let place = others.iter().position(|other| *other == curve.coordinates).unwrap_or_else(|| {
            others.push(&curve.coordinates);
            others.len() - 1
        });
        let text: Vec<_> = curve.coordinates.iter().map(|(axis, value)| format!("{axis}={value}")).collect();
        let name = if text.is_empty() { curve.label.clone() } else { text.join(", ") };
        let style = Style { dash: 1, ..Style::solid(results.models.len() + place) };
        // With one panel for all they stand there too.
        let group = if groups.len() == 1 { 0 } else { groups.len() };
        all.push(Shown { curve, name, style, group });
    }
    all
}

/// Index of the model that the run is of, if it was scored.
fn known(curve: &Curve, results: &Results) -> Option<usize> {
    results.models.iter().position(|model| model.coordinates == curve.coordinates)
}

/// Means over equal stretches, each at its last step. A loss that is not finite makes its stretch so.
fn averaged(losses: &[(u64, f64)]) -> Vec<Point> {
    let stretch = losses.len().div_ceil(TRAINING_POINTS).max(1);
    let point = |part: &[(u64, f64)]| {
        let mean = part.iter().map(|(_, loss)| loss).sum::<f64>() / part.len() as f64;
        let step = part.last().map_or(0, |(step, _)| *step);
        Point { x: step as f64, y: mean, range: None, note: String::new() }
    };
    losses.chunks(stretch).map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn training_losses_are_averaged_over_stretches() {
        let losses: Vec<(u64, f64)> = (1..=240).map(|step| (step, step as f64)).collect();
        let points = averaged(&losses);
        assert_eq!(points.len(), 120);
        assert_eq!((points[0].x, points[0].y), (2.0, 1.5));
        assert_eq!((points[119].x, points[119].y), (240.0, 239.5));
        assert!(averaged(&[]).is_empty());
        assert_eq!(averaged(&[(7, f64::INFINITY), (8, 1.0)])[0].y, f64::INFINITY);
    }
}
