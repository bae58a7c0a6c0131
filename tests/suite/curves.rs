//! Logs and curves as they are written: `cwm log --follow`, `cwm log --tensorboard`.

use std::process::Stdio;

use crate::context::{Context, finish};

/// A command that says a word, waits for a file, and says another.
const SLOW: &str = "
cwm: 1
vars: { end: 0 }
stages:
  slow:
    stage: command
    with: { go: GO, end: $end, run: 'echo first; echo x > \"$go.begun\"; until [ -e \"$go\" ]; do sleep 0.02; done; echo second; echo made > \"$out\"; exit $end' }
";

#[test]
fn a_log_is_followed_from_another_process_to_its_end() {
    let context = Context::new();
    context.write("pipeline.yaml", &SLOW.replace("GO", &context.path("go").display().to_string()));
    let spawn = |arguments: &[&str]| {
        context.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("cwm starts")
    };
    // One that comes before the run, and one in the middle of it.
    let early = spawn(&["log", "-f", "slow"]);
    let run = spawn(&["run"]);
    context.await_file("go.begun");
    let late = spawn(&["log", "--follow", "slow"]);
    context.write("go", "");
    let ended = |child: std::process::Child| finish(child.wait_with_output().expect("an end"));
    assert_eq!(ended(run).code, 0);
    for followed in [early, late] {
        let followed = ended(followed);
        assert_eq!((followed.code, followed.stdout.as_str()), (0, "first\nsecond\n"), "{}", followed.stderr);
    }
    let after = context.cwm(&["log", "-f", "slow"]);
    assert_eq!((after.code, after.stdout.as_str()), (0, "first\nsecond\n"));
}

#[test]
fn following_a_run_that_fails_ends_with_it() {
    let context = Context::new();
    context.write("pipeline.yaml", &SLOW.replace("GO", &context.path("go").display().to_string()));
    let set = ["--set", "end=3"];
    let run = context.command(&[&["run"], &set[..]].concat()).stderr(Stdio::null()).spawn().expect("cwm starts");
    context.await_file("go.begun");
    let follow = context.command(&[&["log", "slow", "-f"], &set[..]].concat()).stdout(Stdio::piped()).spawn();
    context.write("go", "");
    let followed = finish(follow.expect("cwm starts").wait_with_output().expect("an end"));
    assert_eq!(finish(run.wait_with_output().expect("an end")).code, 1);
    assert_eq!(followed.code, 1, "{}", followed.stderr);
    assert!(followed.stdout.starts_with("first\nsecond\n"), "{}", followed.stdout);
    // And once more, long after.
    let after = context.cwm(&[&["log", "slow", "-f"], &set[..]].concat());
    assert_eq!((after.code, &after.stdout), (1, &followed.stdout), "{}", after.stderr);
    assert!(after.stderr.contains("slow has ended without a result: it failed"), "{}", after.stderr);
}

#[test]
fn curves_are_not_written_into_what_is_no_folder() {
    let context = Context::with(SLOW);
    let refused = context.cwm(&["log", "--tensorboard", "/dev/null"]);
    let expected = "error: /dev/null is not a folder, and curves are written into one\n\
                    hint: name a folder, which is created if absent\n";
    assert_eq!((refused.code, refused.stderr.as_str()), (2, expected));
}

#[test]
fn dependents_of_a_failure_are_not_waited_for_and_all_logs_are_listed() {
    let context = Context::with(
        "cwm: 1\nstages:\n  good: { stage: command, with: { run: 'echo well; echo > \"$out\"' } }\n  \
         bad: { stage: command, from: good, with: { run: 'echo ill; exit 3' } }\n  \
         after: { stage: command, from: bad, with: { run: 'cp \"$in\" \"$out\"' } }\n",
    );
    let none = context.cwm(&["log"]);
    assert_eq!((none.code, none.stdout.as_str()), (2, ""));
    assert!(none.stderr.contains("no stage of this pipeline has a log yet"), "{}", none.stderr);
    assert_eq!(context.cwm(&["run"]).code, 1);
    let listed = context.cwm(&["log"]);
    assert_eq!((listed.code, listed.stdout.as_str()), (0, "done     good\nfailed   bad\n"), "{}", listed.stderr);
    let followed = context.cwm(&["log", "-f", "after"]);
    assert_eq!((followed.code, followed.stdout.as_str()), (1, ""), "{}", followed.stderr);
    assert!(followed.stderr.contains("after has not run, because bad failed: `cwm log bad`"), "{}", followed.stderr);
    assert_eq!(context.cwm(&["log", "-f"]).code, 2);
    assert_eq!(context.cwm(&["log", "pipeline.yaml", "bad"]).stdout, context.cwm(&["log", "bad"]).stdout);
}

#[test]
fn what_has_no_curves_is_reported() {
    let context = Context::with("cwm: 1\nstages: { one: { stage: command, with: { run: 'echo > $out' } } }\n");
    let ran = context.cwm(&["log", "--tensorboard", "board"]);
    if cfg!(feature = "inspect") {
        assert_eq!((ran.code, ran.stderr.lines().next()), (2, Some("error: none of these stages has curves")));
    } else {
        assert!(ran.code == 2 && ran.stderr.contains("cannot read curves"), "{}", ran.stderr);
    }
    assert!(!context.path("board").exists());
}

/// A short training on a few games.
const TRAINING: &str = "
cwm: 1
vars: { lr: 0.001 }
stages:
  games: { stage: play, with: { policy: uniform, games: 12 } }
  corpus: { stage: parse, from: games, with: { ids: site } }
  tokens: { stage: tokenize, from: corpus }
  model:
    stage: train
    matrix: { size: [d16/l1] }
    from: { train: tokens.dataset, validation: tokens.dataset }
    with: { size: $size, steps: 6, batch_size: 2, curve_every: 2, validation_every: 3, lr: $lr }
";

#[test]
fn curves_of_a_training_are_shown_and_written_for_tensorboard() {
    if !cfg!(all(feature = "inspect", feature = "play", feature = "parse", feature = "tokenize", feature = "train")) {
        println!("skipped: built without the stages of a training");
        return;
    }
    let context = Context::with(TRAINING);
    assert_eq!(context.cwm(&["run", "tokens"]).code, 0);
    let mut follower =
        context.command(&["log", "--tensorboard", "live", "--follow"]).stdout(Stdio::null()).spawn().expect("cwm");
    let ran = context.cwm(&["run"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
    let log = context.cwm(&["log", "-f", "model"]).stdout;
    let steps: Vec<&str> = log.lines().filter(|line| line.starts_with("step ")).collect();
    assert_eq!(steps.len(), 5, "{log}");
    assert!(steps[0].starts_with("step 2  train/") && steps[4].starts_with("step 6  validation/"), "{log}");

    let reported = context.cwm(&["log", "--tensorboard", "board"]);
    assert_eq!((reported.code, reported.stdout.as_str()), (0, "board/model[size=d16_l1]\n"), "{}", reported.stderr);
    let folder = "board/model[size=d16_l1]";
    let before = context.inventory("board");
    let again = context.cwm(&["log", "--tensorboard", "board", "model"]);
    assert_eq!((again.code, again.stdout.as_str()), (0, ""), "{}", again.stderr);
    assert_eq!(context.inventory("board"), before, "nothing is new, so nothing is written");
    let metrics = context.read(&format!("{folder}/metrics.jsonl"));
    let grown = format!("{}/metrics.jsonl", folder.replace("board", "live"));
    context.await_file(&grown);
    while context.read(&grown).lines().count() < 5 {
        assert!(follower.try_wait().expect("its state").is_none(), "it follows until it is interrupted");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let live = context.read(&grown);
    let without_time = |text: &str| -> Vec<serde_json::Value> {
        let line = |line: &str| {
            let mut line: serde_json::Value = serde_json::from_str(line).expect("JSON");
            line.as_object_mut().expect("an object").remove("_timestamp").expect("a time");
            line
        };
        text.lines().map(line).collect()
    };
    assert_eq!(without_time(&metrics), without_time(&live));
    follower.kill().and_then(|()| follower.wait()).expect("it is stopped");
    crate::python::tensorboard(&context, folder, "model.curves");
    crate::python::tensorboard(&context, &folder.replace("board", "live"), "model.curves");

    // Another training under the same name takes its place.
    let set = ["--set", "lr=0.002"];
    assert_eq!(context.cwm(&[&["run"], &set[..]].concat()).code, 0);
    assert_eq!(context.cwm(&[&["log", "--tensorboard", "board"], &set[..]].concat()).code, 0);
    let now = context.read(&format!("{folder}/metrics.jsonl"));
    assert!(now != metrics && now.lines().count() == 5, "{now}");
    assert_eq!(context.inventory(folder).len(), 3);
}
