//! Stages that write into the store, past what they were given, and those that read what they spoil.

use crate::context::Context;

/// A stage that writes into the store, past what it was given: others read what its victim made.
#[test]
fn what_a_stage_spoils_for_others_is_made_again_in_the_same_run_and_not_without_end() {
    let context = Context::with("cwm: 1\nstages: {}\n");
    let objects = context.path("artifacts/objects");
    let spoil = format!(
        "for f in {}/*/*; do if grep -q victim \"$f\"; then chmod u+w \"$f\"; echo spoilt > \"$f\"; fi; done; echo $number > \"$out\"",
        objects.display()
    );
    let pipeline = r#"
cwm: 1
stages:
  victim: { stage: command, with: { run: 'echo victim > "$out"' } }
  first: { stage: command, from: victim, with: { run: 'wc -c < "$in" > "$out"' } }
  spoiler: { stage: command, from: { after: first }, with: { run: 'SPOIL', number: 1 } }
  reader: { stage: command, from: { victim: victim, spoiler: spoiler }, with: { run: 'cat "$in_victim" "$in_spoiler" | tr v V > "$out"' } }
"#;
    let pipeline = pipeline.replace("SPOIL", &spoil.replace('\'', "''"));
    context.write("pipeline.yaml", &pipeline.replace("{ run: 'echo victim", "{ run: 'echo a victim"));
    let run = context.run(&[]);
    run.ran_just(&["victim", "first", "spoiler", "reader"]);
    assert!(run.warns_of("quarantine"), "{}", run.raw.stdout);
    assert_eq!(context.output("reader"), "a Victim\n1\n");
    context.run(&[]).ran_just(&[]);

    // Once more behind it, in one run.
    let again = r#"
  again: { stage: command, from: { after: reader }, with: { run: 'SPOIL', number: 2 } }
  last: { stage: command, from: { victim: victim, again: again }, with: { run: 'cat "$in_victim" "$in_again" | tr v V > "$out"' } }
"#;
    let both = format!("{pipeline}{}", again.trim_start_matches('\n').replace("SPOIL", &spoil.replace('\'', "''")));
    context.write("pipeline.yaml", &both);
    let run = context.run(&[]);
    let told = "files of its input from victim are gone from the store, or were changed there";
    assert!(run.raw.code == 1 && run.failed["last"].contains(told), "{}", run.raw.stdout);
    assert_eq!(context.output("reader"), "Victim\n1\n");
    context.run(&[]).ran_just(&["victim", "last"]);
    assert_eq!(context.output("last"), "Victim\n2\n");
}

/// A stage that writes into the store while another one reads what it spoils: the reader fails, and the next run heals it.
#[test]
fn who_reads_what_another_spoils_meanwhile_fails_and_the_next_run_heals_it() {
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
        assert_eq!(context.cwm(&["verify"]).code, 0);
    }
}

/// Whoever sets the times back as well is found by the stage that read it: nobody else may read it then.
#[test]
fn what_a_stage_spoils_of_its_input_is_set_aside_whatever_its_times() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  a: { stage: command, with: { run: 'seq 10 > "$out"' } }
  spoiler:
    stage: command
    from: a
    with:
      run: |
        f=$(readlink -f "$in"); t=$(stat -c %y "$f"); chmod u+w "$f"; tr 1 2 < "$f" > x; cat x > "$f"
        touch -d "$t" "$f"; chmod 444 "$f"; echo 1 > "$out"
  later: { stage: command, with: { run: 'sleep 0.5; echo 1 > "$out"' } }
  reader: { stage: command, from: { a: a, later: later }, with: { run: 'cat "$in_a" > "$out"' } }
"#,
    );
    let run = context.run(&["-j2"]);
    assert!(run.failed["spoiler"].contains("its input `in` was changed in the store"), "{}", run.raw.stdout);
    assert_eq!(context.output("reader"), (1..=10).map(|n| format!("{n}\n")).collect::<String>());
    assert_eq!(context.cwm(&["verify"]).code, 0);
}

/// Also where it ends with a failure, or in the middle.
#[test]
fn what_a_stage_spoils_of_its_input_is_set_aside_although_it_fails() {
    for end in ["exit 3", "sleep 20"] {
        let context = Context::with(
            &r#"
cwm: 1
stages:
  source: { stage: command, with: { run: 'echo good > "$out"' } }
  spoiler:
    stage: command
    from: source
    limits: { time: 1s }
    with:
      run: |
        f=$(readlink -f "$in"); touch -r "$f" q; chmod u+w "$f"; echo evil > "$f"; touch -r q "$f"; chmod u-w "$f"; END
  later: { stage: command, with: { run: 'sleep 2.5; echo 1 > "$out"' } }
  reader: { stage: command, from: { source: source, later: later }, with: { run: 'cat "$in_source" > "$out"' } }
"#
            .replace("END", end),
        );
        let run = context.run(&["-j2"]);
        assert!(run.failed.contains_key("spoiler"), "{}", run.raw.stdout);
        assert_eq!(context.output("reader"), "good\n", "{end}");
        assert_eq!(context.cwm(&["verify"]).code, 0);
    }
}
