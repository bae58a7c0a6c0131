//! The parts of `cwm` for a shell: completed words and manual pages.

use std::process::Command;

use crate::context::{Context, finish};

const PIPELINE: &str = r#"
cwm: 1
vars: { seed: 3 }
stages:
  games: { stage: command, with: { run: 'echo 1 > "$out"' } }
  model:
    stage: command
    from: games
    matrix: { size: [d32/l1, d64/l1] }
    with: { run: 'echo 1 > "$out"', size: $size, seed: $seed }
"#;

/// Returns the completions of the last of these words, without their descriptions.
fn offered(context: &Context, words: &[&str]) -> Vec<String> {
    let mut arguments = vec!["--", "cwm"];
    arguments.extend(words);
    let ran = finish(context.command(&arguments).env("CWM_COMPLETE", "fish").output().expect("cwm starts"));
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    let word = |line: &str| line.split('\t').next().unwrap_or_default().to_owned();
    ran.stdout.lines().map(word).filter(|word| !word.starts_with('-')).collect()
}

#[test]
fn stages_cells_outputs_and_variables_of_the_pipeline_are_completed() {
    let context = Context::with(PIPELINE);
    assert_eq!(offered(&context, &["status", ""]), ["games", "model", "pipeline.yaml"]);
    assert_eq!(offered(&context, &["status", "mo"]), ["model"]);
    let cells = ["model[size=d32/l1]", "model[size=d64/l1]"];
    assert_eq!(offered(&context, &["run", "--force", "model["]), cells);
    assert_eq!(offered(&context, &["why", "'model[size=d3"]), ["'model[size=d32/l1]"], "an open quote stays open");
    assert_eq!(offered(&context, &["show", "--path", "model[size=d64/l1]."]), ["model[size=d64/l1].out"]);
    assert_eq!(offered(&context, &["run", "--set", "s"]), ["seed="]);
    assert_eq!(offered(&context, &["stat"]), ["status"]);
    assert_eq!(offered(&context, &["run", "--device", "cp"]), ["cpu"]);
    assert_eq!(offered(&context, &["run", "--watch", "--device", "au"]), ["auto"]);
    // A pipeline that is named elsewhere on the line, and one that is wrong.
    context.write("other.yaml", "cwm: 1\nstages:\n  lone: { stage: command, with: { run: x } }\n");
    assert_eq!(offered(&context, &["why", "-f", "other.yaml", "l"]), ["lone"]);
    assert_eq!(offered(&context, &["log", "-f", "--file", "other.yaml", "l"]), ["lone"]);
    context.write("pipeline.yaml", "stages: [");
    assert_eq!(offered(&context, &["why", "m"]), [""; 0]);
    assert!(!context.path("artifacts").exists(), "a completion wrote something");
}

#[test]
fn tags_are_completed_where_they_are_taken_and_show_takes_one() {
    let context = Context::with(PIPELINE);
    context.run(&[]);
    for name in ["before", "beyond", "other"] {
        assert_eq!(context.cwm(&["store", "tag", name, "games"]).code, 0);
    }
    for command in [&["store", "ls"][..], &["diff"], &["show"]] {
        let typed = [command, &["tag:be"]].concat();
        assert_eq!(offered(&context, &typed), ["tag:before", "tag:beyond"], "{command:?}");
    }
    assert_eq!(offered(&context, &["store", "tag", "oth"]), ["other"]);
    assert_eq!(offered(&context, &["store", "ls", "--store", "nowhere", "tag:"]), [""; 0]);
    let shown = context.cwm(&["show", "tag:before"]);
    assert!(shown.code == 0 && shown.stdout.starts_with("games (command)\n"), "{}{}", shown.stdout, shown.stderr);
    let none = context.cwm(&["show", "tag:none"]);
    assert!(none.code == 2 && none.stderr.contains("none"), "{}", none.stderr);
}

#[test]
fn bash_completes_what_the_script_gives_it() {
    let context = Context::with(PIPELINE);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = context.cwm(&["util", "completions", shell]);
        assert!(script.code == 0 && script.stdout.contains("CWM_COMPLETE"), "{shell}: {}", script.stdout);
        context.write(&format!("completions.{shell}"), &script.stdout);
    }
    context.run(&[]);
    assert_eq!(context.cwm(&["store", "tag", "before", "games"]).code, 0);
    // Words as readline breaks them, which is at `=` and `:` too; what it is given stands after the last break.
    let typed = r#"
source completions.bash
compopt() { :; }
complete_line() {
    COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=9
    shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _cwm cwm "" ""
    printf '<%s>' "${COMPREPLY[@]}"
    echo
}
COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'
complete_line 'cwm status mo' cwm status mo
complete_line 'cwm  why model[size=' cwm why 'model[size' =
complete_line 'cwm why model[size=d6' cwm why 'model[size' = d6
complete_line "cwm why 'model[size=d6" cwm why "'model[size=d6"
complete_line 'cwm show tag:' cwm show tag :
complete_line 'cwm run --set se' cwm run --set se
complete_line 'cwm status ' cwm status ''
"#;
    let mut bash = Command::new("bash");
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_cwm"));
    let path =
        format!("{}:{}", binary.parent().expect("a folder").display(), std::env::var("PATH").unwrap_or_default());
    let Ok(ran) = bash.args(["-c", typed]).current_dir(context.path("")).env("PATH", path).output() else {
        println!("skipped: bash (apt-get install bash)");
        return;
    };
    let ran = finish(ran);
    let offered = "<model>
<d32/l1]><d64/l1]>
<d64/l1]>
<'model[size=d64/l1]>
<before>
<seed=>
<games><model>";
    assert!(ran.stdout.starts_with(offered), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn every_command_has_a_manual_page_and_every_option_stands_in_it() {
    let context = Context::new();
    let ran = context.cwm(&["util", "man", "pages"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let commands = commands(&context);
    let has = |words: &str| commands.iter().any(|command| command.join(" ") == words);
    assert!(has("run") && has("util man") && has("remote add"), "{commands:?}");
    assert!(context.read("pages/cwm.1").contains("Exit codes"));
    for command in &commands {
        let name = command.join("-");
        let page = context.read(&format!("pages/cwm-{name}.1")).replace('\\', "");
        let words: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
        let help = context.cwm(&words).stdout;
        let options = help.split_whitespace().filter(|word| word.starts_with("--") && word.len() > 2);
        let options = options.map(|word| word.split('[').next().unwrap_or_default());
        for option in options.map(|word| word.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '-')) {
            assert!(page.contains(option), "{name}: {option}");
        }
    }
    assert_eq!(std::fs::read_dir(context.path("pages")).expect("a folder").count(), commands.len() + 1);
}

#[test]
fn the_help_of_each_command_begins_with_a_few_words() {
    let context = Context::new();
    for command in commands(&context) {
        let words: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
        let help = context.cwm(&words).stdout;
        let first = help.lines().next().unwrap_or_default();
        assert!((2..=6).contains(&first.split(' ').count()) && !first.ends_with('.'), "{command:?}: {first:?}");
    }
}

/// The words of all commands, those of groups too, as `--help` lists them.
fn commands(context: &Context) -> Vec<Vec<String>> {
    let (mut all, mut groups) = (Vec::new(), vec![Vec::new()]);
    while let Some(group) = groups.pop() {
        let words: Vec<&str> = group.iter().map(String::as_str).collect();
        for name in context.listed_commands(&words) {
            let command = [&group[..], &[name]].concat();
            groups.push(command.clone());
            all.push(command);
        }
    }
    all
}

#[test]
fn a_command_of_another_program_or_of_a_group_gets_a_hint_with_its_name() {
    let context = Context::new();
    let top: Vec<_> = commands(&context).into_iter().filter(|command| command.len() == 1).collect();
    assert!((17..=20).contains(&top.len()), "{top:?}");
    for old in [
        "dag",
        "verify",
        "gc",
        "du",
        "ls",
        "tag",
        "import",
        "track",
        "parity",
        "devices",
        "schema",
        "completions",
        "man",
        "graph",
        "exp",
        "metrics",
        "repro",
        "resume",
    ] {
        let ran = context.cwm(&[old]);
        let hint = ran.stderr.split_once("hint: use `cwm ").map(|(_, hint)| hint).unwrap_or_default();
        assert_eq!(ran.code, 2, "{old}: {}", ran.stderr);
        let new: Vec<&str> = hint.split('`').next().expect("a command").split(' ').collect();
        let words: Vec<&str> = new.iter().copied().take_while(|word| word.starts_with(char::is_lowercase)).collect();
        let help = context.cwm(&[&words[..], &["--help"]].concat());
        assert_eq!(help.code, 0, "{old} -> {new:?}: {}", help.stderr);
        for option in new.iter().filter(|word| word.starts_with("--")) {
            assert!(help.stdout.contains(option), "{old} -> {new:?}");
        }
    }
}
