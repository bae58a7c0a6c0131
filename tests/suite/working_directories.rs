//! Commands in any folder below the pipeline or next to it, and commands on a read-only store.

use std::os::unix::ffi::OsStrExt;
use std::process::Command;

use crate::context::{Context, Ran, finish};

const PIPELINE: &str = r#"
cwm: 1
vars: { n: 1 }
stages:
  numbers: { stage: command, with: { run: 'echo reported; cat list.txt; seq "$n" > "$out"', n: $n }, deps: [list.txt] }
  sums:
    stage: command
    matrix: { of: [2, 3] }
    from: { numbers: numbers, beside: { file: beside.txt } }
    with: { run: 'cat "$in_numbers" "$in_beside" > "$out"', of: $of }
"#;

/// Commands that only read, each with words that they print.
const READING: [(&[&str], &str); 13] = [
    (&["status"], "3 cached"),
    (&["why", "sums"], "cached"),
    (&["log"], "done"),
    (&["log", "numbers"], "reported"),
    (&["show", "numbers"], "numbers"),
    (&["show", "--path", "numbers"], "artifacts"),
    (&["status", "--graph"], "sums"),
    (&["diff", "OLD"], "0 changed"),
    (&["lock"], ""),
    (&["store", "ls"], "numbers"),
    (&["store", "du"], "numbers"),
    (&["store", "tag"], ""),
    (&["run", "--dry-run"], ""),
];

fn made() -> Context {
    let context = Context::new();
    context.write("project/pipeline.yaml", PIPELINE);
    context.write_old("project/list.txt", "listed\n");
    context.write_old("project/beside.txt", "beside\n");
    std::fs::create_dir_all(context.path("project/below/deep")).expect("a folder");
    std::fs::create_dir_all(context.path("elsewhere")).expect("a folder");
    let run = context.run(&["project/pipeline.yaml"]);
    run.ran_just(&["numbers", "sums[of=2]", "sums[of=3]"]);
    std::fs::copy(context.path("project/pipeline.lock"), context.path("old.lock")).expect("a copy");
    context
}

fn typed_in(context: &Context, folder: &str, arguments: &[&str]) -> Ran {
    finish(context.command(arguments).current_dir(context.path(folder)).output().expect("cwm starts"))
}

#[test]
fn a_folder_whose_path_is_not_utf8_is_rejected_before_anything_runs() {
    let context = made();
    let folder = context.path("").join(std::ffi::OsStr::from_bytes(b"x\xff"));
    if std::fs::create_dir(&folder).is_err() {
        println!("skipped: this file system has no such names");
        return;
    }
    std::fs::write(folder.join("pipeline.yaml"), "cwm: 1\nstages: {}\n").expect("a file");
    let ran = finish(context.command(&["run"]).current_dir(&folder).output().expect("cwm starts"));
    assert!(ran.code == 2 && ran.stderr.contains("its path is not UTF-8"), "{}", ran.stderr);
}

/// The arguments with the path of the lock file that is compared with, and the pipeline where it must be named.
fn arguments<'a>(words: &[&'a str], old: &'a str, pipeline: Option<&'a str>) -> Vec<&'a str> {
    let mut all: Vec<&str> = words.iter().map(|word| if *word == "OLD" { old } else { *word }).collect();
    if let Some(file) = pipeline {
        // The `-f` of `log` is that of `tail`.
        all.extend(["--file", file]);
    }
    all
}

#[test]
fn every_reading_command_prints_the_same_from_any_folder() {
    let context = made();
    let old = context.path("old.lock").display().to_string();
    for (words, said) in READING {
        let here = typed_in(&context, "project", &arguments(words, &old, None));
        assert_eq!(here.code, 0, "{words:?}: {}", here.stderr);
        assert!(here.stdout.contains(said) || here.stderr.contains(said), "{words:?}: {}{}", here.stdout, here.stderr);
        let deep = typed_in(&context, "project/below/deep", &arguments(words, &old, None));
        let beside = typed_in(&context, "elsewhere", &arguments(words, &old, Some("../project/pipeline.yaml")));
        for (folder, there) in [("below/deep", deep), ("elsewhere", beside)] {
            assert_eq!(there.code, 0, "{words:?} in {folder}: {}", there.stderr);
            assert_eq!(plain(&there.stdout), plain(&here.stdout), "{words:?} in {folder}");
            if words.contains(&"--path") {
                let file = std::fs::canonicalize(there.stdout.trim()).expect("a path that is there");
                assert_eq!(file.display().to_string(), here.stdout.trim(), "in {folder}");
            }
        }
    }
    // What writes goes where the pipeline is, or where the path that was typed is.
    for (folder, file) in [("project/below/deep", None), ("elsewhere", Some("../project/pipeline.yaml"))] {
        let copied = typed_in(&context, folder, &arguments(&["export", "numbers", "copied"], &old, file));
        assert_eq!(copied.code, 0, "{folder}: {}", copied.stderr);
        assert_eq!(context.read(&format!("{folder}/copied/out")), "1\n");
        let verified = typed_in(&context, folder, &arguments(&["store", "verify"], &old, file));
        assert!(verified.stdout.contains(" records, all intact"), "{folder}: {}", verified.stdout);
        let run = typed_in(&context, folder, &arguments(&["run", "--set", "n=2"], &old, file));
        assert_eq!(run.code, 0, "{folder}: {}", run.stderr);
        assert!(!context.path(&format!("{folder}/artifacts")).exists(), "{folder} got a store");
    }
}

/// Without the paths of the places that were typed, which may be reported as they were.
fn plain(text: &str) -> String {
    text.replace("elsewhere/../project/", "project/").replace("../project/", "").replace("../../", "")
}

#[test]
fn every_reading_command_works_on_a_read_only_store_and_leaves_it_unchanged() {
    let context = made();
    let old = context.path("old.lock").display().to_string();
    let store = context.path("project/artifacts");
    let before: Vec<_> =
        READING.iter().map(|(words, _)| typed_in(&context, "project", &arguments(words, &old, None))).collect();
    let mount = |words: &[&str]| {
        let ran = Command::new("mount").args(words).arg(&store).output();
        ran.is_ok_and(|output| output.status.success())
    };
    let path = store.display().to_string();
    if !mount(&["--bind", &path]) {
        println!("skipped: a read-only store (a bind mount needs root)");
        return;
    }
    let frozen = mount(&["-o", "remount,bind,ro"]);
    let inventory = context.inventory("project");
    let ran: Vec<_> =
        READING.iter().map(|(words, _)| typed_in(&context, "project", &arguments(words, &old, None))).collect();
    let untouched = context.inventory("project") == inventory;
    let exported = typed_in(&context, "elsewhere", &["export", "numbers", "out", "-f", "../project/pipeline.yaml"]);
    assert!(Command::new("umount").arg(&store).status().expect("umount").success());
    assert!(frozen, "the store could not be made read-only");
    assert!(untouched, "something was written beside the store");
    for (((words, _), before), ran) in READING.iter().zip(before).zip(ran) {
        assert_eq!((ran.code, ran.stdout), (0, before.stdout), "{words:?}: {}", ran.stderr);
        assert!(!ran.stderr.contains("Read-only"), "{words:?}: {}", ran.stderr);
    }
    assert_eq!(exported.code, 0, "{}", exported.stderr);
}

#[test]
fn an_argument_that_is_no_pipeline_is_named() {
    let nowhere = Context::new();
    nowhere.write("chess.yaml", PIPELINE);
    nowhere.write("folder/x", "");
    for (word, message, hint) in [
        ("/etc", "/etc is a folder, and a pipeline is a file", "cwm run FILE.yaml"),
        ("-", "there is no pipeline file -", "cwm run FILE.yaml"),
        ("folder", "in a folder above, and `folder` is no pipeline file", "--file FILE"),
        ("chess.yml", "there is no pipeline file chess.yml", "did you mean `chess.yaml`?"),
        ("folder/../ches.yaml", "no pipeline file folder/../ches.yaml", "did you mean `folder/../chess.yaml`?"),
    ] {
        for command in [&["run"][..], &["status"], &["run", "--watch"]] {
            let ran = nowhere.cwm(&[command, &[word]].concat());
            assert_eq!(ran.code, 2, "{command:?} {word}: {}", ran.stderr);
            assert!(ran.stderr.contains(message) && ran.stderr.contains(hint), "{command:?} {word}: {}", ran.stderr);
        }
    }
}

#[test]
fn an_argument_similar_to_a_pipeline_gets_its_path() {
    let context = Context::new();
    context.write("pipelines/paper/lichess.yaml", PIPELINE);
    context.write("list.txt", "");
    let hint = "hint: did you mean `pipelines/paper/lichess.yaml`?";
    let reported = |words: &[&str]| {
        for word in words {
            for command in [&["run"][..], &["status"], &["run", "--watch"]] {
                let ran = context.cwm(&[command, &[word]].concat());
                assert_eq!(ran.code, 2, "{command:?} {word}: {}", ran.stderr);
                assert!(ran.stderr.contains(hint), "{command:?} {word}: {}", ran.stderr);
            }
        }
    };
    // Where the current folder has no pipeline, and where it has another one.
    reported(&["lichess", "lichess.yam", "lichess.yml", "lichess.yaml"]);
    context.write("pipeline.yaml", PIPELINE);
    reported(&["lichess", "lichess.yam", "lichess.yml", "lichess.yaml"]);
    assert!(context.cwm(&["why", "lichess"]).stderr.contains(hint));
    assert!(!context.cwm(&["run", "nothing"]).stderr.contains("did you mean"));
}

#[test]
fn a_folder_that_is_no_store_is_refused_by_every_command() {
    let context = Context::with(PIPELINE);
    context.write("list.txt", "");
    context.write("beside.txt", "");
    // As in `.git`: not every folder with `objects` in it is a store.
    context.write("other/objects/00/0123", "x");
    context.write("other/thesis.tex", "x");
    for command in [
        &["store", "verify"][..],
        &["status"],
        &["run"],
        &["store", "ls"],
        &["store", "du"],
        &["store", "gc"],
        &["show", "numbers"],
    ] {
        let refused = context.cwm(&[command, &["--store", "other"]].concat());
        assert_eq!(refused.code, 4, "{command:?}: {}", refused.stderr);
        assert!(refused.stderr.contains("other is not a store: it holds `thesis.tex`"), "{}", refused.stderr);
        assert!(refused.stderr.contains("hint: name the folder of a store with `--store`"), "{}", refused.stderr);
    }
    let file = context.cwm(&["status", "--store", "list.txt"]);
    assert!(file.stderr.contains("list.txt is a file, and a store is a folder"), "{}", file.stderr);
    assert_eq!(context.read("other/objects/00/0123"), "x");
}

#[test]
fn the_user_name_comes_from_the_system_if_the_environment_has_none() {
    let context = Context::with(PIPELINE);
    context.write("list.txt", "");
    context.write("beside.txt", "");
    let mut run = context.command(&["run"]);
    finish(run.env_remove("USER").env_remove("LOGNAME").output().expect("cwm starts"));
    let shown: serde_json::Value =
        serde_json::from_str(&context.cwm(&["show", "numbers", "--json"]).stdout).expect("JSON");
    let of_system = Command::new("id").arg("-un").output().expect("id");
    let number = finish(Command::new("id").arg("-u").output().expect("id")).stdout;
    let expected = match of_system.status.success() {
        true => String::from_utf8(of_system.stdout).expect("a name").trim().to_owned(),
        false => format!("uid{}", number.trim()),
    };
    assert_eq!(shown[0]["run_info"]["user"], expected);
}
