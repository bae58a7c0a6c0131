//! Games followed with models of words.

use std::path::Path;

use cwm_inside::sample::write_checkpoint;
use cwm_inside::{Model, ModelTask, WeightsSource};
use cwm_models::checkpoint::{self, Description};
use cwm_models::parameters::Weights;
use cwm_models::{Network, device};
use cwm_policy::inputs::words::{FIRST_PROMOTION, FIRST_SQUARE, VOCABULARY, word_of};

use super::of;
use super::probed::{initial_position, read, write};
use crate::track::inside::InspectedModel;
use crate::track::likeliest::likeliest;
use crate::track::position_prediction::{HeadPrediction, MovePrediction, PositionPrediction};

const WIDTH: usize = 32;

fn moves(tracked: &PositionPrediction) -> &[MovePrediction] {
    let HeadPrediction::Moves(moves) = &tracked.head else { panic!("{:?} are no moves", tracked.head) };
    moves
}

/// A model that gives these words so many times the probability of any other, whatever it read. Channel 0 of its stream is 1
/// before the first move alone.
fn indifferent(folder: &Path, favoured: &[(u16, f32)]) {
    write_checkpoint(folder, ModelTask::Moves, "gpt", "d32/l1", 1).unwrap();
    let mut description = Description::read(&folder.join("model.json")).unwrap();
    description.architecture.options.insert("bias".to_owned(), "true".to_owned());
    let network = Network::build(description.architecture.clone(), VOCABULARY).unwrap();
    description.parameters = network.layout().total() as u64;
    let mut weights = Weights::zeros(network.layout().clone());
    let table = weights.get_mut(network.layout().find("wte.weight").unwrap());
    table[usize::from(cwm_policy::inputs::words::BEGIN) * WIDTH] = 1.0;
    favoured.iter().for_each(|&(word, times)| table[usize::from(word) * WIDTH + 1] = times.ln());
    // What the final norm makes of any row: channel 1 of the table is the logits.
    weights.get_mut(network.layout().find("ln_f.bias").unwrap())[1] = 1.0;
    checkpoint::write(folder, &description, &weights).unwrap();
}

fn word(square: &str) -> u16 {
    word_of(square.parse().unwrap())
}

/// Notations and probabilities, in thousandths of `unit`.
fn table(moves: &[MovePrediction], unit: f64) -> Vec<(&str, Option<&str>, u64)> {
    let of = |next: &MovePrediction| (next.probability / unit * 1e3).round() as u64;
    moves.iter().map(|next| (next.uci.as_str(), next.san.as_deref(), of(next))).collect::<Vec<_>>()
}

#[test]
fn the_likeliest_moves_have_the_product_of_their_words() {
    let folder = tempfile::tempdir().unwrap();
    indifferent(folder.path(), &[(word("e2"), 8.0), (word("e4"), 6.0), (word("d2"), 4.0)]);
    let (all, ended) = of(folder.path(), "e4 e5");
    ended.unwrap();
    // All 72 words have 69 + 8 + 6 + 4 parts.
    let unit = 1.0 / (87.0 * 87.0);
    assert_eq!(
        table(moves(&all[0]), unit),
        [("e2e2", None, 64_000), ("e2e4", Some("e4"), 48_000), ("e4e2", None, 48_000)]
    );
    assert!(all.iter().all(|tracked| moves(tracked).len() == 3 && tracked.probed.is_none()));
    assert_eq!(table(moves(&all[2]), unit)[1].1, None, "the pawn is on e4 already");
    assert_eq!(all[2].truth.fen, "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq e6 0 2");
}

#[test]
fn a_promotion_has_the_word_of_its_piece() {
    let folder = tempfile::tempdir().unwrap();
    indifferent(folder.path(), &[(word("b7"), 1e3), (word("a8"), 900.0), (FIRST_PROMOTION + 3, 1e6)]);
    let (all, ended) = of(folder.path(), "a4 b5 axb5 a6 bxa6 Bb7 axb7 Nc6");
    ended.unwrap();
    let unit = (1e3_f64 / (69.0 + 1e3 + 900.0 + 1e6)).powi(2);
    assert_eq!(
        table(moves(&all[8]), unit),
        [("b7b7", None, 1_000), ("a8b7", None, 900), ("b7a8n", Some("bxa8=N"), 898)]
    );
}

#[test]
fn a_game_that_is_over_has_no_next_move() {
    let folder = tempfile::tempdir().unwrap();
    indifferent(folder.path(), &[]);
    let (all, ended) = of(folder.path(), "f3 e5 g4 Qh4");
    ended.unwrap();
    assert_eq!(all.iter().map(|tracked| moves(tracked).len()).collect::<Vec<_>>(), [3, 3, 3, 3, 0]);
}

#[test]
fn a_planted_board_is_read_in_a_model_of_words() {
    let (checkpoint, probes) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    indifferent(checkpoint.path(), &[]);
    write(probes.path(), checkpoint.path(), initial_position(WIDTH), |_| ());
    for layer in [Some(0), None] {
        let all = read(checkpoint.path(), probes.path(), layer, "e4 e5").unwrap();
        let right: Vec<u32> = all.iter().map(|tracked| tracked.probed.as_ref().unwrap().correct).collect();
        assert_eq!(right, if layer.is_some() { [64, 32, 32] } else { [32, 32, 32] });
        assert!(all.iter().all(|tracked| moves(tracked).len() == 3));
    }
}

/// The search finds what all 4,096 pairs of squares have.
#[test]
fn no_move_is_likelier_than_those_found() {
    let folder = tempfile::tempdir().unwrap();
    write_checkpoint(folder.path(), ModelTask::Moves, "gpt", "d32/l2", 5).unwrap();
    let inside = InspectedModel::open(folder.path()).unwrap();
    let found = likeliest(&inside, &[1], &shakmaty::Chess::default()).unwrap();
    let of = |read: &[u16]| {
        let logits = inside.logits(read).unwrap();
        let all: f64 = logits.iter().map(|&logit| f64::from(logit).exp()).sum();
        logits.iter().map(|&logit| f64::from(logit).exp() / all).collect::<Vec<f64>>()
    };
    let origins = of(&[1]);
    let mut all: Vec<f64> = Vec::new();
    for from in FIRST_SQUARE..FIRST_PROMOTION {
        let targets = of(&[1, from]);
        let squares = usize::from(FIRST_SQUARE)..usize::from(FIRST_PROMOTION);
        all.extend(targets[squares].iter().map(|target| origins[usize::from(from)] * target));
    }
    all.sort_by(|a, b| b.total_cmp(a));
    assert_eq!(found.len(), 3);
    for (found, expected) in found.iter().zip(all) {
        assert!((found.probability / expected - 1.0).abs() < 1e-6, "{found:?}, {expected}");
    }
}

#[test]
fn a_model_of_another_form_is_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    write_checkpoint(folder.path(), ModelTask::Moves, "gpt", "d32/l1", 1).unwrap();
    assert!(Model::open(folder.path(), WeightsSource::Trained, &device::cpu()).is_ok());
    let file = folder.path().join("model.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(file, text.replace("\"words\"", "\"board\"")).unwrap();
    let (all, ended) = of(folder.path(), "e4");
    assert!(all.is_empty());
    let message = ended.unwrap_err().message;
    assert!(message.contains("it reads sequences of the form `board`, not words of moves"), "{message}");
}
