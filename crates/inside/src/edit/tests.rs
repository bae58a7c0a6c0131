use cwm_encoding::START;
use cwm_models::checkpoint;
use cwm_models::device::cpu;
use tempfile::tempdir;

use super::*;
use crate::sample::write_checkpoint;
use crate::{ModelTask, TokenizedGame, WeightsSource};

/// Prefixes of some games: tokens of the moves of `e2e4 d7d5 e4d5 g8f6`, cut.
fn prefixes(task: ModelTask) -> Vec<Vec<u16>> {
    let game = [START, (12 * 64 + 28) * 5, (51 * 64 + 35) * 5, (28 * 64 + 35) * 5, (62 * 64 + 45) * 5];
    (2..=game.len()).map(|length| TokenizedGame::of(task, &game[..length]).unwrap().tokens).collect()
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn workers() -> WorkerPool {
    WorkerPool::new(2).unwrap()
}

/// The logits after an edit of the first recorded token of the first game.
fn edited(model: &Model, passes: &RecordedPasses<'_>, site: usize, vector: Vec<f32>) -> Vec<f32> {
    model.edited(&workers(), 64, passes, site, &[StreamEdit { game: 0, place: 0, vector }]).unwrap().remove(0)
}

/// Passes of the edited tokens alone are whole passes of their prefixes.
#[test]
fn an_edit_of_one_token_is_that_of_a_whole_pass_bit_for_bit() {
    let folder = tempdir().unwrap();
    write_checkpoint(folder.path(), ModelTask::Moves, "gpt", "d32/l2", 3).unwrap();
    let model = Model::open(folder.path(), WeightsSource::Trained, &cpu()).unwrap();
    let prefixes = prefixes(ModelTask::Moves);
    let recorded = prefixes.iter().map(|tokens| RecordedGame { tokens, at: vec![1, tokens.len() - 1] });
    let recorded: Vec<RecordedGame<'_>> = recorded.collect();
    let passes = model.record(&workers(), 64, &[0, 1, 2], &recorded).unwrap();
    let places = (0..prefixes.len()).flat_map(|game| [(game, 0), (game, 1), (game, 1)]);
    let edits = places.enumerate().map(|(number, (game, place))| StreamEdit {
        game,
        place,
        vector: random_direction([number as u64; 4], model.width()),
    });
    let edits: Vec<StreamEdit> = edits.collect();
    for site in 0..3 {
        let alone = model.edited(&workers(), 64, &passes, site, &edits).unwrap();
        let whole = model.edited_in_prefixes(&workers(), 64, &passes, site, &edits).unwrap();
        alone.iter().zip(&whole).for_each(|(one, two)| assert_eq!(bits(one), bits(two), "site {site}"));
    }
}

#[test]
fn an_edit_of_length_zero_is_none_bit_for_bit_and_one_of_some_length_is_not() {
    for (task, family) in [(ModelTask::Moves, "gpt"), (ModelTask::State, "transformer"), (ModelTask::State, "slice")] {
        let folder = tempdir().unwrap();
        write_checkpoint(folder.path(), task, family, "d16/l2", 3).unwrap();
        let model = Model::open(folder.path(), WeightsSource::Trained, &cpu()).unwrap();
        let direction = random_direction([1, 2, 3, 4], model.width());
        for prefix in &prefixes(task) {
            let recorded = [RecordedGame { tokens: prefix, at: vec![prefix.len() - 1] }];
            let passes = model.record(&workers(), 64, &[0, 1, 2], &recorded).unwrap();
            let view = &passes.views[0][0];
            for site in 0..3 {
                let logits = |eta: f64| {
                    let vector = scaled(&direction, eta, view.lengths[site]).unwrap();
                    edited(&model, &passes, site, vector)
                };
                assert_eq!(bits(&logits(0.0)), bits(&view.logits), "{family}, site {site}");
                assert_ne!(bits(&logits(0.5)), bits(&view.logits), "{family}, site {site}");
            }
        }
    }
}

#[test]
fn edits_together_are_edits_alone() {
    let folder = tempdir().unwrap();
    write_checkpoint(folder.path(), ModelTask::Moves, "gpt", "d16/l2", 3).unwrap();
    let model = Model::open(folder.path(), WeightsSource::Trained, &cpu()).unwrap();
    let prefixes = prefixes(ModelTask::Moves);
    let recorded = prefixes.iter().map(|tokens| RecordedGame { tokens, at: vec![tokens.len() - 1, tokens.len() / 2] });
    let recorded: Vec<RecordedGame<'_>> = recorded.collect();
    // Several batches.
    let passes = model.record(&workers(), 12, &[1], &recorded).unwrap();
    let edit = |number: usize| StreamEdit {
        game: number % prefixes.len(),
        place: number / prefixes.len() % 2,
        vector: random_direction([number as u64; 4], model.width()),
    };
    let edits: Vec<StreamEdit> = (0..12).map(edit).collect();
    let together = model.edited(&workers(), 64, &passes, 1, &edits).unwrap();
    let cut = model.edited(&workers(), 2, &passes, 1, &edits).unwrap();
    assert_eq!(together, cut, "the size of a pass changes no bit");
    for (edit, logits) in edits.iter().zip(together) {
        let tokens = &prefixes[edit.game][..=recorded[edit.game].at[edit.place]];
        let recorded = [RecordedGame { tokens, at: vec![tokens.len() - 1] }];
        let passes = model.record(&workers(), 64, &[1], &recorded).unwrap();
        let alone = edited(&model, &passes, 1, edit.vector.clone());
        logits.iter().zip(alone).for_each(|(one, two)| assert!((one - two).abs() < 1e-5, "{one} {two}"));
    }
}

#[test]
fn directions_have_their_length_whatever_they_are() {
    let probe = LinearProbe::initial(13, 24, 5);
    let [random, probed] = [random_direction([0, 1, 2, 3], 24), board_direction(&probe, &[(52, [1, 0])])];
    let lengths = [&random, &probed].map(|direction| norm(&scaled(direction, 0.5, 7.25).unwrap()));
    lengths.iter().for_each(|length| assert!((length - 3.625).abs() < 1e-6, "{length}"));
    assert_ne!(random, random_direction([0, 1, 3, 2], 24));
    assert_eq!(random, random_direction([0, 1, 2, 3], 24));
    assert_eq!(scaled(&[0.0; 24], 0.5, 1.0), None);
    assert_eq!(scaled(&[f32::NAN; 24], 0.5, 1.0), None);
}

#[test]
fn a_board_direction_is_the_new_class_less_the_old_one_without_the_empty_square() {
    let weight: Vec<f32> = (0..64 * 13 * 2).map(|value| value as f32).collect();
    let probe = LinearProbe::new(13, 2, weight);
    let of = |square: usize, class: usize| probe.direction(square, class).to_vec();
    assert_eq!(board_direction(&probe, &[(3, [1, 0])]), of(3, 1).iter().map(|value| -value).collect::<Vec<_>>());
    let moved = board_direction(&probe, &[(3, [7, 0]), (11, [0, 7])]);
    assert_eq!(moved, of(11, 7).iter().zip(of(3, 7)).map(|(new, old)| new - old).collect::<Vec<_>>());
}

/// A GPT whose stream is its word's row of the table at every site, and whose rows are orthogonal to each other and have no mean.
#[test]
fn a_row_of_the_table_at_the_last_site_raises_exactly_its_word() {
    let folder = tempdir().unwrap();
    write_checkpoint(folder.path(), ModelTask::Moves, "gpt", "d192/l1", 3).unwrap();
    let (description, network, mut weights) = checkpoint::read(folder.path(), 72).unwrap();
    for (index, parameter) in network.layout().parameters().iter().enumerate() {
        let is_norm = parameter.name.contains("ln_") && parameter.name.ends_with("weight");
        weights.get_mut(index).fill(if is_norm { 1.0 } else { 0.0 });
    }
    let table = network.layout().find("wte.weight").unwrap();
    for (word, row) in weights.get_mut(table).chunks_exact_mut(192).enumerate() {
        (row[2 * word], row[2 * word + 1]) = (1.0, -1.0);
    }
    let rows: Vec<Vec<f32>> = weights.get(table).chunks_exact(192).map(<[f32]>::to_vec).collect();
    checkpoint::write(folder.path(), &description, &weights).unwrap();
    let model = Model::open(folder.path(), WeightsSource::Trained, &cpu()).unwrap();
    let prefix = prefixes(ModelTask::Moves).remove(0);
    let recorded = [RecordedGame { tokens: &prefix, at: vec![prefix.len() - 1] }];
    let passes = model.record(&workers(), 64, &[1], &recorded).unwrap();
    let view = &passes.views[0][0];
    let word = 20;
    let vector = scaled(&rows[word], 0.5, view.lengths[0]).unwrap();
    let edited = edited(&model, &passes, 1, vector);
    for (at, (before, after)) in view.logits.iter().zip(&edited).enumerate() {
        assert_eq!(after > before, at == word, "word {at}: {before} to {after}");
    }
}

/// Truth from outside: the edited logits of PyTorch.
#[test]
fn golden_edits_have_golden_logits() {
    let Some(golden) = crate::golden::Golden::open("gpt2-tiny.safetensors") else { return };
    let folder = tempdir().unwrap();
    write_checkpoint(folder.path(), ModelTask::Moves, "gpt", "d32/l2", 3).unwrap();
    let (mut description, ..) = checkpoint::read(folder.path(), 72).unwrap();
    for (name, value) in [("bias", "true"), ("heads", "2"), ("positions", "48")] {
        description.architecture.options.insert(name.to_owned(), value.to_owned());
    }
    let network = cwm_models::Network::build(description.architecture.clone(), 72).unwrap();
    let mut weights = network.initial_weights(0);
    for (index, parameter) in network.layout().parameters().iter().enumerate() {
        weights.get_mut(index).copy_from_slice(&golden.floats(&format!("param.{}", parameter.name)));
    }
    description.parameters = network.layout().total() as u64;
    checkpoint::write(folder.path(), &description, &weights).unwrap();

    let model = Model::open(folder.path(), WeightsSource::Trained, &cpu()).unwrap();
    let position = golden.indices("edit.position")[0];
    let prefix: Vec<u16> = golden.indices("input.tokens")[..=position].iter().map(|&token| token as u16).collect();
    let recorded = [RecordedGame { tokens: &prefix, at: vec![position] }];
    let passes = model.record(&workers(), 64, &[0, 1, 2], &recorded).unwrap();
    let view = &passes.views[0][0];
    let close = |found: &[f32], expected: &[f32]| {
        found.iter().zip(expected).for_each(|(one, two)| assert!((one - two).abs() <= 5e-5, "{one} {two}"));
    };
    let lengths: Vec<f32> = view.lengths.iter().map(|length| *length as f32).collect();
    close(&lengths, &golden.floats("edit.scale"));
    for (site, direction) in golden.floats("edit.vectors").chunks_exact(32).enumerate() {
        for (eta, name) in [(0.5, "edit.logits_eta_0.5"), (2.0, "edit.logits_eta_2")] {
            let vector = scaled(direction, eta, view.lengths[site]).unwrap();
            let edited = edited(&model, &passes, site, vector);
            close(&edited, &golden.floats(name)[site * 72..(site + 1) * 72]);
        }
    }
}
