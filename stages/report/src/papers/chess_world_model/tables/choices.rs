//! The candidates of each `select`, in the order of the tables.

use cwm_page::escape_controls;

use crate::papers::chess_world_model::facts::ChoiceStage;
use crate::papers::chess_world_model::model::{MAIN_FAMILIES, Model, SIZES};
use crate::papers::chess_world_model::read::json_lines::Candidate;

/// The trainings of one family and size from which one was chosen.
pub(super) struct Choice<'a> {
    /// Label of the `select`, such as `choice[family=slice,size=d128/l1]`.
    pub(super) label: &'a String,
    /// Its stage.
    pub(super) stage: &'a str,
    pub(super) model: Model,
    /// The paper's choice that it corresponds to.
    pub(super) kind: ChoiceStage,
    /// The candidates in the order of the file: by rank, then those excluded.
    pub(super) candidates: &'a [Candidate],
}

impl<'a> Choice<'a> {
    /// The training of that rank, from 1.
    pub(super) fn ranked(&self, rank: u64) -> Option<&'a Candidate> {
        self.candidates.iter().find(|candidate| candidate.rank == Some(rank))
    }

    /// Returns the sources of a training's number: the training, and the `select` that has it.
    pub(super) fn sources(&self, candidate: &Candidate) -> [String; 2] {
        [escape_controls(&candidate.label), self.label.clone()]
    }
}

/// Returns the choices that have any trainings, by model, then stage.
pub(super) fn choices(candidates: &[(String, Vec<Candidate>)]) -> Vec<Choice<'_>> {
    let mut choices: Vec<Choice> = candidates
        .iter()
        .filter_map(|(label, candidates)| {
            let first = candidates.first()?;
            // A choice between floors of the learning rate is made of whole trainings, after the sweep.
            let floors = candidates.iter().any(|candidate| candidate.parameters.contains_key("lr_floor"));
            Some(Choice {
                label,
                stage: label.split('[').next().unwrap_or_default(),
                model: Model::new(label, &escape_controls(&first.family), &escape_controls(&first.size)),
                kind: if floors { ChoiceStage::SecondStage } else { ChoiceStage::FirstStage },
                candidates,
            })
        })
        .collect();
    choices.sort_by(|one, other| (&one.model, one.stage).cmp(&(&other.model, other.stage)));
    choices
}

/// The paper's families and sizes of which `ours` has none.
pub(super) fn not_run<'a>(ours: impl Iterator<Item = &'a Model> + Clone) -> Vec<Model> {
    let all = MAIN_FAMILIES.iter().flat_map(|family| SIZES.map(|size| Model::new("", family, size)));
    all.filter(|model| !ours.clone().any(|run| run.family == model.family && run.size == model.size)).collect()
}

/// A parameter of a training as a number, if it is one.
pub(super) fn setting(candidate: &Candidate, name: &str) -> Option<f64> {
    let value = candidate.parameters.get(name).or_else(|| candidate.settings.get(name));
    value.and_then(serde_json::Value::as_f64)
}
