//! New code never records under an old key, and a rebuild in the middle of a run changes nothing.

use std::path::PathBuf;
use std::process::Stdio;

use cwm_core::{Components, Key};

use crate::context::{Context, Run, finish};

/// Leaves the action file of a failed `parse` behind, and returns its key.
fn failed_parse(context: &Context) -> Key {
    context.write_old("broken.pgn", "[Event \"x\"]\n\n1. e4 e5 2. Ke3 *\n");
    let run = context.run(&[]);
    assert_eq!(run.raw.code, 1, "{}", run.raw.stdout);
    let mut work = std::fs::read_dir(context.path("artifacts/work")).expect("work folders");
    let folder = work.next().expect("a work folder is kept on failure").expect("an entry");
    folder.file_name().to_string_lossy().parse().expect("a key")
}

const PARSE: &str = r#"
cwm: 1
stages:
  corpus: { stage: parse, from: { pgn: { file: broken.pgn } }, with: { on_error: fail } }
"#;

#[test]
fn an_action_of_other_code_is_refused() {
    let context = Context::with(PARSE);
    let key = failed_parse(&context);
    let path = context.path(&format!("artifacts/work/{key}/action.json"));
    let mut action: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).expect("a file")).expect("JSON");
    let base = action["components"]["code"]["base"].as_str().expect("a fingerprint").to_owned();
    action["components"]["code"]["base"] = base.chars().rev().collect::<String>().into();
    let components: Components = serde_json::from_value(action["components"].clone()).expect("components");
    let other = components.key();
    action["key"] = other.to_string().into();
    let folder = context.path(&format!("artifacts/work/{other}"));
    std::fs::create_dir(&folder).expect("a folder");
    std::fs::write(folder.join("action.json"), action.to_string()).expect("a file");

    let ran = context.cwm(&["exec", &other.to_string(), "--store", "artifacts"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("cwm was rebuilt meanwhile"), "{}", ran.stdout);
}

#[test]
fn an_action_file_that_does_not_match_its_key_is_rejected() {
    let context = Context::with(PARSE);
    let key = failed_parse(&context);
    let path = context.path(&format!("artifacts/work/{key}/action.json"));
    let text = std::fs::read_to_string(&path).expect("a file");
    let refused = |place: &[&str], said: &str| {
        let mut action: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let value = place.iter().fold(&mut action, |value, name| &mut value[*name]);
        assert_eq!(*value, 10);
        *value = 11.into();
        std::fs::write(&path, action.to_string()).expect("a file");
        let ran = context.cwm(&["exec", &key.to_string(), "--store", "artifacts"]);
        assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains(said), "{}", ran.stdout);
    };
    refused(&["components", "parameters", "min_fullmoves"], "does not describe the action");
    refused(&["body", "stage", "values", "min_fullmoves"], "changed since the key was computed");
}

#[test]
fn a_secret_that_changed_between_plan_and_action_is_refused() {
    let context = Context::with(PARSE);
    let key = failed_parse(&context).to_string();
    let exec = |secret: Option<&str>| {
        let mut command = context.command(&["exec", &key, "--store", "artifacts"]);
        secret.map(|secret| command.env("CHESS_WORLD_MODEL_ID_KEY", secret));
        finish(command.output().expect("cwm starts"))
    };
    assert!(exec(None).stdout.contains("illegal_move"), "the same secret: the stage itself fails");
    let other = exec(Some("another-secret"));
    assert!(other.stdout.contains("changed since the key was computed"), "{}", other.stdout);
    assert!(!other.stdout.contains("another-secret"), "{}", other.stdout);
}

#[test]
fn the_binary_may_be_replaced_while_a_run_is_on() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  first: { stage: command, with: { run: 'touch "$HOME/begun"; sleep 1; echo 1 > "$out"' } }
  second: { stage: command, from: first, with: { run: 'cat "$in" "$in" > "$out"' } }
"#,
    );
    let copy: PathBuf = context.path("cwm-copy");
    std::fs::copy(env!("CARGO_BIN_EXE_cwm"), &copy).expect("a copy of the binary");
    let mut command = std::process::Command::new(&copy);
    command.args(["run", "--json"]).current_dir(context.path(".")).env("HOME", context.path("."));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = loop {
        match command.spawn() {
            // A process that another test started just now has the copy open for writing until it is that other program.
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => std::thread::yield_now(),
            started => break started.expect("cwm starts"),
        }
    };
    context.await_file("begun");
    std::fs::remove_file(&copy).expect("the old binary goes");
    std::fs::write(&copy, "#!/bin/sh\nexit 1\n").expect("another one comes");
    Run::read(finish(child.wait_with_output().expect("an end"))).ran_just(&["first", "second"]);
}
