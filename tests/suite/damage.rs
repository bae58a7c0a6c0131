//! Content of the store that somebody changed: no stage reads it, nothing is exported from it, and it is made again.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use crate::context::{Context, Run};

/// first -> second (a folder) -> third, which is exported.
const CHAIN: &str = r#"
cwm: 1
stages:
  first: { stage: command, with: { run: 'seq 1 100 > "$out"' } }
  second:
    stage: command
    from: first
    outputs: { d: folder }
    with: { run: 'mkdir -p "$out/sub"; wc -l < "$in" > "$out/sub/lines"; head -n 3 "$in" > "$out/head"' }
  third:
    stage: command
    from: second
    with: { run: 'cat "$in/head" "$in/sub/lines" > "$out"; echo $last >> "$out"', last: 1 }
export: { third: exported }
"#;

fn chain() -> Context {
    let context = Context::with(CHAIN);
    context.run(&[]).ran_just(&["first", "second", "third"]);
    context
}

impl Context {
    /// The path of an object; of the file `inside` it if it is a folder.
    fn object(&self, source: &str, inside: &str) -> PathBuf {
        let path = PathBuf::from(self.cwm(&["show", "--path", source]).stdout.trim());
        fs::canonicalize(if inside.is_empty() { path } else { path.join(inside) }).expect("an object")
    }

    /// As a person does it: `chmod u+w`, other bytes of the same length, `chmod u-w`.
    fn overwrite(&self, object: &PathBuf) {
        let text = fs::read_to_string(object).expect("a text");
        fs::set_permissions(object, fs::Permissions::from_mode(0o644)).expect("a mode");
        fs::write(object, text.replace('1', "7")).expect("other bytes");
        fs::set_permissions(object, fs::Permissions::from_mode(0o444)).expect("a mode");
    }
}

impl Run {
    pub(crate) fn warns_of(&self, words: &str) -> bool {
        self.raw.stdout.lines().any(|line| line.contains(r#""event":"warning""#) && line.contains(words))
    }
}

#[test]
fn a_stage_never_reads_what_was_changed_by_hand() {
    for (source, inside) in [("first", ""), ("second", "sub/lines"), ("second", "head")] {
        let context = chain();
        context.overwrite(&context.object(source, inside));
        // Nobody reads it.
        context.run(&[]).ran_just(&[]);
        let reader = if source == "first" { "second" } else { "third" };
        let (old, new) = if source == "first" { ("head -n 3", "head -n 4") } else { ("last: 1", "last: 2") };
        context.edit("pipeline.yaml", old, new);
        let dry = context.cwm(&["run", "--dry-run"]).stderr;
        assert!(dry.contains("was changed since it was stored"), "{dry}");
        let run = context.run(&[]);
        assert!(run.ran.contains(source) && run.ran.contains(reader), "{}", run.raw.stdout);
        assert_eq!(run.causes[source], "a file of its recorded result was changed since it was stored");
        assert!(run.warns_of("moved to") && run.warns_of("quarantine"), "{}", run.raw.stdout);
        let clean = Context::with(&context.read("pipeline.yaml"));
        clean.run(&[]).ran_just(&["first", "second", "third"]);
        assert_eq!(context.read("pipeline.lock"), clean.read("pipeline.lock"));
        assert_eq!(context.read("exported/out"), clean.read("exported/out"));
        let verified = context.cwm(&["store", "verify"]);
        assert_eq!(verified.code, 0, "{}", verified.stdout);
        context.run(&[]).ran_just(&[]);
    }
}

#[test]
fn an_object_changed_to_the_same_size_with_its_time_put_back_is_not_read() {
    let context = chain();
    let object = context.object("first", "");
    let time = fs::metadata(&object).expect("an object").modified().expect("a time");
    context.overwrite(&object);
    fs::File::open(&object).expect("the object").set_modified(time).expect("a time");
    context.edit("pipeline.yaml", "head -n 3", "head -n 4");
    let run = context.run(&[]);
    assert_eq!(run.causes["first"], "a file of its recorded result was changed since it was stored");
    assert!(run.ran.contains("second") && run.warns_of("quarantine"), "{}", run.raw.stdout);
    assert_eq!(context.read("exported/out"), "1\n2\n3\n4\n100\n1\n");
}

#[test]
fn exports_and_shown_contents_are_the_stored_bytes() {
    let context = chain();
    context.overwrite(&context.object("third", ""));
    for command in [&["show", "--path", "third"][..], &["export", "third", "elsewhere"]] {
        let refused = context.cwm(command);
        assert_eq!(refused.code, 4, "{command:?}: {}{}", refused.stdout, refused.stderr);
        assert!(refused.stderr.contains("were changed since they were stored"), "{}", refused.stderr);
        assert!(refused.stderr.contains("cwm run third"), "{}", refused.stderr);
    }
    fs::remove_dir_all(context.path("exported")).expect("an export");
    let run = context.run(&[]);
    run.ran_just(&["third"]);
    assert!(run.warns_of("quarantine"), "{}", run.raw.stdout);
    assert_eq!(context.read("exported/out"), "1\n2\n3\n100\n1\n");
    assert_eq!(context.output("third"), "1\n2\n3\n100\n1\n");
}

/// Such as a link to a pipe: a rename would make a plain file of it. And a link to nothing, as on a disk that is not there.
#[test]
fn a_pipe_or_folder_in_place_of_a_lock_file_is_an_error_and_stays() {
    let context = chain();
    for name in ["pipeline.lock", "accepted.lock", "sources.lock", "cwm.toml"] {
        let (place, pipe) = (context.path(name), context.path("pipe"));
        let _ = fs::remove_file(&place);
        for (target, words) in [("pipe", "it is not a plain file"), ("gone", "")] {
            let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
            assert!(made.success());
            std::os::unix::fs::symlink(target, &place).unwrap();
            for arguments in [&["status"][..], &["run", "first"]] {
                let refused = context.cwm(arguments);
                let code = if name == "cwm.toml" { 3 } else { 4 };
                assert!(refused.code == code && refused.stderr.contains(words), "{name}: {}", refused.stderr);
                assert!(refused.stderr.contains(name), "{name}: {}", refused.stderr);
                assert!(code == 3 || refused.stderr.contains("hint: "), "{name}: {}", refused.stderr);
            }
            assert!(fs::read_link(&place).is_ok() && !fs::metadata(&pipe).unwrap().is_file());
            fs::remove_file(&place).unwrap();
            fs::remove_file(&pipe).unwrap();
        }
    }
    context.run(&[]).ran_just(&[]);
}

impl Context {
    /// Writes over the record of a stage.
    fn damage_record(&self, stage: &str) {
        let all = self.inventory("artifacts/actions").into_keys();
        let mut records = all.filter(|path| path.is_file());
        let label = format!(r#""label":"{stage}""#);
        let record = records.find(|record| fs::read_to_string(record).unwrap().contains(&label)).expect("a record");
        fs::set_permissions(&record, fs::Permissions::from_mode(0o644)).unwrap();
        fs::write(record, "{").unwrap();
    }
}

/// One file of the store that is cut short keeps nothing from being made, and the rest is still reported.
#[test]
fn a_damaged_record_is_quarantined_by_runs_and_skipped_by_reading_commands() {
    let context = chain();
    context.cwm(&["status"]);
    context.damage_record("second");
    let before = context.inventory("artifacts");
    let cause = "the record of its result is damaged";
    // Twice: what was passed over is not forgotten.
    for _ in 0..2 {
        for (words, reported) in [
            (&["status"][..], cause),
            (&["why", "second"], cause),
            (&["run", "--dry-run", "--output", "plain"], cause),
            (&["store", "ls"], "third"),
            (&["store", "ls", "--all"], "third"),
            (&["store", "du"], "third"),
        ] {
            let read = context.cwm(words);
            let text = read.stdout + &read.stderr;
            assert!(read.code == 0 && text.contains(reported), "{words:?}: {text}");
            assert_eq!(text.matches("warning: ").count(), 1, "{words:?}: {text}");
            assert!(text.contains("does not have the digest that names it; it is skipped"), "{words:?}: {text}");
        }
    }
    assert_eq!(context.inventory("artifacts"), before);
    assert_eq!(context.cwm(&["store", "gc"]).code, 4);
    let run = context.run(&[]);
    run.ran_just(&["second"]);
    assert_eq!(run.causes["second"], cause);
    assert!(run.warns_of("does not have the digest that names it; moved to"), "{}", run.raw.stdout);
    assert_eq!(context.cwm(&["store", "verify"]).code, 0);
    context.run(&[]).ran_just(&[]);

    context.damage_record("second");
    let checked = context.run(&["--check", "second"]);
    assert!(checked.raw.code == 1 && checked.warns_of("; moved to"), "{}", checked.raw.stdout);
    assert_eq!(context.cwm(&["store", "verify"]).code, 0);
}

#[test]
fn a_check_reports_damage_and_changes_nothing() {
    let context = chain();
    let object = context.object("second", "head");
    context.overwrite(&object);
    let before = context.inventory("artifacts/objects");
    let checked = context.cwm(&["run", "--check", "third"]);
    assert_eq!(checked.code, 1, "{}{}", checked.stdout, checked.stderr);
    assert!(checked.stderr.contains("were changed since they were stored"), "{}", checked.stderr);
    assert_eq!(context.inventory("artifacts/objects"), before);
}

#[test]
fn a_copied_store_is_used_unchanged() {
    for flags in ["-a", "-r"] {
        let context = chain();
        let (from, to) = (context.path("artifacts"), context.path("copy"));
        assert!(Command::new("cp").arg(flags).args([&from, &to]).status().is_ok_and(|status| status.success()));
        fs::remove_dir_all(&from)
            .or_else(|_| {
                Command::new("chmod").args(["-R", "u+w"]).arg(&from).status()?;
                fs::remove_dir_all(&from)
            })
            .expect("the store is removed");
        context.run(&["--store", "copy"]).ran_just(&[]);
        context.edit("pipeline.yaml", "last: 1", "last: 2");
        context.run(&["--store", "copy"]).ran_just(&["third"]);
        assert_eq!(context.read("exported/out"), "1\n2\n3\n100\n2\n");
    }
}

/// It was looked at before its own source was made again, which panicked.
#[test]
fn two_lost_inputs_are_rebuilt_in_dependency_order() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  first: { stage: command, with: { run: 'seq 1 9 > "$out"' } }
  second: { stage: command, from: first, matrix: { x: [1, 2] }, with: { run: 'cat "$in" > "$out"; echo $x >> "$out"', x: $x } }
  third: { stage: command, from: { a: first, b: second }, with: { run: 'cat "$in_a" "$in_b"/* > "$out"; echo $last >> "$out"', last: 1 } }
"#,
    );
    let all = ["first", "second[x=1]", "second[x=2]", "third"];
    context.run(&[]).ran_just(&all);
    for source in &all[..3] {
        fs::remove_file(context.object(source, "")).expect("an object");
    }
    context.edit("pipeline.yaml", "last: 1", "last: 2");
    context.run(&[]).ran_just(&all);
}

#[test]
fn damage_outside_a_run_prevents_eviction_and_fails_nothing() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  a: { stage: command, keep: false, with: { run: 'echo "$v" > "$out"', v: 1 } }
  b: { stage: command, from: a, outputs: { d: folder }, with: { run: 'mkdir -p "$out_d"; cat "$in" "$in" > "$out_d/x"' } }
  c: { stage: command, from: b, with: { run: 'cat "$in/x" "$in/x" > "$out"' } }
"#,
    );
    context.run(&[]).ran_just(&["a", "b", "c"]);
    let tree = context.cwm(&["show", "--path", "b"]).stdout;
    let digest: Vec<&str> = tree.trim().rsplit('/').take(2).collect();
    let manifest = context.path(&format!("artifacts/objects/{}/{}", digest[1], digest[0]));
    context.edit("pipeline.yaml", "v: 1", "v: 2");
    fs::set_permissions(&manifest, fs::Permissions::from_mode(0o644)).expect("a mode");
    fs::write(&manifest, "not a manifest").expect("other bytes");
    let run = context.run(&[]);
    run.ran_just(&["a", "b", "c"]);
    assert_eq!(run.raw.code, 0, "{}{}", run.raw.stdout, run.raw.stderr);
    assert!(
        run.warns_of("stay for now") && run.warns_of("`cwm store verify` moves damaged files to quarantine"),
        "{}",
        run.raw.stdout
    );
    assert_eq!(context.cwm(&["store", "verify"]).code, 5);
    let run = context.run(&[]);
    run.ran_just(&[]);
    assert!(!run.warns_of("stay for now") && run.raw.stdout.contains("evicted (`keep: false`)"), "{}", run.raw.stdout);
}

#[test]
fn a_file_where_a_folder_of_the_store_belongs_is_reported_with_what_to_do() {
    let context = chain();
    let garbage = context.path("artifacts/garbage");
    fs::remove_dir(&garbage).expect("an empty folder");
    fs::write(&garbage, "").expect("a file");
    context.edit("pipeline.yaml", "last: 1", "last: 2");
    let refused = context.cwm(&["run"]);
    assert_eq!(refused.code, 4, "{}", refused.stderr);
    assert!(refused.stderr.contains("artifacts/garbage is not a folder"), "{}", refused.stderr);
    assert!(refused.stderr.contains("cwm store verify"), "{}", refused.stderr);
    assert_eq!(context.cwm(&["store", "verify"]).code, 5);
    context.run(&[]).ran_just(&["third"]);
}

#[test]
fn a_run_reports_shared_damage_as_its_dry_run_did() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  a: { stage: command, with: { run: 'echo hi > "$out"' } }
  b: { stage: command, from: a, outputs: { d: folder, n: file }, with: { run: 'mkdir -p "$out_d"; cp "$in" "$out_d/x"; echo 7 > "$out_n"' } }
  c: { stage: command, from: b.d, with: { run: 'cat "$in/x" > "$out"' } }
export: { c: out, b.d: o2 }
"#,
    );
    context.run(&[]).ran_just(&["a", "b", "c"]);
    for object in ["a", "b.n"].map(|source| context.object(source, "")) {
        fs::set_permissions(&object, fs::Permissions::from_mode(0o644)).expect("a mode");
        fs::write(&object, "other").expect("other bytes");
    }
    let events = context.cwm(&["run", "--dry-run", "--json"]).stdout;
    let events = events.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("an event"));
    let foretold: Vec<_> = events.filter(|event| event["event"] == "would_run").collect();
    let certain: Vec<_> = foretold.iter().map(|event| (event["label"].as_str(), event["uncertain"] == false)).collect();
    assert_eq!(certain, [(Some("a"), true), (Some("b"), true), (Some("c"), false)]);
    let run = context.run(&[]);
    run.ran_just(&["a", "b"]);
    for event in &foretold[..2] {
        let label = event["label"].as_str().expect("a label");
        assert_eq!(run.causes[label], event["cause"][0].as_str().expect("a cause"), "{label}");
    }
    assert_eq!(run.causes["b"], "2 files of its recorded result were changed since they were stored");
    assert_eq!(context.cwm(&["store", "verify"]).code, 0);
}
