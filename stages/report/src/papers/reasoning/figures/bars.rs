//! Bars by model, a panel for each measure.

use cwm_answers::Measure;
use cwm_page::{Axis, Figure, Grid, Layer, LegendEntry, Panel, PanelRow, Point, Series, Style, Tile, number};

use super::{ABREAST, BAR, colour, phases};
use crate::papers::drawing::{bar, panel, row};
use crate::papers::reasoning::facts::Facts;
use crate::papers::reasoning::id;
use crate::papers::reasoning::measured::{BEST, Experiment, LEGAL, Measured, PREDICT, Phase, WORST};

/// A panel: its title, task and measure, and the paper's column in Figure 2.
pub(super) type Spec = (&'static str, &'static str, &'static str, &'static str);

const TASKS: [Spec; 5] = [
    ("Predict move: legal moves (%)", PREDICT, "legal", "predict_legal"),
    ("Predict move: average rank (%)", PREDICT, "rank", "predict_rank"),
    ("Legal moves: IoU (%)", LEGAL, "iou", "legal_iou"),
    ("Best move: right (%)", BEST, "accuracy", "best_accuracy"),
    ("Worst move: right (%)", WORST, "accuracy", "worst_accuracy"),
];

const CLAIMS: [Spec; 3] = [
    ("True claims about moves (%)", PREDICT, "referenced_accuracy", ""),
    ("True claims about pieces (%)", PREDICT, "pieces_accuracy", ""),
    ("True claims of both kinds (%)", PREDICT, "claims_accuracy", ""),
];

/// Hollow markers of the paper's numbers.
const PAPER: Style = Style { colour: Some(0), dash: 0, filled: false, light: false };

/// Figure 2: models and players, and what was trained here after its training.
pub(crate) fn models(measured: &Measured, facts: &Facts) -> Figure {
    let phase = |experiment: &Experiment| match experiment.after {
        Some(_) => Phase::After,
        None => Phase::Before,
    };
    let models: Vec<&Experiment> = measured.experiments.iter().collect();
    let mut has_paper = false;
    let panels = TASKS.map(|spec| {
        let (_, task, measure, column) = spec;
        let printed = |experiment: &Experiment| {
            let ending = if experiment.alone { "" } else { phase(experiment).ending() };
            let name = format!("{}{ending}", experiment.paper.filter(|_| measured.is_published(task))?);
            facts.of_figure(&name, column)
        };
        let bars = |experiment: &Experiment| {
            let phase = phase(experiment);
            experiment
                .of(phase)
                .and_then(|player| player.measure(task, measure))
                .map(|found| (phase, found.clone()))
                .into_iter()
                .collect()
        };
        let mut panel = drawn(spec.0, &models, bars);
        let markers = models.iter().rev().enumerate().filter_map(|(place, experiment)| {
            let printed = printed(experiment)?;
            let note = format!("{}, paper: {}", experiment.name, printed.text);
            Some(Point { x: printed.value * 100.0, y: place as f64 + 0.5, range: None, note })
        });
        let points: Vec<Point> = markers.collect();
        has_paper |= !points.is_empty();
        panel.layers.push(Layer::Series(Series { name: String::new(), style: PAPER, joined: false, points }));
        panel
    });
    let mut legend = phases();
    legend.extend(has_paper.then(|| LegendEntry { name: "paper".into(), style: PAPER }));
    Figure {
        id: id("models"),
        title: "Models on the four tasks".into(),
        paper: Some("Figure 2, Section 1"),
        description: "Measures of the four tasks: of models after reinforcement learning where there is one, of others and of players as they \
                      are; with 95 % intervals."
            .into(),
        rows: rows(panels.into(), models.len()),
        legend,
    }
}

/// Figure 5: models before and after reinforcement learning.
pub(crate) fn data_sets(measured: &Measured) -> Figure {
    Figure {
        id: id("data-sets"),
        title: "Measures by data set".into(),
        paper: Some("Figure 5, Section 4"),
        description: "Measures of each model after fine-tuning and after reinforcement learning, with 95 % intervals."
            .into(),
        ..before_and_after(measured, &TASKS)
    }
}

/// Figure 16: claims before and after.
pub(crate) fn claims(measured: &Measured) -> Figure {
    Figure {
        id: id("claims"),
        title: "True claims".into(),
        paper: Some("Figure 16, Appendix F"),
        description: "Shares of claims of the thinking that are true in the position, after fine-tuning and after reinforcement learning; \
                      with 95 % intervals."
            .into(),
        ..before_and_after(measured, &CLAIMS)
    }
}

/// A panel for each measure, with a bar before and one after reinforcement learning.
pub(super) fn before_and_after(measured: &Measured, specs: &[Spec]) -> Figure {
    let has = |experiment: &&Experiment| {
        let players = [&experiment.before, &experiment.after].into_iter().flatten();
        let mut measures =
            players.flat_map(|player| specs.iter().map(|(_, task, measure, _)| player.measure(task, measure)));
        !experiment.alone && measures.any(|measure| measure.is_some())
    };
    let models: Vec<&Experiment> = measured.experiments.iter().filter(has).collect();
    if models.is_empty() {
        return Figure::default();
    }
    let panel = |(title, task, measure, _): &Spec| {
        let bars = |experiment: &Experiment| {
            let of_phase = |phase| Some((phase, experiment.of(phase)?.measure(task, measure)?.clone()));
            [Phase::Before, Phase::After].into_iter().filter_map(of_phase).collect()
        };
        drawn(title, &models, bars)
    };
    Figure { rows: rows(specs.iter().map(panel).collect(), 2 * models.len()), legend: phases(), ..Figure::default() }
}

/// A panel of bars; two of a model stand one above the other.
fn drawn(title: &str, models: &[&Experiment], bars: impl Fn(&Experiment) -> Vec<(Phase, Measure)>) -> Panel {
    let mut layers = Vec::new();
    for (place, experiment) in models.iter().rev().enumerate() {
        let bars = bars(experiment);
        let width = 0.76 / bars.len().max(1) as f64;
        for (nth, (phase, measure)) in bars.iter().enumerate() {
            let top = place as f64 + 0.88 - width * nth as f64;
            let phase_name = if experiment.alone { "" } else { phase.name() };
            let note = format!(
                "{} {phase_name}: {} % of {}",
                experiment.name,
                number::percent(measure.value),
                number::count(measure.n)
            );
            layers.push(bar(
                (0.0, measure.value * 100.0),
                (top - width, top),
                colour(*phase),
                measure.value * 100.0,
                note,
            ));
            layers.extend(measure.low.zip(measure.high).map(|ends| interval(ends, top - width / 2.0)));
        }
    }
    let names = Axis::of_names("", models.iter().rev().map(|experiment| experiment.name.clone()));
    panel(title, Axis::up_to("", 100.0), names, Grid::Vertical, layers)
}

/// A thin bar over an interval of shares.
fn interval((low, high): (f64, f64), middle: f64) -> Layer {
    let (x, y) = ((low * 100.0, high * 100.0), (middle - 0.05, middle + 0.05));
    Layer::Tile(Tile { x, y, colour: None, strength: 1.0, value: None, note: String::new() })
}

/// Panels in rows, as high as their bars need.
fn rows(panels: Vec<Panel>, bars: usize) -> Vec<PanelRow> {
    panels.chunks(ABREAST).map(|panels| row(String::new(), BAR * bars as u32 + BAR, ABREAST, panels.to_vec())).collect()
}
