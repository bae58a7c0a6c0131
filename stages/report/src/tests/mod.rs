//! The whole stage on made-up bins.

mod board_vs_moves;
mod boards;
mod browser;
mod choices;
mod facts;
mod figures;
mod games;
mod hostile;
mod inside_models;
mod latex;
mod page;
mod page_table;
mod questions;
mod reasoning;
mod statistics;
mod tables;

use std::path::{Path, PathBuf};

use cwm_contract::testing::Trial;
use cwm_contract::{Failure, Label};

use crate::Report;
use crate::synthetic::{ScoredLabel, scored, write_bins};
use page_table::page_table;

fn label(text: &str) -> Label {
    text.parse().unwrap()
}

fn trial(folder: &Path, rows: &[ScoredLabel]) -> Trial {
    let bins = folder.join("bins");
    write_bins(&bins, rows);
    Trial::new(folder.join("trial")).input("bins", bins)
}

fn run(trial: Trial) -> Result<PathBuf, Failure> {
    trial.run(&Report).map(|outcome| outcome.outputs["report"].clone())
}

fn read(report: &Path, name: &str) -> String {
    std::fs::read_to_string(report.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Lines of a table that contain `part`.
fn lines<'a>(text: &'a str, part: &str) -> Vec<&'a str> {
    text.lines().filter(|line| line.contains(part)).collect()
}

/// Names of the files of a folder of the report with this end.
fn names(report: &Path, folder: &str, end: &str) -> Vec<String> {
    let files = std::fs::read_dir(report.join(folder)).into_iter().flatten();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter_map(|name| Some(name.strip_suffix(end)?.to_owned())).collect();
    names.sort();
    names
}

/// All files of a folder with their bytes, sorted.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => found.push((path.strip_prefix(folder).unwrap().to_owned(), std::fs::read(&path).unwrap())),
            }
        }
    }
    found.sort();
    found
}

/// Two seeds of a small model and one of the paper's, on both of the paper's test sets.
fn rows() -> Vec<ScoredLabel> {
    let bins = [(1.0, 1.0), (0.9, 0.4), (0.8, 0.1), (0.75, 0.05), (0.7, 0.0)];
    vec![
        scored("d32/l1", 0, "held_out", [0.5, 0.85, 0.1, 0.0], &bins),
        scored("d32/l1", 1, "held_out", [0.7, 0.87, 0.2, 0.02], &bins[..3]),
        scored("d32/l1", 0, "random_uniform", [1.0, 0.75, 0.01, 0.0], &bins),
        scored("d32/l1", 1, "random_uniform", [1.5, 0.77, 0.03, 0.0], &bins),
        scored("d128/l1", 0, "held_out", [0.127515, 0.9681, 0.3682, 0.001], &bins),
    ]
}
