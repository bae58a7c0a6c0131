//! One folder, one binary: what every end-to-end test stands on.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A fresh folder to run `cwm` in.
pub struct Context {
    root: tempfile::TempDir,
}

/// A finished command.
pub struct Ran {
    /// Exit code; 128 + signal if killed.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// A finished `cwm run --json`, read from its events.
pub struct Run {
    /// Labels of cells whose process ran to the end.
    pub ran: BTreeSet<String>,
    /// Labels of cells that were cached.
    pub cached: BTreeSet<String>,
    /// Reasons of cells that failed, by label.
    pub failed: BTreeMap<String, String>,
    /// Labels of cells that were skipped.
    pub skipped: BTreeSet<String>,
    /// Causes of cells that were started, by label.
    pub causes: BTreeMap<String, String>,
    /// The whole.
    pub raw: Ran,
}

impl Context {
    pub fn new() -> Self {
        Context { root: tempfile::Builder::new().prefix("cwm-test-").tempdir().expect("a temporary folder") }
    }

    /// A context with this `pipeline.yaml`.
    pub fn with(yaml: &str) -> Self {
        let context = Context::new();
        context.write("pipeline.yaml", yaml);
        context
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a name in the folder")).expect("a folder");
        fs::write(path, text).expect("a written file");
    }

    /// Writes a file whose digest may be cached at once: as if it had been lying there for an hour.
    pub fn write_old(&self, name: &str, text: &str) {
        self.write(name, text);
        let file = fs::File::options().write(true).open(self.path(name)).expect("the file");
        file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(3600)).expect("a time set");
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Replaces text in a file that must contain it.
    pub fn edit(&self, name: &str, old: &str, new: &str) {
        let text = self.read(name);
        assert!(text.contains(old), "{name} does not contain {old:?}");
        self.write(name, &text.replace(old, new));
    }

    /// The command `cwm` in this folder, in a clean and constant environment.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cwm"));
        command.args(arguments).current_dir(self.root.path()).stdin(Stdio::null());
        command
            .env_remove("CWM_STORE")
            .env_remove("CWM_DEVICE")
            .env_remove("CHESS_WORLD_MODEL_ID_KEY")
            .env("NO_COLOR", "1");
        // Servers of tests are here, whatever the way to others.
        command.env("no_proxy", "127.0.0.1");
        command
    }

    pub fn cwm(&self, arguments: &[&str]) -> Ran {
        finish(self.command(arguments).output().expect("cwm starts"))
    }

    /// The commands that the help of the program, or of a group of commands, lists.
    pub fn listed_commands(&self, group: &[&str]) -> Vec<String> {
        let help = self.cwm(&[group, &["--help"]].concat()).stdout;
        let listed =
            help.split_once("\nCommands:").map(|(_, listed)| listed.split("Options:").next().unwrap_or(listed));
        let names =
            listed.into_iter().flat_map(str::lines).filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
        names.filter(|name| !name.is_empty() && *name != "help").map(str::to_owned).collect()
    }

    /// `cwm run --json` with further arguments.
    pub fn run(&self, arguments: &[&str]) -> Run {
        let mut all = vec!["run", "--json"];
        all.extend(arguments);
        Run::read(self.cwm(&all))
    }

    /// The text of an output of a stage.
    pub fn output(&self, source: &str) -> String {
        let ran = self.cwm(&["show", "--path", source]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        fs::read_to_string(ran.stdout.trim()).expect("a readable output")
    }

    /// Every file below a folder with its modification time and size: equal before and after means nothing was written.
    pub fn inventory(&self, name: &str) -> BTreeMap<PathBuf, (std::time::SystemTime, u64)> {
        let mut found = BTreeMap::new();
        let mut front = vec![self.path(name)];
        while let Some(folder) = front.pop() {
            for entry in fs::read_dir(&folder).expect("a folder") {
                let entry = entry.expect("an entry");
                let metadata = entry.metadata().expect("metadata");
                if metadata.is_dir() {
                    front.push(entry.path());
                }
                found.insert(entry.path(), (metadata.modified().expect("a time"), metadata.len()));
            }
        }
        found
    }

    /// Waits until a file exists, for tests that act in the middle of a run.
    pub fn await_file(&self, name: &str) {
        let path = self.path(name);
        for _ in 0..2400 {
            if path.exists() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(25));
        }
        panic!("{name} did not appear within a minute");
    }
}

/// Turns a finished process into text and code.
pub fn finish(output: std::process::Output) -> Ran {
    use std::os::unix::process::ExitStatusExt;
    let code = output.status.code().unwrap_or_else(|| 128 + output.status.signal().unwrap_or(0));
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ran { code, stdout: text(output.stdout), stderr: text(output.stderr) }
}

impl Run {
    pub fn read(raw: Ran) -> Self {
        let mut run = Run {
            ran: BTreeSet::new(),
            cached: BTreeSet::new(),
            failed: BTreeMap::new(),
            skipped: BTreeSet::new(),
            causes: BTreeMap::new(),
            raw,
        };
        for line in run.raw.stdout.lines() {
            let event: serde_json::Value = serde_json::from_str(line).expect("a JSON event a line");
            let text = |field: &str| event[field].as_str().unwrap_or_default().to_owned();
            let label = text("label");
            match event["event"].as_str().expect("an event has a name") {
                "finished" => _ = run.ran.insert(label),
                "cached" => _ = run.cached.insert(label),
                "failed" => _ = run.failed.insert(label, text("reason")),
                "skipped" => _ = run.skipped.insert(label),
                "started" => {
                    let causes = event["cause"].as_array().cloned().unwrap_or_default();
                    let causes: Vec<_> = causes.iter().filter_map(|cause| cause.as_str()).collect();
                    run.causes.insert(label, causes.join("; "));
                }
                _ => {}
            }
        }
        run
    }

    /// Asserts which cells ran; everything must have gone well.
    #[track_caller]
    pub fn ran_just(&self, labels: &[&str]) {
        assert_eq!(self.raw.code, 0, "{}\n{}", self.raw.stdout, self.raw.stderr);
        let expected: BTreeSet<String> = labels.iter().map(|label| (*label).to_owned()).collect();
        assert_eq!(self.ran, expected, "\n{}", self.raw.stdout);
    }
}

/// The reference data, or nothing, in words, where it is absent.
pub fn shared() -> Option<PathBuf> {
    let given = std::env::var_os("CWM_SHARED").map(PathBuf::from);
    let folder = given.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"));
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: no reference data at {} (set CWM_SHARED)", folder.display());
    None
}
