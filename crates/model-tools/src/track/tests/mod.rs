//! Games followed with models.

mod following;
mod probed;
mod words;

use std::collections::BTreeMap;
use std::io::{BufRead, Read};
use std::path::Path;

use cwm_contract::{Failure, ModelHints, TrackRequest};
use cwm_encoding::{EnPassant, PlainMove, START, VOCABULARY, labels_of, replay_into};
use cwm_models::checkpoint::{self, Description, FORMAT, Status};
use cwm_models::families::FAMILIES;
use cwm_models::heads::labels::{self, MicroBatch, SPANS, score};
use cwm_models::parameters::Weights;
use cwm_models::{Architecture, DeviceWeights, Network, device};
use shakmaty::{Chess, Position};

use super::position_prediction::{BoardPrediction, HeadPrediction, PositionPrediction};
use super::track;

fn network(family: &str, size: &str) -> Network {
    labels::network(Architecture {
        family: family.into(),
        size: size.parse().unwrap(),
        vocabulary: VOCABULARY,
        dropout: 0.0,
        options: BTreeMap::new(),
    })
    .unwrap()
}

fn written(folder: &Path, network: &Network, weights: &Weights) {
    let description = Description {
        format: FORMAT,
        architecture: network.architecture().clone(),
        parameters: network.layout().total() as u64,
        status: Status::Finished,
        training: Default::default(),
    };
    checkpoint::write(folder, &description, weights).unwrap();
}

/// Writes a model that predicts the initial position, whatever is played.
fn stubborn(folder: &Path) {
    let network = network("slice_diag", "d1/l1");
    let mut weights = Weights::zeros(network.layout().clone());
    let bias = network.layout().find("output_head.bias").unwrap();
    let truth = labels_of(&Chess::default(), EnPassant::Always);
    for (&(start, _), &class) in SPANS.iter().zip(&truth) {
        weights.get_mut(bias)[start + usize::from(class)] = 8.0;
    }
    written(folder, &network, &weights);
}

/// The board that the head predicts.
fn board(tracked: &PositionPrediction) -> &BoardPrediction {
    let HeadPrediction::Board(board) = &tracked.head else { panic!("{:?} is no board", tracked.head) };
    board
}

/// Tracks a game; returns its predictions, and the error that ended it.
fn predictions(model: &Path, game: u64, text: &mut dyn BufRead) -> (Vec<PositionPrediction>, Result<(), Failure>) {
    let mut all = Vec::new();
    let request = TrackRequest { model: model.to_owned(), game, ..TrackRequest::default() };
    let ended = track(&request, text, &mut |tracked| {
        all.push(tracked);
        Ok(())
    });
    (all, ended)
}

fn of(model: &Path, text: &str) -> (Vec<PositionPrediction>, Result<(), Failure>) {
    predictions(model, 1, &mut text.as_bytes())
}

#[test]
fn positions_are_reported_with_what_is_wrong_of_each() {
    let folder = tempfile::tempdir().unwrap();
    stubborn(folder.path());
    let (all, ended) = of(folder.path(), "1. e4 e7e5 2. Nf3");
    ended.unwrap();
    assert_eq!(all.iter().map(|tracked| tracked.ply).collect::<Vec<_>>(), [0, 1, 2, 3]);
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    assert!(all.iter().all(|tracked| board(tracked).predicted.fen == start));
    assert_eq!((board(&all[0]).correct, board(&all[0]).errors.len()), (75, 0));
    assert_eq!(all[1].truth.fen, "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1");
    let wrong: Vec<String> = board(&all[1])
        .errors
        .iter()
        .map(|wrong| format!("{} {} {}", wrong.label, wrong.predicted.value, wrong.truth.value))
        .collect();
    assert_eq!(wrong, ["e4 . P", "e2 P .", "side to move white black", "en passant file - e", "en passant rank - 3"]);
    let marked: Vec<&str> =
        board(&all[1]).predicted.state.iter().filter(|item| item.wrong).map(|item| item.name).collect();
    assert_eq!(marked, ["to move", "en passant"]);
    let played = all[3].last_move.clone().unwrap();
    assert_eq!((played.number.as_str(), played.san.as_str(), played.uci.as_str()), ("2.", "Nf3", "g1f3"));
    assert!(
        board(&all[1]).errors.iter().all(|wrong| wrong.predicted.probability > 0.9 && wrong.truth.probability < 0.1)
    );
}

#[test]
fn castling_and_promotion_are_read_in_both_notations() {
    let folder = tempfile::tempdir().unwrap();
    stubborn(folder.path());
    let opening = "e4 e5 Nf3 Nf6 Be2 Be7";
    let (short, _) = of(folder.path(), &format!("{opening} O-O 0-0"));
    let (plain, _) = of(folder.path(), &format!("{opening} e1g1 e8g8"));
    assert_eq!(short, plain);
    assert_eq!(short.last().unwrap().last_move.as_ref().unwrap().uci, "e8g8");
    let rush = "a4 b5 axb5 a6 bxa6 Bb7 axb7 Nc6";
    let (named, _) = of(folder.path(), &format!("{rush} bxa8=N"));
    let (plain, _) = of(folder.path(), &format!("{rush} b7a8n"));
    assert_eq!(named, plain);
    assert_eq!(named.last().unwrap().truth.squares[0].0, "N");
}

#[test]
fn an_illegal_move_is_reported_after_what_came_before_it() {
    let folder = tempfile::tempdir().unwrap();
    stubborn(folder.path());
    let failed = |text: &str| {
        let (all, ended) = of(folder.path(), text);
        let failure = ended.unwrap_err();
        (all.len(), failure.message, failure.hint.unwrap())
    };
    let (predictions, message, hint) = failed("e4 e5\nKe3 a6");
    assert_eq!((predictions, message.as_str()), (3, "`Ke3` at ply 3 is not legal"));
    assert!(hint.starts_with("legal are Ba6, Bb5, ") && hint.contains("Ke2"), "{hint}");
    assert_eq!(failed("e4 hello").1, "`hello` at ply 2 is no move");
    assert_eq!(failed("e4 e5 --").1, "`--` at ply 3 passes, which chess does not allow");
    assert_eq!(failed("Nf3 d5 Nd4 e5 Nc3 e4 Nb5").1, "`Nb5` at ply 7 may be several moves");
    assert_eq!(failed("e4 \u{1b}[2J").1, "`[2J` at ply 2 is no move");
    assert_eq!(failed("f3 e5 g4 Qh4 a3").2, "the game is over: there is no legal move");
    let (predictions, message, _) = failed("[Event \"?\"]\n\n1. e4 e5 2. Ke3 *\n");
    assert_eq!((predictions, message.as_str()), (3, "`Ke3` at ply 3 is not legal"));
}

#[test]
fn of_pgn_with_several_games_one_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    stubborn(folder.path());
    let pgn = "\u{feff}[Event \"a\"]\n\n1. e4 {a (comment)} (1. d4) e5 1-0\n\n[Event \"b\"]\n\n1. c4 *\n\n\
               [Event \"c\"]\n[SetUp \"1\"]\n[FEN \"8/8/8/8/8/8/8/K1k5 w - - 0 1\"]\n\n*\n";
    let moves = |game: u64| {
        let (all, ended) = predictions(folder.path(), game, &mut pgn.as_bytes());
        let moves: Vec<String> = all.into_iter().filter_map(|tracked| Some(tracked.last_move?.san)).collect();
        ended.map(|()| moves).map_err(|failure| failure.message)
    };
    assert_eq!(moves(1).unwrap(), ["e4", "e5"]);
    assert_eq!(moves(2).unwrap(), ["c4"]);
    assert!(moves(3).unwrap_err().contains("does not begin from the initial position"));
    assert_eq!(moves(4).unwrap_err(), "the PGN has 3 games, and no game 4");
    let (_, ended) = predictions(folder.path(), 2, &mut "e4 e5".as_bytes());
    assert!(ended.unwrap_err().message.contains("one game"));
    assert_eq!(of(folder.path(), "").0.len(), 1);
}

#[test]
fn what_is_no_one_game_of_chess_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    stubborn(folder.path());
    let failed = |text: &str| {
        let (all, ended) = of(folder.path(), text);
        (all.len(), ended.unwrap_err().message)
    };
    assert_eq!(failed("e4 e5 1-0\nd4 d5"), (3, "`d4` follows `1-0`, which ends the game".to_owned()));
    assert_eq!(failed("e4 * d4").0, 2);
    let pgn = |variant: &str| format!("[Event \"?\"]\n[Variant \"{variant}\"]\n\n1. e4 *\n");
    let (predictions, message) = failed(&pgn("Atomic"));
    assert_eq!(
        (predictions, message.as_str()),
        (0, "this game was played by the rules of `Atomic`, but models are trained on those of chess")
    );
    assert_eq!(of(folder.path(), &pgn("Standard")).0.len(), 2);
    // A mark at the beginning of a file is no part of its first move.
    let (all, ended) = of(folder.path(), "\u{feff}e4 e5\n");
    assert_eq!((all.len(), ended.is_ok()), (3, true));
}

/// Text that must not be read further than is predictions already.
struct Interactive<'a> {
    lines: Vec<&'static str>,
    predictions: &'a std::cell::Cell<usize>,
    expected: Vec<usize>,
    line: &'static [u8],
}

impl Read for Interactive<'_> {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        unreachable!("lines are read with `fill_buf`")
    }
}

impl BufRead for Interactive<'_> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        if self.line.is_empty() && !self.lines.is_empty() {
            assert_eq!(self.predictions.get(), self.expected.remove(0), "before {:?}", self.lines[0]);
            self.line = self.lines.remove(0).as_bytes();
        }
        Ok(self.line)
    }

    fn consume(&mut self, bytes: usize) {
        self.line = &self.line[bytes..];
    }
}

#[test]
fn each_line_is_answered_before_the_next_is_read() {
    let folder = tempfile::tempdir().unwrap();
    stubborn(folder.path());
    let counted = std::cell::Cell::new(0);
    let mut text = Interactive {
        lines: vec!["e4\n", "e5 Nf3\n", "\n", "Nc6\n"],
        predictions: &counted,
        expected: vec![0, 2, 4, 4],
        line: b"",
    };
    let request = TrackRequest { model: folder.path().to_owned(), game: 1, ..TrackRequest::default() };
    track(&request, &mut text, &mut |_| {
        counted.set(counted.get() + 1);
        Ok(())
    })
    .unwrap();
    assert_eq!(counted.get(), 5);
}

#[test]
fn every_family_believes_what_its_evaluation_counts() {
    let folder = tempfile::tempdir().unwrap();
    let game = "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 g6 Be2 Bg7 O-O O-O";
    for family in FAMILIES {
        let network = network(family.name, "d64/l1");
        let weights = network.initial_weights(3);
        written(folder.path(), &network, &weights);
        let (all, ended) = of(folder.path(), game);
        ended.unwrap();
        let mut position = Chess::default();
        let mut tokens = vec![START];
        for tracked in &all[1..] {
            let word = &tracked.last_move.as_ref().unwrap().uci;
            let played = cwm_chess::pgn::read_san(&position, word.as_bytes()).unwrap();
            tokens.push(PlainMove::from(played).token());
            position.play_unchecked(played);
        }
        let label = |_: usize, room: &mut [u8]| replay_into(&tokens, EnPassant::Always, room);
        let batch = MicroBatch::labelled(&[&tokens], &[0], label).unwrap();
        let scores = score(&network, &DeviceWeights::new(&weights, &device::cpu()), &batch);
        let found: Vec<u32> = all.iter().map(|tracked| board(tracked).correct).collect();
        let expected: Vec<u32> = scores[0].iter().map(|score| score.correct()).collect();
        assert_eq!(found, expected, "{}", family.name);
        assert_eq!(found.len(), 15);
    }
}

#[test]
fn what_is_reported_of_a_checkpoint_that_says_it_itself_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    stubborn(folder.path());
    let text = || Some("slice_diag".to_owned());
    let options = BTreeMap::from([("block".to_owned(), "1".to_owned())]);
    for (hints, named) in [
        (ModelHints { family: text(), ..ModelHints::default() }, "--family"),
        (ModelHints { size: text(), key: text(), ..ModelHints::default() }, "--size, --key"),
        (ModelHints { options, round: true, ..ModelHints::default() }, "--option, --round"),
    ] {
        let request = TrackRequest { model: folder.path().to_owned(), hints, game: 1, ..TrackRequest::default() };
        let failure = track(&request, &mut "e4".as_bytes(), &mut |_| panic!("it is followed")).unwrap_err();
        let expected = format!("{} is a checkpoint, to which {named} cannot be applied", folder.path().display());
        assert_eq!((failure.message, failure.hint.is_some()), (expected, true));
    }
}

#[test]
fn a_model_of_another_vocabulary_is_refused() {
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    let file = Path::new(&folder).join("../foreign/tests/data/archive.pt");
    let (all, ended) = of(&file, "e4");
    assert!(all.is_empty());
    assert!(ended.unwrap_err().message.contains("has a vocabulary of 3 tokens, but the moves of chess are 20482"));
}
