//! The runs with their measures, each before or after reinforcement learning.

use std::collections::HashMap;

use cwm_answers::{Measure, PlayerSettings, Tallies};
use cwm_contract::{Context, Failure, Label};
use cwm_page::escape_controls;
use cwm_reasoning::Mixture;

use super::facts::Facts;
use super::published::published;
use crate::papers::shown_answers::items;

/// The tasks, by their names.
pub(super) const PREDICT: &str = "reasoning_predict_move";
pub(super) const BEST: &str = "reasoning_best_move";
pub(super) const WORST: &str = "reasoning_worst_move";
pub(super) const LEGAL: &str = "reasoning_legal_moves";
pub(super) const TASKS: [&str; 4] = [PREDICT, BEST, WORST, LEGAL];

/// Everything that was measured. All texts are safe to show.
#[derive(Default)]
pub(super) struct Measurements {
    /// In the paper's order, then by name.
    pub(super) experiments: Vec<Experiment>,
    /// Runs whose answers were read leniently.
    pub(super) lenient: Vec<MeasuredRun>,
    /// The mixtures, each with the name of its experiment and the label of its cell.
    pub(super) mixtures: Vec<(String, String, Mixture)>,
    /// Labels of the cells that made it.
    pub(super) labels: Vec<String>,
    /// Tasks whose items are the published ones.
    published: Vec<&'static str>,
    /// The judges' measures of runs, with the names of the runs as they are in the tallies.
    of_judges: Vec<(String, MeasuredRun)>,
}

/// A model before and after reinforcement learning, or a run without phases, such as a player.
pub(super) struct Experiment {
    pub(super) name: String,
    /// Its name in the paper, if it has one there.
    pub(super) paper: Option<&'static str>,
    /// The fine-tuned model, or the run without phases.
    pub(super) before: Option<MeasuredRun>,
    /// After reinforcement learning.
    pub(super) after: Option<MeasuredRun>,
    /// True if it is neither before nor after reinforcement learning.
    pub(super) alone: bool,
}

/// A run.
pub(super) struct MeasuredRun {
    /// The label of the cell that graded it.
    pub(super) label: String,
    /// Its full name, as grades have it.
    pub(super) name: String,
    /// The measures by task and name, each with the label of the cell that has it.
    measures: HashMap<(String, String), (Measure, String)>,
}

/// The phase of a run: before or after reinforcement learning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Before,
    After,
}

impl Phase {
    /// Its name in columns.
    pub(super) fn name(self) -> &'static str {
        match self {
            Phase::Before => "SFT",
            Phase::After => "RL",
        }
    }

    /// The ending of the paper's columns.
    pub(super) fn ending(self) -> &'static str {
        match self {
            Phase::Before => "_sft",
            Phase::After => "_rl",
        }
    }

    fn of_word(word: &str) -> Option<Self> {
        match word {
            "before" | "sft" => Some(Phase::Before),
            "after" | "rl" => Some(Phase::After),
            _ => None,
        }
    }
}

/// Returns the name of the experiment of a cell or run, and its phase: the stage is called `before` or `after`, `sft`
/// or `rl`, or there is a coordinate `phase`. The experiment is the other coordinates.
pub(super) fn experiment(name: &str) -> (String, Option<Phase>) {
    let label = name.parse::<Label>().unwrap_or_else(|_| Label::stage(name));
    let phase = label.coordinate("phase").map_or(label.stage.as_str(), |phase| phase);
    let Some(phase) = Phase::of_word(phase) else { return (escape_controls(name), None) };
    (experiment_of(&label), Some(phase))
}

/// The name of the experiment that a cell belongs to, by its coordinates.
pub(super) fn experiment_of(label: &Label) -> String {
    let others = label.coordinates.iter().filter(|(axis, _)| axis != "phase");
    let values: Vec<&str> = others.map(|(_, value)| value.as_str()).collect();
    if values.is_empty() { "model".to_owned() } else { escape_controls(&values.join(", ")) }
}

/// Returns true if the cell read answers leniently: its stage is called `lenient`, or an axis `reading` has this value.
pub(super) fn is_lenient(label: &Label) -> bool {
    label.coordinate("reading").unwrap_or(&label.stage) == "lenient"
}

/// Computes the share of false claims from the share of true ones; `None` for other measures.
fn hallucination(measure: &Measure) -> Option<Measure> {
    let of = |share: f64| 1.0 - share;
    let Measure { value, low, high, .. } = *measure;
    (measure.measure == "claims_accuracy").then(|| Measure {
        measure: "hallucination".to_owned(),
        value: of(value),
        low: high.map(of),
        high: low.map(of),
        ..measure.clone()
    })
}

impl Measurements {
    /// Reads tallies and mixtures; items, where they are given, show whether they are the published ones.
    ///
    /// # Errors
    /// An input cannot be read.
    pub(super) fn read(context: &Context, facts: &Facts) -> Result<Self, Failure> {
        let items = items(context)?;
        let mut measured = Measurements { published: published(items.values()), ..Measurements::default() };
        for input in context.group("tallies") {
            let label = escape_controls(&input.label.to_string());
            measured.add(&label, Tallies::read(&input.path)?, is_lenient(&input.label), facts);
        }
        measured.add_measures_of_judges(facts);
        for input in context.group("mixtures") {
            let failed = |error| Failure::io("read", &input.path, error);
            let text = std::fs::read_to_string(&input.path).map_err(failed)?;
            let mixture = serde_json::from_str(&text).map_err(|error| {
                Failure::input(format!(
                    "the mixture of {} ({}) cannot be understood: {error}",
                    input.label,
                    input.path.display()
                ))
            })?;
            measured.mixtures.push((experiment_of(&input.label), escape_controls(&input.label.to_string()), mixture));
        }
        let place =
            |paper: Option<&str>| facts.models().iter().position(|model| Some(*model) == paper).unwrap_or(usize::MAX);
        measured.experiments.sort_by(|one, two| {
            (one.alone, place(one.paper), &one.name).cmp(&(two.alone, place(two.paper), &two.name))
        });
        measured.labels.sort();
        measured.labels.dedup();
        Ok(measured)
    }

    fn add(&mut self, label: &str, tallies: Tallies, lenient: bool, facts: &Facts) {
        let mut names: Vec<String> = tallies.measures.iter().map(|measure| measure.run.clone()).collect();
        names.dedup();
        for name in names {
            let of_run = tallies.measures.iter().filter(|measure| measure.run == name);
            let key = |measure: &Measure| (measure.task.clone(), measure.measure.clone());
            let mut measures: HashMap<_, _> =
                of_run.map(|measure| (key(measure), (measure.clone(), label.to_owned()))).collect();
            let hallucinations: Vec<Measure> =
                measures.values().filter_map(|(measure, _)| hallucination(measure)).collect();
            measures.extend(hallucinations.into_iter().map(|measure| (key(&measure), (measure, label.to_owned()))));
            // Every answer to a graded item has a reward.
            let is_judged = !measures.keys().any(|(_, measure)| measure == "reward");
            let player = MeasuredRun { label: label.to_owned(), name: escape_controls(&name), measures };
            if lenient {
                self.lenient.push(player);
            } else if is_judged {
                self.of_judges.push((name, player));
            } else {
                self.place(player, &name, tallies.graded.runs.get(&name), facts);
            }
            self.labels.push(label.to_owned());
        }
    }

    /// Adds the measures of judges to the runs that they judged. If several judges have one measure, the first counts.
    fn add_measures_of_judges(&mut self, facts: &Facts) {
        for (run, judged) in std::mem::take(&mut self.of_judges) {
            let experiments = self.experiments.iter_mut();
            let known = experiments
                .flat_map(|one| [&mut one.before, &mut one.after])
                .flatten()
                .find(|player| player.name == judged.name);
            match known {
                Some(player) => judged.measures.into_iter().for_each(|(key, found)| {
                    player.measures.entry(key).or_insert(found);
                }),
                None => self.place(judged, &run, None, facts),
            }
        }
    }

    fn place(&mut self, player: MeasuredRun, run: &str, described: Option<&PlayerSettings>, facts: &Facts) {
        let (name, phase) = experiment(run);
        let known = |experiment: &&mut Experiment| experiment.name == name && !experiment.alone && phase.is_some();
        let taken = |experiment: &Experiment| match phase {
            Some(Phase::After) => experiment.after.is_some(),
            _ => experiment.before.is_some(),
        };
        if let Some(experiment) = self.experiments.iter_mut().find(known).filter(|experiment| !taken(experiment)) {
            *(if phase == Some(Phase::After) { &mut experiment.after } else { &mut experiment.before }) = Some(player);
            return;
        }
        let paper = [Some(name.as_str()), described.map(|run| run.name.as_str())].into_iter().flatten();
        let paper = paper.flat_map(|name| name.split(", ")).find_map(|name| facts.model(name));
        let (before, after) = if phase == Some(Phase::After) { (None, Some(player)) } else { (Some(player), None) };
        self.experiments.push(Experiment { name, paper, before, after, alone: phase.is_none() });
    }

    /// Returns true if the items of the task are the published ones.
    pub(super) fn is_published(&self, task: &str) -> bool {
        self.published.contains(&task)
    }

    /// Returns true if nothing was measured of this paper's tasks.
    pub(super) fn is_empty(&self) -> bool {
        self.experiments.is_empty() && self.lenient.is_empty()
    }

    /// All runs with their experiments, in each the run before reinforcement learning first. A run without phases has
    /// `None`.
    pub(super) fn runs(&self) -> impl Iterator<Item = (&Experiment, &MeasuredRun, Option<Phase>)> {
        self.experiments.iter().flat_map(|experiment| {
            let phase = |phase| (!experiment.alone).then_some(phase);
            let before = experiment.before.as_ref().map(|player| (experiment, player, phase(Phase::Before)));
            let after = experiment.after.as_ref().map(|player| (experiment, player, phase(Phase::After)));
            before.into_iter().chain(after)
        })
    }
}

impl Experiment {
    /// Its run of this phase.
    pub(super) fn of(&self, phase: Phase) -> Option<&MeasuredRun> {
        match phase {
            Phase::Before => self.before.as_ref(),
            Phase::After => self.after.as_ref(),
        }
    }
}

impl MeasuredRun {
    /// A measure in a task; none if it has no value.
    pub(super) fn measure(&self, task: &str, measure: &str) -> Option<&Measure> {
        self.measures.get(&(task.to_owned(), measure.to_owned())).map(|(measure, _)| measure)
    }

    /// The label of the cell that has this measure; none if it has no value.
    pub(super) fn source(&self, task: &str, measure: &str) -> Option<&String> {
        self.measures.get(&(task.to_owned(), measure.to_owned())).map(|(_, label)| label)
    }
}
