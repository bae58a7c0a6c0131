//! A copy of a project, with its store: what it has of batches is the other's, whose jobs work there.

use std::process::{Command, Stdio};
use std::time::Duration;

use super::cluster::{Cluster, QUICK, ended, signal};
use super::real::FIVE;

#[test]
fn a_copy_neither_cancels_nor_waits_for_the_jobs_of_the_original() {
    let Some(cluster) = Cluster::start(FIVE, QUICK, &[]) else { return };
    let child = cluster.spawn(&[]);
    cluster.await_true("one of them runs", || !cluster.starts().is_empty());
    signal(&child, "-INT");
    assert_eq!(ended(child).raw.code, 130);
    let job = cluster.jobs()[0].clone();
    let tasks = || {
        let all = cluster.slurm("squeue", &["--me", "-h", "--array", "-o", "%F_%K %T"]);
        let mut tasks: Vec<String> =
            all.lines().filter(|line| line.starts_with(&format!("{job}_"))).map(str::to_owned).collect();
        tasks.sort();
        tasks
    };
    let before = tasks();
    assert_eq!(before.len(), 5, "{before:?}");

    // The copy has one result of its own, and its jobs may go on at once.
    let copy = tempfile::Builder::new().prefix("cwm-copy-").tempdir().expect("a temporary folder");
    let copied = Command::new("cp").arg("-a").arg(cluster.context.path(".")).arg(copy.path()).status().expect("cp");
    assert!(copied.success());
    std::fs::write(copy.path().join("go"), "").expect("a file");
    let command = |arguments: &[&str]| {
        let mut command = cluster.command(arguments);
        command.current_dir(copy.path()).env("HOME", copy.path());
        command
    };
    let made = command(&["run", "--executor", "local", "each[n=2]"]).status().expect("cwm starts");
    assert!(made.success());
    let shown = command(&["status"]).output().expect("cwm starts");
    assert!(String::from_utf8_lossy(&shown.stdout).contains("1 cached"), "{shown:?}");
    assert!(!String::from_utf8_lossy(&shown.stdout).contains("queued"), "{shown:?}");
    let mut run = command(&["run", "--json"]);
    let run = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("cwm starts");
    cluster.await_true("it submits jobs of its own", || {
        cluster.slurm("squeue", &["--me", "-h", "--array", "-o", "%F"]).lines().any(|other| other != job)
    });
    std::thread::sleep(Duration::from_secs(4));
    assert_eq!(tasks(), before, "the original's jobs stay");

    cluster.context.write("go", "");
    let run = ended(run);
    assert_eq!((run.raw.code, run.ran.len(), run.failed.len()), (0, 4, 0), "{}", run.raw.stdout);
    let again = cluster.run(&[]);
    assert_eq!((again.raw.code, cluster.jobs().len()), (0, 1), "{}", again.raw.stdout);
    assert!(
        cluster.starts().len() == 5 && cluster.starts().values().all(|count| *count == 1),
        "{:?}",
        cluster.starts()
    );
}
