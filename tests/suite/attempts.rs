//! Further attempts, limits, want of memory, and the table at the end of a run.

use std::process::Command;

use serde_json::Value;

use crate::context::{Context, Ran, Run, finish};

fn at_home(context: &Context, arguments: &[&str]) -> Command {
    let mut command = context.command(arguments);
    command.env("HOME", context.path("."));
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    command
}

fn run_at_home(context: &Context) -> Run {
    Run::read(finish(at_home(context, &["run", "--json"]).output().expect("cwm starts")))
}

/// The events of one sort in a run's JSON lines.
fn events(ran: &Ran, name: &str) -> Vec<Value> {
    let events = ran.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("a JSON event a line"));
    events.filter(|event| event["event"] == name).collect()
}

/// A stage that counts its attempts and ends well in the one of number `good`.
fn flaky(good: u32, keys: &str) -> String {
    format!(
        r#"
cwm: 1
stages:
  flaky:
    stage: command
    {keys}
    with:
      run: |
        echo x >> "$HOME/count"
        echo "this is number $(wc -l < "$HOME/count")" >&2
        test "$(wc -l < "$HOME/count")" -ge {good}
        echo done > "$out"
  beside: {{ stage: command, with: {{ run: 'echo beside > "$out"' }} }}
  after: {{ stage: command, from: flaky, with: {{ run: 'cp "$in" "$out"' }} }}
"#
    )
}

#[test]
fn stages_with_retry_are_retried_and_every_attempt_is_reported_and_logged() {
    let context = Context::with(&flaky(3, "retry: { times: 2, wait: 1ms }"));
    let run = run_at_home(&context);
    run.ran_just(&["flaky", "beside", "after"]);
    let retrying = events(&run.raw, "retrying");
    let reported: Vec<_> =
        retrying.iter().map(|event| (event["attempt"].as_u64(), event["attempts"].as_u64())).collect();
    assert_eq!(reported, [(Some(1), Some(3)), (Some(2), Some(3))]);
    let waits: Vec<_> = retrying.iter().map(|event| event["wait_seconds"].as_f64().unwrap()).collect();
    assert_eq!(waits, [0.001, 0.002], "each pause is twice as long");
    assert_eq!(retrying[1]["kind"], "command");
    assert_eq!(retrying[1]["log_tail"][0], "this is number 2", "only of this attempt");
    let attempts: Vec<_> = events(&run.raw, "started").iter().map(|event| event["attempt"].clone()).collect();
    assert_eq!(attempts.iter().filter(|attempt| **attempt == 3).count(), 1);
    let log = context.cwm(&["log", "flaky"]).stdout;
    for number in 1..=3 {
        let part = format!("--- attempt {number} of 3 ---\nthis is number {number}\n");
        assert!(log.contains(&part), "{log}");
    }
    run_at_home(&context).ran_just(&[]);
}

#[test]
fn attempts_are_limited_and_only_made_for_transient_failures() {
    let context = Context::with(&flaky(9, "retry: { times: 1, wait: 1ms }"));
    let run = run_at_home(&context);
    assert_eq!(context.read("count"), "x\nx\n");
    let failed = &events(&run.raw, "failed")[0];
    assert_eq!((failed["attempts"].as_u64(), failed["kind"].as_str()), (Some(2), Some("command")));
    assert!(run.skipped.contains("after") && run.ran.contains("beside"), "{}", run.raw.stdout);

    // A command that makes something else than it declares will do so again.
    let context = Context::with(
        "cwm: 1\nstages:\n  only: { stage: command, retry: 3, with: { run: 'echo x >> \"$HOME/count\"; touch \"$out\" \"$out.more\"' } }\n",
    );
    let run = run_at_home(&context);
    assert_eq!(
        (events(&run.raw, "failed")[0]["kind"].as_str(), context.read("count").as_str()),
        (Some("output"), "x\n")
    );
}

#[test]
fn other_cells_run_during_a_backoff_and_ctrl_c_ends_it() {
    let yaml = flaky(9, "retry: { times: 5, wait: 1h }").replace("echo beside", "touch \"$HOME/beside\"; echo beside");
    let context = Context::with(&yaml);
    let child = at_home(&context, &["run", "--json", "-j", "1"]).spawn().expect("cwm starts");
    // On one core: what stands after it in the plan runs while it waits.
    context.await_file("beside");
    context.await_file("count");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill").success());
    let run = Run::read(finish(child.wait_with_output().expect("an end")));
    assert_eq!(run.raw.code, 130, "{}", run.raw.stdout);
    assert!(run.skipped.contains("after") || run.failed.contains_key("flaky"), "{}", run.raw.stdout);
    assert_eq!(context.read("count"), "x\n");
}

#[test]
fn a_stage_over_its_time_is_asked_to_stop_and_then_killed() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  listens: { stage: command, retry: 3, limits: { time: 200ms }, with: { run: 'trap "echo asked >> $HOME/asked; exit 1" TERM; sleep 600 & wait' } }
  deaf: { stage: command, limits: { time: 200ms }, with: { run: 'trap "" TERM; setsid sh -c "trap \"\" TERM; echo \$\$ > $HOME/far; sleep 600" & sleep 600; sleep 600' } }
  quick: { stage: command, limits: { time: 1h, memory: 4GiB }, with: { run: 'echo fine > "$out"' } }
"#,
    );
    let run = run_at_home(&context);
    assert!(run.ran.iter().eq(["quick"]), "{}", run.raw.stdout);
    for stage in ["listens", "deaf"] {
        assert_eq!(run.failed[stage], "it ran longer than its limit of 200ms");
    }
    assert!(events(&run.raw, "failed").iter().all(|event| event["kind"] == "time_limit" && event["attempts"] == 1));
    // It was asked once, and not tried again: it would take as long.
    assert_eq!(context.read("asked"), "asked\n");
    let far = context.read("far");
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", far.trim())).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z"), "what left the process group ended too: {stat}");
}

#[test]
fn waiting_for_another_process_is_not_running() {
    let yaml = "cwm: 1\nstages:\n  only: { stage: command, limits: { time: 1h }, with: { run: 'touch \"$HOME/begun\"; while ! test -e \"$HOME/go\"; do sleep 0.05; done; echo x > \"$out\"' } }\n";
    let context = Context::with(yaml);
    let first = at_home(&context, &["run", "--json"]).spawn().expect("cwm starts");
    context.await_file("begun");
    // The limit of another pipeline is not that of this one, whose action it is as well.
    context.write("other.yaml", &yaml.replace("1h", "100ms"));
    let mut second = at_home(&context, &["run", "other.yaml"]).spawn().expect("cwm starts");
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert!(second.try_wait().expect("a status").is_none(), "it waits");
    context.write("go", "");
    Run::read(finish(first.wait_with_output().expect("an end"))).ran_just(&["only"]);
    let second = finish(second.wait_with_output().expect("an end"));
    assert_eq!(second.code, 0, "{}", second.stderr);
    assert!(second.stderr.contains("waiting  only: `cwm run --json, for only`, process "), "{}", second.stderr);
}

#[test]
fn a_stage_over_its_memory_is_killed_whoever_of_its_processes_holds_it() {
    // The shell holds nothing; what it calls doubles a variable until it is killed.
    let context = Context::with(
        r#"
cwm: 1
stages:
  only:
    stage: command
    retry: 2
    limits: { memory: 60MB }
    with: { run: 'sh -c "x=0123456789; while true; do x=\$x\$x; done"' }
"#,
    );
    let run = run_at_home(&context);
    assert!(run.failed["only"].starts_with("it held "), "{:?}", run.failed);
    assert!(run.failed["only"].ends_with(" of memory, more than its limit of 60.0 MB"), "{:?}", run.failed);
    let failed = &events(&run.raw, "failed")[0];
    assert_eq!((failed["kind"].as_str(), failed["attempts"].as_u64()), (Some("memory_limit"), Some(1)));
}

#[test]
fn out_of_memory_is_distinguished_from_a_crash() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  crashed: { stage: command, with: { run: 'sh -c "kill -SEGV \$\$"' } }
  killed: { stage: command, with: { run: 'sh -c "kill -KILL \$\$"' } }
  python: { stage: command, with: { run: 'echo "MemoryError" >&2; exit 1' } }
  absent: { stage: command, with: { run: 'no-such-program' } }
"#,
    );
    let run = context.run(&[]);
    let kinds: Vec<_> = events(&run.raw, "failed")
        .iter()
        .map(|event| (event["label"].as_str().unwrap().to_owned(), event["kind"].as_str().unwrap().to_owned()))
        .collect();
    let of = |stage: &str| kinds.iter().find(|(label, _)| label == stage).expect("it failed").1.clone();
    assert_eq!(["crashed", "killed", "python", "absent"].map(of), ["command", "command", "out_of_memory", "command"]);
    assert!(run.failed["crashed"].contains("signal 11 (SIGSEGV)"), "{:?}", run.failed);
    assert!(run.failed["python"].contains("out of memory, according to its log (MemoryError)"), "{:?}", run.failed);
    let plain = context.cwm(&["run", "absent"]);
    assert!(plain.stderr.contains("hint: `no-such-program` was not found"), "{}", plain.stderr);
}

#[test]
fn the_kernels_own_kill_for_memory_is_recognised() {
    // Version 1 and 2 of control groups; either only as root.
    let groups = [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")];
    let name = format!("cwm-test-{}", std::process::id());
    let made = groups.iter().find_map(|(root, limit)| {
        let folder = std::path::Path::new(root).join(&name);
        let parent = std::path::Path::new(root).join(limit).exists() || *limit == "memory.max";
        (parent && std::fs::create_dir(&folder).is_ok()).then_some(())?;
        match std::fs::write(folder.join(limit), "60000000") {
            Ok(()) => Some(folder),
            Err(_) => {
                let _ = std::fs::remove_dir(&folder);
                None
            }
        }
    });
    let Some(group) = made else {
        println!("skipped: a control group with a limit of memory (needs root and a writable /sys/fs/cgroup)");
        return;
    };
    let context = Context::with(
        "cwm: 1\nstages:\n  only: { stage: command, with: { run: 'sh -c \"x=0123456789; while true; do x=\\$x\\$x; done\"' } }\n",
    );
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "echo $$ > \"$0/cgroup.procs\" && exec \"$1\" run --json"]).arg(&group);
    command.arg(env!("CARGO_BIN_EXE_cwm")).current_dir(context.path(".")).env_remove("CWM_STORE");
    let run = Run::read(finish(command.output().expect("a shell")));
    let _ = std::fs::remove_dir(&group);
    assert_eq!(events(&run.raw, "failed")[0]["kind"], "out_of_memory", "{}", run.raw.stdout);
    assert!(run.failed["only"].ends_with("killed by the kernel, out of memory"), "{:?}", run.failed);
}

#[test]
fn a_run_that_fails_ends_with_a_table_and_the_command_that_tries_again() {
    let yaml = r#"
cwm: 1
vars: { word: no }
stages:
  good: { stage: command, with: { run: 'echo $word > "$out"', word: $word } }
  bad:
    stage: command
    from: good
    matrix: { seed: [0, 1] }
    with: { run: 'echo reported >&2; test -e "$HOME/mended" -o $seed = 0; echo $seed > "$out"', seed: $seed }
  after: { stage: command, each: bad, from: bad, with: { run: 'cp "$in" "$out"' } }
"#;
    let context = Context::new();
    context.write("a pipeline.yaml", yaml);
    let given =
        ["run", "-f", "a pipeline.yaml", "--set", "word=it's so", "--force", "good", "--force", "bad", "--", "after"];
    let ran = finish(at_home(&context, &given).output().expect("cwm starts"));
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let table = ran.stderr.split("1 cell failed:\n").nth(1).expect("a table");
    let lines: Vec<_> = table.lines().collect();
    assert!(lines[0].starts_with("  bad[seed=1]  1 attempt  "), "{table}");
    assert!(lines[0].ends_with("its command ended with exit status 1"), "{table}");
    assert!(lines[1].starts_with("    log: artifacts/work/") && lines[1].ends_with("/log"), "{table}");
    assert_eq!(lines[2], "    skipped because of it: after[seed=1]");
    assert_eq!(lines[3], "to try again what is not done:");
    let again = lines[4].trim();
    let expected = r"cwm run -f 'a pipeline.yaml' --set 'word=it'\''s so' --force 'bad[seed=1]' -- after";
    assert_eq!(again, expected);
    assert_eq!(lines[5], "ran 3, cached 0, failed 1, skipped 1");
    // A shell reads it as it stands, and it does the rest.
    context.write("mended", "");
    let mut shell = Command::new("sh");
    let binary = env!("CARGO_BIN_EXE_cwm");
    let again = again.replacen("run", "run --json", 1);
    shell.args(["-c", &format!("cwm() {{ '{binary}' \"$@\"; }}; {again}")]);
    let shell = shell.current_dir(context.path(".")).env("HOME", context.path(".")).env_remove("CWM_STORE").output();
    let run = Run::read(finish(shell.expect("a shell")));
    run.ran_just(&["bad[seed=1]", "after[seed=1]"]);
    // And for machines.
    std::fs::remove_file(context.path("mended")).expect("a removed file");
    let given = ["run", "--json", "-f", "a pipeline.yaml", "--set", "word=other"];
    let run = finish(at_home(&context, &given).env("CWM_STORE", "a store").output().expect("cwm starts"));
    let table = &events(&run, "failures")[0];
    assert_eq!(table["failed"][0]["label"], "bad[seed=1]", "{table}");
    assert_eq!(table["skipped"][0]["blocked_by"], "bad[seed=1]");
    assert_eq!(table["retry_command"], "cwm run --json -f 'a pipeline.yaml' --set word=other --store 'a store'");
}

#[test]
fn wrong_keys_are_reported_with_their_places() {
    let context = Context::with(
        "cwm: 1\nstages:\n  a: { stage: command, retry: many, limits: { tim: 1h, memory: lots }, with: { run: 'true' } }\n  b: { stage: command, retry: { times: 2, wait: soon }, limits: 1h, with: { run: 'true' } }\n",
    );
    let ran = context.cwm(&["run"]);
    assert_eq!(ran.code, 3);
    for words in [
        "`retry` must be a number of further attempts up to 100, or `{ times: 2, wait: 10s }`, not many",
        "`limits` has no key `tim`",
        "did you mean `time`?",
        "`memory` must be an amount such as `4GiB` or `500MB`, not lots",
        "`wait` must be a time such as `90s`, `10m` or `1h30m`, not soon",
        "`limits` must be a map, not text",
    ] {
        assert!(ran.stderr.contains(words), "{words}\n{}", ran.stderr);
    }
    // None of it is in a key.
    let yaml = "cwm: 1\nstages:\n  a: { stage: command, with: { run: 'echo x > \"$out\"' } }\n";
    let context = Context::with(yaml);
    context.run(&[]).ran_just(&["a"]);
    context.edit("pipeline.yaml", "command,", "command, retry: 2, limits: { time: 1h, memory: 1GiB },");
    context.run(&[]).ran_just(&[]);
}
