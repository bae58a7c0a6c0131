//! Programs that are no engines, and engines that misbehave: each causes an error as text, and within the limits.

use std::path::Path;
use std::time::{Duration, Instant};

use cwm_contract::{Cancellation, Failure, FailureKind};

use super::support::bad_engine;
use crate::{Engine, Limit, Score, SearchResult, SearchRoot, Settings};

const INITIAL: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// The failure of a program that is started.
#[track_caller]
fn start(program: &Path, settings: Settings, time: Duration) -> Failure {
    match Engine::start_within(program, settings, time) {
        Ok(engine) => panic!("{} is an engine: {}", program.display(), engine.name()),
        Err(failure) => failure,
    }
}

/// Queries the engine with this fault twice about the initial position, and returns its second result.
fn query(fault: &str, limit: &Limit) -> Result<SearchResult, Failure> {
    let (_folder, program) = bad_engine(fault);
    let mut engine = Engine::start(&program, Settings::default())?;
    let root = SearchRoot::game(&[])?;
    engine.query(&root, limit)?;
    engine.query(&root, limit)
}

#[test]
fn an_engine_by_rote_is_understood() {
    let result = query("good", &Limit::nodes(1)).unwrap();
    assert_eq!(result.best.to_string(), "e2-e4");
    assert_eq!(result.exact, result.lines.first().cloned());
    assert_eq!((result.lines.len(), result.lines[0].depth, result.lines[0].score), (1, 1, Score::Centipawns(20)));
}

#[test]
fn what_is_no_program_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text");
    std::fs::write(&text, "no program").unwrap();
    let missing = folder.path().join("missing");
    for (path, message, hint) in [
        (missing.as_path(), "is not there", "apt-get install stockfish"),
        (folder.path(), "is a folder", "name the program in it"),
        (text.as_path(), "is not executable", "chmod +x"),
    ] {
        let failure = start(path, Settings::default(), Duration::from_secs(10));
        assert_eq!(failure.message, format!("the engine {} {message}", path.display()));
        assert!(failure.hint.is_some_and(|text| text.starts_with(hint)));
        assert_eq!(failure.kind, FailureKind::Input);
    }
}

#[test]
fn what_is_no_engine_does_not_say_uciok() {
    let scripts = ["sleeps", "floods", "floods_one_line"].map(bad_engine);
    let (second, minute) = (Duration::from_secs(1), Duration::from_secs(60));
    for (program, time, how) in [
        (Path::new("/bin/cat"), second, " within 1 s; it was sent `uci`; its last lines: `uci`"),
        (Path::new("/bin/true"), minute, ": it ended with exit status 0; it was sent `uci`; it wrote nothing"),
        (&scripts[0].1, second, " within 1 s; it was sent `uci`; it wrote nothing"),
        (&scripts[1].1, minute, " within 1 MiB of output; it was sent `uci`; its last lines: `info string and so on`"),
        (&scripts[2].1, minute, " within 1 MiB of output; it was sent `uci`; it wrote nothing"),
    ] {
        let failure = start(program, Settings::default(), time);
        let message = format!("the engine {} did not send `uciok`{how}", program.display());
        assert!(failure.message.starts_with(&message), "{}", failure.message);
        assert!(failure.hint.is_some_and(|hint| hint.contains("apt-get install stockfish")));
        assert_eq!(failure.kind, FailureKind::Input);
    }
}

#[test]
fn engines_that_misbehave_are_told_with_the_position() {
    for (fault, what) in [
        ("dies", "did not send `bestmove`: it ended with exit status 3"),
        ("dies_by_signal", "did not send `bestmove`: it was ended by signal 11"),
        ("closes_output", "did not send `bestmove`: it closed its input or output"),
        ("floods_later", "did not send `bestmove` within 16 MiB of output"),
        ("hangs", "did not send `bestmove` within 0.5 s"),
        ("illegal", "answered `e2e5`, which is no legal move"),
        ("illegal_line", "answered `e2e5`, which is no legal move"),
        ("none", "answered `bestmove (none)`, which is no move"),
        ("null", "answered `bestmove 0000`, which is no move"),
        ("escapes", "answered `bestmove \\u{1b}[2Je2e4`, which is no move"),
        ("adds_words", "wrote `info depth 1 score cp 20 wdl 30 950 20 pv e2e4`, which is not understood"),
    ] {
        let time = if fault == "hangs" { Duration::from_millis(500) } else { Duration::from_secs(60) };
        let failure = query(fault, &Limit::nodes(1).within(time)).expect_err(fault);
        let sentence =
            format!("{fault} {what}, in the position `{INITIAL}`; it was sent `go nodes 1`; its last lines: ");
        assert!(failure.message.contains(&sentence), "{}", failure.message);
        assert!(failure.message.contains("`info string "), "{}", failure.message);
    }
    let failure = query("dies", &Limit::nodes(1)).unwrap_err();
    assert!(failure.message.contains("`no memory`"), "{}", failure.message);
}

#[test]
fn an_illegal_end_of_a_line_is_cut_off() {
    let result = query("illegal_end", &Limit::nodes(1)).unwrap();
    assert_eq!(result.lines[0].moves, [result.best]);
}

#[test]
fn an_engine_that_failed_is_not_asked_again() {
    let (_folder, program) = bad_engine("illegal");
    let mut engine = Engine::start(&program, Settings::default()).unwrap();
    let root = SearchRoot::game(&[]).unwrap();
    assert!(engine.query(&root, &Limit::nodes(1)).is_err());
    let failure = engine.query(&root, &Limit::nodes(1)).unwrap_err();
    assert!(failure.message.contains(" did not send `readyok`: it was ended by signal 9"), "{}", failure.message);
}

#[test]
fn options_that_an_engine_lacks_are_refused() {
    let options = |name: &str, value: &str| Settings {
        options: [(name.to_owned(), value.to_owned())].into(),
        ..Settings::default()
    };
    let lines = |lines: u32| Settings { lines, ..Settings::default() };
    for (fault, settings, what) in [
        ("no_options", lines(4), "has no option `MultiPV`"),
        ("good", lines(5), "`5` is no integer from 1 to 4"),
        ("good", options("skill level", "21"), "option `Skill Level` of the engine "),
        ("good", options("Skill", "3"), "has no option `Skill`"),
    ] {
        let (_folder, program) = bad_engine(fault);
        let failure = start(&program, settings, Duration::from_secs(60));
        assert!(failure.message.contains(what), "{}", failure.message);
        assert_eq!(failure.kind, FailureKind::Input);
    }
    let (_folder, program) = bad_engine("good");
    assert!(Engine::start(&program, options("skill level", "20")).is_ok());
}

#[test]
fn a_request_to_stop_ends_a_search() {
    let (_folder, program) = bad_engine("hangs");
    let cancellation = Cancellation::default();
    let settings = Settings { cancellation: cancellation.clone(), ..Settings::default() };
    let mut engine = Engine::start(&program, settings).unwrap();
    let began = Instant::now();
    let failure = std::thread::scope(|scope| {
        let result = scope.spawn(|| engine.query(&SearchRoot::game(&[]).unwrap(), &Limit::nodes(1)));
        cancellation.cancel();
        result.join().unwrap().unwrap_err()
    });
    assert_eq!(failure.kind, FailureKind::Cancelled);
    assert!(began.elapsed() < Duration::from_secs(60));
}
