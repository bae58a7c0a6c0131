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
        cat "$HOME/mood" > "$out_all/reported"
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
fn a_check_reports_which_files_differ_and_where_and_changes_nothing() {
    let context = Context::with(YAML);
    context.write("mood", "good");
    let made = context.command(&["run"]).env("HOME", context.path(".")).output().expect("cwm starts");
    assert!(made.status.success());
    let everything = || -> Vec<_> {
        let aside = ["garbage", "locks", "external_files.cache", "work"];
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
    let reported: Vec<String> = moody["differences"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| format!("{} {} {} {} {}", one["output"], one["file"], one["how"], one["byte"], one["line"]))
        .collect();
    let expected = [
        r#""all" "kept" "mode" null null"#,
        r#""all" "less" "missing" null null"#,
        r#""all" "more" "extra" null null"#,
        r#""all" "reported" "content" 0 1"#,
        r#""one" null "content" 13 2"#,
    ];
    assert_eq!(reported, expected);
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
fn what_cannot_be_checked_is_reported() {
    let context = Context::with(YAML);
    context.write("mood", "good");
    let none = check(&context, &[]);
    assert_eq!(none.code, 1, "{}", none.stderr);
    assert!(none.stderr.contains("the store has no result of it with the present key"), "{}", none.stderr);
    let made = context.command(&["run"]).env("HOME", context.path(".")).output().expect("cwm starts");
    assert!(made.status.success());
    // What it reads is gone; a check makes nothing again.
    let object = context.cwm(&["show", "--path", "moody.one"]).stdout;
    std::fs::remove_file(object.trim()).expect("a removed object");
    let gone = check(&context, &["after", "steady"]);
    assert_eq!(gone.code, 1, "{}", gone.stderr);
    assert!(gone.stderr.contains("hint: `cwm run moody` makes them available"), "{}", gone.stderr);
    assert!(gone.stderr.contains("  cwm run --check after steady\n"), "{}", gone.stderr);
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
fn readers_of_evicted_files_are_checked_after_their_rebuild() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  games: { stage: command, keep: false, with: { run: 'echo 1 > "$out"' } }
  after: { stage: command, from: games, with: { run: 'wc -c < "$in" > "$out"' } }
"#,
    );
    context.run(&[]).ran_just(&["games", "after"]);
    for words in [&[][..], &["after"]] {
        let evicted = check(&context, words);
        assert_eq!(evicted.code, 1, "{}", evicted.stderr);
        assert!(evicted.stderr.contains("after: files of games, which it reads, are missing"), "{}", evicted.stderr);
        assert!(evicted.stderr.contains("hint: `cwm run games` makes them available"), "{}", evicted.stderr);
    }
    context.run(&["games"]).ran_just(&["games"]);
    let whole = check(&context, &[]);
    assert!(whole.stderr.ends_with("same 2, different 0, failed 0, skipped 0\n"), "{}", whole.stderr);
    context.run(&[]).ran_just(&[]);
}

#[test]
fn forced_cells_would_run_and_keep_their_other_causes() {
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
        let reported =
            events(&context.cwm(&[&["run", "-n", "--json", "--force", "after"], arguments].concat()), "would_run");
        reported.into_iter().find(|event| event["label"] == "after").expect("it is reported of")
    };
    let reported = of_after(&[]);
    assert_eq!((&reported["uncertain"], &reported["cause"][0]), (&Value::from(false), &Value::from("forced")));
    assert_eq!(reported["cause"][1], "depends on games");
    context.edit("pipeline.yaml", "n: 2", "n: 1");
    context.edit("pipeline.yaml", "x: 1", "x: 2");
    assert_eq!(of_after(&[])["cause"][1], "parameter `x` changed: 1 -> 2 (line 5)");
    let run = context.run(&["--force", "after"]);
    assert_eq!(run.causes["after"], "forced; parameter `x` changed: 1 -> 2 (line 5)");
}
