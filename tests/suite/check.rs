//! `run --check`: whether the same bytes come out, and nothing is changed. `--force` beside it.

use serde_json::Value;

use crate::context::{Context, Ran};

/// The events of one sort in a run's JSON lines.
fn events(ran: &Ran, name: &str) -> Vec<Value> {
    let events = ran.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("a JSON event a line"));
    events.filter(|event| event["event"] == name).collect()
}

/// `mood` is no part of any key: the commands read it from a file that they do not declare.
const YAML: &str = r#"
cwm: 1
stages:
  steady: { stage: command, matrix: { seed: [0, 1] }, with: { run: 'echo $seed > "$out"', seed: $seed } }
  moody:
    stage: command
    from: steady
    outputs: { one: file, all: folder }
    with:
      run: |
        mkdir "$out_all"
        cat "$HOME/mood" > "$out_all/told"
        echo always > "$out_all/kept"
        if test "$(cat "$HOME/mood")" = bad; then touch "$out_all/more"; chmod +x "$out_all/kept"; else touch "$out_all/less"; fi
        printf 'first\nsecond %s\n' "$(cat "$HOME/mood")" > "$out_one"
  after: { stage: command, from: { text: moody.one }, with: { run: 'wc -c < "$in" > "$out"' } }
"#;

fn check(context: &Context, arguments: &[&str]) -> Ran {
    let mut all = vec!["run", "--check"];
    all.extend(arguments);
    let output = context.command(&all).env("HOME", context.path(".")).output().expect("cwm starts");
    crate::context::finish(output)
}

#[test]
fn a_check_tells_which_files_differ_and_where_and_changes_nothing() {
    let context = Context::with(YAML);
    context.write("mood", "good");
    let made = context.command(&["run"]).env("HOME", context.path(".")).output().expect("cwm starts");
    assert!(made.status.success());
    let everything = || -> Vec<_> {
        let aside = ["locks", "outside.cache", "work"];
        let all = context.inventory("artifacts").into_iter().chain([context.path("pipeline.lock")].map(|path| {
            let metadata = path.metadata().expect("a lock file");
            (path, (metadata.modified().expect("a time"), metadata.len()))
        }));
        let store = context.path("artifacts");
        all.filter(|(path, _)| !aside.iter().any(|name| path.starts_with(store.join(name)))).collect()
    };
    let before = everything();
    let same = check(&context, &[]);
    assert_eq!(same.code, 0, "{}", same.stderr);
    assert!(same.stderr.ends_with("same 4, different 0, failed 0, skipped 0\n"), "{}", same.stderr);

    context.write("mood", "bad");
    let other = check(&context, &["moody", "steady[seed=1]", "--json"]);
    assert_eq!(other.code, 8, "{}{}", other.stdout, other.stderr);
    let checked = events(&other, "checked");
    let moody = checked.iter().find(|event| event["label"] == "moody").expect("it was checked");
    let told: Vec<String> = moody["differences"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| format!("{} {} {} {} {}", one["output"], one["file"], one["how"], one["byte"], one["line"]))
        .collect();
    let expected = [
        r#""all" "kept" "mode" null null"#,
        r#""all" "less" "missing" null null"#,
        r#""all" "more" "extra" null null"#,
        r#""all" "told" "content" 0 1"#,
        r#""one" null "content" 13 2"#,
    ];
    assert_eq!(told, expected);
    assert!(
        checked.iter().any(|event| event["label"] == "steady[seed=1]" && event["differences"] == Value::Array(vec![]))
    );
    assert_eq!(events(&other, "check_summary")[0]["different"], 1);
    let plain = check(&context, &["moody"]);
    assert!(plain.stderr.contains("output `one`: other content from byte 13 on (line 2)"), "{}", plain.stderr);
    // `after` reads what is recorded, not what came out now.
    assert_eq!(check(&context, &["after"]).code, 0);
    assert_eq!(everything(), before);
    assert!(context.inventory("artifacts/work").is_empty(), "nothing is left behind");
}

#[test]
fn what_cannot_be_checked_is_told() {
    let context = Context::with(YAML);
    context.write("mood", "good");
    let none = check(&context, &[]);
    assert_eq!(none.code, 1, "{}", none.stderr);
    assert!(none.stderr.contains("nothing is recorded of it as it stands now"), "{}", none.stderr);
    assert!(
        none.stderr.contains("  cwm run 'steady[seed=0]' 'steady[seed=1]' && cwm run --check\n"),
        "{}",
        none.stderr
    );
    let made = context.command(&["run"]).env("HOME", context.path(".")).output().expect("cwm starts");
    assert!(made.status.success());
    // What it reads is gone; a check makes nothing again.
    let object = context.cwm(&["path", "moody.one"]).stdout;
    std::fs::remove_file(object.trim()).expect("a removed object");
    let gone = check(&context, &["after", "steady"]);
    assert_eq!(gone.code, 1, "{}", gone.stderr);
    assert!(gone.stderr.contains("  cwm run moody && cwm run --check after steady\n"), "{}", gone.stderr);
    assert!(gone.stderr.contains("files of moody, which it reads, are missing"), "{}", gone.stderr);
    assert!(gone.stderr.ends_with("same 2, different 0, failed 1, skipped 0\n"), "{}", gone.stderr);
    // One that fails now fails its check, with its log, and those beside it go on.
    std::fs::remove_file(context.path("mood")).expect("a removed file");
    let failed = check(&context, &["moody", "steady"]);
    assert_eq!(failed.code, 1, "{}", failed.stderr);
    assert!(failed.stderr.contains("cwm run --check moody steady\n"), "{}", failed.stderr);
    assert!(failed.stderr.ends_with("same 2, different 0, failed 1, skipped 0\n"), "{}", failed.stderr);
}

#[test]
fn force_says_of_each_cell_whether_the_same_bytes_came_out() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  games: { stage: command, matrix: { seed: [0, 1] }, with: { run: 'echo "$seed" > "$out"; if test "$seed" = 1; then cat "$HOME/mood" >> "$out"; fi', seed: $seed } }
  after: { stage: command, each: games, from: games, with: { run: 'cat "$in" > "$out"' } }
"#,
    );
    context.write("mood", "good");
    let run = |arguments: &[&str]| {
        let mut all = vec!["run", "--json"];
        all.extend(arguments);
        let output = context.command(&all).env("HOME", context.path(".")).output().expect("cwm starts");
        crate::context::Run::read(crate::context::finish(output))
    };
    run(&[]).ran_just(&["games[seed=0]", "games[seed=1]", "after[seed=0]", "after[seed=1]"]);
    context.write("mood", "bad");
    let forced = run(&["--force", "games"]);
    forced.ran_just(&["games[seed=0]", "games[seed=1]", "after[seed=1]"]);
    let notes: Vec<_> = events(&forced.raw, "finished")
        .iter()
        .map(|event| format!("{}: {}", event["label"].as_str().unwrap(), event["note"].as_str().unwrap_or("")))
        .collect();
    assert!(notes.contains(&"games[seed=0]: the same bytes as before".to_owned()), "{notes:?}");
    assert!(notes.contains(&"games[seed=1]: not the same bytes as before: out".to_owned()), "{notes:?}");
}

#[test]
fn what_reads_files_that_are_not_kept_is_passed_over_unless_it_is_named() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  games: { stage: command, keep: false, with: { run: 'echo 1 > "$out"' } }
  after: { stage: command, from: games, with: { run: 'wc -c < "$in" > "$out"' } }
"#,
    );
    context.run(&[]).ran_just(&["games", "after"]);
    let whole = check(&context, &[]);
    assert_eq!(whole.code, 0, "{}", whole.stderr);
    assert!(
        whole.stderr.contains("after is not checked: files of games, which it reads, are not kept"),
        "{}",
        whole.stderr
    );
    assert!(whole.stderr.ends_with("same 1, different 0, failed 0, skipped 1\n"), "{}", whole.stderr);
    // By its name it is: what it reads is made again, and goes again.
    let before = context.inventory("artifacts/objects");
    let named = check(&context, &["after"]);
    assert_eq!(named.code, 0, "{}", named.stderr);
    assert!(named.stderr.contains("made again for the check"), "{}", named.stderr);
    assert!(named.stderr.ends_with("same 1, different 0, failed 0, skipped 0\n"), "{}", named.stderr);
    let after = context.inventory("artifacts/objects");
    assert_eq!(after.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
    context.run(&[]).ran_just(&[]);
}

/// Also what is before that, and although another that reads it is not checked.
#[test]
fn what_a_check_made_again_goes_again_whoever_else_reads_it() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  games: { stage: command, keep: false, with: { run: 'seq 7 > "$out"' } }
  moves: { stage: command, keep: false, from: games, with: { run: 'tail -n 3 "$in" > "$out"' } }
  after: { stage: command, from: moves, with: { run: 'cat "$in" "$HOME/mood" > "$out"' } }
  other: { stage: command, from: { games: games, moves: moves }, with: { run: 'cat "$in_games" "$in_moves" > "$out"; echo 1 >> "$out"' } }
"#,
    );
    context.write("mood", "good");
    let home = |arguments: &[&str]| {
        let output = context.command(arguments).env("HOME", context.path(".")).output().expect("cwm starts");
        crate::context::finish(output)
    };
    assert_eq!(home(&["run"]).code, 0);
    let objects = || context.inventory("artifacts/objects").into_keys().collect::<Vec<_>>();
    let before = objects();
    context.write("mood", "bad");
    let checked = check(&context, &["after"]);
    assert_eq!(checked.code, 8, "{}", checked.stderr);
    assert_eq!(objects(), before, "{}", checked.stderr);
    let lock = context.read("pipeline.lock");
    let failed = check(&context, &["other", "after"]);
    assert_eq!(failed.code, 8, "{}", failed.stderr);
    assert!(failed.stderr.ends_with("same 1, different 1, failed 0, skipped 0\n"), "{}", failed.stderr);
    assert_eq!((objects(), context.read("pipeline.lock")), (before, lock));
}

#[test]
fn what_is_forced_would_run_and_keeps_its_other_causes() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  games: { stage: command, with: { run: 'echo 1 > "$out"', n: 1 } }
  after: { stage: command, from: games, with: { run: 'cat "$in" > "$out"', x: 1 } }
"#,
    );
    context.run(&[]).ran_just(&["games", "after"]);
    context.edit("pipeline.yaml", "n: 1", "n: 2");
    let of_after = |arguments: &[&str]| {
        let told =
            events(&context.cwm(&[&["run", "-n", "--json", "--force", "after"], arguments].concat()), "would_run");
        told.into_iter().find(|event| event["label"] == "after").expect("it is told of")
    };
    let told = of_after(&[]);
    assert_eq!((&told["uncertain"], &told["cause"][0]), (&Value::from(false), &Value::from("forced")));
    assert_eq!(told["cause"][1], "depends on games");
    context.edit("pipeline.yaml", "n: 2", "n: 1");
    context.edit("pipeline.yaml", "x: 1", "x: 2");
    assert_eq!(of_after(&[])["cause"][1], "parameter `x` changed: 1 -> 2 (line 5)");
    let run = context.run(&["--force", "after"]);
    assert_eq!(run.causes["after"], "forced; parameter `x` changed: 1 -> 2 (line 5)");
}

/// They share the folder in which it is done, one after the other.
#[test]
fn several_checks_of_one_stage_at_once_all_compare() {
    let context =
        Context::with("cwm: 1\nstages:\n  slow: { stage: command, with: { run: 'sleep 0.4; echo 1 > \"$out\"' } }\n");
    context.run(&[]).ran_just(&["slow"]);
    let checks: Vec<_> = (0..4)
        .map(|n| {
            std::thread::sleep(std::time::Duration::from_millis(n * 60));
            let mut command = context.command(&["run", "--check", "slow"]);
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
            command.spawn().expect("cwm starts")
        })
        .collect();
    for check in checks {
        let ran = crate::context::finish(check.wait_with_output().expect("an end"));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.stderr.ends_with("same 1, different 0, failed 0, skipped 0\n"), "{}", ran.stderr);
    }
}
