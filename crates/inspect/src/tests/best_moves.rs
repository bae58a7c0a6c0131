//! Positions with best and chosen moves, sequences and matches.

use cwm_choices::{Choice, ChoicesWriter, Chooser, Correctness};
use cwm_evaluations::{Evaluation, EvaluationsWriter, Line, Score, Source};
use cwm_inside_rows::{
    Legality, LegalityDescription, LegalityWriter, Transposition, TranspositionsDescription, TranspositionsWriter,
};
use cwm_matches::{End, Game, MatchesWriter, Participant, Players};
use cwm_sequences::{NO_LOSS, SHARD_ROWS, Sequence, SequencesWriter, Vocabulary};
use tempfile::tempdir;

use super::{DETAIL, MOVES, described};
use crate::ChessInspector;
use cwm_contract::{Format, Inspector};

const START_FEN: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

#[test]
fn evaluations_are_reported_with_their_source_and_first_positions() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("evaluations");
    let source = Source {
        made_by: "Stock\u{1b}fish".into(),
        nodes: Some(1_000),
        digest: Some("7f".into()),
        options: [("Use NNUE".to_owned(), "false".to_owned())].into(),
    };
    let mut writer = EvaluationsWriter::create(&path, &source).unwrap();
    for score in [Some(Score::Centipawns(-34)), Some(Score::Mate(-2)), None, Some(Score::Mate(1))] {
        let lines = vec![Line { score, depth: None, moves: vec![MOVES[0]] }];
        let (id, fen) = (String::new(), START_FEN.to_owned());
        writer.push(Evaluation { record: 0, game: None, id, t: None, fen, lines }).unwrap();
    }
    writer.finish().unwrap();
    let expected = "source      Stock\\u{1b}fish, 1,000 nodes a position\nprogram     BLAKE3 7f\noptions     Use NNUE = false\npositions   4\nwith mate   2 (50.0 %)\n\n\
        position 0  FEN\n            best e2e4, -34 centipawns\n\nposition 1  FEN\n            best e2e4, mated in 2\n\n\
        position 2  FEN\n            best e2e4";
    assert_eq!(described(Format::EVALUATIONS, &path).unwrap(), expected.replace("FEN", START_FEN));
    let description = ChessInspector.describe(&Format::EVALUATIONS, &path, DETAIL).unwrap().unwrap();
    assert_eq!((&description.facts["mates"], &description.facts["examples"][0]["best"]), (&2.into(), &"e2e4".into()));
    std::fs::write(&path, "x").unwrap();
    assert!(described(Format::EVALUATIONS, &path).unwrap_err().contains("is not an evaluations file"));
}

#[test]
fn choices_are_reported_with_the_means_of_what_they_have() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("choices");
    let form = Some("prompt".into());
    let chooser = Chooser { name: "gpt".into(), form, parameters: Some(229_568), ..Chooser::default() };
    let mut writer = ChoicesWriter::create(&path, &chooser).unwrap();
    for (legal, loss) in [(true, Some(0.5)), (false, Some(1.0)), (true, None)] {
        let free = Correctness { valid: true, legal, best: false };
        let (fen, best, text) = (START_FEN.to_owned(), MOVES[0], "d2d4".to_owned());
        writer.push(Choice { fen, best, loss, text, free, ..Choice::default() }).unwrap();
    }
    writer.finish().unwrap();
    let text = described(Format::CHOICES, &path).unwrap();
    let (means, positions) = text.split_once("\n\n").unwrap();
    assert_eq!(
        means,
        "chosen by   form prompt, name gpt, parameters 229,568\npositions   3\nvalid       100.0 %\nlegal       66.7 %\n\
         best        0.0 %\nloss        0.75 nats a move"
    );
    assert!(positions.starts_with(&format!("position 0  {START_FEN}\n            best e2e4, chosen d2d4\n")), "{text}");
    let description = ChessInspector.describe(&Format::CHOICES, &path, DETAIL).unwrap().unwrap();
    assert_eq!(
        (&description.facts["means"]["loss"], &description.facts["chooser"]["name"]),
        (&0.75.into(), &"gpt".into())
    );
}

#[test]
fn sequences_are_reported_in_figures() {
    let folder = tempdir().unwrap();
    let vocabulary = Vocabulary { form: "moves".into(), version: 1, inputs: 1969, targets: 1968, longest: 512 };
    let mut writer = SequencesWriter::create(folder.path(), &vocabulary, SHARD_ROWS).unwrap();
    writer.push(Sequence { id: "a", tokens: &[1968, 3, 4], targets: &[5, NO_LOSS, 6] }).unwrap();
    writer.push(Sequence { id: "b", tokens: &[1968], targets: &[7] }).unwrap();
    writer.finish().unwrap();
    let text = described(Format::SEQUENCES, folder.path()).unwrap();
    let expected = "vocabulary  moves (version 1): 1,969 tokens, 1,968 targets, at most 512 tokens a sequence\n\
        sequences   2\ntokens      4\ntargets     3 (75.0 % of the tokens)\nlength      1 to 3 tokens, mean 2.0\non disk     ";
    assert!(text.starts_with(expected) && text.ends_with(" in 1 file"), "{text}");
}

#[test]
fn transpositions_and_legality_are_reported_in_figures() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("rows");
    let of = TranspositionsDescription {
        same: "position".into(),
        sequences: "prefixes".into(),
        plies: Some([2, 20]),
        games: 2_000,
        different: 30_679,
        classes: 725,
        sizes: [(1, 29_045), (2, 603), (11, 1)].into(),
        ..TranspositionsDescription::default()
    };
    let mut writer = TranspositionsWriter::create(&path, &of).unwrap();
    for (game, ply) in [(3, 6), (9, 8)] {
        writer.push(Transposition { class: 0, key: "8/8/8/8/8/8/8/8 w - -".into(), game, ply }).unwrap();
    }
    writer.finish().unwrap();
    assert_eq!(
        described(Format::TRANSPOSITIONS, &path).unwrap(),
        "same        position, prefixes of 2 to 20 plies\ngames       2,000\nsequences   30,679 different ones\n\
         classes     725, the largest of 11\nwritten     2 sequences\n\nclass 0     8/8/8/8/8/8/8/8 w - -\n            \
         game 3 after 6 plies, game 9 after 8 plies"
    );
    let of = LegalityDescription { model: "gpt d64/l4".into(), games: 2, ..LegalityDescription::default() };
    let of = LegalityDescription { dropped: [("too_long".to_owned(), 3)].into(), max_tokens: Some(64), ..of };
    let mut writer = LegalityWriter::create(&path, &of).unwrap();
    let row = Legality { legal: Some(true), loose: Some(true), mass: Some(0.5), loss: 1.5, ..Legality::default() };
    writer.push(Legality { right: true, ..row.clone() }).unwrap();
    writer.push(Legality { legal: Some(false), ..row }).unwrap();
    writer.push(Legality { loss: 3.0, ..Legality::default() }).unwrap();
    writer.finish().unwrap();
    assert_eq!(
        described(Format::LEGALITY, &path).unwrap(),
        "model       gpt d64/l4\ngames       2, cut after 64 words\ndropped     too_long 3\nwords       3, of which 1 after the end\n\
         legal       1 (50.0 %)\nloose       2 (100.0 %)\nright       1 (33.3 %)\nmass        0.5000 on legal words\nloss        2.0000"
    );
}

#[test]
fn matches_are_reported_with_results_ends_and_whole_games() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("matches");
    let model =
        |arm: &str, seed| Participant { kind: "model".into(), arm: Some(arm.into()), seed, ..Participant::default() };
    let (first, second) = (model("board/none", Some(3)), model("moves/causal", None));
    let players = Players { first, second, legality: None, repetition: None, engine: None };
    let mut writer = MatchesWriter::create(&path, &players).unwrap();
    // Fool's mate.
    let mate = vec![13 | 21 << 6, MOVES[1], 14 | 30 << 6, 59 | 31 << 6];
    for (score, end, moves) in [(0.0, End::Mate, mate), (0.5, End::Context, vec![]), (0.0, End::Mate, vec![0xffff])] {
        let names = ["model", "other"].map(str::to_owned);
        let [white, black] = names;
        let (opening, result, plies) = (String::new(), "0-1".to_owned(), moves.len() as u32);
        let game = Game {
            game: 0,
            pair: 0,
            opening,
            white,
            black,
            first_white: true,
            result,
            score,
            plies,
            end,
            illegal_attempts: 2,
            level: None,
            moves,
        };
        writer.push(game).unwrap();
    }
    writer.finish().unwrap();
    let text = described(Format::MATCHES, &path).unwrap();
    assert!(
        text.starts_with(
            "first       model board/none, seed 3\nsecond      model moves/causal\ngames       3\n\
             first player won 0, drew 1, lost 2\nends        mate 2, context 1\nillegal     6 answers of models\n\n\
             game 0      model against other, 0-1, mate, 4 plies\n            1. f3 e5 2. g4 Qh4#\n\n"
        ),
        "{text}"
    );
    assert!(text.ends_with("is no game: token 65535 at ply 1 is not a move"), "{text}");
}
