//! Trainings that are killed, stopped, lengthened and that diverge, through the binary.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::context::{Context, finish};

/// Whether this build has what the tests need; says so if not.
fn is_built() -> bool {
    let built = cfg!(all(feature = "play", feature = "parse", feature = "tokenize", feature = "train"));
    if !built {
        println!("skipped: built without the stages of a training");
    }
    built
}

/// A training on a few games, with `with` added to its parameters.
fn training(with: &str) -> String {
    format!(
        "
cwm: 1
stages:
  games: {{ stage: play, with: {{ policy: uniform, games: 12 }} }}
  corpus: {{ stage: parse, from: games, with: {{ ids: site }} }}
  tokens: {{ stage: tokenize, from: corpus }}
  model:
    stage: train
    from: {{ train: tokens.dataset, validation: tokens.dataset }}
    with: {{ size: d16/l1, batch_size: 2, curve_every: 2, validation_every: 30, validation_games: 2, {with} }}
"
    )
}

/// The lock file after a run that nobody disturbed.
fn undisturbed(yaml: &str) -> String {
    let context = Context::with(yaml);
    let run = context.run(&[]);
    assert_eq!(run.raw.code, 0, "{}", run.raw.stderr);
    context.read("pipeline.lock")
}

/// What lies in the folders that running stages keep.
fn kept(context: &Context) -> Vec<PathBuf> {
    let entries = |folder: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(folder).into_iter().flatten().map_while(Result::ok).map(|entry| entry.path()).collect()
    };
    entries(&context.path("artifacts/work")).iter().flat_map(|work| entries(&work.join("keep"))).collect()
}

/// Steps of the checkpoints that are kept.
fn checkpoints(context: &Context) -> Vec<u64> {
    let step = |path: PathBuf| {
        let name = path.file_name()?.to_str()?.strip_prefix("step-")?.strip_suffix(".safetensors")?.to_owned();
        name.parse().ok()
    };
    kept(context).into_iter().filter_map(step).collect()
}

fn is_writing(context: &Context) -> bool {
    kept(context).iter().any(|path| path.ends_with("writing.tmp"))
}

/// The process of the stage that `executor` runs.
fn stage_of(executor: &Child) -> Option<u32> {
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

fn signal(name: &str, pid: u32) {
    let sent = Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status();
    assert!(sent.expect("kill").success() || !Path::new(&format!("/proc/{pid}")).exists());
}

/// Waits until `reached`, or until the process ended; whether it was reached. A minute is more than it takes.
fn wait_until(child: &mut Child, reached: impl Fn() -> bool) -> bool {
    for _ in 0..60_000 {
        if reached() {
            return true;
        }
        if child.try_wait().expect("a status").is_some() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("nothing happened for a minute");
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
    let mut hit = 0;
    let mut in_writing = 0;
    for (round, step) in [1, 12, 23, 24, 41, 58, 70].into_iter().enumerate() {
        let mut executor = start(&context);
        // In every second round, in the middle of the writing of a checkpoint.
        let is_there = || checkpoints(&context).iter().any(|kept| *kept >= step);
        if wait_until(&mut executor, || is_there() && (round % 2 == 0 || is_writing(&context))) {
            match stage_of(&executor).filter(|_| round % 3 != 0) {
                Some(stage) => signal("KILL", stage),
                None => executor.kill().expect("a kill"),
            }
            hit += 1;
            in_writing += u32::from(is_writing(&context));
        }
        let _ = executor.wait_with_output();
    }
    println!("killed {hit} times, {in_writing} of them while a checkpoint was being written");
    assert!(hit > 0, "the training ended before it could be killed");
    let run = context.run(&[]);
    assert_eq!(run.raw.code, 0, "{}", run.raw.stderr);
    assert_eq!(context.read("pipeline.lock"), expected);
    let log = context.cwm(&["log", "model"]).stdout;
    assert!(log.contains("going on after step "), "{log}");
}

#[test]
fn a_warning_makes_it_keep_where_it_is_and_stop() {
    if !is_built() {
        return;
    }
    let yaml = training("steps: 100, checkpoint_every: 1000000");
    let expected = undisturbed(&yaml);
    for (name, to_stage) in [("INT", false), ("TERM", false), ("USR1", false), ("USR1", true)] {
        let context = Context::with(&yaml);
        context.run(&["tokens"]);
        let mut executor = start(&context);
        let is_training =
            || kept(&context).iter().any(|path| std::fs::metadata(path).is_ok_and(|file| file.len() > 500));
        assert!(wait_until(&mut executor, is_training), "{name}: it ended before it could be warned");
        let stage = stage_of(&executor).expect("a stage's process");
        signal(name, if to_stage { stage } else { executor.id() });
        let ran = finish(executor.wait_with_output().expect("an end"));
        assert_eq!(ran.code, if to_stage { 1 } else { 130 }, "{name}: {}", ran.stderr);
        let steps = checkpoints(&context);
        assert!(matches!(steps[..], [step] if step > 0 && step < 100), "{name}: {steps:?}");
        let run = context.run(&[]);
        assert_eq!(run.raw.code, 0, "{}", run.raw.stderr);
        assert_eq!(context.read("pipeline.lock"), expected, "{name}");
        let log = context.cwm(&["log", "model"]).stdout;
        assert!(log.contains(&format!("going on after step {} of 100", steps[0])), "{log}");
    }
}

#[test]
fn a_finished_training_keeps_no_state_of_its_optimiser() {
    if !is_built() {
        return;
    }
    let with_state = |context: &Context| -> Vec<PathBuf> {
        let files = context.inventory("artifacts").into_keys().filter(|path| path.is_file());
        let holds = |path: &PathBuf| {
            let bytes = std::fs::read(path).expect("a file");
            bytes.windows(9).any(|window| window == b"cwm.train")
        };
        files.filter(holds).collect()
    };
    let context = Context::with(&training("steps: 6, checkpoint_every: 1"));
    context.run(&["model"]).ran_just(&["games", "corpus", "tokens", "model"]);
    assert!(kept(&context).is_empty() && context.inventory("artifacts/work").is_empty());
    assert_eq!(with_state(&context), Vec::<PathBuf>::new());
    // How often checkpoints are made is no part of the key; whether the state is given out is.
    context.edit("pipeline.yaml", "checkpoint_every: 1", "checkpoint_every: 2");
    context.run(&["model"]).ran_just(&[]);
    context.edit("pipeline.yaml", "checkpoint_every: 2", "keep_state: true");
    context.run(&["model"]).ran_just(&["model"]);
    // As an output, and as nothing else; `trees/` shows what is in `objects/`.
    let found = with_state(&context);
    let objects = found.iter().filter(|path| path.starts_with(context.path("artifacts/objects"))).count();
    let shown = found.iter().filter(|path| path.starts_with(context.path("artifacts/trees"))).count();
    assert!(objects == 1 && objects + shown == found.len(), "{found:?}");
}

#[test]
fn a_longer_training_goes_on_from_a_shorter_one() {
    if !is_built() {
        return;
    }
    let yaml = training("horizon: 40, steps: $steps").replace("stages:", "vars: { steps: 40 }\nstages:");
    let longer = yaml.split_once("  model:").expect("the training").1;
    let shorter = longer.replace("$steps", "17, keep_state: true");
    let longer = longer.replace("validation: tokens.dataset", "validation: tokens.dataset, state: shorter.state");
    let context = Context::with(&format!("{yaml}  shorter:{shorter}  longer:{longer}"));
    context.run(&[]).ran_just(&["games", "corpus", "tokens", "model", "shorter", "longer"]);
    for output in ["checkpoint", "curves", "summary"] {
        let path = |stage: &str| context.cwm(&["path", &format!("{stage}.{output}")]).stdout;
        assert_eq!(path("longer"), path("model"), "{output}: one object");
        assert_ne!(path("shorter"), path("model"), "{output}");
    }
    let log = context.cwm(&["log", "longer"]).stdout;
    assert!(log.contains("going on from a training of 17 steps to 40"), "{log}");
    // Another learning rate is another training.
    context.edit(
        "pipeline.yaml",
        "state: shorter.state }\n    with: { size: d16/l1",
        "state: shorter.state }\n    with: { lr: 0.5, size: d16/l1",
    );
    let run = context.run(&[]);
    assert!(
        run.failed["longer"].contains("is of another training: `lr` is 0.001 there and 0.5 here"),
        "{:?}",
        run.failed
    );
}

#[test]
fn a_training_that_diverges_is_a_result_like_others() {
    if !is_built() || !cfg!(all(feature = "evaluate", feature = "bins", feature = "report")) {
        return;
    }
    let yaml = training("steps: 60, lr: 1.0e+38, warmup: 0");
    let context = Context::with(&format!(
        "{yaml}  evaluation: {{ stage: evaluate, from: {{ checkpoint: model, games: tokens.dataset }} }}
  bins: {{ stage: bins, from: {{ scores: [evaluation] }} }}
  report: {{ stage: report, from: {{ bins: bins, curves: model.curves }} }}
export: {{ report: report/ }}
"
    ));
    let run = context.run(&[]);
    assert_eq!(run.raw.code, 0, "{}", run.raw.stderr);
    assert!(run.raw.stdout.contains("diverged: it ended at step "), "{}", run.raw.stdout);
    let summary: serde_json::Value = serde_json::from_str(&context.output("model.summary")).expect("JSON");
    assert_eq!(summary["status"], "diverged");
    assert!(summary["training"]["steps"].as_u64().is_some_and(|steps| (20..60).contains(&steps)), "{summary}");
    assert!(context.output("model.curves").lines().count() >= 20, "each bad step is in the curves");
    assert!(context.read("report/index.html").contains("1 of 1 training diverged"), "the report tells of it");
}
