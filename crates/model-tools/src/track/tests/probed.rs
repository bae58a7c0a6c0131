//! Boards that linear probes read, where the stream and the probes were planted.

use std::collections::BTreeMap;
use std::path::Path;

use cwm_contract::{Failure, TrackRequest};
use cwm_encoding::{EnPassant, START, labels_of};
use cwm_inside::linear_probe::{
    FORMAT, LayerProbe, LinearProbe, LinearProbes, LinearProbesDescription, SQUARES, Target,
};
use cwm_inside::{Model, WeightsSource};
use cwm_models::device;
use cwm_models::parameters::Weights;
use shakmaty::Chess;

use super::{PositionPrediction, network, track, written};

const WIDTH: usize = 4;
const CLASSES: usize = 13;

/// A model whose stream after the embedding is (1, 0, 0, 0) before the first move, and zero afterwards.
fn model(folder: &Path) {
    let network = network("slice_diag", "d4/l1");
    let mut weights = Weights::zeros(network.layout().clone());
    let table = network.layout().find("embedding.weight").unwrap();
    weights.get_mut(table)[usize::from(START) * WIDTH] = 1.0;
    written(folder, &network, &weights);
}

/// Reads the initial position where channel 0 is not zero, and an empty board elsewhere.
pub fn initial_position(width: usize) -> LinearProbe {
    let mut weight = vec![0.0; SQUARES * CLASSES * width];
    let truth = labels_of(&Chess::default(), EnPassant::Always);
    for (square, &class) in truth[..SQUARES].iter().enumerate() {
        weight[(square * CLASSES + usize::from(class)) * width] = 1.0;
    }
    LinearProbe::new(CLASSES, width, weight)
}

/// Writes linear probes of the model in `checkpoint`: of layer 0 `probe`, of layer 1 one that reads nothing.
pub fn write(folder: &Path, checkpoint: &Path, probe: LinearProbe, change: impl FnOnce(&mut LinearProbesDescription)) {
    let model = Model::open(checkpoint, WeightsSource::Trained, &device::cpu()).unwrap();
    let nothing = LinearProbe::new(CLASSES, probe.width(), vec![0.0; probe.weight().len()]);
    let mut description = LinearProbesDescription {
        format: FORMAT,
        model: model.json(),
        network: "trained".to_owned(),
        width: probe.width(),
        layers: vec![0, 1],
        last: "raw".to_owned(),
        of: "stream".to_owned(),
        target: "both".to_owned(),
        classes: Target::Both.classes().iter().map(|class| (*class).to_owned()).collect(),
        method: "linear".to_owned(),
        phase: "any".to_owned(),
        board: "after".to_owned(),
        training: serde_json::Map::new(),
    };
    change(&mut description);
    let layer = |probe| LayerProbe { probe, latent: None, scale: 0.5 };
    let layers = BTreeMap::from([(0, layer(probe)), (1, layer(nothing))]);
    LinearProbes { description, layers }.write(folder).unwrap();
}

/// Follows a game with a model and its linear probes.
pub fn read(model: &Path, probes: &Path, layer: Option<u64>, text: &str) -> Result<Vec<PositionPrediction>, Failure> {
    let request = TrackRequest {
        model: model.to_owned(),
        game: 1,
        probes: Some(probes.to_owned()),
        layer,
        ..TrackRequest::default()
    };
    let mut all = Vec::new();
    track(&request, &mut text.as_bytes(), &mut |tracked| {
        all.push(tracked);
        Ok(())
    })?;
    Ok(all)
}

#[test]
fn a_planted_board_is_read_beside_what_the_head_predicts() {
    let (checkpoint, probes) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    model(checkpoint.path());
    write(probes.path(), checkpoint.path(), initial_position(WIDTH), |_| ());
    let all = read(checkpoint.path(), probes.path(), Some(0), "e4 e5 Nf3").unwrap();
    let of: Vec<_> = all.iter().map(|tracked| tracked.probed.as_ref().unwrap()).collect();
    assert_eq!(
        of.iter().map(|probed| (probed.layer, probed.correct)).collect::<Vec<_>>(),
        [(0, 64), (0, 32), (0, 32), (0, 32)]
    );
    assert_eq!(of[0].board.fen, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR");
    assert_eq!((of[1].board.fen.as_str(), of[1].board.state.len()), ("8/8/8/8/8/8/8/8", 0));
    // Of e2 and e4 after 1. e4, the second is wrong.
    assert_eq!(
        (&of[1].board.squares[52], &of[1].board.squares[36]),
        (&(".".to_owned(), false), &(".".to_owned(), true))
    );
    // The head predicts what it does without them, and the last layer is the default.
    let (alone, _) = super::of(checkpoint.path(), "e4 e5 Nf3");
    assert!(all.iter().zip(&alone).all(|(with, alone)| with.head == alone.head && alone.probed.is_none()));
    let last = read(checkpoint.path(), probes.path(), None, "").unwrap();
    assert_eq!(last[0].probed.as_ref().map(|probed| (probed.layer, probed.correct)), Some((1, 32)));
}

#[test]
fn linear_probes_that_do_not_fit_are_refused_in_words() {
    let (checkpoint, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    model(checkpoint.path());
    super::stubborn(other.path());
    let refused = |layer: Option<u64>, change: fn(&mut LinearProbesDescription)| {
        let probes = tempfile::tempdir().unwrap();
        write(probes.path(), checkpoint.path(), initial_position(WIDTH), change);
        let failure = read(checkpoint.path(), probes.path(), layer, "e4").unwrap_err();
        let what = failure.message.replace(&format!("the linear probes {} ", probes.path().display()), "");
        (what, failure.hint.unwrap())
    };
    let is = |found: (String, String), what: &str, hint: &str| {
        assert_eq!((found.0.as_str(), found.1.as_str()), (what, hint))
    };
    is(refused(Some(2), |_| ()), "have no layer 2", "they have 0, 1");
    is(
        refused(None, |of| _ = of.model.insert("digest".to_owned(), "00".into())),
        "are of another model than the checkpoint, which is slice_diag d4/l1",
        "linear probes and checkpoint must be of one training",
    );
    is(
        refused(None, |of| of.network = "untrained".to_owned()),
        "are of an untrained network",
        "name those of the trained network (`network: trained`)",
    );
    let difference = refused(None, |of| of.method = "difference".to_owned());
    is(difference, "were made with `method: difference`", "here they must have `method: linear`");
    let mine = refused(None, |of| of.target = "mine".to_owned());
    is(mine, "were made with `target: mine`", "here they must have `target: both`");
    let (what, hint) = refused(None, |of| of.classes.reverse());
    assert_eq!(what, "have the classes k q r b n p K Q R B N P .");
    assert_eq!(hint, "here they must be . P N B R Q K p n b r q k");
    let before = refused(None, |of| of.board = "before".to_owned());
    is(before, "were made with `board: before`", "here they must have `board: after`");
    let phase = refused(None, |of| of.phase = "2".to_owned());
    is(phase, "were made with `phase: 2`", "here they must have `phase: any`");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../foreign/tests/data/archive.pt");
    let failure = read(&file, checkpoint.path(), None, "e4").unwrap_err();
    assert!(
        failure.message.ends_with("is a file of weights, and linear probes are of a checkpoint"),
        "{}",
        failure.message
    );
}
