//! Runs that are killed, controllers that are: nothing is lost, and nothing done twice.

use std::time::Duration;

use super::cluster::{Cluster, QUICK, ended, events, signal};

/// Twelve cells of about a second, and what reads them. Each tells that it began.
const SWEEP: &str = r#"
cwm: 1
stages:
  each:
    stage: command
    matrix: { n: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] }
    with: { run: 'echo "each $n" >> "$HOME/ran"; sleep 1.5; echo $n > "$out"', n: $n }
  after: { stage: command, each: each, from: each, with: { run: 'echo "after $(cat "$in")" >> "$HOME/ran"; cp "$in" "$out"' } }
"#;

fn once_each(cluster: &Cluster) {
    let starts = cluster.starts();
    assert_eq!(starts.len(), 24, "{starts:?}");
    assert!(starts.values().all(|count| *count == 1), "{starts:?}");
}

#[test]
fn a_run_that_is_killed_at_any_instant_finds_its_jobs() {
    let Some(cluster) = Cluster::start(SWEEP, QUICK, &[]) else { return };
    // From before the first submission to after the last.
    for milliseconds in [20, 60, 120, 250, 400, 700, 1100, 1600, 2300] {
        let mut child = cluster.spawn(&[]);
        std::thread::sleep(Duration::from_millis(milliseconds));
        signal(&child, "-KILL");
        child.wait().expect("an end");
    }
    let last = cluster.run(&[]);
    assert_eq!(last.raw.code, 0, "{}\n{}", last.raw.stdout, last.raw.stderr);
    once_each(&cluster);
    cluster.run(&[]).ran_just(&[]);
}

#[test]
fn a_batch_without_a_recorded_id_is_found_by_its_comment() {
    let Some(cluster) = Cluster::start(SWEEP, QUICK, &[]) else { return };
    let mut child = cluster.spawn(&[]);
    cluster.await_true("something is submitted", || cluster.jobs().iter().any(|job| !job.is_empty()));
    signal(&child, "-KILL");
    child.wait().expect("an end");
    std::fs::write(cluster.batches()[0].join("job"), "").expect("a file");
    let run = cluster.run(&[]);
    assert_eq!(run.raw.code, 0, "{}\n{}", run.raw.stdout, run.raw.stderr);
    assert!(events(&run, "submitted").iter().any(|event| event["adopted"] == true), "{}", run.raw.stdout);
    once_each(&cluster);
}

#[test]
fn a_batch_that_was_written_and_never_submitted_is_submitted() {
    let Some(cluster) = Cluster::start(SWEEP, QUICK, &[]) else { return };
    // `sbatch` dies before it asks.
    cluster.context.write("bin/sbatch", "#!/bin/sh\nkill -9 $PPID\nsleep 1\nexit 1\n");
    let path = format!("{}:{}", cluster.context.path("bin").display(), std::env::var("PATH").unwrap_or_default());
    let chmod = std::process::Command::new("chmod").arg("+x").arg(cluster.context.path("bin/sbatch")).status();
    assert!(chmod.expect("chmod").success());
    let killed = cluster.command(&["run"]).env("PATH", path).status().expect("cwm starts");
    assert!(!killed.success() && cluster.jobs() == [""], "{:?}", cluster.jobs());
    let run = cluster.run(&[]);
    assert_eq!(run.raw.code, 0, "{}\n{}", run.raw.stdout, run.raw.stderr);
    once_each(&cluster);
}

#[test]
fn two_runs_share_their_jobs() {
    let Some(cluster) = Cluster::start(SWEEP, QUICK, &[]) else { return };
    let (one, other) = (cluster.spawn(&[]), cluster.spawn(&[]));
    let (one, other) = (ended(one), ended(other));
    for run in [&one, &other] {
        assert_eq!(run.raw.code, 0, "{}\n{}", run.raw.stdout, run.raw.stderr);
        assert_eq!(run.ran.len() + run.cached.len(), 24);
    }
    once_each(&cluster);
}

#[test]
fn ctrl_c_leaves_jobs_and_the_next_run_takes_them_over() {
    let Some(cluster) = Cluster::start(SWEEP, QUICK, &[]) else { return };
    let child = cluster.spawn(&[]);
    cluster.await_true("some run", || !cluster.starts().is_empty());
    signal(&child, "-INT");
    let stopped = ended(child);
    assert_eq!(stopped.raw.code, 130, "{}", stopped.raw.stderr);
    let run = cluster.run(&[]);
    assert_eq!(run.raw.code, 0, "{}\n{}", run.raw.stdout, run.raw.stderr);
    once_each(&cluster);
    // What nobody watched is not found by an unused copy of the program either.
    let collected = cluster.cwm(&["store", "gc"]);
    assert_eq!(collected.code, 0, "{}", collected.stderr);
}

#[test]
fn a_silent_controller_means_unknown_and_never_lost() {
    // Each waits until it is released, so that jobs run for as long as nobody can ask for them.
    let held = SWEEP.replace("sleep 1.5;", "until test -e \"$HOME/go\"; do sleep 0.1; done;");
    let Some(cluster) = Cluster::start(&held, QUICK, &[]) else { return };
    let child = cluster.spawn(&[]);
    cluster.await_true("as many run as there is room for", || cluster.starts().len() == 8);
    // Past the moments in which it has not saved what it started.
    std::thread::sleep(Duration::from_secs(6));
    cluster.kill_controller();
    cluster.await_true("status says so", || cluster.cwm(&["status"]).stdout.contains("Slurm does not answer"));
    // What they record is known all the same; each look takes longer than the visibility timeout.
    cluster.context.write("go", "");
    cluster.await_true("what ran is done", || cluster.cwm(&["status"]).stdout.contains("8 cached"));
    cluster.start_controller();
    let run = ended(child);
    assert_eq!(run.raw.code, 0, "{}\n{}", run.raw.stdout, run.raw.stderr);
    assert_eq!(run.ran.len(), 24);
    once_each(&cluster);
    let submitted = events(&run, "submitted");
    let cells: usize = submitted.iter().map(|event| event["labels"].as_array().expect("a list").len()).sum();
    assert_eq!(cells, 24, "nothing was taken for lost: {submitted:?}");
    let warnings = events(&run, "warning");
    let is_warned =
        |text: &str| warnings.iter().any(|event| event["message"].as_str().is_some_and(|m| m.contains(text)));
    assert!(is_warned("Slurm does not answer") && is_warned("Slurm answers again, after "), "{warnings:?}");
}

#[test]
fn a_controller_that_is_started_again_in_the_middle_of_a_sweep_loses_nothing() {
    let Some(cluster) = Cluster::start(SWEEP, QUICK, &[]) else { return };
    let child = cluster.spawn(&[]);
    for _ in 0..3 {
        std::thread::sleep(Duration::from_millis(1500));
        cluster.kill_controller();
        cluster.start_controller();
    }
    let run = ended(child);
    assert_eq!(run.raw.code, 0, "{}\n{}", run.raw.stdout, run.raw.stderr);
    once_each(&cluster);
}

#[test]
fn jobs_that_slurm_has_purged_are_known_by_the_store() {
    let Some(cluster) =
        Cluster::start(SWEEP, "poll = \"500ms\"\nvisibility_timeout = \"5s\"\n", &[("CWM_SLURM_MIN_JOB_AGE", "2")])
    else {
        return;
    };
    let child = cluster.spawn(&["each"]);
    cluster.await_true("some run", || !cluster.starts().is_empty());
    signal(&child, "-INT");
    ended(child);
    cluster.await_true("all are forgotten", || cluster.slurm("squeue", &["--me", "-h", "--states=all"]).is_empty());
    let run = cluster.run(&[]);
    assert_eq!((run.raw.code, run.cached.len()), (0, 12), "{}\n{}", run.raw.stdout, run.raw.stderr);
    once_each(&cluster);
}
