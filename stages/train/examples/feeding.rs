//! Measures the cost of feeding: memory and waiting, on games made here.
//!
//! `cargo run --release -p cwm-train --example feeding -- FOLDER GAMES STEPS [order=… size=… batching=… …]` writes a dataset
//! of `GAMES` games (unless `FOLDER` has one of that many), trains for `STEPS` steps, and prints a line of what a process
//! had resident at most, of its own and of files, and how long it waited for data. `docs/design/training.md` has figures.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cwm_chess::{Dataset, DatasetRow, DatasetWriter};
use cwm_contract::testing::Trial;
use cwm_contract::{Stage, Type, Value};
use cwm_train::Train;

const START: u16 = 20480;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, games, steps, rest @ ..] = &arguments[..] else {
        println!("feeding FOLDER GAMES STEPS [NAME=VALUE]…");
        return;
    };
    let (folder, games) = (Path::new(folder), games.parse().expect("a number of games"));
    let dataset = folder.join(format!("games-{games}"));
    if Dataset::open(&dataset).map_or(0, |dataset| dataset.len() as u64) != games {
        let _ = std::fs::remove_dir_all(&dataset);
        write(&dataset, games);
    }
    let work = folder.join("work");
    let _ = std::fs::remove_dir_all(&work);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let trial = Trial::new(&work).cores(cores).input("train", &dataset);
    let trial = trial.with("steps", Value::Int(steps.parse().expect("a number of steps")));
    let trial = rest.iter().fold(trial, |trial, pair| {
        let (name, value) = pair.split_once('=').expect("NAME=VALUE");
        trial.with(name, typed(name, value))
    });
    let before = Memory::now();
    let (outcome, most) = watched(|| trial.run(&Train).expect("a training"));
    let line = outcome.events.iter().rev().find_map(|event| match event {
        cwm_contract::Event::Log(line) if line.contains("waiting for data") => Some(line.clone()),
        _ => None,
    });
    println!("{}", line.unwrap_or_default());
    let megabytes = |kilobytes: u64| kilobytes / 1024;
    println!(
        "{games} games, {cores} cores; resident at most: {} MB of its own and {} MB of files (before: {} and {})",
        megabytes(most.own),
        megabytes(most.files),
        megabytes(before.own),
        megabytes(before.files),
    );
}

/// A parameter from its text.
fn typed(name: &str, text: &str) -> Value {
    let spec = Train.parameters().into_iter().find(|spec| spec.name == name);
    match spec.unwrap_or_else(|| panic!("no parameter `{name}`")).kind {
        Type::Integer { .. } | Type::Optional(_) => Value::Int(text.parse().expect("an integer")),
        Type::Float => Value::Float(text.parse().expect("a number")),
        _ => Value::Text(text.into()),
    }
}

/// Games of 20 to 120 plies in which knights go out and back: as long as people's, and as much work to replay.
fn write(folder: &Path, games: u64) {
    let cycle: [(u16, u16); 4] = [(1, 18), (57, 42), (18, 1), (42, 57)];
    let mut writer = DatasetWriter::create(folder, 1_000_000).expect("a folder");
    for index in 0..games {
        let plies = 20 + (index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize % 101;
        let moves = (0..plies).map(|ply| cycle[ply % 4]).map(|(from, to)| (from * 64 + to) * 5);
        let tokens: Vec<u16> = std::iter::once(START).chain(moves).collect();
        let id = format!(
            "cwm_{:024x}",
            u128::from(index).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060) >> 8 & ((1 << 96) - 1)
        );
        let row = DatasetRow { index: index + index / 199, id: &id, tokens: &tokens, result: "*", labels: None };
        writer.push(row).expect("a game");
    }
    writer.finish().expect("a dataset");
}

/// Kilobytes that a process has resident.
#[derive(Clone, Copy, Default)]
struct Memory {
    own: u64,
    files: u64,
}

impl Memory {
    fn now() -> Self {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok()).unwrap_or(0)
        };
        Memory { own: line("RssAnon:"), files: line("RssFile:") }
    }
}

/// Does `work` and samples the memory every 5 ms.
fn watched<T>(work: impl FnOnce() -> T) -> (T, Memory) {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut most = Memory::default();
            while !done.load(Ordering::Relaxed) {
                let now = Memory::now();
                most = Memory { own: most.own.max(now.own), files: most.files.max(now.files) };
                std::thread::sleep(Duration::from_millis(5));
            }
            most
        });
        let result = work();
        done.store(true, Ordering::Relaxed);
        (result, watch.join().expect("a watch"))
    })
}
