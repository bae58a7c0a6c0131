//! The stage as a whole, through its contract.

mod weighted;

use std::ops::ControlFlow;
use std::path::Path;

use cwm_contract::testing::{Outcome, Trial};
use cwm_contract::{Cancellation, Failure, FailureKind, Value};
use pgn_reader::{RawTag, Reader, SanPlus, Visitor};
use proptest::prelude::*;
use shakmaty::{Chess, Position};

use crate::{Play, golden};

/// The policies of random play with a preference.
const PREFERENCES: [&str; 5] = ["long", "promotion", "castling", "en_passant", "quiet"];

/// A game as an independent reader sees it.
#[derive(Debug)]
struct ParsedGame {
    tags: Vec<(String, String)>,
    /// As written, checks and mates included.
    sans: Vec<String>,
    position: Chess,
}

impl ParsedGame {
    fn tag(&self, name: &str) -> &str {
        &self.tags.iter().find(|(tag, _)| tag == name).unwrap().1
    }
}

struct Replay;

impl Visitor for Replay {
    type Tags = Vec<(String, String)>;
    type Movetext = ParsedGame;
    type Output = ParsedGame;

    fn begin_tags(&mut self) -> ControlFlow<ParsedGame, Self::Tags> {
        ControlFlow::Continue(Vec::new())
    }

    fn tag(&mut self, tags: &mut Self::Tags, name: &[u8], value: RawTag<'_>) -> ControlFlow<ParsedGame> {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        tags.push((text(name), text(value.as_bytes())));
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Self::Tags) -> ControlFlow<ParsedGame, ParsedGame> {
        ControlFlow::Continue(ParsedGame { tags, sans: Vec::new(), position: Chess::new() })
    }

    fn san(&mut self, game: &mut ParsedGame, written: SanPlus) -> ControlFlow<ParsedGame> {
        let m = written.san.to_move(&game.position).expect("a legal move");
        let canonical = SanPlus::from_move_and_play_unchecked(&mut game.position, m);
        assert_eq!(written, canonical, "as short as possible, with its check or mate");
        game.sans.push(written.to_string());
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, game: ParsedGame) -> ParsedGame {
        game
    }
}

fn read(path: &Path) -> Vec<ParsedGame> {
    let text = zstd::decode_all(std::fs::File::open(path).unwrap()).unwrap();
    Reader::new(&text[..]).read_games(&mut Replay).collect::<Result<_, _>>().unwrap()
}

fn trial(folder: &Path, policy: &str, games: i128, seed: i128) -> Trial {
    Trial::new(folder)
        .with("policy", Value::Text(policy.into()))
        .with("games", Value::Int(games))
        .with("seed", Value::Int(seed))
}

fn bytes(outcome: &Outcome) -> Vec<u8> {
    std::fs::read(&outcome.outputs["pgn"]).unwrap()
}

fn check_fault(trial: Trial, expected: &str) {
    let failure = trial.run(&Play).err().expect("a fault");
    assert_eq!(failure.message, expected);
}

#[test]
fn the_authors_games_are_written_with_their_ids_and_results() {
    let Some(golden) = golden::random_games() else { return };
    let folder = tempfile::tempdir().unwrap();
    let outcome = trial(folder.path(), "uniform", 200, 0).run(&Play).unwrap();
    let games = read(&outcome.outputs["pgn"]);
    assert_eq!(games.len(), golden.len());
    for (game, expected) in games.iter().zip(&golden) {
        assert_eq!(game.tag("Site"), expected.id);
        assert_eq!(game.tag("Result"), expected.result);
        assert_eq!(game.sans.len() + 1, expected.tokens.len());
    }
}

#[test]
fn bytes_are_the_same_for_any_number_of_cores_and_again() {
    let folder = tempfile::tempdir().unwrap();
    let others = [("engine", None), ("uniform", Some("parallel")), ("uniform", Some("authors"))];
    for (policy, generator) in others.into_iter().chain(PREFERENCES.map(|policy| (policy, None))) {
        let run = |cores| {
            let mut trial = trial(folder.path(), policy, 150, 3).cores(cores);
            if let Some(generator) = generator {
                trial = trial.with("generator", Value::Text(generator.into()));
            }
            bytes(&trial.run(&Play).unwrap())
        };
        let one = run(1);
        assert_eq!(one, run(2), "{policy} {generator:?}");
        assert_eq!(one, run(3), "{policy} {generator:?}");
    }
}

/// Games may change only with a line in CHANGELOG.md: results that rest on them do.
#[test]
fn the_first_games_are_those_of_the_first_version() {
    let folder = tempfile::tempdir().unwrap();
    for (policy, generator, digest) in [
        ("engine", None, "5866bef66b726c2d"),
        ("uniform", Some("authors"), "89060b4f70148fe8"),
        ("uniform", Some("parallel"), "6619134373d359cb"),
        ("long", None, "cdf6dc7c311428d2"),
        ("promotion", None, "c54b5a4efdef1435"),
        ("castling", None, "d2f84bcb7498f1b8"),
        ("en_passant", None, "3f91788d0460eaad"),
        ("quiet", None, "de37dda066ec3633"),
    ] {
        let trial = trial(folder.path(), policy, 20, 7);
        let trial = match generator {
            Some(generator) => trial.with("generator", Value::Text(generator.into())),
            None => trial,
        };
        let pgn = std::fs::File::open(&trial.run(&Play).unwrap().outputs["pgn"]).unwrap();
        let text = zstd::decode_all(pgn).unwrap();
        assert_eq!(&blake3::hash(&text).to_hex()[..16], digest, "{policy} {generator:?}");
    }
}

#[test]
fn a_game_depends_on_its_number_and_not_on_how_many_there_are() {
    let folder = tempfile::tempdir().unwrap();
    for policy in ["engine", "uniform"].into_iter().chain(PREFERENCES) {
        let few = read(&trial(folder.path(), policy, 3, 5).run(&Play).unwrap().outputs["pgn"]);
        let more = read(&trial(folder.path(), policy, 6, 5).run(&Play).unwrap().outputs["pgn"]);
        for (a, b) in few.iter().zip(&more) {
            assert_eq!((&a.tags, &a.sans), (&b.tags, &b.sans));
        }
        assert!(more.iter().skip(1).all(|game| game.sans != more[0].sans));
    }
}

#[test]
fn engine_games_look_like_games() {
    let folder = tempfile::tempdir().unwrap();
    let games = read(&trial(folder.path(), "engine", 300, 0).run(&Play).unwrap().outputs["pgn"]);
    let share =
        |what: &dyn Fn(&ParsedGame) -> bool| games.iter().filter(|game| what(game)).count() as f64 / games.len() as f64;
    let any = |part: &'static str| share(&move |game: &ParsedGame| game.sans.iter().any(|san| san.contains(part)));
    let plies = games.iter().map(|game| game.sans.len()).sum::<usize>() as f64 / games.len() as f64;
    assert!((65.0..90.0).contains(&plies), "{plies} plies a game");
    assert!(any("O-O") > 0.8, "{} castle", any("O-O"));
    assert!(any("=") > 0.03, "{} promote", any("="));
    assert!(any("x") > 0.95, "{} capture", any("x"));
    let mated = share(&|game| game.position.is_checkmate());
    assert!((0.08..0.5).contains(&mated), "{mated} end in mate");
    for result in ["1-0", "0-1", "1/2-1/2"] {
        assert!(share(&|game| game.tag("Result") == result) > 0.03, "{result}");
    }
    let openings: std::collections::BTreeSet<&[String]> =
        games.iter().map(|game| &game.sans[..game.sans.len().min(6)]).collect();
    assert!((40..200).contains(&openings.len()), "{} ways to begin in 300 games", openings.len());
}

#[test]
fn headers_tell_what_is_known_and_no_time() {
    let folder = tempfile::tempdir().unwrap();
    let games = read(&trial(folder.path(), "engine", 3, -2).run(&Play).unwrap().outputs["pgn"]);
    for (number, game) in games.iter().enumerate() {
        assert_eq!(game.tag("Site"), format!("cwm_engine_-2_{number:06}"));
        assert_eq!(game.tag("Date"), "????.??.??");
        let rating: u32 = game.tag("WhiteElo").parse().unwrap();
        assert!((700..=2_400).contains(&rating));
        assert_eq!(game.tag("White"), format!("cwm-engine-{rating}"));
        assert!(["Normal", "Time forfeit", "Adjudication"].contains(&game.tag("Termination")));
    }
}

#[test]
fn a_game_that_lasts_too_long_is_adjudicated() {
    let folder = tempfile::tempdir().unwrap();
    let trial = trial(folder.path(), "engine", 20, 0).with("max_plies", Value::Int(12));
    let games = read(&trial.run(&Play).unwrap().outputs["pgn"]);
    assert!(games.iter().all(|game| game.sans.len() <= 12));
    let adjudicated = |game: &&ParsedGame| game.tag("Termination") == "Adjudication";
    assert!(games.iter().filter(|game| !game.position.is_game_over()).all(|game| adjudicated(&game)));
    assert!(games.iter().any(|game| game.sans.len() == 12));
}

#[test]
fn parameters_of_the_other_policy_and_seeds_that_are_none_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    check_fault(
        trial(folder.path(), "uniform", 1, 0).with("depth", Value::Int(2)),
        "parameter `depth` belongs to `policy: engine` and means nothing to `policy: uniform`",
    );
    check_fault(
        trial(folder.path(), "engine", 1, 0).with("generator", Value::Text("parallel".into())),
        "parameter `generator` belongs to `policy: uniform` and means nothing to `policy: engine`",
    );
    check_fault(
        trial(folder.path(), "quiet", 1, 0).with("generator", Value::Text("parallel".into())),
        "parameter `generator` belongs to `policy: uniform` and means nothing to `policy: quiet`",
    );
    check_fault(
        trial(folder.path(), "uniform", 1, 0).with("max_plies", Value::Int(9)),
        "parameter `max_plies` belongs to `policy: engine, long, promotion, castling, en_passant, quiet` and means nothing \
         to `policy: uniform`",
    );
    check_fault(
        trial(folder.path(), "engine", 1, 0).with("seed", Value::Float(0.5)),
        "parameter `seed` must be an integer, or its decimal digits in quotes, not a number",
    );
    check_fault(
        trial(folder.path(), "chess", 1, 0),
        "parameter `policy` must be one of engine, uniform, long, promotion, castling, en_passant, quiet, not `chess`",
    );
}

#[test]
fn it_stops_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    for policy in ["engine", "uniform", "long"] {
        let cancellation = Cancellation::default();
        cancellation.cancel();
        let failure: Failure =
            trial(folder.path(), policy, 1_000_000, 0).run_until(&Play, cancellation).err().expect("a failure");
        assert_eq!(failure.kind, FailureKind::Cancelled);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Reading replays every move and compares how it is written.
    #[test]
    fn whatever_the_seed_games_are_legal_and_end_as_their_result_says(
        seed in any::<i128>(),
        policy in prop::sample::select(["engine", "uniform"].into_iter().chain(PREFERENCES).collect::<Vec<_>>()),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let games = read(&trial(folder.path(), policy, 4, seed).run(&Play).unwrap().outputs["pgn"]);
        prop_assert_eq!(games.len(), 4);
        for game in games {
            if let Some(winner) = game.position.outcome().winner() {
                prop_assert_eq!(game.tag("Result"), winner.fold_wb("1-0", "0-1"));
            } else if policy != "engine" {
                let broken_off = game.tag("Termination") == "Unterminated";
                prop_assert_eq!(game.tag("Result"), if broken_off { "*" } else { "1/2-1/2" });
                prop_assert!(policy == "long" || !broken_off);
            }
        }
    }
}
