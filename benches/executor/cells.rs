//! Matrices of many cells: planned, and looked at when nothing is to be done.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::program::{cwm, median, run, time};

/// Prints seconds for growing matrices.
pub fn run_all() {
    println!("seconds for a matrix of cells that never ran, and of as many that are done (one result for all of them)");
    println!("{:>8} {:>18} {:>18} {:>18}", "cells", "run --dry-run", "status, all done", "run, all done");
    for side in [10, 100, 300] {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        write(folder, side, true);
        let planned = seconds(folder, side, &["run", "--dry-run", "--json"]);
        // Cells that differ in what they ask of the machine alone have one key: it is made once.
        write(folder, side, false);
        seconds(folder, side, &["run"]);
        let (status, done) = (seconds(folder, side, &["status"]), seconds(folder, side, &["run"]));
        println!("{:>8} {planned:>18.3} {status:>18.3} {done:>18.3}", side * side);
    }
}

fn write(folder: &Path, side: usize, is_keyed: bool) {
    let labels: Vec<String> = (1..=side).map(|label| label.to_string()).collect();
    let labels = labels.join(", ");
    let used = if is_keyed {
        "with: { run: 'echo $x $y > \"$out\"', x: $x, y: $y }"
    } else {
        "with: { run: 'echo > \"$out\"' }, needs: { memory: $x, cpu: 1, gpu: 0 }"
    };
    let second = if is_keyed { format!(", y: [{labels}]") } else { String::new() };
    let all: Vec<String> = (1..=side * side).map(|label| label.to_string()).collect();
    let first = if is_keyed { labels } else { all.join(", ") };
    let text = format!("cwm: 1\nstages:\n  s: {{ stage: command, matrix: {{ x: [{first}]{second} }}, {used} }}\n");
    fs::write(folder.join("pipeline.yaml"), text).expect("a pipeline");
}

fn seconds(folder: &Path, side: usize, words: &[&str]) -> f64 {
    let repeats = if side < 300 { 3 } else { 1 };
    median(repeats, || time(|| run(Command::new(cwm()).args(words).current_dir(folder)))).as_secs_f64()
}
