//! `cwm diff`: which cells of two lock files differ and why, and which cells of two reports' tables.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::context::Context;

const PIPELINE: &str = r#"
cwm: 1
stages:
  first: { stage: command, with: { run: 'echo "$n" > "$out"', n: 1 } }
  aside: { stage: command, with: { run: 'echo 7 > "$out"', m: 1 } }
  second: { stage: command, matrix: { t: [a, b] }, from: { f: first, a: aside }, with: { run: 'cat "$in_f" "$in_a" > "$out"', t: $t } }
  report:
    stage: command
    from: { x: second }
    with: { run: 'sh make.sh "$in_x"' }
    deps: [make.sh]
    outputs: { page: { format: report, folder: true } }
"#;

/// A report with one table, in which the first line that it reads is the loss of one model.
const MAKE: &str = r#"
mkdir -p "$out_page/tables"
echo '{}' > "$out_page/tables/index.json"
value=$(cat "$1"/* | head -n 1)
cat > "$out_page/tables/table-08.json" <<END
{"format":1,"id":"table-08","title":"Test results","paper":null,"caption":"","columns":[{"over":"","name":"Model"},
{"over":"Held-out","name":"Loss"}],"shared_columns":1,"rows":[
{"group":0,"kind":"ours","run":true,"cells":[{"text":"SLiCE","from":[]},{"text":"$value.00","value":$value,"low":null}]},
{"group":0,"kind":"paper","run":true,"cells":[{"text":"SLiCE"},{"text":"inf","value":"inf"}]}]}
END
"#;

fn context() -> Context {
    let context = Context::with(PIPELINE);
    context.write("make.sh", MAKE);
    let ran = context.cwm(&["run"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    context
}

fn diff(context: &Context, arguments: &[&str]) -> (i32, String) {
    let mut all = vec!["diff"];
    all.extend(arguments);
    let ran = context.cwm(&all);
    (ran.code, ran.stdout + &ran.stderr)
}

#[test]
fn a_diff_of_lock_files_lists_root_causes_first_and_then_reports() {
    let context = context();
    fs::copy(context.path("pipeline.lock"), context.path("old.lock")).expect("a copy");
    assert_eq!(diff(&context, &["old.lock"]).0, 0);
    context.edit("pipeline.yaml", "n: 1", "n: 3");
    context.edit("pipeline.yaml", ", m: 1", ", m: 2");
    context.run(&[]).ran_just(&["first", "aside", "second[t=a]", "second[t=b]", "report"]);
    let store = context.inventory("artifacts");
    let (code, text) = diff(&context, &["old.lock", "."]);
    assert_eq!(code, 7, "{text}");
    assert_eq!(
        text,
        "old.lock -> pipeline.lock\n\
         changed directly:\n  \
           aside\n    parameter `m` changed: 1 -> 2\n    the result is the same\n  \
           first\n    parameter `n` changed: 1 -> 3\n\
         changed through their inputs:\n  \
           report: second\n  \
           second[t=a] and 1 more of second: first\n\
         cells: 5 changed, 0 added, 0 removed, 0 the same\n\
         \n\
         report.page\n\
         table-08 (Test results): 1 of 2 cells differ\n  \
           SLiCE | Held-out: Loss: 1.00 -> 3.00 (+2)\n\
         1 of 2 cells in 1 table differ\n"
    );
    let (_, json) = diff(&context, &["old.lock", ".", "--json"]);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["cells"]["changed"][1]["causes"][0]["name"], "n");
    assert_eq!(json["cells"]["changed"][2]["changed_directly"], false);
    assert_eq!(json["reports"][0]["difference"]["tables"][0]["cells"][0]["difference"], 2.0);
    assert_eq!(context.inventory("artifacts"), store, "nothing is written");

    // Where the store has no records, what the lock files say is reported all the same.
    let (code, text) = diff(&context, &["old.lock", "--store", "elsewhere"]);
    assert_eq!(code, 7);
    assert!(text.contains("the reason is unknown: the store has no record of "), "{text}");
    assert!(!context.path("elsewhere").exists());

    // The site may say where the store is.
    fs::rename(context.path("artifacts"), context.path("moved")).expect("a folder of another name");
    context.write("cwm.toml", "store = \"moved\"\n");
    let (code, text) = diff(&context, &["old.lock"]);
    assert!(code == 7 && text.contains("parameter `n` changed: 1 -> 3"), "{text}");
}

#[test]
fn cells_that_came_and_went_are_named() {
    let context = context();
    fs::copy(context.path("pipeline.lock"), context.path("old.lock")).expect("a copy");
    context.edit("pipeline.yaml", "[a, b]", "[b, c, d]");
    assert_eq!(context.cwm(&["run"]).code, 0);
    let (code, text) = diff(&context, &["old.lock"]);
    assert_eq!(code, 7, "{text}");
    let absent = "added, only in the second:\n  second[t=c] and 1 more of second\n\
                  removed, only in the first:\n  second[t=a]\n";
    assert!(text.contains(absent), "{text}");
    let follows = "changed because they read added or removed cells:\n  report: second (the result is the same)\n";
    assert!(text.contains(follows), "{text}");
    let summary = "cells: 1 changed, 2 added, 1 removed, 3 the same\n\
                   the cells that both have are the same, but for those that read added or removed ones\n";
    assert!(text.ends_with(summary), "{text}");
}

/// As with one seed of three.
#[test]
fn a_run_with_fewer_cells_has_equal_ones() {
    let context = Context::with(
        r#"
cwm: 1
vars: { seeds: [0, 1, 2], n: 1 }
stages:
  model: { stage: command, matrix: { seed: $seeds }, with: { run: 'echo "$seed$n" > "$out"', seed: $seed, n: $n } }
  table: { stage: command, from: { m: model }, with: { run: 'cat "$in_m"/* > "$out"' } }
  page: { stage: command, from: table, with: { run: 'cat "$in" "$in" > "$out"' } }
"#,
    );
    assert_eq!(context.cwm(&["run", "model", "--set", "seeds=[0]"]).code, 0);
    assert_eq!(context.cwm(&["run", "model"]).code, 0);
    let (code, text) = diff(&context, &[".", "--set", "seeds=[0]"]);
    assert_eq!(code, 7, "{text}");
    let expected = "removed, only in the first:\n  model[seed=1] and 1 more of model\n\
                    cells: 0 changed, 0 added, 2 removed, 1 the same\nthe cells that both have are the same\n";
    assert!(text.ends_with(expected), "{text}");
    for set in [&[][..], &["--set", "seeds=[0]"]] {
        assert_eq!(context.cwm(&[&["run"], set].concat()).code, 0);
    }
    let (_, text) = diff(&context, &[".", "--set", "seeds=[0]"]);
    let follow = "changed because they read added or removed cells:\n  page: table\n  table: model\n";
    assert!(text.contains(follow) && !text.contains("changed by"), "{text}");
    assert!(text.ends_with(", but for those that read added or removed ones\n"), "{text}");
    // A change of a cell that both have is none of these.
    assert_eq!(context.cwm(&["run", "--set", "seeds=[0]", "--set", "n=2"]).code, 0);
    let (_, text) = diff(&context, &[".", "--set", "seeds=[0]", "--set", "n=2"]);
    assert!(text.contains("changed directly:\n  model[seed=0]\n"), "{text}");
    assert!(text.ends_with("cells: 3 changed, 0 added, 2 removed, 0 the same\n"), "{text}");
}

#[test]
fn a_revision_in_git_is_a_run_too() {
    let git = |context: &Context, arguments: &[&str]| {
        let mut command = Command::new("git");
        command.arg("-C").arg(context.path(".")).args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(arguments);
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env_remove("GIT_DIR");
        command.output().is_ok_and(|output| output.status.success())
    };
    let context = context();
    if !git(&context, &["init", "-q"]) {
        println!("skipped: no git (install git)");
        return;
    }
    assert!(git(&context, &["add", "pipeline.lock"]) && git(&context, &["commit", "-q", "-m", "one"]));
    context.edit("pipeline.yaml", "n: 1", "n: 3");
    assert_eq!(context.cwm(&["run"]).code, 0);
    context.write("below/x", "");
    for arguments in [&["HEAD"][..], &["HEAD", "pipeline.lock"], &["HEAD:pipeline.lock"]] {
        let (code, text) = diff(&context, arguments);
        assert_eq!(code, 7, "{text}");
        assert!(text.contains("  first\n    parameter `n` changed: 1 -> 3\n"), "{text}");
    }
    let below = context.command(&["diff", "HEAD"]).current_dir(context.path("below")).output().expect("cwm starts");
    assert_eq!(below.status.code(), Some(7), "from a folder below");
    for (wrong, words) in [
        ("no-such-branch", "`no-such-branch` is not a run, lock file, report or git revision\nhint: `cwm runs`"),
        ("HEAD:gone.lock", "gone.lock is not in git at HEAD"),
        ("--output=x", "unexpected argument"),
        ("below", "below holds no tables of a report\nhint: `cwm export report DIR`"),
    ] {
        let (code, text) = diff(&context, &[wrong]);
        assert_eq!(code, 2, "{text}");
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn reports_are_compared_where_they_lie_and_by_digest() {
    let context = context();
    assert_eq!(context.cwm(&["export", "report", "old"]).code, 0);
    let stored: Value = serde_json::from_str(&context.cwm(&["show", "report", "--json"]).stdout).expect("JSON");
    let digest = stored[0]["outputs"]["page"]["digest"].as_str().expect("a digest").to_owned();
    context.edit("pipeline.yaml", "n: 1", "n: 3");
    assert_eq!(context.cwm(&["run"]).code, 0);
    assert_eq!(context.cwm(&["export", "report", "new"]).code, 0);
    // Two folders need no pipeline.
    fs::remove_file(context.path("pipeline.yaml")).expect("a removed file");
    for (arguments, code) in [
        (&["old", "new"][..], 7),
        (&["old", "old"], 0),
        (&["old", "new", "--tolerance", "0.6"], 7),
        (&["old", "new", "--tolerance", "0.7"], 0),
        (&["old", "new", "--tolerance", "-1"], 2),
    ] {
        let (ended, text) = diff(&context, arguments);
        assert_eq!(ended, code, "{arguments:?}: {text}");
    }
    let wrong = diff(&context, &["old", "new", "--tolerance", "x"]).1;
    assert!(wrong.contains("must be a number such as 0.001"), "{wrong}");
    let cores = context.cwm(&["run", "-j", "0"]).stderr;
    assert!(cores.contains("must be a whole number from 1"), "{cores}");
    let (code, text) = diff(&context, &["new/tables/table-08.json", "old/tables/table-08.json"]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("this is no lock file: "), "{text}");
    context.write("pipeline.yaml", PIPELINE);
    let (code, text) = diff(&context, &[&digest[..10], "new"]);
    assert_eq!(code, 7, "{text}");
    assert!(text.ends_with("1 of 2 cells in 1 table differ\n"), "{text}");
    assert_eq!(diff(&context, &[&digest[..10], "old"]).0, 0);
    assert_eq!(diff(&context, &["new", "."]).0, 0, "the report of the lock file");
    // Nothing that stands in a table reaches the terminal as more than text.
    context.edit("new/tables/table-08.json", "\"SLiCE\"},{", "\"\\u001b[31mred\"},{");
    let (_, text) = diff(&context, &["old", "new"]);
    assert!(text.contains(r"rows added: \u{1b}[31mred (paper)"), "{text}");
}

#[test]
fn a_stage_that_copies_is_not_its_own_source() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  b: { stage: command, from: a, with: { run: 'cat "$in" > "$out"' } }
  a: { stage: command, from: { f: { file: d.txt } }, with: { run: 'sort "$in_f" > "$out"' } }
  z: { stage: command, from: { f: b }, with: { run: 'gzip -nc "$in_f" > "$out"' } }
  c: { stage: command, from: { f: z }, with: { run: 'gzip -dc "$in_f" > "$out"' } }
"#,
    );
    context.write("d.txt", "1\n2\n");
    assert_eq!(context.cwm(&["run"]).code, 0);
    fs::copy(context.path("pipeline.lock"), context.path("old.lock")).expect("a copy");
    context.write("d.txt", "1\n3\n");
    assert_eq!(context.cwm(&["run"]).code, 0);
    let sources = |arguments: &[&str]| -> Vec<(String, String, bool)> {
        let (code, json) = diff(&context, &[arguments, &["--json"]].concat());
        assert_eq!(code, 7, "{json}");
        let json: Value = serde_json::from_str(&json).expect("JSON");
        let changed = json["cells"]["changed"].as_array().expect("cells that changed");
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        let reported = |cell: &Value| {
            (
                text(&cell["label"]),
                text(&cell["causes"][0]["source"]),
                cell["changed_directly"].as_bool().expect("a boolean"),
            )
        };
        changed.iter().map(reported).collect()
    };
    let expected = |outside: &str| {
        let reported = [("a", outside, true), ("b", "a", false), ("c", "z", false), ("z", "b", false)];
        reported.map(|(cell, source, root)| (cell.to_owned(), source.to_owned(), root)).to_vec()
    };
    assert_eq!(sources(&["old.lock"]), expected(&context.path("d.txt").display().to_string()));
    // Of two lock files that no pipeline belongs to, contents and times tell.
    fs::copy(context.path("pipeline.lock"), context.path("new.lock")).expect("a copy");
    let reported = sources(&["old.lock", "new.lock"]);
    assert_eq!(reported[0], ("a".to_owned(), "outside the pipeline".to_owned(), true), "{reported:?}");
    assert!(
        reported.iter().all(|(cell, source, _)| cell != source) && reported[1..].iter().all(|cell| !cell.2),
        "{reported:?}"
    );
}
