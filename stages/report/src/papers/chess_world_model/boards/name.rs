//! Names models and test sets of boards as the tables do, from the label and the header alone.

use std::collections::{BTreeMap, BTreeSet};

use cwm_contract::Label;
use cwm_page::escape_controls;

use super::read::{ModelLine, PredictedGame};
use crate::papers::chess_world_model::model::Model;
use crate::papers::chess_world_model::test_set::TestSet;

/// The model and the games of a board.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BoardName {
    pub(super) model: Model,
    pub(super) seed: Option<i64>,
    /// The stage that wrote it: two may have evaluated models of one family and size.
    pub(super) stage: String,
    pub(super) test: TestSet,
}

/// Reads the name from the model in the file, and from the label where the file lacks a part.
pub(super) fn board_name(label: &Label, model: &ModelLine) -> BoardName {
    let coordinate = |wanted: &str| {
        let found = label.coordinates.iter().find(|(axis, _)| axis == wanted);
        found.map(|(_, value)| escape_controls(value))
    };
    let shown_text = |text: &Option<String>| text.as_deref().map(escape_controls);
    let stage = escape_controls(&label.stage);
    let family = shown_text(&model.family).or_else(|| coordinate("family")).unwrap_or_else(|| stage.clone());
    let size = shown_text(&model.size).or_else(|| coordinate("size")).unwrap_or_default();
    BoardName {
        model: Model::new(&escape_controls(&label.to_string()), &family, &size),
        seed: model.seed.or_else(|| coordinate("seed").and_then(|seed| seed.parse().ok())),
        test: shown_text(&model.test)
            .or_else(|| coordinate("test"))
            .map_or(TestSet::HeldOut, |test| TestSet::from_name(&test)),
        stage,
    }
}

/// Returns the names of the models, in the order of the tables, and for each board the place of its model among them.
///
/// Seeds are named where a model has several, stages where two evaluated it on games of one name.
pub(super) fn names(boards: &[PredictedGame]) -> (Vec<String>, Vec<usize>) {
    let mut seeds: BTreeMap<&Model, BTreeSet<Option<i64>>> = BTreeMap::new();
    let mut stages: BTreeMap<(&Model, Option<i64>, &TestSet), BTreeSet<&str>> = BTreeMap::new();
    for BoardName { model, seed, stage, test } in boards.iter().map(|board| &board.board_name) {
        seeds.entry(model).or_default().insert(*seed);
        stages.entry((model, *seed, test)).or_default().insert(stage);
    }
    let several = stages.into_iter().filter(|(_, stages)| stages.len() > 1);
    let several: BTreeSet<_> = several.map(|((model, seed, _), _)| (model, seed)).collect();
    let key = |board: &'_ PredictedGame| {
        let BoardName { model, seed, stage, .. } = board.board_name.clone();
        let stage = several.contains(&(&model, seed)).then_some(stage);
        (model, seed, stage)
    };
    let keys: BTreeSet<_> = boards.iter().map(key).collect();
    let keys: Vec<_> = keys.into_iter().collect();
    let place = |board| keys.binary_search(&key(board)).unwrap_or_else(|place| place);
    let places = boards.iter().map(place).collect();
    let name = |(model, seed, stage): &(Model, Option<i64>, Option<String>)| {
        let mut name = format!("{} {}", model.name(), model.size).trim_end().to_owned();
        if let Some(seed) = seed
            && seeds[model].len() > 1
        {
            name += &format!(", seed {seed}");
        }
        stage.iter().for_each(|stage| name += &format!(", from {stage}"));
        name
    };
    (keys.iter().map(name).collect(), places)
}
