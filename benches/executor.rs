//! What the executor itself costs, as ratios beside ninja in one run: `cargo bench --bench executor`.
//!
//! Graphs of 10, 60 and 300 small shell commands: input -> prep -> a chain with a parameter in the middle -> fan-out ->
//! join. Printed: the median seconds of whole processes and, beside it, ninja's where ninja is installed. Machines are
//! noisy: compare columns of one run, not runs.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SIZES: [usize; 3] = [10, 60, 300];
const REPEATS: usize = 7;

fn main() {
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    let ninja = version("ninja");
    println!(
        "cwm {} beside ninja {}",
        env!("CARGO_PKG_VERSION"),
        ninja.as_deref().unwrap_or("(not installed: skipped)")
    );
    println!("{:>6}  {:<34} {:>9} {:>9} {:>7}", "stages", "what", "cwm, s", "ninja, s", "ratio");
    for size in SIZES {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        fs::write(folder.join("input"), "1\n").expect("an input");
        fs::write(folder.join("pipeline.yaml"), cwm_graph(size, 1)).expect("a pipeline");
        fs::write(folder.join("build.ninja"), ninja_graph(size, 1)).expect("a build file");
        let first = time(|| run(folder, cwm()));
        let first_ninja = ninja.as_ref().map(|_| time(|| run(folder, Command::new("ninja"))));
        row(size, "everything, once", first, first_ninja);

        std::thread::sleep(Duration::from_millis(2100)); // the input's digest is cached once it is 2 s old
        run(folder, cwm());
        let idle = median(|| run(folder, cwm()));
        let idle_ninja = ninja.as_ref().map(|_| median(|| run(folder, Command::new("ninja"))));
        row(size, "nothing changed", idle, idle_ninja);

        fs::write(folder.join("pipeline.yaml"), cwm_graph(size, 2)).expect("a pipeline");
        fs::write(folder.join("build.ninja"), ninja_graph(size, 2)).expect("a build file");
        let same = time(|| run(folder, cwm()));
        let same_ninja = ninja.as_ref().map(|_| time(|| run(folder, Command::new("ninja"))));
        row(size, "parameter changed, output the same", same, same_ninja);

        fs::write(folder.join("pipeline.yaml"), cwm_graph(size, 1)).expect("a pipeline");
        fs::write(folder.join("build.ninja"), ninja_graph(size, 1)).expect("a build file");
        let back = time(|| run(folder, cwm()));
        let back_ninja = ninja.as_ref().map(|_| time(|| run(folder, Command::new("ninja"))));
        row(size, "parameter put back", back, back_ninja);
    }
}

fn row(size: usize, what: &str, ours: Duration, peer: Option<Duration>) {
    let peer_text = peer.map_or_else(|| "-".into(), |peer| format!("{:.4}", peer.as_secs_f64()));
    let ratio = peer.map_or_else(|| "-".into(), |peer| format!("{:.1}", ours.as_secs_f64() / peer.as_secs_f64()));
    println!("{size:>6}  {what:<34} {:>9.4} {peer_text:>9} {ratio:>7}", ours.as_secs_f64());
}

/// A third of the stages is a chain, whose middle has the parameter; the others fan out from its end and are joined.
fn shape(size: usize) -> (usize, usize) {
    let chain = (size - 2) / 3;
    (chain, size - 2 - chain)
}

fn cwm_graph(size: usize, parameter: u32) -> String {
    let (chain, fan) = shape(size);
    let mut yaml = String::from("cwm: 1\nstages:\n");
    let stage = |name: &str, from: &str, run: &str| {
        format!("  {name}: {{ stage: command, from: {from}, with: {{ run: '{run}' }} }}\n")
    };
    yaml += &stage("c0", "{ in: { file: input } }", "cat \"$in\" > \"$out\"");
    for index in 1..=chain {
        let from = format!("c{}", index - 1);
        if index == chain.div_ceil(2) {
            // The output does not depend on the parameter.
            let _ = writeln!(
                yaml,
                "  c{index}: {{ stage: command, from: {from}, with: {{ run: 'cat \"$in\" > \"$out\"', p: {parameter} }} }}"
            );
        } else {
            yaml += &stage(&format!("c{index}"), &from, "cat \"$in\" > \"$out\"");
        }
    }
    let mut parts = Vec::new();
    for index in 0..fan {
        yaml += &stage(
            &format!("f{index}"),
            &format!("c{chain}"),
            &format!("cat \"$in\" > \"$out\"; echo {index} >> \"$out\""),
        );
        parts.push(format!("f{index}"));
    }
    yaml + &stage("join", &format!("{{ parts: [{}] }}", parts.join(", ")), "cat \"$in_parts\"/* > \"$out\"")
}

fn ninja_graph(size: usize, parameter: u32) -> String {
    let (chain, fan) = shape(size);
    let mut text = String::from(
        "rule sh\n  command = $cmd > $out.new && (cmp -s $out.new $out || mv $out.new $out)\n  restat = 1\n",
    );
    let mut build = |out: &str, from: &str, command: &str| {
        let _ = write!(text, "build {out}: sh {from}\n  cmd = {command}\n");
    };
    build("c0", "input", "cat $in");
    for index in 1..=chain {
        let command = if index == chain.div_ceil(2) { format!("P={parameter} cat $in") } else { "cat $in".into() };
        build(&format!("c{index}"), &format!("c{}", index - 1), &command);
    }
    let mut parts = Vec::new();
    for index in 0..fan {
        build(&format!("f{index}"), &format!("c{chain}"), &format!("(cat $in; echo {index})"));
        parts.push(format!("f{index}"));
    }
    build("join", &parts.join(" "), "cat $in");
    text
}

fn cwm() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cwm"));
    command.arg("run");
    command
}

fn run(folder: &Path, mut command: Command) {
    let status = command.current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null()).status().expect("it starts");
    assert!(status.success(), "{command:?} failed");
}

fn version(program: &str) -> Option<String> {
    let output = Command::new(program).arg("--version").output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median(work: impl Fn()) -> Duration {
    let mut times: Vec<Duration> = (0..REPEATS).map(|_| time(&work)).collect();
    times.sort();
    times[REPEATS / 2]
}
