//! Games that come from a pipe: read once, into the store.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use super::*;
use crate::context::{Run, finish};

const YAML: &str = "cwm: 1\nvars: { games: null }\nstages:\n  games: { stage: download, with: { source: $games } }\n  \
                    corpus: { stage: parse, from: games }\n";

/// Runs a script in which `$cwm` is the program.
fn script(context: &Context, script: &str) -> Ran {
    let mut command = Command::new("bash");
    command.args(["-c", script]).current_dir(context.path(".")).stdin(Stdio::null());
    command.env("cwm", env!("CARGO_BIN_EXE_cwm")).env_remove("CWM_STORE").env("NO_COLOR", "1");
    finish(command.output().expect("bash starts"))
}

#[track_caller]
fn ran(context: &Context, text: &str, labels: &[&str]) {
    Run::read(script(context, text)).ran_just(labels);
}

#[test]
fn input_from_a_pipe_is_identified_by_its_content() {
    let context = Context::with(YAML);
    context.write_old("x.pgn", &games(5));
    ran(&context, "gzip -c x.pgn | zcat | $cwm run --json --set games=/dev/stdin", &["games", "corpus"]);
    // The same games in any other way are the same games.
    ran(&context, "cat x.pgn | $cwm run --json --set games=/dev/stdin", &[]);
    ran(&context, "$cwm run --json --set games=<(cat x.pgn)", &[]);
    ran(&context, "$cwm run --json --set games=/dev/fd/9 9< <(cat x.pgn)", &[]);
    ran(&context, "mkfifo p; cat x.pgn > p & $cwm run --json --set games=p", &[]);
    ran(&context, "$cwm run --json --set games=x.pgn", &[]);
    ran(&context, "(cat x.pgn; cat x.pgn) | $cwm run --json --set games=/dev/stdin", &["games", "corpus"]);
    // It lies in the store, and is no file of anybody's.
    let plain = script(&context, "$cwm show games --json --set games=x.pgn");
    let shown: serde_json::Value = serde_json::from_str(&well(plain)).expect("JSON");
    assert!(shown[0]["outputs"]["pgn"]["external"].is_null(), "{shown}");
    std::fs::remove_file(context.path("x.pgn")).unwrap();
    assert!(well(context.cwm(&["store", "verify"])).contains("all intact"));
}

#[test]
fn a_redirected_file_is_that_file() {
    let context = Context::with(YAML);
    context.write_old("x.pgn", &games(5));
    ran(&context, "$cwm run --json --set games=/dev/stdin < x.pgn", &["games", "corpus"]);
    let status = well(script(&context, "$cwm status --set games=/dev/stdin < x.pgn"));
    assert_eq!(status.matches("cached").count(), 3, "{status}");
    // One that has no name any more is read like a pipe.
    ran(&context, "exec 9< x.pgn; rm x.pgn; $cwm run --json --set games=/dev/fd/9", &[]);
}

#[test]
fn only_a_run_reads_a_pipe() {
    let context = Context::with(YAML);
    // Nobody writes to it: whoever opened it to read would wait for ever.
    well(script(&context, "mkfifo p"));
    let set = ["--set", "games=p"];
    let status = well(context.cwm(&[&["status"], &set[..]].concat()));
    assert!(status.contains("may run    games") && status.contains("can be read only once"), "{status}");
    let why = well(context.cwm(&[&["why", "games"], &set[..]].concat()));
    assert!(why.contains("may run") && why.contains("after `cwm run --set games=p` has read it"), "{why}");
    let dry = context.cwm(&[&["run", "--dry-run"], &set[..]].concat());
    assert!(dry.code == 0 && dry.stderr.contains("may run 2"), "{}", dry.stderr);
    assert!(!context.path("artifacts").exists());
}

#[test]
fn a_run_that_waits_for_a_pipe_can_be_stopped() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-USR1", 138)] {
        let context = Context::with(YAML);
        well(script(&context, "mkfifo p"));
        let own = context.command(&["run", "--json", "--set", "games=p"]);
        // A shell that starts the tests in the background has them ignore SIGINT.
        let mut command = Command::new("env");
        command.arg("--default-signal=INT").arg(own.get_program()).args(own.get_args());
        command.current_dir(context.path("")).env_remove("CWM_STORE");
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("cwm starts");
        let mut events = BufReader::new(child.stdout.take().expect("its events")).lines().map_while(Result::ok);
        assert!(events.any(|line| line.contains("\"event\":\"reading\"")), "{signal}: it never came to the pipe");
        let asked = Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(asked.expect("kill").success());
        let reported: Vec<String> = events.collect();
        let ran = finish(child.wait_with_output().expect("an end"));
        assert_eq!(ran.code, code, "{signal}: {reported:?} {}", ran.stderr);
    }
}

#[test]
fn a_secret_does_not_come_through_a_pipe() {
    let context = Context::with(
        "cwm: 1\nvars: { key: null }\nstages:\n  games: { stage: download, with: { source: x.pgn } }\n  \
         corpus: { stage: parse, from: games, with: { id_key_file: $key } }\n",
    );
    context.write_old("x.pgn", &games(5));
    let ran = script(&context, "$cwm run --set key=<(echo secret)");
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("which can be read only once"), "{}", ran.stderr);
}

#[test]
fn an_endless_device_is_refused_before_it_is_read() {
    let context = Context::with(YAML);
    for device in ["/dev/full", "/dev/zero", "/dev/null"] {
        let ran = context.cwm(&["run", "--set", &format!("games={device}")]);
        assert_eq!(ran.code, 3, "{}", ran.stderr);
        assert!(ran.stderr.contains(&format!("{device} is a device, and neither a file nor a pipe")), "{}", ran.stderr);
        // It is not taken for a pipe that a run would read.
        let status = context.cwm(&["status", "--set", &format!("games={device}")]).stdout;
        assert!(status.contains("unreadable") && !status.contains("read only once"), "{status}");
    }
    assert!(!context.path("artifacts").exists());
}

#[test]
fn an_empty_game_file_has_the_name_that_the_pipeline_gives_it() {
    let context = Context::with(
        "cwm: 1\nstages:\n  games: { stage: command, with: { run: ': > \"$out\"' } }\n  \
         corpus: { stage: parse, from: { pgn: games } }\n",
    );
    let ran = context.cwm(&["run"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("FAILED   corpus: there is no game in `games`"), "{}", ran.stderr);
    assert!(ran.stderr.contains("note     corpus: `games` holds no game"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("objects/"), "{}", ran.stderr);
}
