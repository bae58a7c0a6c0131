//! The quality of moves before and after reinforcement learning.

use cwm_answers::Measure;
use cwm_page::{Axis, Figure, Grid, Layer, Panel, number};

use super::bars::hallucination;
use super::{ABREAST, colour, phases};
use crate::papers::drawing::{bar, panel, row};
use crate::papers::reasoning::facts::Facts;
use crate::papers::reasoning::id;
use crate::papers::reasoning::measured::{Experiment, Measurements, PREDICT, Phase};

const HEIGHT: u32 = 180;

/// Ten tenths of the rank, then answers without a legal move.
const BINS: usize = 11;

/// Figure 6: a histogram for each model, and the share of false claims.
pub(crate) fn quality(measured: &Measurements, facts: &Facts) -> Figure {
    let was_asked = |experiment: &&Experiment| {
        let mut players = [&experiment.before, &experiment.after].into_iter().flatten();
        !experiment.alone && players.any(|player| player.measure(PREDICT, "reward").is_some())
    };
    let panels: Vec<Panel> = measured.experiments.iter().filter(was_asked).map(histogram).collect();
    let histograms = panels.chunks(ABREAST).map(|panels| row(String::new(), HEIGHT, ABREAST, panels.to_vec()));
    Figure {
        id: id("quality"),
        title: "Quality of moves and hallucination".into(),
        paper: Some("Figure 6, Section 4"),
        description: "Answers to Predict move by the rank of the move, from the worst (0) to the best (1), and answers without a legal move; in \
                      percent of all answers, after fine-tuning and after reinforcement learning. Last the share of false claims about moves \
                      and pieces."
            .into(),
        rows: histograms.chain(hallucination(measured, facts)).collect(),
        legend: phases(),
    }
}

fn histogram(experiment: &Experiment) -> Panel {
    let mut layers: Vec<Layer> = Vec::new();
    let mut most = 0.0_f64;
    for phase in [Phase::Before, Phase::After] {
        let Some(player) = experiment.of(phase) else { continue };
        let Some(all) = player.measure(PREDICT, "reward") else { continue };
        // Shares of ranks are of legal answers alone; a run without these has none.
        let count = |measure: &Measure| measure.value * measure.n as f64;
        let share = |name: &str| player.measure(PREDICT, name).map_or(0.0, count) / all.n.max(1) as f64;
        for bin in 0..BINS {
            let (share, what) = if bin + 1 == BINS {
                (share("verdict_illegal") + share("verdict_unreadable"), "no legal move".to_owned())
            } else {
                (share(&format!("rank_{bin}")), format!("rank from {} %", bin * 10))
            };
            let left = bin as f64 + if phase == Phase::Before { 0.08 } else { 0.5 };
            let note = format!("{} {}, {what}: {} %", experiment.name, phase.name(), number::percent(share));
            most = most.max(share * 100.0);
            layers.push(bar((left, left + 0.42), (0.0, share * 100.0), colour(phase), share * 100.0, note));
        }
    }
    let names = (0..BINS).map(|bin| if bin + 1 == BINS { "none".to_owned() } else { format!(".{bin}") });
    let y = Axis::linear("Answers (%)", [0.0, most].into_iter());
    panel(&experiment.name, Axis::of_names("Rank", names), y, Grid::Horizontal, layers)
}
