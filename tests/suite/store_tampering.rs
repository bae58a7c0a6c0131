//! Stages that modify objects in the store, and the stages that read these objects.

use crate::context::Context;

/// The error of a stage whose input was modified after this run had written it.
const GONE: &str = "are gone from the store, or were changed there, although this run has just computed them";

/// A stage modifies an object of the store that another stage reads later.
#[test]
fn input_modified_before_its_reader_starts_fails_the_reader_and_is_rebuilt_by_the_next_run() {
    let context = Context::with("cwm: 1\nstages: {}\n");
    let objects = context.path("artifacts/objects");
    let spoil = format!(
        "for f in {}/*/*; do if grep -q victim \"$f\"; then chmod u+w \"$f\"; echo spoilt > \"$f\"; fi; done; echo 1 > \"$out\"",
        objects.display()
    );
    let pipeline = r#"
cwm: 1
stages:
  victim: { stage: command, with: { run: 'echo victim > "$out"' } }
  first: { stage: command, from: victim, with: { run: 'wc -c < "$in" > "$out"' } }
  spoiler: { stage: command, from: { after: first }, with: { run: 'SPOIL' } }
  reader: { stage: command, from: { victim: victim, spoiler: spoiler }, with: { run: 'cat "$in_victim" "$in_spoiler" | tr v V > "$out"' } }
"#;
    context.write("pipeline.yaml", &pipeline.replace("SPOIL", &spoil.replace('\'', "''")));
    let run = context.run(&[]);
    assert!(run.warns_of("quarantine"), "{}", run.raw.stdout);
    assert!(run.raw.code == 1 && run.failed["reader"].contains(GONE), "{}", run.raw.stdout);
    assert!(run.failed["reader"].starts_with("files of its input from victim"), "{}", run.raw.stdout);
    context.run(&[]).ran_just(&["victim", "reader"]);
    assert_eq!(context.output("reader"), "Victim\n1\n");
    context.run(&[]).ran_just(&[]);
}

/// A stage modifies an object while another one reads it: the reader fails, and the next run rebuilds the object.
#[test]
fn input_modified_while_its_reader_runs_fails_the_reader_and_is_rebuilt_by_the_next_run() {
    for (spoil, read) in [
        ("chmod u+w \"$f\"; echo spoilt > \"$f\"", "tr v V < \"$in\" > \"$out\""),
        ("rm -f \"$f\"", "grep -q victim \"$in\" || exit 3; tr v V < \"$in\" > \"$out\""),
    ] {
        let context = Context::with("cwm: 1\nstages: {}\n");
        let here = context.path(".").canonicalize().expect("a folder").display().to_string();
        let text = r#"
cwm: 1
stages:
  victim: { stage: command, with: { run: 'echo victim > "$out"' } }
  reader:
    stage: command
    from: victim
    with:
      run: |
        touch HERE/began; until test -e HERE/spoilt; do sleep 0.05; done
        READ
  spoiler:
    stage: command
    with:
      run: |
        until test -e HERE/began; do sleep 0.05; done
        for f in HERE/artifacts/objects/*/*; do if grep -qs victim "$f"; then SPOIL; fi; done
        touch HERE/spoilt; echo 1 > "$out"
"#;
        context.write("pipeline.yaml", &text.replace("READ", read).replace("SPOIL", spoil).replace("HERE", &here));
        let run = context.run(&["-j2"]);
        assert_eq!(run.failed.keys().collect::<Vec<_>>(), ["reader"], "{}", run.raw.stdout);
        let healed = context.run(&["-j2"]);
        healed.ran_just(&["victim", "reader"]);
        assert_eq!(context.output("reader"), "Victim\n");
        assert_eq!(context.cwm(&["store", "verify"]).code, 0);
    }
}

/// A change whose times were set back is found by the stage that read the file: nothing else may read it then.
#[test]
fn input_modified_by_its_reader_is_quarantined_whatever_its_modification_time() {
    const SPOIL: &str = r#"f=$(readlink -f "$in"); t=$(stat -c %y "$f"); chmod u+w "$f"; tr 1 2 < "$f" > x; cat x > "$f"
        touch -d "$t" "$f"; chmod 444 "$f"; "#;
    let pipeline = r#"
cwm: 1
stages:
  a: { stage: command, with: { run: 'seq 10 > "$out"' } }
  spoiler:
    stage: command
    from: a
    with:
      run: |
        SPOILecho 1 > "$out"
  later: { stage: command, with: { run: 'sleep 0.5; echo 1 > "$out"' } }
  reader: { stage: command, from: { a: a, later: later }, with: { run: 'cat "$in_a" > "$out"' } }
"#;
    let context = Context::with(&pipeline.replace("SPOIL", SPOIL));
    let run = context.run(&["-j2"]);
    assert!(run.failed["spoiler"].contains("its input `in` was changed in the store"), "{}", run.raw.stdout);
    assert!(run.failed["reader"].contains(GONE), "{}", run.raw.stdout);
    context.write("pipeline.yaml", &pipeline.replace("SPOIL", ""));
    context.run(&["-j2"]).ran_just(&["a", "spoiler", "reader"]);
    assert_eq!(context.output("reader"), (1..=10).map(|n| format!("{n}\n")).collect::<String>());
    assert_eq!(context.cwm(&["store", "verify"]).code, 0);
}

/// Also where it ends with a failure, or in the middle.
#[test]
fn input_modified_by_its_reader_is_quarantined_although_the_reader_fails() {
    for end in ["exit 3", "sleep 20"] {
        let pipeline = r#"
cwm: 1
stages:
  source: { stage: command, with: { run: 'echo good > "$out"' } }
  spoiler:
    stage: command
    from: source
    limits: { time: 1s }
    with:
      run: |
        SPOIL
  later: { stage: command, with: { run: 'sleep 2.5; echo 1 > "$out"' } }
  reader: { stage: command, from: { source: source, later: later }, with: { run: 'cat "$in_source" > "$out"' } }
"#;
        let spoil = format!(
            "f=$(readlink -f \"$in\"); touch -r \"$f\" q; chmod u+w \"$f\"; echo evil > \"$f\"; touch -r q \"$f\"; chmod u-w \"$f\"; {end}"
        );
        let context = Context::with(&pipeline.replace("SPOIL", &spoil));
        let run = context.run(&["-j2"]);
        assert!(run.failed.contains_key("spoiler") && run.failed["reader"].contains(GONE), "{}", run.raw.stdout);
        context.write("pipeline.yaml", &pipeline.replace("SPOIL", "echo 1 > \"$out\""));
        context.run(&["-j2"]).ran_just(&["source", "spoiler", "reader"]);
        assert_eq!(context.output("reader"), "good\n", "{end}");
        assert_eq!(context.cwm(&["store", "verify"]).code, 0);
    }
}
