//! The programs that are measured: finding them, running them, and what that took.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs};

/// A program that brings a graph up to date.
#[derive(Clone)]
pub struct Program {
    /// Its name.
    pub name: &'static str,
    path: PathBuf,
    arguments: Vec<String>,
    /// What it says of itself.
    pub version: String,
    /// What has to be run once in a folder, before.
    prepare: &'static [&'static str],
    /// Whether it is quick enough to be run often.
    pub is_quick: bool,
}

impl Program {
    /// The one that is built here.
    pub fn cwm() -> Self {
        Program::at("cwm", cwm(), &["run"], &[], true)
    }

    /// Those of the others that are installed; of the rest, this is said.
    pub fn peers() -> Vec<Self> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from).to_string();
        let known: [(_, _, &[&str], &[&str], _); 3] = [
            ("ninja", "apt install ninja-build", &[], &[], true),
            ("snakemake", "pip install snakemake", &["--quiet", "all", "--cores", &cores], &[], false),
            ("dvc", "pip install dvc", &["repro", "--quiet"], &["init", "--no-scm", "--quiet"], false),
        ];
        let found = known.into_iter().filter_map(|(name, how, arguments, prepare, is_quick)| {
            let path = find(name, how)?;
            Some(Program::at(name, path, arguments, prepare, is_quick))
        });
        found.collect()
    }

    fn at(
        name: &'static str,
        path: PathBuf,
        arguments: &[&str],
        prepare: &'static [&'static str],
        is_quick: bool,
    ) -> Self {
        let reported = Command::new(&path).arg("--version").output().expect("it starts");
        let version = String::from_utf8_lossy(&reported.stdout).trim().trim_start_matches("cwm ").to_owned();
        let arguments = arguments.iter().map(|word| (*word).to_owned()).collect();
        Program { name, path, arguments, version, prepare, is_quick }
    }

    /// Makes `folder` ready for it.
    pub fn prepare(&self, folder: &Path) {
        fs::create_dir_all(folder).expect("a folder");
        if !self.prepare.is_empty() {
            run(Command::new(&self.path).args(self.prepare).current_dir(folder));
        }
    }

    /// Brings the graph in `folder` up to date; how long that took, and how many commands it executed.
    pub fn run(&self, folder: &Path) -> (Duration, usize) {
        let before = executed(folder);
        let time = time(|| run(Command::new(&self.path).args(&self.arguments).current_dir(folder)));
        (time, executed(folder) - before)
    }
}

fn executed(folder: &Path) -> usize {
    fs::read_to_string(folder.join("executed")).map_or(0, |names| names.lines().count())
}

/// The `cwm` that is measured: the one in CWM_BENCH_CWM, such as one with all stages, else what is built with this.
pub fn cwm() -> PathBuf {
    env::var_os("CWM_BENCH_CWM").map_or_else(|| env!("CARGO_BIN_EXE_cwm").into(), PathBuf::from)
}

/// The program `name` in the folders of CWM_BENCH_PATH or PATH. If it is in none, says so, and `how` to get it.
pub fn find(name: &str, how: &str) -> Option<PathBuf> {
    let folders = ["CWM_BENCH_PATH", "PATH"].map(|variable| env::var_os(variable).unwrap_or_default());
    let found = folders.iter().flat_map(env::split_paths).map(|folder| folder.join(name)).find(|path| path.is_file());
    if found.is_none() {
        println!("skipped: {name} ({how}, or name its folder in CWM_BENCH_PATH)");
    }
    found
}

/// Runs a command to its end, without a word.
pub fn run(command: &mut Command) {
    // What it starts in turn may be found only where it was found.
    let folders = ["CWM_BENCH_PATH", "PATH"].map(|variable| env::var_os(variable).unwrap_or_default());
    let path: OsString = env::join_paths(folders.iter().flat_map(env::split_paths)).expect("a search path");
    let quiet = command.env("PATH", path).env("DVC_NO_ANALYTICS", "1").stdin(Stdio::null());
    let ended = quiet.stdout(Stdio::null()).stderr(Stdio::null()).status().expect("it starts");
    assert!(ended.success(), "{command:?} failed");
}

/// How long it takes.
pub fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// The median of several times.
pub fn median(repeats: usize, mut work: impl FnMut() -> Duration) -> Duration {
    let mut times: Vec<Duration> = (0..repeats).map(|_| work()).collect();
    times.sort();
    times[repeats / 2]
}

/// The seconds of processor that the processes took that `work` starts and waits for, with all that they waited for.
pub fn processor_seconds(work: impl FnOnce()) -> f64 {
    let before = children();
    work();
    children() - before
}

fn children() -> f64 {
    // SAFETY: all-zero is a valid rusage, and getrusage only writes into it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}
