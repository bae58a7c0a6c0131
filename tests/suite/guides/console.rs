//! Console sessions of a page, typed anew: `$ command`, then what it prints, with `…` for what may differ. Lines that begin
//! with `!` are what it says on standard error; `# exit code N` is how it ends, 0 if nothing is said.

use std::process::Command;

use crate::context::{Context, Ran, finish};

/// One command of a session.
struct Step<'p> {
    typed: &'p str,
    printed: Vec<&'p str>,
    reported: Vec<&'p str>,
    code: i32,
}

/// Types every command of the sessions in one folder, `cd` included.
#[track_caller]
pub fn follow(context: &Context, sessions: &[String]) {
    let mut folder = context.path("");
    let steps: Vec<Step> = sessions.iter().flat_map(|session| steps(session)).collect();
    assert!(steps.len() > 20, "the page has only {} commands", steps.len());
    for step in steps {
        if let Some(name) = step.typed.strip_prefix("cd ") {
            folder = folder.join(name);
            continue;
        }
        let ran = typed(context, step.typed, &folder);
        let all = format!("$ {}\n{}{}", step.typed, ran.stdout, ran.stderr);
        assert_eq!(ran.code, step.code, "{all}");
        holds(&step.printed, &ran.stdout, &all);
        if !step.reported.is_empty() {
            holds(&step.reported, &ran.stderr, &all);
        }
    }
}

fn steps(session: &str) -> Vec<Step<'_>> {
    let mut steps: Vec<Step> = Vec::new();
    for line in session.lines() {
        if let Some(typed) = line.strip_prefix("$ ") {
            steps.push(Step { typed, printed: Vec::new(), reported: Vec::new(), code: 0 });
            continue;
        }
        let step = steps.last_mut().expect("a command before what it prints");
        match (line.strip_prefix('!'), line.strip_prefix("# exit code ")) {
            (Some(reported), _) => step.reported.push(reported.trim_start()),
            (_, Some(code)) => step.code = code.parse().expect("a number"),
            _ => step.printed.push(line),
        }
    }
    steps
}

/// Runs a line in a shell in which `cwm` is the binary under test.
fn typed(context: &Context, line: &str, folder: &std::path::Path) -> Ran {
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_cwm")).parent().expect("a folder");
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap_or_default());
    let environment: Vec<_> =
        context.command(&[]).get_envs().map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned))).collect();
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).current_dir(folder).env("PATH", path);
    for (name, value) in environment {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    finish(shell.output().expect("a shell"))
}

/// Asserts that text matches a page: a line that is `…` stands for any lines, `…` within a line for any text in it.
#[track_caller]
fn holds(expected: &[&str], text: &str, all: &str) {
    let lines: Vec<&str> = text.lines().collect();
    assert!(fits(expected, &lines), "the page says\n{}\nbut:\n{all}", expected.join("\n"));
}

fn fits(expected: &[&str], lines: &[&str]) -> bool {
    match expected.split_first() {
        None => lines.is_empty(),
        Some((first, rest)) if first.trim() == "…" => (0..=lines.len()).any(|skipped| fits(rest, &lines[skipped..])),
        Some((first, rest)) => {
            lines.split_first().is_some_and(|(line, others)| fits_line(first.trim(), line.trim()) && fits(rest, others))
        }
    }
}

fn fits_line(expected: &str, line: &str) -> bool {
    let mut parts = expected.split('…');
    let Some(mut rest) = line.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last.trim_start()) || rest.ends_with(last)
}
