//! Trainings that are killed and stopped at any moment.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::process::{Pid, Signal, kill_process};

use super::{is_built, kept, training};
use crate::context::{Context, Ran, finish};

/// More steps than any test waits for.
const ENDLESS: u64 = 1_000_000;

/// The lock file after a run that nobody disturbed.
fn undisturbed(yaml: &str) -> String {
    let context = Context::with(yaml);
    let run = context.run(&[]);
    assert_eq!(run.raw.code, 0, "{}", run.raw.stderr);
    context.read("pipeline.lock")
}

/// Steps of the checkpoints that are kept.
pub fn checkpoints(context: &Context) -> Vec<u64> {
    let step = |path: PathBuf| {
        let name = path.file_name()?.to_str()?.strip_prefix("step-")?.strip_suffix(".safetensors")?.to_owned();
        name.parse().ok()
    };
    kept(context).into_iter().filter_map(step).collect()
}

/// Returns true if a checkpoint is being written: some of it is there, and not yet as much as of those that are whole.
fn is_writing(context: &Context) -> bool {
    let size = |path: &PathBuf| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    let is_whole = |path: &&PathBuf| path.extension().is_some_and(|extension| extension == "safetensors");
    let kept = kept(context);
    let whole = kept.iter().filter(is_whole).map(size).min().unwrap_or(0);
    kept.iter().any(|path| path.ends_with("writing.tmp") && (1..whole).contains(&size(path)))
}

/// The process of the stage that `executor` runs.
pub fn stage_of(executor: &Child) -> Option<u32> {
    let parent = format!(" {} ", executor.id());
    let processes = std::fs::read_dir("/proc").ok()?.map_while(Result::ok);
    let mut numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers.find(|pid| {
        // The parent's number follows the state, which follows the name in parentheses.
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit(')').next().is_some_and(|rest| rest.get(2..).is_some_and(|rest| rest.starts_with(&parent)))
    })
}

fn start(context: &Context) -> Child {
    let mut command = context.command(&["run", "model", "--json"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("cwm starts")
}

/// Sends a signal; to nobody, if that process is over.
pub fn send(signal: Signal, pid: u32) {
    let pid = Pid::from_raw(pid.try_into().expect("a process's number")).expect("not 0");
    match kill_process(pid, signal) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => {}
        Err(error) => panic!("{signal:?}: {error}"),
    }
}

/// Waits until `reached`, or until the process ended; whether it was reached. A minute is more than it takes on the processor.
fn wait_until(child: &mut Child, reached: impl Fn() -> bool) -> bool {
    wait_minutes(1, child, reached)
}

/// The same, for so many minutes.
pub fn wait_minutes(minutes: u32, child: &mut Child, reached: impl Fn() -> bool) -> bool {
    for _ in 0..60_000 * minutes {
        if reached() {
            return true;
        }
        if child.try_wait().expect("a status").is_some() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("nothing happened for {minutes} min");
}

/// Trains until there are `lines` more lines of curves, then sends a signal to the executor or to the stage itself.
fn train_and_warn(context: &Context, lines: usize, warning: Signal, to_stage: bool) -> Ran {
    let count = || curves(context).lines().count();
    let before = count();
    let mut executor = start(context);
    assert!(wait_until(&mut executor, || count() >= before + lines), "it ended before it could be warned");
    let stage = stage_of(&executor).expect("a stage's process");
    send(warning, if to_stage { stage } else { executor.id() });
    finish(executor.wait_with_output().expect("an end"))
}

/// The curves of the training that is kept.
fn curves(context: &Context) -> String {
    let path = kept(context).into_iter().find(|path| path.ends_with("curves.jsonl"));
    path.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default()
}

/// The arrays of a checkpoint after that step, and the lines of these curves up to there.
fn state_at(step: u64, checkpoint: &Path, curves: &str) -> (Vec<u8>, Vec<String>) {
    let bytes = std::fs::read(checkpoint).expect("a checkpoint");
    let header = u64::from_le_bytes(bytes[..8].try_into().expect("8 bytes")) as usize;
    let is_before = |line: &&str| {
        let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
        // Whether the validation at that very step is there yet depends on when it was stopped.
        let at = line["step"].as_u64().expect("a step");
        at < step || (at == step && line["kind"] == "train")
    };
    (bytes[8 + header..].to_vec(), curves.lines().filter(is_before).map(str::to_owned).collect())
}

/// Kills the stage in the middle of the writing of a checkpoint: it is halted when it seems to be there, looked at at rest,
/// and let go on if it was not.
fn kill_while_writing(context: &Context) {
    let mut executor = start(context);
    assert!(wait_until(&mut executor, || !checkpoints(context).is_empty()), "it ended without a checkpoint");
    let stage = stage_of(&executor).expect("a stage's process");
    loop {
        assert!(executor.try_wait().expect("a status").is_none(), "it ended and was never seen to write");
        if !is_writing(context) {
            std::thread::yield_now();
            continue;
        }
        send(Signal::STOP, stage);
        std::thread::sleep(Duration::from_millis(5));
        if is_writing(context) {
            break;
        }
        send(Signal::CONT, stage);
    }
    send(Signal::KILL, stage);
    let _ = executor.wait_with_output();
    assert!(is_writing(context), "what was being written lies there unfinished");
}

/// Five steps below `end`, in order, from a seed that is printed; `CWM_TEST_SEED` gives it again.
fn random_steps(end: u64) -> Vec<u64> {
    let given = std::env::var("CWM_TEST_SEED").ok().map(|seed| seed.parse().expect("CWM_TEST_SEED is a number"));
    let clock = || SystemTime::now().duration_since(UNIX_EPOCH).expect("a time").subsec_nanos().into();
    let seed: u64 = given.unwrap_or_else(clock);
    println!("CWM_TEST_SEED={seed}");
    let draw = |index: u64| blake3::hash(&[seed, index].map(u64::to_le_bytes).concat()).as_bytes()[0];
    let mut steps: Vec<u64> = (0..5).map(|index| u64::from(draw(index)) % end).collect();
    steps.sort_unstable();
    steps
}

#[test]
fn a_training_killed_at_any_step_ends_with_the_same_bytes() {
    if !is_built() {
        return;
    }
    let yaml = training("steps: 90, checkpoint_every: 2");
    let expected = undisturbed(&yaml);
    let context = Context::with(&yaml);
    context.run(&["tokens"]);
    kill_while_writing(&context);
    for (round, step) in random_steps(80).into_iter().enumerate() {
        let mut executor = start(&context);
        if wait_until(&mut executor, || checkpoints(&context).iter().any(|kept| *kept >= step)) {
            match stage_of(&executor).filter(|_| round % 2 == 0) {
                Some(stage) => send(Signal::KILL, stage),
                None => executor.kill().expect("a kill"),
            }
        }
        let _ = executor.wait_with_output();
    }
    let run = context.run(&[]);
    assert_eq!(run.raw.code, 0, "{}", run.raw.stderr);
    assert_eq!(context.read("pipeline.lock"), expected);
    let log = context.cwm(&["log", "model"]).stdout;
    assert!(log.contains("resuming after step "), "{log}");
    what_went_on_is_no_measure(&context);
}

/// After a training that was killed and went on: how long its last attempt took says nothing of others.
fn what_went_on_is_no_measure(context: &Context) {
    let reported = |arguments: &[&str], name: &str| -> serde_json::Value {
        let ran = context.cwm(arguments);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let events = ran.stdout.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
        let mut of_model = events.filter(|event| event["event"] == name && event["label"] == "model");
        of_model.next().unwrap_or_else(|| panic!("no `{name}` of the training: {}", ran.stdout))
    };
    context.edit("pipeline.yaml", "steps: 90", "steps: 45");
    assert!(reported(&["run", "--json", "--dry-run"], "would_run")["estimate"].is_null());
    let seconds = reported(&["run", "--json"], "finished")["seconds"].as_f64().expect("seconds");
    context.edit("pipeline.yaml", "steps: 45", "steps: 135");
    let estimate = reported(&["run", "--json", "--dry-run"], "would_run")["estimate"].clone();
    assert_eq!(estimate["runs"], 1, "{estimate}");
    assert!((estimate["seconds"].as_f64().expect("seconds") - 3.0 * seconds).abs() < 1e-9, "{estimate} {seconds}");
}

#[test]
fn a_warning_signal_writes_a_checkpoint_and_stops() {
    if !is_built() {
        return;
    }
    let yaml = training(&format!("steps: {ENDLESS}, checkpoint_every: {ENDLESS}"));
    for (warning, to_stage) in
        [(Signal::INT, false), (Signal::TERM, false), (Signal::USR1, false), (Signal::USR1, true)]
    {
        let context = Context::with(&yaml);
        context.run(&["tokens"]);
        let ran = train_and_warn(&context, 5, warning, to_stage);
        assert_eq!(ran.code, if to_stage { 1 } else { 130 }, "{warning:?}: {}", ran.stderr);
        let first = checkpoints(&context);
        assert!(matches!(first[..], [step] if step > 0 && step < ENDLESS), "{warning:?}: {first:?}");
        // Gone on with and warned again, it is where a training of so many steps is that nobody disturbed.
        train_and_warn(&context, 3, Signal::INT, false);
        let step = checkpoints(&context).into_iter().max().expect("a checkpoint");
        assert!(step > first[0], "{warning:?}: {step} {first:?}");
        let log = context.cwm(&["log", "model"]).stdout;
        assert!(log.contains(&format!("resuming after step {} of {ENDLESS}", first[0])), "{log}");
        let name = format!("step-{step:012}.safetensors");
        let path = kept(&context).into_iter().find(|path| path.ends_with(&name)).expect("the checkpoint");
        let found = state_at(step, &path, &curves(&context));
        context.write("pipeline.yaml", &training(&format!("steps: {step}, horizon: {ENDLESS}, keep_state: true")));
        context.run(&["model"]).ran_just(&["model"]);
        let state = PathBuf::from(context.cwm(&["show", "--path", "model.state"]).stdout.trim());
        let reported = std::fs::read_to_string(state.join("curves.jsonl")).expect("curves");
        let expected = state_at(step, &state.join("state.safetensors"), &reported);
        assert!(found.0 == expected.0, "{warning:?}: other weights at step {step}");
        assert_eq!(found.1, expected.1, "{warning:?}");
    }
}

#[test]
fn a_checkpoint_of_another_device_is_rejected_and_not_lost() {
    if !is_built() {
        return;
    }
    let context = Context::with(&training(&format!("steps: {ENDLESS}")));
    context.run(&["tokens"]);
    train_and_warn(&context, 5, Signal::INT, false);
    let (steps, lines) = (checkpoints(&context), curves(&context));
    // As if it had been made on a GPU.
    let stamp = kept(&context).into_iter().find(|path| path.ends_with(".stamp")).expect("a stamp");
    let text = std::fs::read_to_string(&stamp).expect("a stamp");
    assert!(text.contains("\"cpu\""), "{text}");
    std::fs::write(&stamp, text.replace("\"cpu\"", "\"cuda\"")).expect("a written stamp");
    for arguments in [&["run", "model"][..], &["run", "model", "--device", "cpu"]] {
        let refused = context.cwm(arguments);
        assert_eq!(refused.code, 1, "{}", refused.stderr);
        let said = format!("{}{}", refused.stdout, refused.stderr);
        let folder = stamp.parent().expect("its folder");
        for words in ["on a GPU (cuda) kept curves.jsonl, step-", "--device cuda:0", &format!("{}", folder.display())] {
            assert!(said.contains(words), "{words}: {said}");
        }
        assert_eq!((checkpoints(&context), curves(&context)), (steps.clone(), lines.clone()));
    }
    std::fs::write(&stamp, text).expect("a written stamp");
    train_and_warn(&context, 3, Signal::INT, false);
    let log = context.cwm(&["log", "model"]).stdout;
    assert!(log.contains(&format!("resuming after step {} of {ENDLESS}", steps[0])), "{log}");
}
