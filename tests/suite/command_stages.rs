//! The files that a command may read, write and leave behind, and the messages about others.

use std::os::unix::fs::PermissionsExt;

use crate::context::Context;

fn only(run: &str, keys: &str) -> Context {
    let run = run.replace('\'', "''");
    Context::with(&format!(
        "cwm: 1\nstages:\n  first: {{ stage: command, with: {{ run: 'echo true > \"$out\"' }} }}\n  only: {{ stage: command, from: first{keys}, with: {{ run: '{run}' }} }}\n"
    ))
}

#[test]
fn no_link_leads_into_the_store_or_out_of_it() {
    for (run, words) in [
        ("ln -s \"$in\" \"$out\"", "is a symbolic link"),
        ("ln \"$in\" \"$out\"", "is a symbolic link"),
        ("echo x > mine; ln mine \"$out\"", "has a second name (a hard link)"),
        ("mkfifo \"$out\"", "is not a plain file"),
        ("mkdir \"$out\"", "is a folder, but was declared as a file"),
    ] {
        let run = only(run, "").run(&[]);
        assert!(run.failed["only"].contains(words), "{words}: {:?}", run.failed);
    }
    // The object itself, by another name: that it was touched is noticed, and the name goes.
    let context = only("ln \"$(readlink -f \"$in\")\" \"$out\"", "");
    let run = context.run(&[]);
    assert!(run.failed.contains_key("only"), "{}", run.raw.stdout);
    let object = std::fs::metadata(context.cwm(&["show", "--path", "first"]).stdout.trim()).expect("an object");
    assert_eq!(std::os::unix::fs::MetadataExt::nlink(&object), 1);
    assert_eq!(context.cwm(&["store", "verify"]).code, 0);
}

#[test]
fn folders_may_be_empty_and_keep_modes_and_odd_names() {
    let keys = ", outputs: { tools: folder, none: folder }";
    let run = "mkdir \"$out_tools\" \"$out_none\"; printf '#!/bin/sh\\necho ran\\n' > \"$out_tools/a b é\"; chmod 755 \"$out_tools/a b é\"; echo x > \"$out_tools/plain\"";
    let context = only(run, keys);
    context.run(&[]).ran_just(&["first", "only"]);
    context.cwm(&["export", "only.tools", "exported"]);
    let mode = |name: &str| std::fs::metadata(context.path(name)).expect("a file").permissions().mode() & 0o111;
    assert_ne!(mode("exported/a b é"), 0);
    assert_eq!(mode("exported/plain"), 0);
    let none = context.cwm(&["show", "--path", "only.none"]).stdout;
    assert_eq!(std::fs::read_dir(none.trim()).expect("a folder").count(), 0);
    // A name that is no text cannot be listed for others.
    let context = only("mkdir \"$out_d\"; echo x > \"$out_d/$(printf '\\377')\"", ", outputs: { d: folder }");
    let run = context.run(&[]);
    assert!(run.failed["only"].contains("has a name that is not UTF-8"), "{:?}", run.failed);
}

#[test]
fn the_environment_is_clean_and_what_env_lists_is_in_the_key() {
    let context = only("env | sort > \"$out\"", ", env: [SHOWN]");
    let run = |shown: &str| {
        let mut command = context.command(&["run", "--json"]);
        command.env("SHOWN", shown).env("HIDDEN", "x").env("LC_ALL", "tr_TR.UTF-8");
        crate::context::Run::read(crate::context::finish(command.output().expect("cwm starts")))
    };
    run("one").ran_just(&["first", "only"]);
    let mut path = context.command(&["show", "--path", "only"]);
    let path = crate::context::finish(path.env("SHOWN", "one").output().expect("cwm starts")).stdout;
    let text = std::fs::read_to_string(path.trim()).expect("an output");
    let names: Vec<String> = text.lines().filter_map(|line| Some(line.split_once('=')?.0.to_owned())).collect();
    let known = [
        "CWM_CORES",
        "HOME",
        "PATH",
        "PWD",
        "SHOWN",
        "TMPDIR",
        "in",
        "in_in",
        "out",
        "_",
        "OLDPWD",
        "SHLVL",
        "CUDA_VISIBLE_DEVICES",
    ];
    assert!(names.iter().all(|name| known.contains(&name.as_str())), "{names:?}");
    assert!(names.contains(&"SHOWN".to_owned()));
    run("one").ran_just(&[]);
    run("two").ran_just(&["only"]);
}

#[test]
fn a_variable_that_is_not_set_stays_so_and_is_not_an_empty_one() {
    let context = only("echo \"${SHOWN-unset}\" > \"$out\"", ", env: [SHOWN]");
    let run = |shown: Option<&str>| {
        let mut command = context.command(&["run", "--json"]);
        match shown {
            None => command.env_remove("SHOWN"),
            Some(shown) => command.env("SHOWN", shown),
        };
        crate::context::Run::read(crate::context::finish(command.output().expect("cwm starts")))
    };
    let output = |shown: Option<&str>| {
        let mut command = context.command(&["show", "--path", "only"]);
        match shown {
            None => command.env_remove("SHOWN"),
            Some(shown) => command.env("SHOWN", shown),
        };
        let path = crate::context::finish(command.output().expect("cwm starts")).stdout;
        std::fs::read_to_string(path.trim()).expect("an output")
    };
    run(None).ran_just(&["first", "only"]);
    assert_eq!(output(None), "unset\n");
    let empty = run(Some(""));
    empty.ran_just(&["only"]);
    let cause = &empty.causes["only"];
    assert!(cause.starts_with("variable `SHOWN` of the environment changed: (not set) -> secret "), "{cause}");
    assert_eq!(output(Some("")), "\n");
    run(None).ran_just(&[]);
}

#[test]
fn a_replaced_output_folder_and_a_killed_shell_are_reported() {
    let context = only("rm -r \"$(dirname \"$out\")\"", "");
    let reason = &context.run(&[]).failed["only"];
    assert_eq!(reason, "it did not write its output `out`");
    let context = only("sleep 60 & kill -9 $$", "");
    context.run(&[]);
    let log = context.cwm(&["log", "only"]).stdout;
    assert!(!log.contains("left processes"), "{log}");
    let context = only("echo 1 > \"$out\"; sleep 60 & exit 3", "");
    context.run(&[]);
    assert!(context.cwm(&["log", "only"]).stdout.contains("left processes in the background"));
}

#[test]
fn control_characters_of_a_log_do_not_reach_the_terminal() {
    let context = only("printf '10%%\\r100%%\\r\\n\\033[31mred\\033[0m \\033]0;title\\007end\\n'; exit 1", "");
    let ran = context.cwm(&["run"]);
    assert!(ran.stderr.contains("| 100%\n") && ran.stderr.contains("| red end\n"), "{}", ran.stderr);
    assert!(!ran.stderr.contains('\u{1b}'), "{}", ran.stderr);
}

#[test]
fn a_script_that_deps_do_not_name_is_warned_of_with_its_place() {
    let context = Context::new();
    for name in ["probe.py", "lib/tool.sh", "named.py", "data.csv", "result.txt", "said.txt"] {
        context.write(name, "echo x\n");
    }
    context.write(
        "pipeline.yaml",
        r#"
cwm: 1
stages:
  one:
    stage: command
    from: { data: { file: data.csv } }
    deps: [named.py]
    with:
      run: |
        # not probe.py
        cat named.py data.csv > result.txt
        echo said.txt
        cat ./lib/tool.sh < probe.py > "$out" || cat result.txt "$in" > "$out"
"#,
    );
    let ran = context.cwm(&["run", "-f", "pipeline.yaml"]);
    let warnings: Vec<_> = ran.stderr.lines().filter(|line| line.starts_with("warning: ")).collect();
    let expected = [
        "warning: pipeline.yaml:13:13: `./lib/tool.sh` in the `run` of `one` is a file of the pipeline's folder that its `deps` do not name: the command begins in a folder of its own, without it, and a change of it reruns nothing; write `deps: [lib/tool.sh]`",
        "warning: pipeline.yaml:13:29: `probe.py` in the `run` of `one` is a file of the pipeline's folder that its `deps` do not name: the command begins in a folder of its own, without it, and a change of it reruns nothing; write `deps: [probe.py]`",
    ];
    assert_eq!(warnings, expected, "{}", ran.stderr);
    // By its whole path it is found, and no less unknown.
    let absolute = context.path("probe.py").canonicalize().expect("a path");
    let text = format!(
        "cwm: 1\nstages:\n  one: {{ stage: command, with: {{ run: 'sh {} > \"$out\"' }} }}\n",
        absolute.display()
    );
    context.write("pipeline.yaml", &text);
    let ran = context.cwm(&["run", "--dry-run"]);
    assert!(
        ran.stderr.contains("that its `deps` do not name: a change of it reruns nothing; write `deps: [probe.py]`"),
        "{}",
        ran.stderr
    );
}

#[test]
fn dependencies_are_copies_that_edits_do_not_affect() {
    let context = Context::with(
        r##"
cwm: 1
stages:
  one:
    stage: command
    deps: ["code/**"]
    with: { run: 'ls "$(dirname "$(readlink -f code/a.py)")" > "$out"; echo "# more" >> code/a.py; cat code/a.py >> "$out"' }
"##,
    );
    context.write("code/a.py", "print(1)\n");
    context.write("code/__pycache__/a.cpython-313.pyc", "compiled");
    context.write("beside.py", "x = 1\n");
    context.run(&[]).ran_just(&["one"]);
    assert_eq!(context.output("one"), "a.py\nprint(1)\n# more\n");
    assert_eq!(context.read("code/a.py"), "print(1)\n", "the original is as it was");
    // What an interpreter compiled by hand changes nothing.
    context.write("code/__pycache__/a.cpython-313.pyc", "compiled anew");
    context.run(&[]).ran_just(&[]);
}

#[test]
fn a_dependency_edited_while_its_command_runs_spoils_nothing_unless_it_is_a_link() {
    let context = Context::with(
        r#"
cwm: 1
stages:
  small: { stage: command, deps: [small], with: { run: 'echo more >> "$file"; cat small > "$out"', file: FILE/small } }
  large: { stage: command, deps: [large], with: { run: 'echo more >> "$file"; cat large > "$out"', file: FILE/large } }
"#,
    );
    context.edit("pipeline.yaml", "FILE/small", &context.path("small").display().to_string());
    context.edit("pipeline.yaml", "FILE/large", &context.path("large").display().to_string());
    context.write_old("small", "1\n");
    context.write_old("large", &"0123456789abcde\n".repeat((16 << 16) + 1));
    let run = context.run(&[]);
    assert_eq!(run.raw.code, 1, "{}", run.raw.stderr);
    assert_eq!(context.read("small"), "1\nmore\n");
    assert!(run.failed["large"].contains("changed while the stage ran"), "{:?}", run.failed);
    assert_eq!(run.ran.iter().map(String::as_str).collect::<Vec<_>>(), ["small"]);
}

#[test]
fn a_module_that_an_interpreter_does_not_find_is_reported_to_need_deps() {
    for (said, is_hinted) in [("ModuleNotFoundError: No module named helper", true), ("it is wrong", false)] {
        let context = only(&format!("echo \"{said}\" >&2; exit 1"), "");
        let ran = context.cwm(&["run"]);
        assert_eq!(ran.code, 1, "{}", ran.stderr);
        assert_eq!(ran.stderr.contains("are found only if `deps:` names them"), is_hinted, "{}", ran.stderr);
    }
}
