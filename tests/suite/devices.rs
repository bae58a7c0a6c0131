//! `device:`, `--device` and `CWM_DEVICE`, and what the record says of it.

use crate::context::Context;

fn training(more: &str) -> String {
    format!(
        "
cwm: 1
stages:
  games: {{ stage: play, with: {{ policy: uniform, games: 4 }} }}
  corpus: {{ stage: parse, from: games, with: {{ ids: site }} }}
  tokens: {{ stage: tokenize, from: corpus }}
  model:
    stage: train
    from: {{ train: tokens.dataset }}
    with: {{ size: d16/l1, batch_size: 2, steps: 1 }}
{more}
"
    )
}

#[test]
fn a_device_is_in_no_key_and_the_record_tells_it() {
    if !cfg!(all(feature = "play", feature = "parse", feature = "tokenize", feature = "train")) {
        return println!("skipped: built without the stages of a training");
    }
    let context = Context::with(&training(""));
    assert_eq!(context.run(&[]).raw.code, 0);
    let shown = context.cwm(&["show", "model"]);
    assert!(shown.stdout.contains("\n  device      cpu\n"), "{}", shown.stdout);
    // Elsewhere it would be the same result, so nothing runs.
    for (text, arguments) in [
        ("    device: cpu", &[][..]),
        ("    device: 'cuda:0'", &[]),
        ("", &["--device", "cpu"]),
        ("", &["--device", "cuda:5"]),
    ] {
        context.write("pipeline.yaml", &training(text));
        let run = context.run(arguments);
        assert!(run.raw.code == 0 && run.ran.is_empty(), "{text} {arguments:?}: {:?} {}", run.ran, run.raw.stderr);
    }
}

#[test]
fn a_gpu_that_is_not_there_fails_in_words_and_the_processor_goes_before_the_file() {
    if !cfg!(all(feature = "play", feature = "parse", feature = "tokenize", feature = "train")) {
        return println!("skipped: built without the stages of a training");
    }
    let context = Context::with(&training("    device: 'cuda:63'"));
    let run = context.run(&[]);
    assert_ne!(run.raw.code, 0);
    assert!(run.failed["model"].starts_with("cannot use cuda:63: "), "{:?}", run.failed);
    let wrong = context.cwm(&["run", "--device", "gpu"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("`gpu` is no device"), "{}", wrong.stderr);
    // A dry run says so beforehand, if this build knows of devices.
    if cfg!(feature = "workbench") {
        let dry = context.cwm(&["run", "--dry-run"]);
        assert!(
            dry.code == 1 && dry.stderr.contains("warning: model would fail: cannot use cuda:63: "),
            "{}",
            dry.stderr
        );
        assert!(dry.stderr.contains(" would fail 1"), "{}", dry.stderr);
    }
    let dry = context.cwm(&["run", "--dry-run", "--device", "cpu"]);
    assert!(dry.code == 0 && dry.stderr.contains(" would fail 0"), "{}", dry.stderr);
    let run = context.run(&["--device", "cpu"]);
    assert_eq!(run.raw.code, 0, "{}", run.raw.stderr);
}

#[test]
fn devices_are_listed_with_what_keeps_others_from_being_used() {
    if !cfg!(feature = "workbench") {
        return println!("skipped: built without the workbench");
    }
    let context = Context::with("cwm: 1\nstages: {}\n");
    let listed = context.cwm(&["devices"]);
    assert!(listed.code == 0 && listed.stdout.starts_with("cpu "), "{} {}", listed.stdout, listed.stderr);
    assert!(listed.stdout.lines().nth(1).is_some_and(|line| line.starts_with("cuda")), "{}", listed.stdout);
    let json: serde_json::Value = serde_json::from_str(&context.cwm(&["devices", "--json"]).stdout).unwrap();
    assert_eq!((&json[0]["name"], &json[0]["usable"]), (&"cpu".into(), &true.into()));
}
