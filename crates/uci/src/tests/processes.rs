//! No process outlives its engine, nor an engine the process that started it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::stockfish::stockfish;
use super::support::bad_engine;
use crate::{Engine, Limit, SearchRoot, Settings};

/// The variable that names the program for [`holds_an_engine`].
const HELD: &str = "CWM_UCI_TEST_HELD";

/// All processes that a process has started, directly or not, that still run. Known on Linux alone.
fn descendants(of: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{of}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let children: Vec<u32> =
        lists.flat_map(|list| list.split_whitespace().map(|id| id.parse().unwrap()).collect::<Vec<_>>()).collect();
    let below = children.iter().flat_map(|child| descendants(*child));
    below.chain(children.iter().copied()).filter(|process| is_running(*process)).collect()
}

/// False for a process that has ended, even if nobody has waited for it.
fn is_running(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with(['Z', 'X']))
}

#[track_caller]
fn wait_for_end(processes: &[u32]) {
    // On a busy machine a killed process takes a while to end.
    let end = Instant::now() + Duration::from_secs(60);
    while let Some(left) = processes.iter().find(|process| is_running(**process)) {
        assert!(Instant::now() < end, "{left} still runs");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Starts [`holds_an_engine`] in a process of its own, and waits until its engine runs.
fn holder(program: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "tests::processes::holds_an_engine", "--nocapture"]).env(HELD, program);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.into_iter().any(|line| line.contains("holds an engine")));
    child
}

/// No test by itself: it holds an engine that searches, until it is killed.
#[test]
fn holds_an_engine() {
    let Some(program) = std::env::var_os(HELD) else { return };
    let mut engine = Engine::start(Path::new(&program), Settings::default()).unwrap();
    println!("holds an engine");
    loop {
        let _ = engine.query(&SearchRoot::game(&[]).unwrap(), &Limit::depth(200));
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Kills a process that holds this engine, after some microseconds of its search.
fn kill_holder(program: &Path, microseconds: u64, at_least: usize) {
    let mut holder = holder(program);
    std::thread::sleep(Duration::from_micros(microseconds));
    let held = descendants(holder.id());
    assert!(!cfg!(target_os = "linux") || held.len() >= at_least, "{held:?}");
    holder.kill().unwrap();
    holder.wait().unwrap();
    wait_for_end(&held);
}

#[test]
fn nothing_outlives_a_process_that_is_killed() {
    // The engine, what it started, and the guard.
    for (fault, at_least) in [("stays", 2), ("starts_another", 3), ("hangs", 2)] {
        kill_holder(&bad_engine(fault).1, 0, at_least);
    }
}

#[test]
fn a_real_engine_does_not_outlive_a_process_that_is_killed() {
    let Some(program) = stockfish() else { return };
    for round in 0..20 {
        kill_holder(&program, round * 1_000, 2);
    }
}

#[test]
fn nothing_outlives_an_engine_that_is_dropped() {
    for fault in ["good", "stays", "starts_another"] {
        let (_folder, program) = bad_engine(fault);
        let engine = Engine::start(&program, Settings::default()).unwrap();
        let held = engine.processes();
        assert!(held.iter().all(|process| is_running(*process)) || !cfg!(target_os = "linux"));
        let below: Vec<u32> = held.iter().flat_map(|process| descendants(*process)).collect();
        drop(engine);
        wait_for_end(&[held, below].concat());
    }
}

#[test]
fn an_engine_outlives_the_thread_that_started_it() {
    let (_folder, program) = bad_engine("good");
    let started = std::thread::spawn(move || Engine::start(&program, Settings::default()).unwrap());
    let mut engine = started.join().unwrap();
    for _ in 0..3 {
        engine.query(&SearchRoot::game(&[]).unwrap(), &Limit::nodes(1)).unwrap();
    }
}

#[test]
fn an_engine_that_is_killed_is_an_error() {
    let (_folder, program) = bad_engine("hangs");
    let mut engine = Engine::start(&program, Settings::default()).unwrap();
    let [engine_id, _] = engine.processes()[..] else { panic!("two processes") };
    let failure = std::thread::scope(|scope| {
        let result = scope.spawn(|| engine.query(&SearchRoot::game(&[]).unwrap(), &Limit::nodes(1)));
        std::thread::sleep(Duration::from_millis(20));
        assert!(Command::new("kill").args(["-9", &engine_id.to_string()]).status().unwrap().success());
        result.join().unwrap().unwrap_err()
    });
    assert!(failure.message.contains(": it was ended by signal 9"), "{}", failure.message);
}
