//! What a stage costs beside its command: many small ones, one after the other, and the same commands in a shell alone.

use std::fs;
use std::process::Command;

use super::program::{cwm, run, time};

/// One size: its row.
fn run_size(stages: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let labels: Vec<String> = (0..stages).map(|cell| cell.to_string()).collect();
    let text = format!(
        "cwm: 1\nstages:\n  s: {{ stage: command, matrix: {{ x: [{}] }}, with: {{ run: 'echo $x > \"$out\"', x: $x }} }}\n",
        labels.join(", ")
    );
    fs::write(folder.join("pipeline.yaml"), text).expect("a pipeline");
    // Half of the shells before and half after: the machine may be busier at one end.
    let shells = || {
        time(|| {
            for cell in 0..stages.div_ceil(2) {
                run(Command::new("sh").args(["-euc", &format!("echo {cell} > out")]).current_dir(folder));
            }
        })
    };
    let before = shells();
    let stages_in_turn = time(|| run(Command::new(cwm()).args(["run", "--jobs", "1"]).current_dir(folder)));
    let shell = before + shells();
    let each = |seconds: f64| seconds * 1e3 / stages as f64;
    let (ours, theirs) = (each(stages_in_turn.as_secs_f64()), each(shell.as_secs_f64()));
    let more = ours - theirs;
    println!("{stages:>6} {ours:>14.2} {theirs:>14.2} {more:>14.2}");
}

/// Prints milliseconds a stage for graphs of growing size.
pub fn run_all() {
    println!("milliseconds a stage, one at a time: `echo` as a stage, and in `sh -euc` alone");
    println!("{:>6} {:>14} {:>14} {:>14}", "stages", "cwm", "sh", "overhead");
    [10, 60, 300, 3_000].into_iter().for_each(run_size);
}
