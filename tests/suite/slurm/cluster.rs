//! A real Slurm of its own, for one test.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::context::{Context, Ran, Run, finish};

const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/slurm");

/// A running Slurm with a folder to run `cwm` in; both go with it.
pub struct Cluster {
    pub context: Context,
    state: tempfile::TempDir,
    conf: String,
    settings: Vec<(String, String)>,
    over: Arc<AtomicBool>,
}

/// Gentle enough for a test, and quick.
pub const QUICK: &str = "poll = \"500ms\"\nvisibility_timeout = \"3s\"\n";

impl Cluster {
    /// Starts one with these settings (`tests/slurm/up`), or says that it is not installed.
    pub fn start(yaml: &str, slurm: &str, settings: &[(&str, &str)]) -> Option<Cluster> {
        let context = Context::with(yaml);
        context.write("cwm.toml", &format!("executor = \"slurm\"\n[slurm]\n{slurm}"));
        // Sockets have short names.
        let state = tempfile::Builder::new().prefix("cs-").tempdir_in("/tmp").expect("a temporary folder");
        let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let mut cluster = Cluster { context, state, conf: String::new(), settings, over: Arc::default() };
        let up = cluster.up();
        if up.code == 3 {
            let required = std::env::var("CWM_REQUIRE").unwrap_or_default();
            assert!(required.split(',').all(|name| name != "slurm"), "slurm is required (CWM_REQUIRE): {}", up.stderr);
            println!("skipped: Slurm is not installed (tests/programs/setup installs it)");
            return None;
        }
        assert_eq!(up.code, 0, "{}", up.stderr);
        let conf = up.stdout.trim().strip_prefix("export SLURM_CONF=").expect("what to export");
        cluster.conf = conf.to_owned();
        Some(cluster)
    }

    fn up(&self) -> Ran {
        let mut up = Command::new(Path::new(SCRIPTS).join("up"));
        up.arg(self.state.path()).envs(self.settings.iter().cloned());
        finish(up.output().expect("bash"))
    }

    /// A program of Slurm, which must succeed.
    pub fn slurm(&self, program: &str, arguments: &[&str]) -> String {
        let mut command = Command::new(program);
        command.args(arguments).env("SLURM_CONF", &self.conf);
        let ran = finish(command.output().expect("a program of Slurm"));
        assert_eq!(ran.code, 0, "{program} {arguments:?}: {}", ran.stderr);
        ran.stdout
    }

    /// `cwm` on this cluster.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.context.command(arguments);
        command.env("SLURM_CONF", &self.conf).env("HOME", self.context.path("."));
        command
    }

    pub fn cwm(&self, arguments: &[&str]) -> Ran {
        finish(self.command(arguments).output().expect("cwm starts"))
    }

    pub fn run(&self, arguments: &[&str]) -> Run {
        Run::read(self.cwm(&[&["run", "--json"], arguments].concat()))
    }

    /// A run in the background.
    pub fn spawn(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(&[&["run", "--json"], arguments].concat());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("cwm starts")
    }

    /// Kills the controller, as a machine that fails does; and starts it again.
    pub fn kill_controller(&self) {
        let run = std::fs::read_to_string(self.state.path().join("slurmctld.run")).expect("its process");
        let pid = run.split_whitespace().next().expect("a process id").to_owned();
        let killed = Command::new("kill").args(["-KILL", &pid]).status().expect("kill");
        assert!(killed.success());
    }

    /// The controller again, with what it had saved; the node's daemon goes on.
    #[expect(clippy::zombie_processes, reason = "`down` ends it; the test's own end takes what is left")]
    pub fn start_controller(&self) {
        let ctld = |name: &str| self.state.path().join(name);
        let output = std::fs::File::options().append(true).create(true).open(ctld("slurmctld.out")).expect("a file");
        let mut command = Command::new("slurmctld");
        command.args(["-D", "-f", &self.conf]).env("SLURM_CONF", &self.conf).stdin(Stdio::null());
        command.env("PATH", format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default()));
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command.stderr(output.try_clone().expect("a copy")).stdout(output).spawn().expect("slurmctld");
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).expect("a process");
        let started = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(19)).expect("a start").to_owned();
        std::fs::write(ctld("slurmctld.run"), format!("{} {started}\n", child.id())).expect("a file");
        self.await_true("the controller answers", || {
            let mut squeue = Command::new("squeue");
            squeue.env("SLURM_CONF", &self.conf).output().is_ok_and(|ran| ran.status.success())
        });
        self.tend();
    }

    /// Does from now on what an administrator does. A controller that was killed before it had saved what it started has it
    /// started once more; the node refuses a job that it has already, and is drained for it ("Duplicate jobid"), for good.
    fn tend(&self) {
        let (over, conf) = (self.over.clone(), self.conf.clone());
        std::thread::spawn(move || {
            let slurm = |program: &str, arguments: &[&str]| {
                let ran = Command::new(program).args(arguments).env("SLURM_CONF", &conf).output();
                ran.map(|ran| String::from_utf8_lossy(&ran.stdout).into_owned()).unwrap_or_default()
            };
            while !over.load(Ordering::Relaxed) {
                let nodes = slurm("sinfo", &["-h", "-o", "%n %T %E"]);
                for node in nodes.lines().filter(|node| node.contains(" drain") && node.contains("Duplicate jobid")) {
                    let name = node.split(' ').next().unwrap_or_default();
                    slurm("scontrol", &["update", &format!("NodeName={name}"), "State=RESUME"]);
                }
                // The jobs that the node refused are held besides.
                let jobs = slurm("squeue", &["-h", "--array", "-o", "%i %r"]);
                for job in jobs.lines().filter(|job| job.contains("launch failed requeued held")) {
                    slurm("scontrol", &["release", job.split(' ').next().unwrap_or_default()]);
                }
                std::thread::sleep(Duration::from_secs(1));
            }
        });
    }

    /// Waits, for two minutes at most, until something is so.
    #[track_caller]
    pub fn await_true(&self, what: &str, mut is_so: impl FnMut() -> bool) {
        let began = Instant::now();
        while !is_so() {
            assert!(began.elapsed() < Duration::from_secs(150), "in vain: {what}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Returns the number of starts of each command: each start writes a line to the file `ran`.
    pub fn starts(&self) -> BTreeMap<String, usize> {
        let text = std::fs::read_to_string(self.context.path("ran")).unwrap_or_default();
        let mut counts = BTreeMap::new();
        text.lines().for_each(|line| *counts.entry(line.to_owned()).or_default() += 1);
        counts
    }

    /// Returns the jobs that `sbatch` accepted, by the batch folders: the controller forgets finished ones.
    pub fn jobs(&self) -> Vec<String> {
        let mut jobs: Vec<String> = self
            .batches()
            .iter()
            .map(|batch| std::fs::read_to_string(batch.join("job")).unwrap_or_default().trim().to_owned())
            .collect();
        jobs.sort();
        jobs
    }

    pub fn batches(&self) -> Vec<PathBuf> {
        let folder = std::fs::read_dir(self.context.path("artifacts/batches"));
        let mut found: Vec<PathBuf> = folder.into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        found.sort();
        found
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        let _ = Command::new(Path::new(SCRIPTS).join("down")).arg(self.state.path()).output();
    }
}

/// Signals a process.
pub fn signal(child: &Child, signal: &str) {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill");
    assert!(sent.success());
}

/// Returns the outcome of a run that was started in the background.
pub fn ended(child: Child) -> Run {
    Run::read(finish(child.wait_with_output().expect("an end")))
}

/// Returns true if a warning of a run contains this text.
pub fn warned(run: &Run, text: &str) -> bool {
    events(run, "warning").iter().any(|event| event["message"].as_str().is_some_and(|message| message.contains(text)))
}

/// The events of a run of this name.
pub fn events(run: &Run, name: &str) -> Vec<serde_json::Value> {
    let all = run.raw.stdout.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
    all.filter(|event| event["event"] == name).collect()
}
