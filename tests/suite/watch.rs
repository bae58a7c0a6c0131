//! `cwm run --watch`: a run for each change, errors waited out, an end when it is asked.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::context::Context;

/// A `cwm run --watch --json` under way.
struct Watch {
    child: Child,
    events: std::io::Lines<BufReader<ChildStdout>>,
}

impl Watch {
    fn begin(context: &Context) -> Self {
        let mut command = context.command(&["run", "--watch", "--json"]);
        let mut child = command
            .env("HOME", context.path("."))
            .stdout(Stdio::piped())
            .stderr(std::fs::File::create(context.path("reported")).expect("a file"))
            .spawn()
            .expect("cwm starts");
        let events = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        Watch { child, events }
    }

    /// All events up to the next one of that name.
    fn until(&mut self, name: &str) -> Vec<Value> {
        let mut seen = Vec::new();
        loop {
            let line = self.events.next().unwrap_or_else(|| panic!("it ended before `{name}`: {seen:?}"));
            let event: Value = serde_json::from_str(&line.expect("text")).expect("a JSON event a line");
            let found = event["event"] == name;
            seen.push(event);
            if found {
                return seen;
            }
        }
    }

    /// The labels of what ran up to the next wait.
    fn ran(&mut self) -> Vec<String> {
        let events = self.until("watching");
        let finished = events.iter().filter(|event| event["event"] == "finished");
        finished.map(|event| event["label"].as_str().expect("a label").to_owned()).collect()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn interrupt(child: &Child) {
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill").success());
}

#[test]
fn each_change_of_what_a_run_depends_on_brings_a_run() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  first: { stage: command, deps: ['lib/*.txt'], with: { run: 'cat lib/* > "$out"', n: 1 } }
  second: { stage: command, from: { text: { file: input.txt } }, with: { run: 'cp "$in" "$out"' } }
"#,
    );
    context.write("lib/a.txt", "a\n");
    context.write("input.txt", "in\n");
    let mut watch = Watch::begin(&context);
    let mut ran = watch.ran();
    ran.sort();
    assert_eq!(ran, ["first", "second"]);
    context.write("input.txt", "other\n");
    let changed = &watch.until("changed");
    let path = changed.last().expect("an event")["paths"][0].as_str().expect("a path").to_owned();
    assert!(path.ends_with("input.txt"), "{path}");
    assert_eq!(watch.ran(), ["second"]);
    // A new file that a glob matches.
    context.write("lib/b.txt", "b\n");
    assert_eq!(watch.ran(), ["first"]);
    assert_eq!(context.output("first"), "a\nb\n");
    // What is wrong is reported, and waited out.
    context.edit("pipeline.yaml", "n: 1", "n: 1, n: 2");
    assert_eq!(watch.ran(), [""; 0]);
    assert!(context.read("reported").contains("`n` is twice in one map"), "{}", context.read("reported"));
    context.edit("pipeline.yaml", "n: 1, n: 2", "n: 2");
    assert_eq!(watch.ran(), ["first"]);
    interrupt(&watch.child);
    assert_eq!(watch.child.wait().expect("an end").code(), Some(130));
}

#[test]
fn a_new_file_in_a_folder_that_a_parameter_names_brings_a_run() {
    if !cfg!(feature = "import") {
        println!("skipped: this build has no stage `import`, which takes folders");
        return;
    }
    let context = Context::with("cwm: 1\nstages:\n  games: { stage: import, with: { source: records } }\n");
    // What it holds is wrong, which is reported and waited out.
    context.write("records/a.jsonl", "x\n");
    let mut watch = Watch::begin(&context);
    assert_eq!(watch.ran(), [""; 0]);
    for name in ["records/b.jsonl", "records/deep/c.jsonl", "records/a.jsonl"] {
        context.write(name, "other\n");
        let changed = &watch.until("changed");
        let paths = changed.last().expect("an event")["paths"].clone();
        assert!(paths[0].as_str().is_some_and(|path| path.ends_with(name)), "{name}: {paths}");
        watch.until("watching");
    }
    interrupt(&watch.child);
    assert_eq!(watch.child.wait().expect("an end").code(), Some(130));
}

#[test]
fn a_new_file_in_the_folder_of_a_download_brings_a_run() {
    if !cfg!(feature = "download") {
        println!("skipped: built without the stage `download`");
        return;
    }
    let context = Context::with("cwm: 1\nstages:\n  games: { stage: download, with: { source: played } }\n");
    let names = ["played/a.pgn", "played/b.PGN", "played/deep/c.pgn"];
    context.write(names[0], "1. e4 *\n");
    let mut watch = Watch::begin(&context);
    assert_eq!(watch.ran(), ["games"]);
    for name in &names[1..] {
        context.write(name, "1. e4 *\n");
        assert_eq!(watch.ran(), ["games"], "{name}");
    }
    // A folder without games is an error, and is watched all the same.
    names.iter().for_each(|name| std::fs::remove_file(context.path(name)).expect("a removed file"));
    assert_eq!(watch.ran(), [""; 0]);
    assert!(context.read("reported").contains("holds no file"), "{}", context.read("reported"));
    context.write("played/d.pgn", "1. d4 *\n");
    assert_eq!(watch.ran(), ["games"]);
}

#[test]
fn a_change_during_a_run_ends_it_after_what_runs() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  slow: { stage: command, with: { run: 'touch "$HOME/begun"; while ! test -e "$HOME/go"; do sleep 0.05; done; echo x > "$out"' } }
  after: { stage: command, from: slow, with: { run: 'echo $n >> "$HOME/seen"; echo $n > "$out"', n: 1 } }
"#,
    );
    let mut watch = Watch::begin(&context);
    context.await_file("begun");
    context.edit("pipeline.yaml", "n: 1", "n: 2");
    // Longer than it takes to be noticed.
    std::thread::sleep(std::time::Duration::from_millis(1500));
    context.write("go", "");
    assert_eq!(watch.ran(), ["slow"]);
    assert_eq!(watch.ran(), ["after"]);
    assert_eq!(context.read("seen"), "2\n", "what was changed was not run as it had been");
    // Ctrl-C in the middle of a run.
    std::fs::remove_file(context.path("go")).expect("a removed file");
    std::fs::remove_file(context.path("begun")).expect("a removed file");
    context.edit("pipeline.yaml", "touch", "true; touch");
    context.await_file("begun");
    interrupt(&watch.child);
    assert_eq!(watch.child.wait().expect("an end").code(), Some(130));
}

#[test]
fn without_a_pipeline_there_is_nothing_to_watch() {
    let ran = Context::new().cwm(&["run", "--watch", "none.yaml"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("there is no pipeline file none.yaml"), "{}", ran.stderr);
}

#[test]
fn a_stage_that_is_not_there_is_reported_at_once() {
    let context = Context::with("cwm: 1\nstages:\n  a: { stage: command, with: { run: 'echo > \"$out\"' } }\n");
    let ran = context.cwm(&["run", "--watch", "nix"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("this pipeline has no stage `nix`") && ran.stdout.is_empty(), "{}", ran.stderr);
}
