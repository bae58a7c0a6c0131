//! Bars by model, a panel for each measure.

use cwm_answers::Measure;
use cwm_page::{Axis, Figure, Grid, Layer, LegendEntry, Panel, PanelRow, Point, Series, Style, Tile, number};

use super::{ABREAST, BAR, colour, phases};
use crate::papers::drawing::{bar, panel, row};
use crate::papers::reasoning::facts::Facts;
use crate::papers::reasoning::id;
use crate::papers::reasoning::measured::{BEST, Experiment, LEGAL, Measurements, PREDICT, Phase, WORST};

/// A panel: its title, task and measure, and the paper's column without its ending; empty if the paper has none.
pub(super) type Spec = (&'static str, &'static str, &'static str, &'static str);

const TASKS: [Spec; 5] = [
    ("Predict move: legal moves (%)", PREDICT, "legal", "predict_legal"),
    ("Predict move: average rank (%)", PREDICT, "rank", "predict_rank"),
    ("Legal moves: IoU (%)", LEGAL, "iou", "legal_iou"),
    ("Best move: right (%)", BEST, "accuracy", "best_accuracy"),
    ("Worst move: right (%)", WORST, "accuracy", "worst_accuracy"),
];

const CLAIMS: [Spec; 3] = [
    ("True claims about moves (%)", PREDICT, "referenced_accuracy", "referenced_accuracy"),
    ("True claims about pieces (%)", PREDICT, "pieces_accuracy", ""),
    ("True claims of both kinds (%)", PREDICT, "claims_accuracy", ""),
];

const HALLUCINATION: [Spec; 1] = [("Hallucination: false claims (%)", PREDICT, "hallucination", "")];

/// Hollow markers of the paper's numbers.
const PAPER: Style = Style { colour: Some(0), dash: 0, filled: false, light: false };

/// Figure 2: models and players; models that were trained here after their training.
pub(crate) fn models(measured: &Measurements, facts: &Facts) -> Figure {
    let last = |experiment: &Experiment| match experiment.after {
        Some(_) => vec![Phase::After],
        None => vec![Phase::Before],
    };
    let models: Vec<&Experiment> = measured.experiments.iter().collect();
    Figure {
        id: id("models"),
        title: "Models on the four tasks".into(),
        paper: Some("Figure 2, Section 1"),
        description: "Measures of the four tasks: of models after reinforcement learning where there is one, of others and of players as they \
                      are; with 95 % intervals. Hollow markers are the paper's numbers, where a model has the name of a row and was given the \
                      published items."
            .into(),
        ..drawn(&TASKS, &models, last, measured, facts)
    }
}

/// Figure 5: models before and after reinforcement learning.
pub(crate) fn data_sets(measured: &Measurements, facts: &Facts) -> Figure {
    Figure {
        id: id("data-sets"),
        title: "Measures by data set".into(),
        paper: Some("Figure 5, Section 4"),
        description: "Measures of each model after fine-tuning and after reinforcement learning, with 95 % intervals. Hollow markers are the \
                      numbers of the paper's tables."
            .into(),
        ..before_and_after(&TASKS, measured, facts)
    }
}

/// Figure 16: claims before and after.
pub(crate) fn claims(measured: &Measurements, facts: &Facts) -> Figure {
    Figure {
        id: id("claims"),
        title: "True claims".into(),
        paper: Some("Figure 16, Appendix F"),
        description: "Shares of claims of the thinking that are true in the position, after fine-tuning and after reinforcement learning; \
                      with 95 % intervals. Hollow markers are the numbers of the paper's Table 2, which a language model judged."
            .into(),
        ..before_and_after(&CLAIMS, measured, facts)
    }
}

/// The panel of false claims in Figure 6.
pub(super) fn hallucination(measured: &Measurements, facts: &Facts) -> Vec<PanelRow> {
    before_and_after(&HALLUCINATION, measured, facts).rows
}

/// A panel for each measure, with a bar before and one after reinforcement learning.
pub(super) fn before_and_after(specs: &[Spec], measured: &Measurements, facts: &Facts) -> Figure {
    let has = |experiment: &&Experiment| {
        let players = [&experiment.before, &experiment.after].into_iter().flatten();
        let mut measures =
            players.flat_map(|player| specs.iter().map(|(_, task, measure, _)| player.measure(task, measure)));
        !experiment.alone && measures.any(|measure| measure.is_some())
    };
    let models: Vec<&Experiment> = measured.experiments.iter().filter(has).collect();
    drawn(specs, &models, |_| vec![Phase::Before, Phase::After], measured, facts)
}

/// A figure without words: a panel for each of `specs`, with bars of each model's `wanted` phases.
fn drawn(
    specs: &[Spec],
    models: &[&Experiment],
    wanted: impl Fn(&Experiment) -> Vec<Phase>,
    measured: &Measurements,
    facts: &Facts,
) -> Figure {
    if models.is_empty() {
        return Figure::default();
    }
    let most = models.iter().map(|experiment| wanted(experiment).len()).max().unwrap_or(1);
    let height = BAR * (models.len() * most + 1) as u32;
    let panels = specs.iter().map(|spec| bars(spec, models, &wanted, measured, facts));
    let panels: Vec<Panel> = panels.filter(|panel| !panel.layers.is_empty()).collect();
    let is_paper = |layer: &Layer| matches!(layer, Layer::Series(_));
    let has_paper = panels.iter().flat_map(|panel| &panel.layers).any(is_paper);
    let mut legend = phases();
    legend.extend(has_paper.then(|| LegendEntry { name: "paper".into(), style: PAPER }));
    let rows = panels.chunks(ABREAST).map(|panels| row(String::new(), height, ABREAST, panels.to_vec()));
    Figure { rows: rows.collect(), legend, ..Figure::default() }
}

/// A panel of bars, with the paper's numbers of the same items as markers; two bars of a model stand one above the other.
fn bars(
    &(title, task, measure, column): &Spec,
    models: &[&Experiment],
    wanted: impl Fn(&Experiment) -> Vec<Phase>,
    measured: &Measurements,
    facts: &Facts,
) -> Panel {
    let mut layers = Vec::new();
    let mut markers = Vec::new();
    for (place, experiment) in models.iter().rev().enumerate() {
        let of_phase = |phase| Some((phase, experiment.of(phase)?.measure(task, measure)?));
        let found: Vec<(Phase, &Measure)> = wanted(experiment).into_iter().filter_map(of_phase).collect();
        let paper = experiment.paper.filter(|_| measured.is_published(task));
        let width = 0.76 / found.len().max(1) as f64;
        for (nth, (phase, found)) in found.into_iter().enumerate() {
            let top = place as f64 + 0.88 - width * nth as f64;
            let middle = top - width / 2.0;
            let phase_name = if experiment.alone { String::new() } else { format!(" {}", phase.name()) };
            let name = format!("{}{phase_name}", experiment.name);
            let percent = found.value * 100.0;
            let note = format!("{name}: {} % of {}", number::percent(found.value), number::count(found.n));
            layers.push(bar((0.0, percent), (top - width, top), colour(phase), percent, note));
            layers.extend(found.low.zip(found.high).map(|ends| interval(ends, middle)));
            markers.extend(paper.and_then(|model| facts.share(model, column, phase)).map(|share| Point {
                x: share * 100.0,
                y: middle,
                range: None,
                note: format!("{name}, paper: {} %", number::percent(share)),
            }));
        }
    }
    if !markers.is_empty() {
        let series = Series { name: String::new(), style: PAPER, joined: false, points: markers };
        layers.push(Layer::Series(series));
    }
    let names = Axis::of_names("", models.iter().rev().map(|experiment| experiment.name.clone()));
    panel(title, Axis::up_to("", 100.0), names, Grid::Vertical, layers)
}

/// A thin bar over an interval of shares.
fn interval((low, high): (f64, f64), middle: f64) -> Layer {
    let (x, y) = ((low * 100.0, high * 100.0), (middle - 0.05, middle + 0.05));
    Layer::Tile(Tile { x, y, colour: None, strength: 1.0, value: None, note: String::new() })
}
