//! A folder with a pipeline and its store, and executors in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::processes;

/// A fresh folder; in memory where there is such a place, since what is killed needs no disk.
pub struct Scene {
    root: tempfile::TempDir,
}

/// A command of cwm under way; its output goes to a file.
pub struct Executor {
    child: Child,
    /// The file of its standard output.
    pub stdout: PathBuf,
    stderr: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// A command of cwm that has ended.
pub struct Ended {
    /// Exit code; 128 + signal if killed.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// The cwm that is tested: this build's, or another one by CWM_KILL_BINARY.
pub fn binary() -> PathBuf {
    std::env::var_os("CWM_KILL_BINARY").map_or_else(|| env!("CARGO_BIN_EXE_cwm").into(), PathBuf::from)
}

/// A number from the environment, for more than a test's few.
pub fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().map_or(usual, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

impl Scene {
    /// An empty one.
    pub fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        Scene::at(&place)
    }

    /// An empty one below this folder.
    pub fn at(place: &Path) -> Self {
        let root = tempfile::Builder::new().prefix("cwm-kill-").tempdir_in(place).expect("a temporary folder");
        fs::create_dir(root.path().join("busy")).expect("a folder");
        Scene { root }
    }

    /// A path in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Its store.
    pub fn store(&self) -> PathBuf {
        self.path("store")
    }

    /// Writes a file as if it had been lying there for an hour.
    pub fn write_old(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("a written file");
        let file = File::options().write(true).open(self.path(name)).expect("the file");
        file.set_modified(std::time::SystemTime::now() - Duration::from_secs(3600)).expect("a time set");
    }

    /// A file's text; empty if there is none.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// `cwm` here, behind the words of another program if there are any.
    pub fn command(&self, before: &[&str], arguments: &[&str]) -> Command {
        let mut words: Vec<std::ffi::OsString> = before.iter().map(Into::into).collect();
        words.push(binary().into());
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).args(arguments).arg("--store").arg(self.store());
        command.current_dir(self.root.path()).env("HOME", self.root.path()).env("NO_COLOR", "1").stdin(Stdio::null());
        command.env_remove("CWM_STORE");
        command
    }

    /// Starts one.
    pub fn start(&self, number: usize, arguments: &[&str]) -> Executor {
        let (stdout, stderr) = (self.path(&format!("stdout-{number}")), self.path(&format!("stderr-{number}")));
        let file = |path: &Path| Stdio::from(File::create(path).expect("a file for output"));
        let mut command = self.command(&[], arguments);
        let child = command.stdout(file(&stdout)).stderr(file(&stderr)).spawn().expect("cwm starts");
        Executor { child, stdout, stderr, arguments: arguments.iter().map(|word| (*word).to_owned()).collect() }
    }

    /// Runs one to its end.
    pub fn cwm(&self, arguments: &[&str]) -> Ended {
        self.start(0, arguments).end()
    }

    /// Processes that are left here when nothing should be.
    #[track_caller]
    pub fn no_strays(&self) -> Result<(), String> {
        match processes::strays(self.root.path()) {
            left if left.is_empty() => Ok(()),
            left => Err(format!("processes {left:?} outlived their executors by half a minute")),
        }
    }

    /// Keeps the folder for whoever looks into a failure; where it is.
    pub fn keep(self) -> PathBuf {
        self.root.keep()
    }
}

impl Executor {
    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns true if it still runs.
    pub fn runs(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|ended| ended.is_none())
    }

    /// Waits for its end. One that needs five minutes hangs, and is killed.
    pub fn end(mut self) -> Ended {
        let end = Instant::now() + Duration::from_secs(300);
        let mut hung = false;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                break status;
            }
            if Instant::now() > end {
                hung = true;
                let _ = self.child.kill();
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        let read = |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
        let code = if hung { Ended::HUNG } else { status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)) };
        Ended { code, stdout: read(&self.stdout), stderr: read(&self.stderr) }
    }
}

impl Ended {
    /// The code of what did not end.
    pub const HUNG: i32 = -1;

    /// The keys in these events of `--json`.
    pub fn keys(&self, name: &str) -> BTreeSet<String> {
        let events = self.stdout.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        events.filter(|event| event["event"] == name).map(|event| event["key"].to_string()).collect()
    }

    /// Code and words, for messages.
    pub fn words(&self) -> String {
        format!("code {}\n{}\n{}", self.code, self.stdout, self.stderr)
    }
}

/// The number of events of this name in lines of events.
pub fn count(lines: &str, event: &str) -> usize {
    lines.matches(&format!("\"event\":\"{event}\"")).count()
}

/// The lines of a lock file by cell, which must be whole at any time.
///
/// # Errors
/// It is cut or garbled.
pub fn lock_lines(text: &str) -> Result<BTreeMap<String, serde_json::Value>, String> {
    if text.is_empty() {
        return Ok(BTreeMap::new());
    }
    if !text.ends_with('\n') || !text.contains("cwm-lock: 1\n") {
        return Err(format!("the lock file is cut:\n{text}"));
    }
    let mut cells = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with('"')) {
        let cell: BTreeMap<String, serde_json::Value> =
            serde_json::from_str(&format!("{{{line}}}")).map_err(|error| format!("the lock file: {error}: {line}"))?;
        cells.extend(cell);
    }
    Ok(cells)
}
