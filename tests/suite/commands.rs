//! The output of commands: `why`, `status`, `show`, `log`, `dag`, `export`, and the lock file in git.

use std::collections::HashMap;

use cwm_core::Digest;

use crate::context::{Context, finish};

const TWO: &str = r#"
cwm: 1
stages:
  first: { stage: command, with: { run: 'echo "$n" > "$out"', n: 1 } }
  second: { stage: command, from: first, with: { run: 'cat "$in" > "$out"; echo 2 >> "$out"' } }
export: { second: exported }
"#;

#[test]
fn a_run_ends_with_one_line_of_counts() {
    let context = Context::with(TWO);
    let ran = context.cwm(&["run"]);
    assert_eq!(ran.stdout, "", "data alone goes to standard output");
    assert_eq!(ran.stderr.lines().last(), Some("ran 2, cached 0, failed 0, skipped 0"), "{}", ran.stderr);
    // Where there is no terminal there are no bars, and the lines are printed all the same.
    let live = context.cwm(&["run", "--output", "live"]);
    assert_eq!(live.stderr.lines().last(), Some("ran 0, cached 2, failed 0, skipped 0"), "{}", live.stderr);
    assert!(ran.stderr.contains("second: exported/out\n"), "the export's path is reported:\n{}", ran.stderr);
}

#[test]
fn why_follows_a_change_to_its_root() {
    let context = Context::with(TWO);
    let why = |stage: &str| context.cwm(&["why", stage]).stdout;
    assert_eq!(why("first"), "first: would run\n  never ran\n");
    assert_eq!(
        why("second"),
        "second: may run, when what it depends on has run\n  never ran\n  first: would run\n    never ran\n"
    );
    context.run(&[]);
    assert!(why("second").starts_with("second: cached: "), "{}", why("second"));
    context.edit("pipeline.yaml", "n: 1", "n: 5");
    assert_eq!(
        why("second"),
        "second: may run, when what it depends on has run\n  first: would run\n    parameter `n` changed: 1 -> 5 (line 4)\n"
    );
    context.run(&["first"]);
    let why = why("second");
    assert!(why.starts_with("second: would run\n  input `in` changed: "), "{why}");
    assert!(why.contains(", from first\n  first: ran again: "), "{why}");
    assert!(why.contains("\n    parameter `n` changed: 1 -> 5 (line 4)\n"), "{why}");
}

#[test]
fn a_dry_run_reports_what_would_run_and_writes_nothing() {
    let context = Context::with(TWO);
    let ran = context.cwm(&["run", "--dry-run"]);
    assert_eq!(ran.code, 0);
    assert_eq!(ran.stderr.lines().last(), Some("would run 1, may run 1, cached 0, would fail 0"), "{}", ran.stderr);
    assert!(!context.path("artifacts").exists() && !context.path("pipeline.lock").exists());
}

#[test]
fn status_show_and_log_describe_a_result() {
    let context = Context::with(TWO);
    let unmade = context.cwm(&["show", "--path", "second"]);
    assert_eq!(unmade.code, 2);
    assert!(
        unmade.stderr.contains("second has no result yet") && unmade.stderr.contains("`cwm run second` computes it")
    );
    context.run(&[]);
    assert!(context.cwm(&["status"]).stdout.ends_with("2 cached\n"));
    let show = context.cwm(&["show", "first"]).stdout;
    assert!(show.contains("parameter   n: 1\n") && show.contains("because     never ran\n"), "{show}");
    let digest = show.split("output      out: any ").nth(1).and_then(|rest| rest.split(' ').next()).expect("a digest");
    assert!(context.cwm(&["show", &digest[..10]]).stdout.contains("first (command)"));
    let records: serde_json::Value =
        serde_json::from_str(&context.cwm(&["show", "first", "--json"]).stdout).expect("JSON");
    assert_eq!(records[0]["components"]["parameters"]["n"], 1);
    assert_eq!(context.cwm(&["show", "nothing"]).code, 2);
    assert_eq!(context.cwm(&["log", "first"]).code, 0);
}

#[test]
fn a_missing_result_is_reported_with_the_attempt_that_failed_or_the_older_result() {
    let context = Context::with(TWO);
    context.run(&[]);
    context.edit("pipeline.yaml", "n: 1", "n: 5");
    let refused = |arguments: &[&str]| {
        let ran = context.cwm(&[arguments, &["-f", "pipeline.yaml", "--store", "artifacts"]].concat());
        assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.stderr);
        ran.stderr
    };
    let make = "hint: `cwm run -f pipeline.yaml --store artifacts second` computes it; \
                `cwm why -f pipeline.yaml --store artifacts second` lists what changed\n";
    let mut commands = vec![&["show", "second"][..], &["show", "--path", "second"], &["export", "second", "there"]];
    if cfg!(feature = "sql") {
        commands.push(&["sql", "second", "select 1"]);
    }
    for &command in &commands {
        let older = "error: second has no result yet; the recorded one is of an earlier state of the pipeline\n";
        assert_eq!(refused(command), format!("{older}{make}"), "{command:?}");
    }
    context.edit("pipeline.yaml", "echo \"$n\" > \"$out\"", "echo \"$n\" > \"$out\"; exit 1");
    assert_eq!(context.run(&[]).raw.code, 1);
    for &command in &commands {
        let failed = "error: second has no result yet; first, on which it depends, failed or was stopped\n";
        let log = "hint: `cwm log --file pipeline.yaml --store artifacts first` prints the log of that attempt\n";
        assert_eq!(refused(command), format!("{failed}{log}{make}"), "{command:?}");
    }
    assert!(refused(&["show", "first"]).contains("first has no result yet; its last attempt failed or was stopped"));
}

#[test]
fn status_and_why_take_the_pipeline_as_their_first_word_as_run_does() {
    let context = Context::new();
    context.write("other.yaml", TWO);
    for arguments in
        [&["status", "other.yaml"][..], &["status", "other.yaml", "first"], &["why", "other.yaml", "first"]]
    {
        let ran = context.cwm(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.stderr);
        assert!(ran.stdout.contains("never ran"), "{arguments:?}: {}", ran.stdout);
    }
    for (arguments, words) in [
        (&["status", "other.yaml", "-f", "third.yaml"][..], "two pipelines are named: `third.yaml` and `other.yaml`"),
        (&["run", "first", "other.yaml"], "the pipeline comes first, or is named with `--file FILE`"),
        (&["run", "other.yaml", "third.yaml"], "two pipelines are named: `other.yaml` and `third.yaml`"),
    ] {
        let ran = context.cwm(arguments);
        assert_eq!(ran.code, 2);
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
    }
}

#[test]
fn an_ambiguous_or_short_hash_is_reported() {
    // The first two numbers whose digests begin alike.
    let mut seen: HashMap<String, u32> = HashMap::new();
    let (prefix, one, two) = (0..)
        .find_map(|number: u32| {
            let prefix = Digest::of(format!("{number}\n").as_bytes()).to_string()[..6].to_owned();
            seen.insert(prefix.clone(), number).map(|earlier| (prefix, earlier, number))
        })
        .expect("a pair");
    let yaml = TWO
        .replace("n: 1", &format!("n: {one}"))
        .replace("cat \"$in\" > \"$out\"; echo 2 >>", &format!("echo {two} >"));
    let context = Context::with(&yaml);
    context.run(&[]);
    let records: serde_json::Value =
        serde_json::from_str(&context.cwm(&["show", "first", "--json"]).stdout).expect("JSON");
    let key = records[0]["key"].as_str().expect("a key");
    let short = context.cwm(&["show", &key[..5]]);
    assert_eq!(short.code, 2);
    assert!(
        short.stderr.contains("too short for a key or digest") && short.stderr.contains("6 digits"),
        "{}",
        short.stderr
    );
    assert_eq!(context.cwm(&["show", &key[..8]]).code, 0);
    let several = context.cwm(&["show", &prefix]);
    assert_eq!(several.code, 2, "{}", several.stdout);
    assert!(several.stderr.contains(&format!("2 keys and digests begin with {prefix}")), "{}", several.stderr);
    assert!(several.stderr.contains("(first.out)") && several.stderr.contains("(second.out)"), "{}", several.stderr);
}

#[test]
fn the_graph_is_drawn_in_three_notations() {
    let context = Context::with(TWO);
    let dag = |notation: &str| context.cwm(&["status", &format!("--graph={notation}")]).stdout;
    assert_eq!(dag("text"), "first   command\nsecond  command <- first\n");
    assert!(dag("mermaid").starts_with("flowchart TD\n") && dag("mermaid").contains("n0 --> n1"), "{}", dag("mermaid"));
    let svg = context.cwm(&["status", "--graph", "svg"]).stderr;
    assert!(svg.contains("hint: `cwm status --graph=text` (or `mermaid`, `dot`)"), "{svg}");
    let both = context.cwm(&["status", "--graph=dot", "--json"]);
    assert!(both.code == 2 && both.stderr.contains("`--json` cannot be used with `--graph=dot`"), "{}", both.stderr);
    assert_eq!(context.cwm(&["run", "--json", "--output", "plain"]).code, 2);
    assert!(dag("dot").starts_with("digraph") && dag("dot").contains("n0 -> n1"), "{}", dag("dot"));
}

#[test]
fn an_export_follows_its_result_and_never_touches_what_is_not_ours() {
    let context = Context::with(TWO);
    context.run(&[]);
    assert_eq!(context.read("exported/out"), "1\n2\n");
    context.write("exported/notes.txt", "mine");
    context.edit("pipeline.yaml", "n: 1", "n: 7");
    context.run(&[]).ran_just(&["first", "second"]);
    assert_eq!(context.read("exported/out"), "7\n2\n");
    assert_eq!(context.read("exported/notes.txt"), "mine");
    let ran = context.cwm(&["export", "first", "elsewhere"]);
    assert_eq!((ran.code, context.read("elsewhere/out").as_str()), (0, "7\n"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("replaced"), "{}", ran.stderr);
    let same = context.cwm(&["export", "first", "elsewhere"]);
    assert!(!same.stderr.contains("replaced"), "nothing was to be done: {}", same.stderr);
    context.edit("pipeline.yaml", "n: 7", "n: 8");
    context.run(&[]);
    let again = context.cwm(&["export", "first", "elsewhere"]);
    assert!(again.stderr.contains("replaced the earlier export there"), "{}", again.stderr);
    context.write("theirs/out", "mine");
    let refused = context.cwm(&["export", "first", "theirs"]);
    assert_eq!((refused.code, context.read("theirs/out").as_str()), (2, "mine"), "{}", refused.stderr);
    assert!(refused.stderr.contains("no export wrote it\nhint: move it away, or export to another place"));
    let writable = std::fs::metadata(context.path("elsewhere/out")).expect("a file").permissions().readonly();
    assert!(!writable, "what is exported belongs to whoever asked for it");
}

#[test]
fn either_side_of_a_conflict_in_the_lock_file_is_valid() {
    let context = Context::with(TWO);
    context.run(&[]);
    let ours = context.read("pipeline.lock");
    context.edit("pipeline.yaml", "n: 1", "n: 2");
    context.run(&[]);
    let theirs = context.read("pipeline.lock");
    context.write("pipeline.lock", &format!("<<<<<<< ours\n{ours}=======\n{theirs}>>>>>>> theirs\n"));
    let ran = context.cwm(&["run"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("conflict"), "{}", ran.stderr);
    assert_eq!(context.read("pipeline.lock"), theirs);
}

#[test]
fn a_lock_file_that_cannot_be_read_is_not_written_over() {
    let context = Context::with(TWO);
    context.run(&[]);
    let broken = context.read("pipeline.lock").replace("\"key\"", "key");
    context.write("pipeline.lock", &broken);
    context.edit("pipeline.yaml", "n: 1", "n: 2");
    let ran = context.cwm(&["run"]);
    assert_eq!(ran.code, 4, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("error: cannot read ")
            && ran.stderr.contains("pipeline.lock:4: this is not a cell")
            && ran.stderr.contains("`git restore /"),
        "{}",
        ran.stderr
    );
    assert!(!ran.stderr.contains("running"), "before anything runs: {}", ran.stderr);
    assert_eq!(ran.stderr.matches("this is not a cell").count(), 1, "once: {}", ran.stderr);
    assert_eq!(context.read("pipeline.lock"), broken);
    // What writes none goes on.
    for arguments in [&["status"][..], &["why", "first"], &["run", "--dry-run"]] {
        let ran = context.cwm(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("pipeline.lock:4: this is not a cell"), "{}", ran.stderr);
    }
    std::fs::remove_file(context.path("pipeline.lock")).expect("removed");
    context.run(&[]).ran_just(&["first", "second"]);
}

#[test]
fn an_export_that_cannot_be_made_is_refused_before_anything_runs() {
    for (to, words) in [
        ("taken", "taken is a file, and an export makes a folder"),
        ("artifacts/x", "is in the store itself"),
        ("taken/below", "taken is a file"),
        ("theirs", "theirs/out exists, and no export wrote it"),
    ] {
        let context = Context::with(&TWO.replace("exported", to));
        context.write("taken", "mine");
        context.write("theirs/out", "mine");
        for dry in [&["run"][..], &["run", "--dry-run"]] {
            let ran = context.cwm(dry);
            assert_eq!(ran.code, 3, "{to}: {}", ran.stderr);
            assert!(ran.stderr.contains(words) && ran.stderr.contains("pipeline.yaml:"), "{to}: {}", ran.stderr);
        }
        assert!(!context.path("artifacts").exists());
        assert_eq!(context.cwm(&["status"]).code, 0, "what exports nothing goes on");
        context.run(&["first"]).ran_just(&["first"]);
    }
}

#[test]
fn an_export_into_a_folder_that_cannot_be_written_does_not_blame_the_store() {
    // Nobody may make a folder there, not even root.
    let context = Context::with(&TWO.replace("exported", "/sys/cwm-export"));
    for command in [&["run"][..], &["export", "second", "/sys/cwm-export"]] {
        let exported = context.cwm(command);
        assert_eq!(exported.code, 70, "{command:?}: {}", exported.stderr);
        assert!(exported.stderr.contains("hint: see who may write there: `ls -ld /sys`"), "{}", exported.stderr);
    }
    assert_eq!(context.cwm(&["status"]).code, 0, "the results are recorded");
}

#[test]
fn options_before_the_command_are_reported_where_they_belong() {
    let context = Context::with(TWO);
    let ran = context.cwm(&["-f", "x y.yaml", "status", "--json"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("hint: options come after the command: `cwm COMMAND [OPTIONS]`"), "{}", ran.stderr);
    let reported: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(reported["exit_code"], 2);
    assert!(reported["errors"][0]["message"].as_str().is_some_and(|message| message.contains("'-f'")), "{reported}");
}

#[test]
fn usage_and_help_are_the_same_in_every_environment_and_leave_out_exec() {
    let context = Context::new();
    for arguments in [&[][..], &["diff"], &["store"], &["--json"], &["help"], &["--help"]] {
        let mut command = context.command(arguments);
        let set = finish(command.env("CWM_STORE", "elsewhere").output().expect("cwm starts"));
        let unset = context.cwm(arguments);
        let text = format!("{}{}", set.stdout, set.stderr);
        assert_eq!((set.code, &text), (unset.code, &format!("{}{}", unset.stdout, unset.stderr)), "{arguments:?}");
        assert!(text.contains("Usage: cwm") && !text.contains("unrecognized"), "{arguments:?}: {text}");
        assert!(!text.split(|c: char| !c.is_alphanumeric()).any(|word| word == "exec"), "{arguments:?}: {text}");
    }
    let conflict = context.command(&["run", "--check", "--force", "a"]).env("CWM_DEVICE", "cpu").output();
    let conflict = finish(conflict.expect("cwm starts"));
    assert!(conflict.code == 2 && !conflict.stderr.contains("--device"), "{}", conflict.stderr);
    // What is wrong with the environment alone is reported.
    for (variable, value, problem) in
        [("CWM_DEVICE", "gpu", "`gpu` is no device"), ("CWM_STORE", "", "a value is required")]
    {
        let wrong = context.command(&["run"]).env(variable, value).output().expect("cwm starts");
        let wrong = finish(wrong);
        assert!(wrong.code == 2 && wrong.stderr.contains(problem), "{}", wrong.stderr);
        let hint = "hint: the value is that of CWM_STORE or CWM_DEVICE in the environment";
        assert!(wrong.stderr.contains(hint), "{}", wrong.stderr);
    }
}

#[test]
fn missing_names_are_errors_of_the_command_line() {
    let context = Context::with(TWO);
    for command in
        [&["run", "none.yaml"][..], &["status", "-f", "none.yaml"], &["export", "second", "x", "-f", "none.yaml"]]
    {
        let refused = context.cwm(command);
        assert_eq!(refused.code, 2, "{command:?}: {}", refused.stderr);
        assert!(refused.stderr.starts_with("error: there is no pipeline file none.yaml\nhint: "), "{}", refused.stderr);
    }
    let refused = context.cwm(&["run", "--watch", "-f", "."]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.starts_with("error: . is a folder, and a pipeline is a file\nhint: "), "{}", refused.stderr);
    let refused = context.cwm(&["model", "import", "nowhere.pt", "out"]);
    assert_eq!((refused.code, refused.stderr.as_str()), (2, "error: there is no file nowhere.pt\n"));
    context.run(&[]);
    context.write("taken", "mine");
    let refused = context.cwm(&["export", "second", "taken"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(
        refused.stderr.contains("taken is a file, and an export makes a folder\nhint: move it away"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_folder_as_an_input_is_reported_with_what_takes_all_files_in_it() {
    let context = Context::with(
        "cwm: 1\nstages:\n  a: { stage: command, from: { d: { file: folder } }, with: { run: 'ls > \"$out\"' } }\n",
    );
    context.write("folder/x", "x");
    let refused = context.cwm(&["run"]);
    assert_eq!(refused.code, 3, "{}", refused.stderr);
    assert!(refused.stderr.contains("a command has `deps: [\"FOLDER/**\"]`"), "{}", refused.stderr);
}

#[test]
fn a_store_whose_format_is_damaged_is_reported_with_what_to_do() {
    let context = Context::with(TWO);
    context.run(&[]);
    let format = context.path("artifacts/format");
    for damage in ["", "x", "a folder"] {
        std::fs::remove_file(&format).expect("removed");
        if damage == "a folder" {
            std::fs::create_dir(&format).expect("a folder")
        } else {
            std::fs::write(&format, damage).expect("written")
        }
        let refused = context.cwm(&["status"]);
        assert_eq!(refused.code, 4, "{}", refused.stderr);
        assert!(
            refused.stderr.contains("format does not hold the version of a store, such as `1`"),
            "{}",
            refused.stderr
        );
        assert!(refused.stderr.contains("put the version there: `1`"), "{}", refused.stderr);
    }
    std::fs::remove_dir(&format).expect("removed");
    context.write("artifacts/format", "1\n");
    context.run(&[]).ran_just(&[]);
}
