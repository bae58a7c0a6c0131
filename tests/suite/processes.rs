//! Processes that a command starts end with it, however it ends; and a stage that another process stops has failed.

use std::process::Command;
use std::time::Duration;

use crate::context::{Context, Run, finish};

/// Returns true if a process runs and does not only wait to be reaped.
fn is_alive(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()))
        .is_ok_and(|stat| stat.rsplit(')').next().is_some_and(|rest| !rest.trim_start().starts_with('Z')))
}

/// Waits for a process to end; a minute is more than it takes.
fn ends(pid: &str) -> bool {
    (0..2400).any(|_| {
        std::thread::sleep(Duration::from_millis(25));
        !is_alive(pid)
    })
}

fn at_home(context: &Context, arguments: &[&str]) -> Command {
    let mut command = context.command(arguments);
    command.env("HOME", context.path("."));
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    command
}

fn run_at_home(context: &Context) -> Run {
    Run::read(finish(at_home(context, &["run", "--json"]).output().expect("cwm starts")))
}

#[test]
fn what_a_command_leaves_in_the_background_cannot_write_to_its_result() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  only:
    stage: command
    with:
      run: |
        (sleep 600; echo late) >> "$out" & echo $! > "$HOME/child"
        setsid sleep 600 & echo $! > "$HOME/far"
        echo now > "$out"
"#,
    );
    run_at_home(&context).ran_just(&["only"]);
    assert!(!is_alive(&context.read("child")) && !is_alive(&context.read("far")));
    let log = context.cwm(&["log", "only"]).stdout;
    assert!(log.contains("left processes in the background"), "{log}");
}

#[test]
fn a_killed_stage_takes_its_command_along() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  only: { stage: command, with: { run: 'echo $$ > "$HOME/shell"; kill -9 $PPID; sleep 600; echo x > "$out"' } }
"#,
    );
    assert_eq!(run_at_home(&context).failed["only"], "killed (signal 9)");
    assert!(ends(&context.read("shell")));
}

#[test]
fn a_stage_that_somebody_else_stops_has_failed() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  only: { stage: command, with: { run: 'kill -TERM $PPID; sleep 600; echo x > "$out"' } }
  after: { stage: command, from: only, with: { run: 'cp "$in" "$out"' } }
"#,
    );
    let run = run_at_home(&context);
    assert_eq!(run.raw.code, 1, "{}", run.raw.stdout);
    assert!(run.failed.contains_key("only") && run.skipped.contains("after"), "{}", run.raw.stdout);
}

/// A process that the shell starts after the others were asked to stop, and leaves behind, is not waited for.
#[test]
fn what_a_command_starts_while_it_is_stopped_is_stopped_too() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  only:
    stage: command
    with:
      run: |
        trap 'sleep 600 & exit 143' TERM
        kill -TERM $PPID
        while :; do sleep 0.01; done
"#,
    );
    let began = std::time::Instant::now();
    let run = run_at_home(&context);
    assert_eq!(run.raw.code, 1, "{}", run.raw.stdout);
    assert!(began.elapsed().as_secs() < 300, "it waited for a process that nobody asked to stop");
}

#[test]
fn ctrl_c_reaches_what_the_shell_waits_for() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  only:
    stage: command
    with:
      run: |
        sh -c 'echo $$ > "$HOME/inner"; touch "$HOME/begun"; test -e "$HOME/go" || sleep 600; true'
        echo x > "$out"
"#,
    );
    let child = at_home(&context, &["run"]).spawn().expect("cwm starts");
    context.await_file("begun");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill").success());
    let ran = finish(child.wait_with_output().expect("an end"));
    assert_eq!(ran.code, 130, "{}", ran.stderr);
    assert!(ran.stderr.contains("only: the stage was cancelled\n"), "{}", ran.stderr);
    assert!(!is_alive(&context.read("inner")));
    // Nobody holds the key any more: the next run need not wait.
    context.write("go", "");
    let again = at_home(&context, &["run"]).output().expect("cwm starts");
    let again = finish(again);
    assert!(again.code == 0 && !again.stderr.contains("waiting"), "{}", again.stderr);
}

#[test]
fn a_hang_up_that_was_to_be_ignored_is_ignored() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  only: { stage: command, with: { run: 'touch "$HOME/begun"; while ! test -e "$HOME/go"; do sleep 0.05; done; echo x > "$out"' } }
"#,
    );
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "trap '' HUP; exec \"$0\" run", env!("CARGO_BIN_EXE_cwm")]);
    command.current_dir(context.path(".")).env("HOME", context.path(".")).env_remove("CWM_STORE");
    let child = command.stderr(std::process::Stdio::piped()).spawn().expect("cwm starts");
    context.await_file("begun");
    assert!(Command::new("kill").args(["-HUP", &child.id().to_string()]).status().expect("kill").success());
    context.write("go", "");
    let ran = finish(child.wait_with_output().expect("an end"));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

/// A shell and a daemon of its own session, neither of which listens to any request to end.
const DEAF: &str = r#"
cwm: 1
stages:
  only:
    stage: command
    with:
      run: |
        trap "" TERM INT HUP
        setsid sh -c 'trap "" TERM INT HUP; echo $$ > "$HOME/far"; touch "$HOME/begun"; test -e "$HOME/go" || sleep 600' &
        echo $$ > "$HOME/near"
        wait
        echo x > "$out"
"#;

#[test]
fn a_killed_executor_ends_processes_that_ignore_signals_or_left_its_group() {
    let context = Context::with(DEAF);
    let mut child = at_home(&context, &["run"]).spawn().expect("cwm starts");
    context.await_file("begun");
    context.await_file("near");
    child.kill().expect("a kill");
    child.wait().expect("an end");
    assert!(ends(&context.read("near")) && ends(&context.read("far")));
    // Nobody holds the key any more.
    context.write("go", "");
    let again = finish(at_home(&context, &["run"]).output().expect("cwm starts"));
    assert!(again.code == 0 && !again.stderr.contains("waiting"), "{}", again.stderr);
}

#[test]
fn ctrl_c_twice_reaches_what_left_the_process_group() {
    let context = Context::with(DEAF);
    let mut child = at_home(&context, &["run"]).spawn().expect("cwm starts");
    context.await_file("begun");
    let interrupt = || Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill").success();
    assert!(interrupt());
    std::thread::sleep(Duration::from_millis(300));
    assert!(interrupt());
    assert_eq!(child.wait().expect("an end").code(), Some(130));
    assert!(ends(&context.read("far")));
}

/// A stage that fails as long as nobody has mended it, and waits until it may end.
const WAITING: &str = r#"
cwm: 1
stages:
  only:
    stage: command
    with:
      run: |
        echo x >> "$HOME/count"
        touch "$HOME/begun"
        while ! test -e "$HOME/go"; do sleep 0.05; done
        test -e "$HOME/mended"
        echo x > "$out"
"#;

/// A second executor that is reported, in a file, that it waits for the first.
#[expect(clippy::zombie_processes, reason = "whoever asked waits for it; where it panics, the test ends")]
fn second(context: &Context) -> std::process::Child {
    let reported = std::fs::File::create(context.path("reported")).expect("a file");
    let child = at_home(context, &["run"]).stderr(reported).spawn().expect("cwm starts");
    for _ in 0..2400 {
        if context.read("reported").contains("waiting  only: `cwm run, for only`, process ") {
            return child;
        }
        std::thread::sleep(Duration::from_millis(25));
    }
    panic!("it does not wait:\n{}", context.read("reported"));
}

#[test]
fn the_stage_of_a_stopped_executor_continues_and_others_use_its_result() {
    let context = Context::with(WAITING);
    context.write("mended", "");
    let first = at_home(&context, &["run"]).spawn().expect("cwm starts");
    context.await_file("begun");
    let signal = |name: &str| Command::new("kill").args([name, &first.id().to_string()]).status().expect("kill");
    assert!(signal("-STOP").success());
    let mut other = second(&context);
    context.write("go", "");
    assert!(other.wait().expect("an end").success(), "{}", context.read("reported"));
    assert!(signal("-CONT").success());
    let first = finish(first.wait_with_output().expect("an end"));
    assert_eq!((first.code, context.read("count").as_str()), (0, "x\n"), "{}", first.stderr);
}

#[test]
fn a_failure_of_one_executor_is_tried_again_by_another() {
    let context = Context::with(WAITING);
    let first = at_home(&context, &["run"]).spawn().expect("cwm starts");
    context.await_file("begun");
    let mut other = second(&context);
    context.write("go", "");
    let first = finish(first.wait_with_output().expect("an end"));
    assert_eq!(first.code, 1, "{}", first.stderr);
    assert_eq!(other.wait().expect("an end").code(), Some(1), "{}", context.read("reported"));
    assert_eq!(context.read("count"), "x\nx\n", "each tried once");
}

#[test]
fn what_a_killed_stage_left_running_is_waited_for() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  only:
    stage: command
    with:
      run: |
        echo done > "$out"
        [ -e "$HOME/far" ] && exit 0
        setsid sh -c 'echo $$ > "$HOME/far"; exec sleep 600' &
        while ! [ -s "$HOME/far" ]; do sleep 0.1; done
        kill -9 $PPID
        sleep 600
"#,
    );
    assert_eq!(run_at_home(&context).failed.len(), 1);
    let far = context.read("far").trim().to_owned();
    assert!(is_alive(&far), "it left the stage's group, and nobody was there to adopt it");
    let second = at_home(&context, &["run", "--json"]).spawn().expect("cwm starts");
    let is_reported = (0..2400).any(|_| {
        std::thread::sleep(Duration::from_millis(25));
        let runs = std::fs::read_dir(context.path("artifacts/runs")).into_iter().flatten().flatten();
        runs.filter_map(|run| std::fs::read_to_string(run.path()).ok()).any(|run| {
            run.contains("waiting")
                && run.contains("(killed: `fuser -v ")
                && run.contains("names the process that it left")
        })
    });
    Command::new("kill").arg(&far).status().expect("kill");
    let second = Run::read(finish(second.wait_with_output().expect("an end")));
    assert!(is_reported, "{}", second.raw.stdout);
    second.ran_just(&["only"]);
}
