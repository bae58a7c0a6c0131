//! The outcomes of jobs on a real Slurm.

use super::cluster::{Cluster, QUICK, ended, events, signal, warned};

const MATRIX: &str = r#"
cwm: 1
stages:
  first: { stage: command, with: { run: 'echo first >> "$HOME/ran"; echo 1 > "$out"' } }
  each:
    stage: command
    matrix: { n: [0, 1, 2, 3, 4, 5, 6] }
    from: first
    needs: { cpu: 2, memory: 100MB, time: 10m }
    with: { run: 'echo "each $n" >> "$HOME/ran"; cat "$in" > "$out"; echo "$n" >> "$out"', n: $n }
  all: { stage: command, from: each, with: { run: 'cat "$in"/* > "$out" 2>/dev/null || cat $in/* > "$out"' } }
"#;

#[test]
fn a_pipeline_is_done_by_jobs_and_a_matrix_is_arrays_of_the_controllers_size() {
    let Some(cluster) = Cluster::start(MATRIX, QUICK, &[("CWM_SLURM_MAX_ARRAY", "4")]) else { return };
    let run = cluster.run(&[]);
    assert_eq!(run.raw.code, 0, "{}\n{}", run.raw.stdout, run.raw.stderr);
    assert_eq!(run.ran.len(), 9, "{:?}", run.ran);
    // 1 + (4 + 3) + 1 cells.
    let sizes: Vec<usize> =
        events(&run, "submitted").iter().map(|event| event["labels"].as_array().expect("a list").len()).collect();
    assert_eq!(sizes, [1, 4, 3, 1]);
    assert_eq!(cluster.context.output("each[n=3]"), "1\n3\n");
    assert!(cluster.starts().values().all(|count| *count == 1), "{:?}", cluster.starts());
    let shown = cluster.cwm(&["status"]);
    assert!(shown.stdout.ends_with("9 cached\n"), "{}", shown.stdout);
    // Nothing is asked of Slurm where there is nothing to do.
    cluster.kill_controller();
    let again = cluster.run(&[]);
    assert!(again.raw.code == 0 && again.cached.len() == 9, "{}", again.raw.stderr);
}

#[test]
fn failures_are_reported_with_their_log_and_attempts_count() {
    let yaml = r#"
cwm: 1
stages:
  wrong: { stage: command, retry: { times: 1, wait: 1s }, with: { run: 'echo wrong >> "$HOME/ran"; echo of the log; exit 3' } }
  after: { stage: command, from: wrong, with: { run: 'cp "$in" "$out"' } }
  right: { stage: command, with: { run: 'echo x > "$out"' } }
  killed: { stage: command, with: { run: 'kill -KILL $PPID; sleep 60; echo x > "$out"' } }
"#;
    let Some(cluster) = Cluster::start(yaml, QUICK, &[]) else { return };
    let run = cluster.run(&[]);
    assert_eq!(run.raw.code, 1);
    assert!(run.failed["wrong"].contains("status 3"), "{:?}", run.failed);
    assert!(run.failed["killed"].contains("ended without a message"), "{:?}", run.failed);
    assert!(run.skipped.contains("after") && run.ran.contains("right"), "{}", run.raw.stdout);
    assert_eq!(cluster.starts()["wrong"], 2, "an attempt and one more");
    let failed = events(&run, "failed").into_iter().find(|event| event["label"] == "wrong").expect("it failed");
    assert_eq!((failed["kind"].as_str(), failed["attempts"].as_u64()), (Some("command"), Some(2)));
    assert!(failed["log_tail"].to_string().contains("of the log"), "{failed}");
}

#[test]
fn a_cancelled_job_has_failed_and_is_submitted_again_by_the_next_run() {
    let yaml = r#"
cwm: 1
stages:
  slow: { stage: command, with: { run: 'echo slow >> "$HOME/ran"; touch "$HOME/begun"; test -e "$HOME/go" || sleep 100; echo x > "$out"' } }
  held: { stage: command, needs: { cpu: 8 }, with: { run: 'echo x > "$out"' } }
"#;
    let Some(cluster) = Cluster::start(yaml, QUICK, &[]) else { return };
    let child = cluster.spawn(&[]);
    cluster.context.await_file("begun");
    // The other one waits for all cores.
    cluster.await_true("a pending job is shown", || {
        let shown = cluster.cwm(&["status"]).stdout;
        shown.contains("queued     held") && shown.contains("pending: ") && shown.contains("running    slow")
    });
    let shown = cluster.cwm(&["status", "slow"]).stdout;
    assert!(shown.contains(" running on "), "{shown}");
    cluster.slurm("scancel", &["--me"]);
    let run = ended(child);
    assert_eq!(run.raw.code, 1, "{}", run.raw.stdout);
    for cell in ["slow", "held"] {
        assert!(run.failed[cell].ends_with("was cancelled"), "{:?}", run.failed);
    }
    cluster.context.write("go", "");
    cluster.run(&[]).ran_just(&["slow", "held"]);
    assert_eq!(cluster.starts()["slow"], 2);
}

/// Slurm keeps nothing about a task that is cancelled before it starts, as long as others of its array are there.
#[test]
fn a_cancelled_pending_array_task_has_failed() {
    let yaml = r#"
cwm: 1
stages:
  each:
    stage: command
    matrix: { n: [0, 1, 2, 3] }
    needs: { cpu: 8 }
    with: { run: 'echo "each $n" >> "$HOME/ran"; touch "$HOME/begun"; while ! test -e "$HOME/go"; do sleep 0.2; done; echo "$n" > "$out"', n: $n }
"#;
    let Some(cluster) = Cluster::start(yaml, QUICK, &[]) else { return };
    let child = cluster.spawn(&[]);
    cluster.context.await_file("begun");
    cluster.await_true("the others wait", || cluster.cwm(&["status"]).stdout.contains("3 queued"));
    let job = cluster.jobs()[0].clone();
    cluster.slurm("scancel", &[&format!("{job}_2")]);
    let known = cluster.slurm("squeue", &["--me", "--noheader", "--array", "--states=all", "--format", "%i"]);
    assert!(!known.contains(&format!("{job}_2")), "{known}");
    // While the others wait.
    std::thread::sleep(std::time::Duration::from_secs(12));
    cluster.context.write("go", "");
    let run = ended(child);
    let reasons: Vec<&str> = run.failed.values().map(String::as_str).collect();
    assert_eq!(reasons, [format!("its job {job}_2 was cancelled")], "{}", run.raw.stdout);
    assert_eq!((run.ran.len(), cluster.starts().len(), cluster.jobs().len()), (3, 3, 1), "{:?}", cluster.starts());
    let again = cluster.run(&[]);
    assert_eq!((again.raw.code, again.ran.len(), cluster.jobs().len()), (0, 1, 2), "{}", again.raw.stderr);
}

#[test]
fn a_time_limit_of_slurm_is_shown_as_one() {
    let yaml = r#"
cwm: 1
stages:
  slow: { stage: command, needs: { time: 1m }, with: { run: 'sleep 300; echo x > "$out"' } }
  deaf: { stage: command, needs: { time: 1m }, with: { run: 'trap "" TERM; for i in $(seq 300); do sleep 1; done; echo x > "$out"' } }
"#;
    let Some(cluster) = Cluster::start(yaml, QUICK, &[]) else { return };
    let run = cluster.run(&[]);
    for cell in ["slow", "deaf"] {
        let reason = &run.failed[cell];
        assert!(
            reason.contains("exceeded its time limit of Slurm") && reason.contains("it had 1 core, 1m"),
            "{reason}"
        );
    }
    let failed = &events(&run, "failed")[0];
    assert_eq!(failed["kind"], "time_limit");
    assert!(failed["hint"].as_str().is_some_and(|hint| hint.contains("`needs: { time: … }`")), "{failed}");
}

#[test]
fn jobs_that_cannot_start_are_reported_while_pending() {
    let yaml = r#"
cwm: 1
stages:
  huge: { stage: command, needs: { cpu: 64 }, with: { run: 'echo x > "$out"' } }
"#;
    let Some(cluster) = Cluster::start(yaml, QUICK, &[]) else { return };
    let child = cluster.spawn(&[]);
    // Slurm takes it, and says so in the queue only.
    cluster.await_true("it is in the queue", || cluster.cwm(&["status"]).stdout.contains("queued"));
    std::thread::sleep(std::time::Duration::from_secs(2));
    signal(&child, "-INT");
    let run = ended(child);
    assert_eq!(run.raw.code, 130, "{}", run.raw.stderr);
    let queued = events(&run, "queue");
    let reasons = queued.iter().filter_map(|event| event["reasons"].as_object());
    assert!(reasons.flat_map(|reasons| reasons.keys()).any(|reason| reason == "PartitionConfig"), "{queued:?}");
    assert!(warned(&run, "jobs continue, and the same command adopts them; `scancel "), "{}", run.raw.stdout);
    cluster.slurm("scancel", &["--me"]);
}

/// Five of which one runs at a time, until it may end.
pub const FIVE: &str = r#"
cwm: 1
stages:
  each:
    stage: command
    matrix: { n: [0, 1, 2, 3, 4] }
    needs: { cpu: 8 }
    with: { run: 'echo "each $n" >> "$HOME/ran"; while ! test -e "$HOME/go"; do sleep 0.2; done; echo "$n" > "$out"', n: $n }
"#;

/// A held task whose result another run makes meanwhile runs nothing.
#[test]
fn held_tasks_are_waited_for_and_run_nothing_that_was_made_elsewhere() {
    let Some(cluster) = Cluster::start(FIVE, QUICK, &[]) else { return };
    let child = cluster.spawn(&[]);
    cluster.await_true("one of them runs", || !cluster.starts().is_empty());
    let job = cluster.jobs()[0].clone();
    let held = [1, 3].map(|index| format!("{job}_{index}"));
    held.iter().for_each(|task| _ = cluster.slurm("scontrol", &["hold", task]));
    std::thread::sleep(std::time::Duration::from_secs(6));
    cluster.context.write("go", "");
    let made = cluster.cwm(&["run", "--executor", "local", "each[n=1]"]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    held.iter().for_each(|task| _ = cluster.slurm("scontrol", &["release", task]));
    let run = ended(child);
    assert_eq!((run.raw.code, cluster.starts().len()), (0, 5), "{}", run.raw.stdout);
    assert!(cluster.starts().values().all(|count| *count == 1), "{:?}", cluster.starts());
    // Held by root, it is held by an administrator.
    let held = |event: &serde_json::Value| ["JobHeldUser", "JobHeldAdmin"].map(|held| event["reasons"][held] == 2);
    assert!(events(&run, "queue").iter().any(|event| held(event).contains(&true)), "{}", run.raw.stdout);
}

#[test]
fn a_rejected_submission_fails_with_the_message_of_slurm() {
    let yaml = "cwm: 1\nstages:\n  a: { stage: command, with: { run: 'echo x > \"$out\"' } }\n";
    let Some(cluster) = Cluster::start(yaml, &format!("partition = \"nowhere\"\n{QUICK}"), &[]) else { return };
    let run = cluster.run(&[]);
    assert!(run.failed["a"].contains("Invalid partition name specified"), "{:?}", run.failed);
    // A script that fails before cwm begins is reported with its output.
    let lines = "lines = [\"--nice=5\"]\nsetup = [\"no_such_module load cuda || exit 9\"]\n";
    cluster.context.write("cwm.toml", &format!("executor = \"slurm\"\n[slurm]\n{lines}{QUICK}"));
    let run = cluster.run(&[]);
    assert!(
        run.failed["a"].contains("before the stage started") && run.failed["a"].contains("no_such_module"),
        "{:?}",
        run.failed
    );
    assert!(run.failed["a"].contains("`setup` ended its job") && run.failed["a"].contains("exit status 9"));
}

#[test]
fn a_node_that_is_drained_ends_nothing_and_delays_what_waits() {
    let yaml = r#"
cwm: 1
stages:
  a: { stage: command, with: { run: 'echo a >> "$HOME/ran"; touch "$HOME/begun"; while ! test -e "$HOME/go"; do sleep 0.2; done; echo x > "$out"' } }
  b: { stage: command, from: a, with: { run: 'echo b >> "$HOME/ran"; cp "$in" "$out"' } }
"#;
    let Some(cluster) = Cluster::start(yaml, QUICK, &[]) else { return };
    let child = cluster.spawn(&[]);
    cluster.context.await_file("begun");
    let node = cluster.slurm("sinfo", &["-h", "-o", "%n"]).trim().to_owned();
    let state = |state: &str| cluster.slurm("scontrol", &["update", &format!("NodeName={node}"), state, "Reason=test"]);
    state("State=DRAIN");
    cluster.context.write("go", "");
    cluster.await_true("the other one waits for a node", || cluster.cwm(&["status"]).stdout.contains("queued     b"));
    state("State=RESUME");
    ended(child).ran_just(&["a", "b"]);
    assert!(cluster.starts().values().all(|count| *count == 1), "{:?}", cluster.starts());
}

#[test]
fn a_job_that_is_requeued_is_waited_for() {
    let yaml = r#"
cwm: 1
stages:
  a: { stage: command, with: { run: 'echo a >> "$HOME/ran"; touch "$HOME/begun"; test $(wc -l < "$HOME/ran") = 2 || sleep 100; echo x > "$out"' } }
"#;
    let Some(cluster) = Cluster::start(yaml, QUICK, &[]) else { return };
    let child = cluster.spawn(&[]);
    cluster.context.await_file("begun");
    let job = cluster.jobs()[0].clone();
    cluster.slurm("scontrol", &["requeue", &job]);
    let run = ended(child);
    run.ran_just(&["a"]);
    assert_eq!((cluster.starts()["a"], cluster.batches().len()), (2, 1), "started twice, submitted once");
    assert_eq!(events(&run, "started").len(), 1);
}

#[test]
fn force_and_check_are_jobs_too() {
    let yaml =
        "cwm: 1\nstages:\n  a: { stage: command, with: { run: 'echo a >> \"$HOME/ran\"; echo x > \"$out\"' } }\n";
    let Some(cluster) = Cluster::start(yaml, QUICK, &[]) else { return };
    cluster.run(&[]).ran_just(&["a"]);
    cluster.run(&["--force", "a"]).ran_just(&["a"]);
    let check = cluster.run(&["--check", "a"]);
    assert_eq!(events(&check, "checked").len(), 1, "{}\n{}", check.raw.stdout, check.raw.stderr);
    assert_eq!((check.raw.code, cluster.starts()["a"], cluster.jobs().len()), (0, 3, 3));
}

#[test]
fn a_stage_configured_as_local_runs_here() {
    let yaml = "cwm: 1\nstages:\n  a: { stage: command, with: { run: 'echo x > \"$out\"' } }\n  b: { stage: command, from: a, with: { run: 'cat \"$in\" > \"$out\"' } }\n";
    let Some(cluster) = Cluster::start(yaml, &format!("here = [\"a\"]\n{QUICK}"), &[]) else { return };
    let run = cluster.run(&[]);
    run.ran_just(&["a", "b"]);
    let submitted = events(&run, "submitted");
    assert_eq!((submitted.len(), &submitted[0]["labels"]), (1, &serde_json::json!(["b"])));
    let local = cluster.run(&["--executor", "local", "--force", "b"]);
    local.ran_just(&["b"]);
    assert_eq!(cluster.jobs().len(), 1);
}

#[test]
fn a_detached_run_is_a_job_that_submits_the_others() {
    let Some(cluster) = Cluster::start(MATRIX, QUICK, &[]) else { return };
    cluster.context.edit(
        "pipeline.yaml",
        "echo first >>",
        "while ! test -e \"$HOME/go\"; do sleep 0.2; done; echo first >>",
    );
    let command = ["run", "--executor", "slurm", "--detach"];
    let detached = cluster.cwm(&command);
    assert_eq!(detached.code, 0, "{}", detached.stderr);
    assert!(detached.stdout.starts_with("job 1 runs it; it writes to "), "{}", detached.stdout);
    let again = cluster.cwm(&command);
    assert!(again.stdout.starts_with("job 1 is already a run of this pipeline"), "{}{}", again.stdout, again.stderr);
    // Other options may mean other work, such as other values.
    let other = cluster.cwm(&["run", "--executor", "slurm", "--detach", "--verbose"]);
    assert!(other.stdout.contains(" runs it; it writes to "), "{}{}", other.stdout, other.stderr);
    cluster.context.write("go", "");
    cluster.await_true("everything is done", || cluster.cwm(&["status"]).stdout.ends_with("9 cached\n"));
    cluster.await_true("the run ends", || cluster.slurm("squeue", &["--me", "-h"]).is_empty());
    assert!(cluster.starts().values().all(|count| *count == 1), "{:?}", cluster.starts());
    assert!(cluster.context.path("pipeline.lock").exists());
}
