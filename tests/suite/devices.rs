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
fn a_device_is_in_no_key_and_in_the_record() {
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
fn a_missing_gpu_is_an_error_and_device_cpu_overrides_the_pipeline() {
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
    if cfg!(feature = "model-tools") {
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
    if !cfg!(feature = "model-tools") {
        return println!("skipped: built without model-tools");
    }
    let context = Context::with("cwm: 1\nstages: {}\n");
    let listed = context.cwm(&["model", "devices"]);
    assert!(listed.code == 0 && listed.stdout.starts_with("cpu "), "{} {}", listed.stdout, listed.stderr);
    assert!(listed.stdout.lines().nth(1).is_some_and(|line| line.starts_with("cuda")), "{}", listed.stdout);
    let json: serde_json::Value = serde_json::from_str(&context.cwm(&["model", "devices", "--json"]).stdout).unwrap();
    assert_eq!((&json[0]["name"], &json[0]["usable"]), (&"cpu".into(), &true.into()));
}

#[test]
fn on_a_machine_with_several_gpus_each_training_has_one_of_its_own() {
    // Devices are only names here: who has one holds a folder of its name, and no two can.
    let context = Context::with(
        r#"
cwm: 1
stages:
  train:
    stage: command
    matrix: { seed: [0, 1, 2, 3, 4, 5] }
    needs: { cpu: 1, gpu: 1 }
    with:
      seed: $seed
      run: |
        mkdir "$HOME/busy-$CUDA_VISIBLE_DEVICES"
        touch "$HOME/seen-$CUDA_VISIBLE_DEVICES"
        until [ $(ls -d "$HOME"/seen-* | wc -l) = 3 ]; do sleep 0.05; done
        echo "$CUDA_VISIBLE_DEVICES" > "$out"
        rmdir "$HOME/busy-$CUDA_VISIBLE_DEVICES"
  halves:
    stage: command
    matrix: { seed: [0, 1] }
    from: train
    needs: { cpu: 1, gpu: 0.5 }
    with: { seed: $seed, run: 'echo "$CUDA_VISIBLE_DEVICES" > "$out"; touch "$HOME/half-$seed"; until test -e "$HOME/half-0" && test -e "$HOME/half-1"; do sleep 0.05; done' }
  none: { stage: command, with: { run: 'echo "<$CUDA_VISIBLE_DEVICES>" > "$out"' } }
"#,
    );
    let mut command = context.command(&["run", "--jobs", "6"]);
    command.env("CUDA_VISIBLE_DEVICES", "1,3,GPU-ab").env("HOME", context.path("."));
    let ran = crate::context::finish(command.output().expect("cwm starts"));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let mut had: Vec<String> = (0..6).map(|seed| context.output(&format!("train[seed={seed}]"))).collect();
    had.sort();
    had.dedup();
    assert_eq!(had, ["1\n", "3\n", "GPU-ab\n"]);
    // Parts of one are packed onto the same.
    assert_eq!(context.output("halves[seed=0]"), context.output("halves[seed=1]"));
    assert_eq!(context.output("none"), "<>\n");
}
