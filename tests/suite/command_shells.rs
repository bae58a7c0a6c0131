//! The shell of a command.

use crate::context::Context;

fn stage(with: &str) -> Context {
    Context::with(&format!("cwm: 1\nstages:\n  only: {{ stage: command, with: {{ {with} }} }}\n"))
}

#[test]
fn a_failing_program_in_a_pipe_fails_the_stage() {
    let context = stage(r#"run: 'nosuchprogram | sort > "$out"'"#);
    let run = context.run(&[]);
    assert_eq!(run.raw.code, 1, "{}", run.raw.stderr);
    assert_eq!(run.failed["only"], "its command ended with exit status 127");
    let named = context.cwm(&["run"]).stderr;
    assert!(named.contains("hint: `nosuchprogram` was not found"), "{named}");
    let silent = stage(r#"run: 'echo 1 | grep 7 | sort > "$out"'"#).cwm(&["run"]).stderr;
    assert!(silent.contains("hint: its log is empty; with `pipefail`"), "{silent}");
    let killed = stage("run: 'kill -9 $$'").cwm(&["run"]).stderr;
    assert!(killed.contains("ended by signal 9 (SIGKILL)") && !killed.contains("another process"), "{killed}");
    let ended_early = stage(r#"run: 'yes | head -n 1 > "$out"'"#).cwm(&["run"]);
    assert!(ended_early.stderr.contains("signal 13 (SIGPIPE)"), "{}", ended_early.stderr);
    assert!(ended_early.stderr.contains("set +o pipefail"), "{}", ended_early.stderr);
}

#[test]
fn the_shell_of_a_command_is_part_of_its_key() {
    let context = stage(r#"run: 'false | echo "$0" > "$out"', shell: sh"#);
    context.run(&[]).ran_just(&["only"]);
    assert_eq!(context.output("only"), "sh\n");
    context.edit("pipeline.yaml", "shell: sh", "shell: bash");
    let why = context.cwm(&["why", "only"]).stdout;
    let cause = "parameter `shell` changed: [sh, -eu, -c] -> [bash, -euo, pipefail, -c] (line 3)";
    assert!(why.contains(cause), "{why}");
    let kept = context.cwm(&["accept", "only", "--previous"]);
    assert_eq!(kept.code, 0, "{}", kept.stderr);
    context.run(&[]).ran_just(&[]);
    // The default, written down or not, is one key.
    context.edit("pipeline.yaml", ", shell: bash", "");
    context.run(&[]).ran_just(&[]);
}

#[test]
fn a_shell_is_any_program_and_its_arguments() {
    // `sh` passes the text of `run` as `$0` to the script that stands before it.
    let context = stage(r#"run: 'as it is', shell: [sh, -c, 'printf %s "$$0" > "$$out"']"#);
    context.run(&[]).ran_just(&["only"]);
    assert_eq!(context.output("only"), "as it is");
}

#[test]
fn a_shell_that_is_not_installed_is_named() {
    let ran = stage("run: 'true', shell: [nosuchshell, -c]").cwm(&["run"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("the shell of its command, `nosuchshell`, was not found"), "{}", ran.stderr);
    assert!(ran.stderr.contains("with: { shell: sh, run: … }"), "{}", ran.stderr);
}

#[test]
fn a_value_that_is_too_long_for_the_system_is_named_with_its_size() {
    let text = "x".repeat(3_000_000);
    let ran = stage(&format!("run: 'true', small: 1, large: {text}")).cwm(&["run"]);
    assert_eq!(ran.code, 1);
    let reason = "its command is too long for this system: variable `large` alone has 3.0 MB";
    assert!(ran.stderr.contains(reason), "{:.2000}", ran.stderr);
    assert!(ran.stderr.contains("hint: write it into a file"), "{:.2000}", ran.stderr);
}
