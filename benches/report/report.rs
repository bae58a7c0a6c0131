//! From scores to a report at the paper's scale: `cargo build --release && cargo bench -p cwm-benches-report`.
//!
//! Makes up scores of 28 models on two sets of 10,000 games each, as long as people's and as random ones, and runs `bins`,
//! `compare` and `report` over them with the `cwm` that was built before. Printed: seconds, and the largest resident memory
//! of a process. `CWM_BENCH_GAMES` takes fewer games; `CWM_BENCH_CORES` the cores (2). Writes some gigabytes below TMPDIR.

mod scores;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const FAMILIES: [&str; 7] =
    ["transformer", "slice", "slice_diag", "mamba3", "mamba2", "gated_deltanet", "gated_deltanet_pos"];
const SIZES: [&str; 4] = ["d128/l1", "d256/l2", "d384/l4", "d512/l6"];
/// Name, and mean number of plies.
const TESTS: [(&str, f64); 2] = [("held_out", 80.0), ("random_uniform", 326.0)];

const PIPELINE: &str = r#"
cwm: 1
stages:
  evaluation:
    stage: command
    matrix: { family: FAMILIES, size: SIZES, test: [held_out, random_uniform] }
    with:
      name: "${family}-${size}-${test}"
      run: 'mv "$FOLDER/$(echo "$name" | tr / _)" "$out_scores"'
    env: [FOLDER]
    outputs: { scores: { format: scores, ext: parquet } }
  bins: { stage: bins, from: { scores: evaluation } }
  differences: { stage: compare, from: { scores: evaluation }, with: { pairs: PAIRS } }
  report: { stage: report, from: { bins: bins, differences: differences } }
"#;

fn main() {
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    let number = |name: &str, default: u32| {
        std::env::var(name).map_or(default, |text| text.parse().expect("a number in the environment"))
    };
    let (games, cores) = (number("CWM_BENCH_GAMES", 10_000), number("CWM_BENCH_CORES", 2));
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let rows = made_up(folder, games);
    println!("{games} games x {} models x {} sets: {rows} rows", FAMILIES.len() * SIZES.len(), TESTS.len());
    let cores = cores.to_string();
    pipeline(folder, "baseline");
    run(folder, &["run", "evaluation", "--jobs", &cores]);
    println!("{:<28} {:>9} {:>9}", "stage", "seconds", "MiB");
    for (what, stage) in [("bins", "bins"), ("compare, with the baseline", "differences"), ("report", "report")] {
        timed(folder, what, &["run", stage, "--jobs", &cores]);
    }
    pipeline(folder, "all");
    timed(folder, "compare, every two models", &["run", "differences", "--jobs", &cores]);
}

fn timed(folder: &Path, what: &str, arguments: &[&str]) {
    let began = Instant::now();
    run(folder, arguments);
    println!("{what:<28} {:>9.1} {:>9}", began.elapsed().as_secs_f64(), largest_child() >> 20);
}

/// All scores files, a thread a core; how many rows they have.
fn made_up(folder: &Path, games: u32) -> u64 {
    let mut files = Vec::new();
    for (family, name) in FAMILIES.iter().enumerate() {
        for (size, width) in SIZES.iter().enumerate() {
            for (test, (set, plies)) in TESTS.iter().enumerate() {
                let path = folder.join(format!("{name}-{}-{set}", width.replace('/', "_")));
                // Larger models go wrong later, and random games are harder.
                let lasts = (20.0 + 30.0 * size as f64 + 5.0 * family as f64) / (1.0 + test as f64);
                let model =
                    format!(r#"{{"family":"{name}","size":"{width}","parameters":{},"seed":0}}"#, 1 << (20 + size));
                files.push((path, model, scores::Made { games, set: test as u64, plies: *plies, lasts }));
            }
        }
    }
    let next = std::sync::atomic::AtomicUsize::new(0);
    let rows = std::sync::atomic::AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((path, model, made)) = files.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
                {
                    rows.fetch_add(scores::write(path, model, made), std::sync::atomic::Ordering::Relaxed);
                }
            });
        }
    });
    rows.into_inner()
}

fn pipeline(folder: &Path, pairs: &str) {
    let list = |names: &[&str]| format!("[{}]", names.join(", "));
    let text = PIPELINE.replace("FAMILIES", &list(&FAMILIES)).replace("SIZES", &list(&SIZES)).replace("PAIRS", pairs);
    std::fs::write(folder.join("pipeline.yaml"), text).expect("a pipeline");
}

fn run(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new(cwm());
    command.args(arguments).current_dir(folder).env("FOLDER", folder).env_remove("CWM_STORE");
    let ran = command.stdout(Stdio::null()).output().expect("cwm starts");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

/// The binary beside the folder that this one lies in.
fn cwm() -> PathBuf {
    let own = std::env::current_exe().expect("a path");
    let built = own.ancestors().nth(2).expect("a folder of what was built").join("cwm");
    assert!(built.is_file(), "there is no {}: `cargo build --release` makes it", built.display());
    built
}

/// Bytes of the largest resident set of any process that was started so far and has ended, and of theirs.
fn largest_child() -> u64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to memory of that type, and zeroes are a value of it.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
        usage.assume_init()
    };
    usage.ru_maxrss as u64 * 1024
}
