//! The effects of failures: they stay local, nothing finished is lost, the next run goes on.

use std::process::Command;
use std::time::Duration;

use crate::context::{Context, Run, finish};

const FORK: &str = r#"
cwm: 1
stages:
  good: { stage: command, with: { run: 'echo good > "$out"' } }
  bad: { stage: command, from: good, with: { run: 'echo to the log >&2; cat missing-file > "$out"' } }
  after_bad: { stage: command, from: bad, with: { run: 'wc -c < "$in" > "$out"' } }
  after_good: { stage: command, from: good, with: { run: 'cp "$in" "$out"' } }
"#;

#[test]
fn a_failure_stops_what_depends_on_it_and_nothing_else() {
    let context = Context::with(FORK);
    let run = context.run(&[]);
    assert_eq!(run.raw.code, 1);
    assert!(run.ran.iter().eq(["after_good", "good"]), "{:?}", run.ran);
    assert!(run.skipped.iter().eq(["after_bad"]), "{:?}", run.skipped);
    assert_eq!(run.failed["bad"], "its command ended with exit status 1");
    let plain = context.cwm(&["run"]);
    assert!(plain.stderr.contains("| to the log"), "the log's end is shown:\n{}", plain.stderr);
    assert!(plain.stderr.contains("hint: `cwm log bad`"), "{}", plain.stderr);
    assert!(plain.stderr.ends_with("ran 0, cached 2, failed 1, skipped 1\n"), "{}", plain.stderr);
    assert!(context.cwm(&["log", "bad"]).stdout.contains("missing-file"));
    // Once mended, the next run does the rest.
    context.edit("pipeline.yaml", "cat missing-file", "cat \"$in\"");
    context.run(&[]).ran_just(&["bad", "after_bad"]);
}

#[test]
fn an_output_that_is_not_written_or_not_declared_is_an_error() {
    let context = Context::with("cwm: 1\nstages:\n  only: { stage: command, with: { run: 'true' } }\n");
    assert_eq!(context.run(&[]).failed["only"], "it did not write its output `out`");
    context.edit("pipeline.yaml", "'true'", "'touch \"$out\" \"$out\".more'");
    assert_eq!(context.run(&[]).failed["only"], "its command wrote `out.more`, which is not one of its outputs");
    context.edit("pipeline.yaml", "touch \"$out\" \"$out\".more", "ln -s /etc/passwd \"$out\"");
    assert!(context.run(&[]).failed["only"].contains("link"), "{:?}", context.run(&[]).failed);
}

/// A slow first stage that says when it has begun, and counts how often it ran to the end, outside of the store.
fn slow(seconds: f32) -> String {
    format!(
        r#"
cwm: 1
stages:
  slow:
    stage: command
    with: {{ run: 'touch "$HOME/begun"; sleep {seconds}; echo x >> "$HOME/count"; echo done > "$out"' }}
  after: {{ stage: command, from: slow, with: {{ run: 'cp "$in" "$out"' }} }}
"#
    )
}

fn in_home(context: &Context, arguments: &[&str]) -> Command {
    let mut command = context.command(arguments);
    command.env("HOME", context.path("."));
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    command
}

#[test]
fn a_killed_executor_ends_its_stages_and_the_next_run_gives_the_same_results() {
    let undisturbed = Context::with(&slow(0.1));
    let run = in_home(&undisturbed, &["run", "--json"]).output().expect("cwm starts");
    Run::read(finish(run)).ran_just(&["slow", "after"]);

    let context = Context::with(
        &slow(0.1)
            .replace("sleep 0.1", "sleep ${NAP:-0.1}")
            .replace("with: { run: 'touch", "env: [NAP]\n    with: { run: 'touch"),
    );
    let mut child = in_home(&context, &["run"]).env("NAP", "3").spawn().expect("cwm starts");
    context.await_file("begun");
    child.kill().expect("a kill");
    child.wait().expect("an end");
    std::thread::sleep(Duration::from_millis(3500));
    assert!(!context.path("count").exists(), "the stage outlived its executor");
    assert_eq!(context.cwm(&["store", "verify"]).code, 0);
    let again = in_home(&context, &["run", "--json"]).env("NAP", "0.1").output().expect("cwm starts");
    Run::read(finish(again)).ran_just(&["slow", "after"]);
    assert_eq!(context.read("count"), "x\n");
}

#[test]
fn a_killed_stage_is_a_failed_stage_and_others_continue() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  victim: { stage: command, with: { run: 'kill -9 $PPID; sleep 5' } }
  crashed: { stage: command, with: { run: 'kill -ABRT $PPID; sleep 5' } }
  bystander: { stage: command, with: { run: 'echo fine > "$out"' } }
"#,
    );
    let run = context.run(&[]);
    assert!(run.ran.iter().eq(["bystander"]), "{:?}", run.ran);
    assert_eq!(run.failed["victim"], "killed (signal 9)");
    assert_eq!(run.failed["crashed"], "its process crashed: signal 6 (SIGABRT)");
    assert_eq!(context.cwm(&["store", "verify"]).code, 0);
}

#[test]
fn ctrl_c_stops_at_a_safe_point_and_records_no_partial_result() {
    let context = Context::with(&slow(30.0));
    let child = in_home(&context, &["run"]).spawn().expect("cwm starts");
    context.await_file("begun");
    interrupt(child.id());
    let ran = finish(child.wait_with_output().expect("an end"));
    assert_eq!(ran.code, 130, "{}", ran.stderr);
    assert!(ran.stderr.contains("stopping at the next safe point"), "{}", ran.stderr);
    assert!(ran.stderr.ends_with("ran 0, cached 0, failed 0, skipped 2\n"), "{}", ran.stderr);
    assert!(!context.path("count").exists());
}

#[test]
fn ctrl_c_twice_kills_stages_that_ignore_the_first() {
    let context = Context::with(&slow(30.0).replace("touch", "trap \"\" TERM; touch"));
    let child = in_home(&context, &["run"]).spawn().expect("cwm starts");
    context.await_file("begun");
    interrupt(child.id());
    std::thread::sleep(Duration::from_millis(500));
    interrupt(child.id());
    let ran = finish(child.wait_with_output().expect("an end"));
    assert_eq!(ran.code, 130, "{}", ran.stderr);
    assert!(!context.path("count").exists());
}

fn interrupt(pid: u32) {
    assert!(Command::new("kill").args(["-INT", &pid.to_string()]).status().expect("kill").success());
}

#[test]
fn two_executors_on_one_store_share_the_work() {
    let context = Context::with(&slow(1.0));
    let first = in_home(&context, &["run", "--json"]).spawn().expect("cwm starts");
    context.await_file("begun");
    let third = in_home(&context, &["run", "--json"]).spawn().expect("cwm starts");
    let second = in_home(&context, &["run"]).output().expect("cwm starts");
    let third = finish(third.wait_with_output().expect("an end"));
    let first = finish(first.wait_with_output().expect("an end"));
    let second = finish(second);
    assert_eq!((first.code, second.code), (0, 0), "{}\n{}", first.stderr, second.stderr);
    assert_eq!(context.read("count"), "x\n", "the work was done once");
    assert!(second.stderr.contains("waiting  slow: "), "{}", second.stderr);
    assert!(second.stderr.contains(" holds its lock"), "{}", second.stderr);
    // What one took over it did not run: it is counted as cached, in words and as JSON.
    let counts = |text: &str| -> Vec<u64> {
        let digits = |part: &str| part.chars().filter(char::is_ascii_digit).collect::<String>();
        text.split(',').map(|part| digits(part).parse().expect("a count")).collect()
    };
    let words = counts(second.stderr.trim().lines().last().expect("an end"));
    let objects = [&first, &third].map(|ran| {
        let end: serde_json::Value = serde_json::from_str(ran.stdout.lines().last().expect("an end")).expect("JSON");
        ["ran", "cached"].map(|name| end[name].as_u64().expect("a count"))
    });
    let all = [[words[0], words[1]], objects[0], objects[1]];
    assert!(all.iter().all(|[ran, cached]| ran + cached == 2), "{all:?}");
    assert_eq!(all.iter().map(|[ran, _]| ran).sum::<u64>(), 2, "each was done once: {all:?}");
}

#[test]
fn an_input_that_changes_while_a_stage_runs_makes_that_run_unrecorded() {
    let context = Context::with(
        "cwm: 1\nstages:\n  only: { stage: command, from: { text: { file: input.txt } }, with: { run: 'touch \"$HOME/begun\"; sleep 1; cat \"$in\" > \"$out\"' } }\n",
    );
    context.write_old("input.txt", "before\n");
    let child = in_home(&context, &["run", "--json"]).spawn().expect("cwm starts");
    context.await_file("begun");
    context.write("input.txt", "after!\n");
    let run = Run::read(finish(child.wait_with_output().expect("an end")));
    assert!(run.failed["only"].contains("changed while the stage ran"), "{:?}", run.failed);
    let again = in_home(&context, &["run", "--json"]).output().expect("cwm starts");
    Run::read(finish(again)).ran_just(&["only"]);
    assert_eq!(context.output("only"), "after!\n");
}

#[test]
fn a_lost_object_is_made_again_when_it_is_needed() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  first: { stage: command, with: { run: 'echo one > "$out"' } }
  second: { stage: command, from: first, with: { run: 'wc -c < "$in" > "$out"', n: 1 } }
"#,
    );
    context.run(&[]).ran_just(&["first", "second"]);
    let object = context.cwm(&["show", "--path", "first"]).stdout;
    std::fs::remove_file(object.trim()).expect("a removed object");
    // Nobody needs it: a hit is planned from the records.
    context.run(&[]).ran_just(&[]);
    context.edit("pipeline.yaml", "n: 1", "n: 2");
    let run = context.run(&[]);
    run.ran_just(&["first", "second"]);
    assert_eq!(run.causes["first"], "a file of its recorded result is missing");

    // The error names the command that makes it again, and that command works.
    std::fs::remove_file(object.trim()).expect("a removed object");
    let refused = context.cwm(&["show", "--path", "first"]);
    assert_eq!(refused.code, 4);
    assert!(refused.stderr.contains("`cwm run first` computes them again"), "{}", refused.stderr);
    context.run(&["first"]).ran_just(&["first"]);
    assert_eq!(context.cwm(&["show", "--path", "first"]).code, 0);
}

#[test]
fn a_flipped_bit_is_found_quarantined_and_rebuilt() {
    let context = Context::with("cwm: 1\nstages:\n  only: { stage: command, with: { run: 'echo abc > \"$out\"' } }\n");
    context.run(&[]).ran_just(&["only"]);
    let object = context.cwm(&["show", "--path", "only"]).stdout.trim().to_owned();
    let mut permissions = std::fs::metadata(&object).expect("an object").permissions();
    assert!(permissions.readonly(), "objects are read-only");
    #[allow(clippy::permissions_set_readonly_false)]
    permissions.set_readonly(false);
    std::fs::set_permissions(&object, permissions).expect("a mode");
    std::fs::write(&object, "abb\n").expect("a damaged object");
    let verify = context.cwm(&["store", "verify"]);
    assert_eq!(verify.code, 5, "{}", verify.stdout);
    assert!(verify.stdout.contains("is damaged") && verify.stdout.contains("quarantine"), "{}", verify.stdout);
    assert!(verify.stdout.ends_with(", 1 finding\n"), "one damaged object is one finding: {}", verify.stdout);
    assert!(verify.stderr.contains("hint: `cwm run only` computes what is needed"), "{}", verify.stderr);
    context.run(&[]).ran_just(&["only"]);
    assert_eq!(context.output("only"), "abc\n");
    assert_eq!(context.cwm(&["store", "verify"]).code, 0);
}

/// Other bytes in the object at this path.
fn spoil(object: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(object, std::fs::Permissions::from_mode(0o644)).expect("a mode");
    std::fs::write(object, "spoilt\n").expect("a damaged object");
}

#[test]
fn one_stages_result_is_verified_alone_and_what_read_damaged_content_is_named() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  first: { stage: command, with: { run: 'echo abc > "$out"', n: 1 } }
  early: { stage: command, from: first, with: { run: 'cat "$in" > "$out"; echo early >> "$out"' } }
  late: { stage: command, from: first, with: { run: 'cat "$in" > "$out"; echo late >> "$out"' } }
  other: { stage: command, with: { run: 'mkdir "$out"; echo 1 > "$out/a"; echo 2 > "$out/b"' }, outputs: { out: folder } }
"#,
    );
    context.run(&["early", "other"]).ran_just(&["first", "early", "other"]);
    let object = context.cwm(&["show", "--path", "first"]).stdout.trim().to_owned();
    // Longer ago than a clock's grain.
    let ended = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    context.run(&[]).ran_just(&["late"]);
    let late = context.cwm(&["show", "late", "--json"]).stdout;
    let late: serde_json::Value = serde_json::from_str(&late).expect("JSON");
    spoil(&object);
    let file = std::fs::File::options().append(true).open(&object).expect("the object");
    let verify = |arguments: &[&str]| {
        let ran = context.cwm(&[&["store", "verify"], arguments].concat());
        (ran.code, ran.stdout)
    };
    // As if after all of them: none of them read it so.
    file.set_modified(ended).expect("a time");
    let (code, reported) = verify(&["other"]);
    assert!(code == 0 && reported.contains("; 1 record, all intact"), "only what is its own: {reported}");
    assert!(std::path::Path::new(&object).exists(), "what was not asked about is not touched");
    let unknown = context.cwm(&["store", "verify", "nothing"]);
    assert!(unknown.code == 2 && unknown.stderr.contains("nothing"), "{}", unknown.stderr);
    // As it was when the last one ran, and not when the one before did.
    let began: jiff::Timestamp = late[0]["run_info"]["started"].as_str().expect("text").parse().expect("a time");
    file.set_modified(std::time::SystemTime::from(began)).expect("a time");
    let (code, reported) = verify(&["first"]);
    assert_eq!(code, 5, "{reported}");
    assert!(
        reported.contains("which is damaged now") && reported.contains("this result of `late` is wrong"),
        "{reported}"
    );
    assert!(!reported.contains("this result of `early`"), "{reported}");
    context.run(&["--force", "late"]).ran_just(&["first", "late"]);
    assert_eq!(verify(&[]).0, 0);
}

#[test]
fn a_full_disk_is_reported_and_loses_nothing_recorded() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  small: { stage: command, with: { run: 'echo small > "$out"' } }
  large: { stage: command, from: small, with: { run: 'head -c 30000000 /dev/zero > "$out"' } }
"#,
    );
    std::fs::create_dir(context.path("disk")).expect("a folder");
    let disk = context.path("disk");
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=8m", "tmpfs"]).arg(&disk).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        println!("skipped: a full disk (mounting a small tmpfs needs root)");
        return;
    }
    let run = context.run(&["--store", "disk/store"]);
    let verify = context.cwm(&["store", "verify", "--store", "disk/store"]);
    let status = context.cwm(&["status", "--store", "disk/store"]);
    let unmounted = Command::new("umount").arg(&disk).status();
    assert!(unmounted.expect("umount").success());
    assert!(run.ran.contains("small"), "{}", run.raw.stdout);
    assert!(run.failed.contains_key("large"), "{}", run.raw.stdout);
    assert!(run.raw.stdout.contains("No space left"), "{}", run.raw.stdout);
    assert_eq!(verify.code, 0, "{}", verify.stdout);
    assert!(status.stdout.contains("cached     small"), "{}", status.stdout);
}

#[test]
fn a_read_only_store_can_be_read_and_writing_to_it_is_an_error() {
    let context =
        Context::with("cwm: 1\nstages:\n  only: { stage: command, with: { run: 'echo abc > \"$out\"', n: 1 } }\n");
    context.run(&[]).ran_just(&["only"]);
    let store = context.path("artifacts");
    let bound = Command::new("mount").arg("--bind").arg(&store).arg(&store).output();
    if !bound.is_ok_and(|output| output.status.success()) {
        println!("skipped: a read-only store (a bind mount needs root)");
        return;
    }
    let frozen = Command::new("mount").args(["-o", "remount,bind,ro"]).arg(&store).status();
    let (no_op, status, path) =
        (context.cwm(&["run"]), context.cwm(&["status"]), context.cwm(&["show", "--path", "only"]));
    context.edit("pipeline.yaml", "n: 1", "n: 2");
    let (must_write, why) = (context.cwm(&["run"]), context.cwm(&["why", "only"]));
    context.edit("pipeline.yaml", "n: 2", "n: 1");
    let forced = context.cwm(&["run", "--force", "only"]);
    assert!(Command::new("umount").arg(&store).status().expect("umount").success());
    assert!(frozen.expect("mount").success());
    assert_eq!((no_op.code, status.code, path.code, why.code), (0, 0, 0, 0), "{}{}", no_op.stderr, status.stderr);
    assert!(why.stdout.contains("`n` changed: 1 -> 2"), "{}", why.stdout);
    for refused in [&must_write, &forced] {
        assert_eq!(refused.code, 4, "{}", refused.stderr);
        assert!(refused.stderr.contains("Read-only file system"), "{}", refused.stderr);
    }
    assert!(must_write.stderr.contains("cannot be written"), "{}", must_write.stderr);
}

#[test]
fn a_command_that_ends_well_because_it_was_asked_to_stop_is_not_done() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  only: { stage: command, with: { run: 'trap "exit 0" TERM; echo half > "$out"; touch "$HOME/begun"; sleep 20 & wait; echo whole > "$out"' } }
"#,
    );
    let child = in_home(&context, &["run"]).spawn().expect("cwm starts");
    context.await_file("begun");
    interrupt(child.id());
    let ran = finish(child.wait_with_output().expect("an end"));
    assert_eq!(ran.code, 130, "{}", ran.stderr);
    assert!(context.cwm(&["status"]).stdout.contains("would run  only"), "{}", context.cwm(&["status"]).stdout);
}

#[test]
fn a_stage_that_changes_its_input_is_not_recorded_and_the_input_is_made_again() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  first: { stage: command, with: { run: 'echo true > "$out"' } }
  second: { stage: command, from: first, with: { run: 'chmod u+w "$in"; echo evil > "$in"; cat "$in" > "$out"' } }
"#,
    );
    let run = context.run(&[]);
    assert!(run.failed["second"].contains("input `in` was changed in the store while it ran"), "{}", run.raw.stdout);
    assert_eq!(context.cwm(&["store", "verify"]).code, 5, "the damaged object is found and moved to quarantine");
    context.edit("pipeline.yaml", "chmod u+w \"$in\"; echo evil > \"$in\"; ", "");
    context.run(&[]).ran_just(&["first", "second"]);
    assert_eq!(context.output("second"), "true\n");
}

#[test]
fn a_hard_link_to_an_input_is_called_one() {
    for (outputs, path) in [("", "out"), ("outputs: { d: folder }, ", "d/below/link")] {
        let context = Context::with(&format!(
            r#"
cwm: 1
stages:
  first: {{ stage: command, with: {{ run: 'echo true > "$out"' }} }}
  second: {{ stage: command, from: first, {outputs}with: {{ run: 'x=$(dirname "$out")/{path}; mkdir -p "$(dirname "$x")"; ln -L "$in" "$x"' }} }}
"#
        ));
        let run = context.run(&[]);
        let words = format!("/{path} has a second name (a hard link)");
        assert!(run.failed["second"].ends_with(&words), "{}", run.raw.stdout);
        assert_eq!(context.cwm(&["store", "verify"]).code, 0, "the input is what it was");
    }
}

#[test]
fn a_folder_that_was_tampered_with_is_read_as_it_was_made() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  first:
    stage: command
    outputs: { d: folder }
    with: { run: 'mkdir "$out_d"; echo 1 > "$out_d/one"; echo 2 > "$out_d/two"' }
  second: { stage: command, from: first, with: { run: 'ls "$in" > "$out"', n: 1 } }
"#,
    );
    context.run(&[]).ran_just(&["first", "second"]);
    let tree = context.cwm(&["show", "--path", "first"]).stdout;
    std::fs::remove_file(std::path::Path::new(tree.trim()).join("two")).expect("a removed link");
    context.edit("pipeline.yaml", "n: 1", "n: 2");
    context.run(&[]).ran_just(&["second"]);
    assert_eq!(context.output("second"), "one\ntwo\n");
}

#[test]
fn a_stage_that_links_to_its_input_affects_no_other_reader() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  first: { stage: command, with: { run: 'echo true > "$out"' } }
  links: { stage: command, from: first, with: { run: 'sleep 0.3; ln -L "$in" "$out"' } }
  reads: { stage: command, from: first, with: { run: 'sleep 1; cat "$in" > "$out"' } }
"#,
    );
    let run = context.run(&["--jobs", "2"]);
    assert_eq!(run.failed.keys().collect::<Vec<_>>(), ["links"], "{}", run.raw.stdout);
    assert!(run.ran.contains("reads"), "{}", run.raw.stdout);
    assert_eq!(context.output("reads"), "true\n");
}
