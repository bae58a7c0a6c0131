//! The stage on a small model.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use cwm_chess::{Dataset, DatasetRow, DatasetWriter};
use cwm_contract::testing::{self, Outcome};
use cwm_contract::{Event, Value, Values};
use cwm_encoding::{LABELS, START};
use cwm_findings::Finding;
use cwm_inside::ModelTask;
use cwm_inside::autoencoder::Description;

use super::{inputs, trial};
use crate::{AutoencoderStage, state};

/// All bytes that a run wrote.
fn written(outcome: &Outcome) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for (name, path) in &outcome.outputs {
        if path.is_file() {
            files.insert(name.clone(), std::fs::read(path).unwrap());
            continue;
        }
        for entry in std::fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            files.insert(format!("{name}/{}", path.file_name().unwrap().display()), std::fs::read(&path).unwrap());
        }
    }
    files
}

fn findings(outcome: &Outcome) -> Vec<Finding> {
    cwm_findings::read(&outcome.outputs["findings"]).unwrap()
}

fn run(folder: &Path, more: &[(&str, Value)]) -> (tempfile::TempDir, Outcome) {
    let work = tempfile::tempdir().unwrap();
    let outcome = trial(work.path(), folder, more).run(&AutoencoderStage).unwrap();
    (work, outcome)
}

#[test]
fn games_of_other_rules_are_dropped_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    inputs(folder.path(), ModelTask::Moves, "gpt");
    let (_work, plain) = run(folder.path(), &[]);
    for name in ["train", "test"] {
        let path = folder.path().join(name);
        let dataset = Dataset::open(&path).unwrap();
        let mut writer = DatasetWriter::create(&folder.path().join("more"), 9).unwrap().labelled(true);
        // No move, so that a model that reads it finds it out.
        let (tokens, boards) = ([START, 0, 0], [1; 3 * LABELS]);
        writer.push(DatasetRow { index: 0, id: name, tokens: &tokens, result: "*", labels: Some(&boards) }).unwrap();
        for (index, game) in (1..).zip(dataset.iter()) {
            let game = game.unwrap();
            writer.push(DatasetRow { index, ..game.row() }).unwrap();
        }
        writer.finish().unwrap();
        std::fs::remove_dir_all(&path).unwrap();
        std::fs::rename(folder.path().join("more"), &path).unwrap();
    }
    let (_work, outcome) = run(folder.path(), &[]);
    let counted = |outcome: &Outcome| {
        Description::read(&outcome.outputs["autoencoder"]).unwrap().training["other_rules"].as_u64().unwrap()
    };
    assert_eq!((counted(&plain), counted(&outcome)), (0, 1));
    assert_eq!(findings(&outcome), findings(&plain));
    let logged: Vec<&str> = outcome
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Log(line) | Event::Note(line) => Some(line.as_str()),
            _ => None,
        })
        .collect();
    for input in ["train", "test"] {
        let line = format!("input `{input}`: 0 games too long for the model and 1 of other rules are dropped");
        assert!(logged.contains(&line.as_str()), "{logged:?}");
    }
    assert!(logged.contains(&"scratch files of 51200 bytes, 400 rows × 2 layers × 16 × 4"), "{logged:?}");
}

#[test]
fn it_writes_an_autoencoder_and_a_finding_for_each_layer_but_0() {
    let folder = tempfile::tempdir().unwrap();
    inputs(folder.path(), ModelTask::Moves, "gpt");
    let (_work, outcome) = run(folder.path(), &[]);
    let description = Description::read(&outcome.outputs["autoencoder"]).unwrap();
    assert_eq!((description.width, description.latents, &description.layers[..]), (16, 64, &[1, 2][..]));
    assert_eq!((&description.training["rows"], &description.training["updates"]), (&1500.into(), &15.into()));
    assert!(description.open(&outcome.outputs["autoencoder"], 2).unwrap().scale > 0.0);
    let findings = findings(&outcome);
    assert_eq!(findings.iter().map(|finding| finding.layer).collect::<Vec<_>>(), [Some(1), Some(2)]);
    for finding in &findings {
        let value = |name: &str| finding.get(name).unwrap();
        // A game that is cut after 60 words and one of 20 plies, without the first word of each.
        assert_eq!((finding.n, finding.model.as_str(), finding.named("ratio")), (59 + 41, "gpt d16/l2", "4"));
        assert!((3.0..6.0).contains(&value("ce")) && value("l0") > 0.0 && value("l0") <= 64.0, "{finding:?}");
        assert!((-1.0..=1.0).contains(&value("cosine")) && value("explained_variance") < 1.0 && value("dead") <= 1.0);
    }
    let curves = String::from_utf8(std::fs::read(&outcome.outputs["curves"]).unwrap()).unwrap();
    let last: serde_json::Value = serde_json::from_str(curves.lines().last().unwrap()).unwrap();
    assert_eq!((curves.lines().count(), &last["step"]), (15, &15.into()));
    assert!(last["loss_1"].as_f64().unwrap() > 0.0 && last["l0_2"].as_f64().is_some());
}

/// Copies each checkpoint that appears in `keep` to a folder of its own, until `done`.
fn copy_checkpoints(keep: &Path, copies: &Path, done: &AtomicBool) -> Vec<PathBuf> {
    let (state, mut found, mut last) = (state::path(keep), Vec::new(), Vec::new());
    while !done.load(Ordering::SeqCst) {
        // It is replaced in one step, so what is read is whole.
        if let Some(bytes) = std::fs::read(&state).ok().filter(|bytes| *bytes != last) {
            let work = copies.join(found.len().to_string());
            std::fs::create_dir_all(work.join("checkpoints")).unwrap();
            std::fs::write(state::path(&work.join("checkpoints")), &bytes).unwrap();
            found.push(work);
            last = bytes;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    found
}

#[test]
fn the_same_comes_of_any_number_of_cores_and_after_a_kill() {
    let (folder, copies) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    inputs(folder.path(), ModelTask::Moves, "gpt");
    let more = [("batch_size", Value::Int(10)), ("checkpoint_every", Value::Int(7))];
    let (work, done) = (tempfile::tempdir().unwrap(), AtomicBool::new(false));
    let (outcome, killed) = std::thread::scope(|scope| {
        let copier = scope.spawn(|| copy_checkpoints(&work.path().join("checkpoints"), copies.path(), &done));
        let outcome = trial(work.path(), folder.path(), &more).run(&AutoencoderStage);
        done.store(true, Ordering::SeqCst);
        (outcome.unwrap(), copier.join().unwrap())
    });
    let expected = written(&outcome);
    let other = [more[0].clone(), ("checkpoint_every", Value::Int(1000))];
    let alone = tempfile::tempdir().unwrap();
    let alone = trial(alone.path(), folder.path(), &other).cores(1).run(&AutoencoderStage).unwrap();
    assert_eq!(written(&alone), expected, "one core");
    let mut within = 0;
    for work in &killed {
        let resumed = trial(work, folder.path(), &other).run(&AutoencoderStage).unwrap();
        let updates = resumed.events.iter().find_map(|event| match event {
            Event::Log(text) => {
                text.strip_prefix("resuming after update ")?.strip_suffix(" of 150")?.parse::<u64>().ok()
            }
            _ => None,
        });
        within += u64::from(updates.unwrap() < 150);
        assert_eq!(written(&resumed), expected, "killed after update {updates:?}");
    }
    assert!(within > 0, "no checkpoint within the training was seen");
}

#[test]
fn a_damaged_checkpoint_is_not_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    inputs(folder.path(), ModelTask::Moves, "gpt");
    let (work, undisturbed) = run(folder.path(), &[]);
    let expected = written(&undisturbed);
    let path = state::path(&work.path().join("checkpoints"));
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let again = trial(work.path(), folder.path(), &[]).run(&AutoencoderStage).unwrap();
    assert!(again.events.iter().any(|event| matches!(event, Event::Log(text) if text.contains("is damaged"))));
    assert_eq!(written(&again), expected);
}

#[test]
fn so_much_sparsity_leaves_next_to_no_latent() {
    let folder = tempfile::tempdir().unwrap();
    inputs(folder.path(), ModelTask::Moves, "gpt");
    let more = [
        ("sparsity", Value::Float(1e6)),
        ("beta2", Value::Float(0.5)),
        ("lr", Value::Float(0.1)),
        ("tokens", Value::Int(40_000)),
        ("layers", Value::List(vec![Value::Int(1)])),
        ("dead_after", Value::Int(2000)),
    ];
    let work = tempfile::tempdir().unwrap();
    let outcome = trial(work.path(), folder.path(), &more).run(&AutoencoderStage).unwrap();
    let finding = findings(&outcome).remove(0);
    let value = |name: &str| finding.get(name).unwrap();
    // Of 64; rows of games that it was not trained on may still reach one.
    assert!(value("l0") < 0.5 && value("dead") > 0.9, "{finding:?}");
}

#[test]
fn a_state_model_has_the_loss_of_the_benchmark() {
    let folder = tempfile::tempdir().unwrap();
    inputs(folder.path(), ModelTask::State, "transformer");
    let (_work, outcome) = run(folder.path(), &[("keep_begin", Value::Bool(false))]);
    for finding in findings(&outcome) {
        // 75 labels of 13 and fewer classes, of a model that knows none.
        let ce = finding.get("ce").unwrap();
        assert!((1.5..4.0).contains(&ce) && finding.model == "transformer d16/l2", "{finding:?}");
    }
}

#[test]
fn the_probe_is_the_same_twice() {
    let probe = || {
        let folder = tempfile::tempdir().unwrap();
        testing::probe(&AutoencoderStage, Values::new(), folder.path()).unwrap().unwrap()
    };
    let found = probe();
    assert!(!found.keys().any(|name| name.ends_with("refused")), "{:?}", found.keys());
    assert_eq!(found, probe());
}
