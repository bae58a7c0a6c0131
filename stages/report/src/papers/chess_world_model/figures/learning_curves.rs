//! Loss against training steps.

use cwm_page::{Axis, Figure, Grid, Layer, Panel, Point, Series, Style, escape_controls, number};

use crate::papers::chess_world_model::figures::{Group, SIZES_ABREAST, groups, rows};
use crate::papers::chess_world_model::format;
use crate::papers::chess_world_model::model::Model;
use crate::papers::chess_world_model::read::curves::Curve;
use crate::papers::chess_world_model::read::json_lines::Candidate;
use crate::papers::chess_world_model::results::Results;
use crate::papers::training_points::averaged;

/// The heading of the panel of runs of which no scored model is known.
const OTHERS: &str = "Other trainings";

/// The candidates of each `select`, by its label.
type Choices = [(String, Vec<Candidate>)];

/// Validation and training loss of every run: a row of panels each, a panel a size where there are several families.
pub(crate) fn learning_curves(curves: &[Curve], results: &Results, choices: &Choices) -> Figure {
    let groups = groups(&results.models);
    let chosen = chosen(curves, results, choices);
    // In the order of the models, as in every other legend; other trainings last.
    let mut curves: Vec<(&Curve, Option<usize>)> =
        curves.iter().map(|curve| (curve, known(curve, results, &chosen))).collect();
    curves.sort_by_key(|(_, model)| model.unwrap_or(usize::MAX));
    let shown = shown(&curves, results, &groups);
    // All panels are of steps, so they share their axes.
    let steps = curves.iter().flat_map(|(curve, _)| curve.train.iter().chain(&curve.validation)).map(|(step, _)| *step);
    let last_step = steps.max().unwrap_or(0) as f64;
    let row = |kind: &str, points: &dyn Fn(&Curve, &str) -> Vec<Point>| {
        let titles = groups.iter().map(|group| group.title.as_str()).chain([OTHERS]).enumerate();
        let panels = titles.map(|(place, title)| {
            let inside = shown.iter().filter(|shown| shown.group == place);
            let series = inside.map(|PlacedRun { curve, name, style, .. }| Series {
                name: name.clone(),
                style: *style,
                joined: true,
                points: points(curve, name),
            });
            let layers: Vec<Layer> = series.filter(|series| !series.points.is_empty()).map(Layer::Series).collect();
            Panel {
                title: if title.is_empty() { kind.to_owned() } else { title.to_owned() },
                marker: None,
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
            note: format!("{name}, {}: step {}, loss {}", curve.label, number::count(*step), format::loss(*loss)),
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
    Figure {
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

/// A run with its panel and style.
struct PlacedRun<'a> {
    curve: &'a Curve,
    name: String,
    style: Style,
    group: usize,
}

/// Places each run. One whose model is known, by its index, has the name and colour of the other figures; others are
/// named by their label, in colours not yet used while there are any.
fn shown<'a>(curves: &[(&'a Curve, Option<usize>)], results: &Results, groups: &[Group]) -> Vec<PlacedRun<'a>> {
    let mut others: Vec<&[(String, String)]> = Vec::new();
    let mut all = Vec::new();
    for (curve, index) in curves.iter().copied() {
        let places = groups.iter().enumerate().flat_map(|(at, group)| group.members.iter().map(move |one| (at, one)));
        if let Some((group, member)) = places.into_iter().find(|(_, member)| Some(member.model) == index) {
            all.push(PlacedRun { curve, name: member.name.clone(), style: member.style, group });
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
        all.push(PlacedRun { curve, name, style, group });
    }
    all
}

/// Index of the scored model that the run is of: one with its coordinates, or one that it was chosen for.
fn known(curve: &Curve, results: &Results, chosen: &[Vec<&str>]) -> Option<usize> {
    let same = results.models.iter().position(|model| model.coordinates == curve.coordinates);
    same.or_else(|| chosen.iter().position(|labels| labels.contains(&curve.label.as_str())))
}

/// For each model the labels of the runs that were chosen for it: `second[size=d8/l1,lr_floor=0.1]` for what was scored
/// as `evaluation[size=d8/l1]`. None where a run has the model's own coordinates; and none where runs of several stages
/// were chosen, since it is unknown which choice came last.
fn chosen<'a>(curves: &'a [Curve], results: &Results, choices: &Choices) -> Vec<Vec<&'a str>> {
    let candidates = choices.iter().flat_map(|(_, candidates)| candidates).filter(|candidate| candidate.chosen);
    let chosen: Vec<[String; 3]> = candidates
        .map(|candidate| [&candidate.label, &candidate.family, &candidate.size].map(|text| escape_controls(text)))
        .collect();
    let of_model = |model: &Model| -> Vec<&'a str> {
        if curves.iter().any(|curve| curve.coordinates == model.coordinates) {
            return Vec::new();
        }
        let is_of = |curve: &Curve| {
            let names = [&curve.label, &model.family, &model.size];
            chosen.iter().any(|candidate| candidate.each_ref() == names)
                && model.coordinates.iter().all(|coordinate| curve.coordinates.contains(coordinate))
        };
        let labels: Vec<&'a str> =
            curves.iter().filter(|curve| is_of(curve)).map(|curve| curve.label.as_str()).collect();
        let of_one_stage = labels.windows(2).all(|pair| stage(pair[0]) == stage(pair[1]));
        if of_one_stage { labels } else { Vec::new() }
    };
    results.models.iter().map(of_model).collect()
}

fn stage(label: &str) -> &str {
    label.split('[').next().unwrap_or_default()
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

    fn curve(label: &str) -> Curve {
        let coordinates = crate::papers::chess_world_model::model::coordinates(label);
        Curve { label: label.to_owned(), coordinates, train: Vec::new(), validation: vec![(1, 0.5)] }
    }

    fn candidate(label: &str, chosen: bool) -> Candidate {
        serde_json::from_value(serde_json::json!({
            "rank": 1, "chosen": chosen, "why": null, "label": label, "family": "slice", "size": "d8/l1",
            "parameters": {}, "loss": 0.5, "labelwise": 0.5, "exact": 0.5, "trajectory": 0.5,
        }))
        .unwrap()
    }

    /// Titles of the panels of validation losses, each with the names of its series.
    fn panels(labels: &[&str]) -> Vec<(String, Vec<String>)> {
        let scored = [("slice", "d8/l1"), ("slice", "d16/l1"), ("mamba3", "d8/l1")];
        let scored = scored.map(|(family, size)| Model::new(&format!("e[family={family},size={size}]"), family, size));
        let results = Results { models: scored.into(), ..Results::default() };
        let choices = [
            ("choice[size=d8/l1]".to_owned(), vec![candidate("sweep[family=slice,size=d8/l1,lr=1]", true)]),
            (
                "best[size=d8/l1]".to_owned(),
                vec![
                    candidate("second[family=slice,size=d8/l1,floor=0.1]", true),
                    candidate("second[family=slice,size=d8/l1,floor=0.2]", false),
                ],
            ),
        ];
        let curves: Vec<Curve> = labels.iter().map(|label| curve(label)).collect();
        let chart = learning_curves(&curves, &results, &choices);
        let names = |panel: &Panel| panel.series().map(|series| series.name.clone()).collect();
        chart.rows.iter().flat_map(|row| &row.panels).map(|panel| (panel.title.clone(), names(panel))).collect()
    }

    #[test]
    fn the_chosen_run_is_the_scored_models() {
        let expected = |title: &str, names: &[&str]| {
            (title.to_owned(), names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>())
        };
        let floors = ["second[family=slice,size=d8/l1,floor=0.2]", "second[family=slice,size=d8/l1,floor=0.1]"];
        let [other, of_first, of_last] =
            ["floor=0.2", "floor=0.1", "lr=1"].map(|setting| format!("family=slice, size=d8/l1, {setting}"));
        assert_eq!(panels(&floors), [expected("d8/l1", &["SLiCE"]), expected("Other trainings", &[other.as_str()])]);
        // Which of two chosen ones was scored is unknown, unless one has the scores' own coordinates.
        let sweep = "sweep[family=slice,size=d8/l1,lr=1]";
        let unclear = panels(&[floors[1], sweep]);
        assert_eq!(unclear.iter().flat_map(|(_, names)| names).collect::<Vec<_>>(), [&of_first, &of_last]);
        let own = panels(&["model[family=slice,size=d8/l1]", sweep]);
        assert_eq!(own, [expected("d8/l1", &["SLiCE"]), expected("Other trainings", &[of_last.as_str()])]);
    }
}
