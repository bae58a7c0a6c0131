//! What a stage costs beside the starts of its two processes, cwm's own and its command's: many small ones, one after the
//! other; the same commands in a shell alone; and as many starts of cwm that do nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::program::{cwm, run, time};

/// One size: its row.
fn run_size(place: &Path, stages: usize) {
    let folder = tempfile::tempdir_in(place).expect("a folder");
    let folder = folder.path();
    let labels: Vec<String> = (0..stages).map(|cell| cell.to_string()).collect();
    let text = format!(
        "cwm: 1\nstages:\n  s: {{ stage: command, matrix: {{ x: [{}] }}, with: {{ run: 'echo $x > \"$out\"', x: $x }} }}\n",
        labels.join(", ")
    );
    fs::write(folder.join("pipeline.yaml"), text).expect("a pipeline");
    // Half of the starts before and half after: the machine may be busier at one end.
    let shells = || {
        time(|| {
            for cell in 0..stages.div_ceil(2) {
                run(Command::new("sh").args(["-euc", &format!("echo {cell} > out")]).current_dir(folder));
            }
        })
    };
    let starts = || time(|| (0..stages.div_ceil(2)).for_each(|_| run(Command::new(cwm()).arg("--version"))));
    let before = (shells(), starts());
    let stages_in_turn = time(|| run(Command::new(cwm()).args(["run", "--jobs", "1"]).current_dir(folder)));
    let (shell, start) = (before.0 + shells(), before.1 + starts());
    let each = |time: Duration| time.as_secs_f64() * 1e3 / stages as f64;
    let (stage, shell, start) = (each(stages_in_turn), each(shell), each(start));
    let more = stage - shell - start;
    println!("{stages:>6} {stage:>14.2} {shell:>14.2} {start:>14.2} {more:>14.2}");
}

/// Prints milliseconds a stage for graphs of growing size: on the disk, for which each stage waits three times, and without
/// one.
pub fn run_all() {
    println!(
        "milliseconds a stage, one at a time: `echo` as a stage, in its shell alone, a start of cwm, and what is beyond both"
    );
    for place in [std::env::temp_dir(), PathBuf::from("/dev/shm")] {
        println!("in {}", place.display());
        println!("{:>6} {:>14} {:>14} {:>14} {:>14}", "stages", "as a stage", "shell", "start of cwm", "overhead");
        [10, 60, 300, 3_000].into_iter().filter(|_| place.is_dir()).for_each(|stages| run_size(&place, stages));
    }
}
