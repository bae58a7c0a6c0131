//! Trainings that are interrupted, lengthened and that diverge, through the binary.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::context::{Context, Run, finish};

pub mod interruption;

/// Returns true if this build has the stages that the tests need; prints that they are skipped if not.
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

/// Returns the files in the folders `keep` of running stages.
fn kept(context: &Context) -> Vec<PathBuf> {
    let entries = |folder: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(folder).into_iter().flatten().map_while(Result::ok).map(|entry| entry.path()).collect()
    };
    entries(&context.path("artifacts/work")).iter().flat_map(|work| entries(&work.join("checkpoints"))).collect()
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
fn a_limit_on_the_size_of_files_is_reported() {
    if !is_built() {
        return;
    }
    // A checkpoint of this model has 5 MB, and the shell counts in 512 or 1,024 bytes.
    let context = Context::with(&training("steps: 6, checkpoint_every: 2"));
    context.run(&["tokens"]);
    let plain = context.command(&["run", "model", "--json"]);
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -f 4000 && exec \"$0\" \"$@\""]).arg(plain.get_program()).args(plain.get_args());
    limited.current_dir(context.path("")).stdin(Stdio::null());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    let run = Run::read(finish(limited.output().expect("a shell")));
    assert!(run.failed["model"].contains("File too large"), "{:?}", run.failed);
    let left = kept(&context);
    assert!(left.iter().all(|path| !path.ends_with("writing.tmp")), "what could not be written is gone: {left:?}");
    context.run(&["model"]).ran_just(&["model"]);
}

#[test]
fn a_longer_training_continues_a_shorter_one() {
    if !is_built() {
        return;
    }
    let yaml = training("warmup: 10, horizon: 40, steps: $steps").replace("stages:", "vars: { steps: 40 }\nstages:");
    let longer = yaml.split_once("  model:").expect("the training").1;
    let shorter = longer.replace("$steps", "17, keep_state: true");
    let longer = longer.replace("validation: tokens.dataset", "validation: tokens.dataset, state: shorter.state");
    let context = Context::with(&format!("{yaml}  shorter:{shorter}  longer:{longer}"));
    context.run(&[]).ran_just(&["games", "corpus", "tokens", "model", "shorter", "longer"]);
    for output in ["checkpoint", "curves", "summary"] {
        let path = |stage: &str| context.cwm(&["show", "--path", &format!("{stage}.{output}")]).stdout;
        assert_eq!(path("longer"), path("model"), "{output}: one object");
        assert_ne!(path("shorter"), path("model"), "{output}");
    }
    let log = context.cwm(&["log", "longer"]).stdout;
    assert!(log.contains("continuing a training of 17 steps to 40"), "{log}");
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
