//! Loss against training steps.

use crate::figure::{COLOURS, Chart, Line, Panel, Point, ScaleKind, Style};
use crate::figures::{legend_name, styles};
use crate::number;
use crate::read::curves::Curve;
use crate::results::Results;

/// Points of a training curve at most; between them losses are averaged.
const TRAINING_POINTS: usize = 120;

/// Validation and training loss of every run; a line a run, a colour a model.
pub(crate) fn learning_curves(curves: &[Curve], results: &Results) -> Chart {
    // In the order of the models, as in every other legend; those that were not scored last.
    let mut curves: Vec<&Curve> = curves.iter().collect();
    curves.sort_by_key(|curve| known(curve, results).unwrap_or(usize::MAX));
    let named = names_and_styles(&curves, results);
    // Both panels are of the same steps, so they share their axis.
    let steps = curves.iter().flat_map(|curve| curve.train.iter().chain(&curve.validation)).map(|(step, _)| *step);
    let last_step = steps.max().unwrap_or(0) as f64;
    let panel = |title: &str, points: &dyn Fn(&Curve, &str) -> Vec<Point>| {
        let lines = curves.iter().copied().zip(&named).map(|(curve, (name, style))| Line {
            points: points(curve, name),
            name: name.clone(),
            style: *style,
        });
        let lines: Vec<Line> = lines.filter(|line| !line.points.is_empty()).collect();
        Panel { title: title.to_owned(), end: last_step, note: String::new(), lines }
    };
    let validation = panel("Validation", &|curve, name| {
        let point = |(step, loss): &(u64, f64)| Point {
            x: *step as f64,
            y: *loss,
            spread: None,
            note: format!("{name}, {}: step {}, loss {}", curve.label, number::count(*step), number::loss(*loss)),
        };
        curve.validation.iter().map(point).collect()
    });
    let training = panel("Training", &|curve, _| averaged(&curve.train));
    Chart {
        id: "learning-curves".into(),
        title: "Loss against training steps".into(),
        description: "Validation loss where it was measured, and training loss averaged over short stretches, for \
                      every run, on a logarithmic axis."
            .into(),
        x_label: "Training step".into(),
        y_label: "Loss (nats per label)".into(),
        scale: ScaleKind::Logarithmic,
        panels: [validation, training].into_iter().filter(|panel| !panel.lines.is_empty()).collect(),
    }
}

/// As in the other figures where the run's model was scored; others are named by their label, in colours not yet used
/// while there are any.
fn names_and_styles(curves: &[&Curve], results: &Results) -> Vec<(String, Style)> {
    let styles = styles(&results.models);
    let mut others: Vec<&[(String, String)]> = Vec::new();
    let mut named = Vec::new();
    for curve in curves {
        if let Some(index) = known(curve, results) {
            named.push((legend_name(&results.models[index]), styles[index]));
            continue;
        }
        let place = others.iter().position(|other| *other == curve.coordinates).unwrap_or_else(|| {
            others.push(&curve.coordinates);
            others.len() - 1
        });
        let text: Vec<_> = curve.coordinates.iter().map(|(axis, value)| format!("{axis}={value}")).collect();
        let name = if text.is_empty() { curve.label.clone() } else { text.join(", ") };
        named.push((name, Style { colour: (results.models.len() + place) % COLOURS, dash: 1 }));
    }
    named
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
        Point { x: step as f64, y: mean, spread: None, note: String::new() }
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
