//! `--json` of every command, held against the tables of `docs/json.md` and `docs/events.md`, both ways.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::context::{Context, Ran};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

const PIPELINE: &str = r#"
cwm: 1
vars: { n: 1 }
stages:
  numbers: { stage: command, with: { run: 'echo reported; seq "$n" > "$out"', n: $n } }
  sums:
    stage: command
    matrix: { of: [2, 3] }
    from: numbers
    with: { run: 'wc -l < "$in" > "$out"', of: $of }
"#;

fn page(name: &str) -> String {
    std::fs::read_to_string(Path::new(ROOT).join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The cells of a row of a table whose first one is code.
fn row(line: &str) -> Option<Vec<String>> {
    let inner = line.strip_prefix("| `")?.strip_suffix(" |")?;
    let (name, rest) = inner.split_once("` | ")?;
    let mut cells = vec![name.to_owned()];
    cells.extend(rest.splitn(2, " | ").map(str::to_owned));
    Some(cells)
}

/// The types of fields, by section and path.
fn documented() -> BTreeMap<String, BTreeMap<String, String>> {
    let text = page("docs/json.md");
    let sections = text.split("\n## ").skip(1).map(|section| {
        let (name, body) = section.split_once('\n').expect("a section");
        let fields = body.lines().filter_map(row).map(|cells| (cells[0].clone(), cells[1].clone()));
        (name.to_owned(), fields.collect())
    });
    sections.collect()
}

struct Tables(BTreeMap<String, BTreeMap<String, String>>);

impl Tables {
    /// Asserts that `value` is what a section tells.
    #[track_caller]
    fn hold(&self, section: &str, value: &Value) {
        let mut faults = Vec::new();
        assert!(self.0.contains_key(section), "docs/json.md has no section `{section}`");
        self.walk(section, "", value, &mut faults);
        assert!(faults.is_empty(), "docs/json.md, {section}:\n{}\n{value:#}", faults.join("\n"));
    }

    fn walk(&self, section: &str, path: &str, value: &Value, faults: &mut Vec<String>) {
        let fields = &self.0[section];
        match value {
            Value::Array(items) => {
                items.iter().for_each(|item| self.below(section, &format!("{path}[]"), item, faults))
            }
            Value::Object(map) => {
                for (name, value) in map {
                    let child = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    let any = format!("{path}.*");
                    let child = if !fields.contains_key(&child) && fields.contains_key(&any) { any } else { child };
                    self.below(section, &child, value, faults);
                }
            }
            _ => faults.push(format!("`{path}` is no list and no map")),
        }
    }

    fn below(&self, section: &str, path: &str, value: &Value, faults: &mut Vec<String>) {
        let fields = &self.0[section];
        let Some(kind) = fields.get(path) else {
            // An item of a list whose fields are reported needs no line of its own.
            match fields.keys().any(|known| known.starts_with(&format!("{path}."))) && value.is_object() {
                true => self.walk(section, path, value, faults),
                false => faults.push(format!("`{path}` is not reported")),
            }
            return;
        };
        let kind = match kind.strip_suffix(" or null") {
            Some(_) if value.is_null() => return,
            Some(kind) => kind,
            None => kind,
        };
        let fits = match kind {
            "any" => return,
            "text" => value.is_string(),
            "boolean" => value.is_boolean(),
            "integer" => value.is_u64() || value.is_i64(),
            "number" => value.is_number(),
            "list of text" => value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
            "list" | "map" => {
                let fits = if kind == "list" { value.is_array() } else { value.is_object() };
                if fits {
                    self.walk(section, path, value, faults);
                }
                fits
            }
            // What is reported in a section of its own, of which this may be an item.
            other => {
                match other.strip_prefix("item of ") {
                    Some(of) => self.below(of, "[]", value, faults),
                    None if self.0.contains_key(other) => self.walk(other, "", value, faults),
                    None => faults.push(format!("`{path}` has no type `{other}`")),
                }
                true
            }
        };
        if !fits {
            faults.push(format!("`{path}` is no {kind}: {value}"));
        }
    }
}

#[track_caller]
fn parsed(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}:\n{}\n{}", ran.stdout, ran.stderr))
}

#[test]
fn printed_json_is_what_the_page_describes() {
    let tables = Tables(documented());
    let context = Context::with(PIPELINE);
    let hold = |section: &str, arguments: &[&str]| {
        let all: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
        tables.hold(section, &parsed(&context.cwm(&all)));
    };
    for when in ["before", "after"] {
        hold("cwm status", &["status"]);
        hold("cwm why", &["why", "numbers", "sums"]);
        hold("cwm log", &["log"]);
        if when == "before" {
            context.run(&[]).ran_just(&["numbers", "sums[of=2]", "sums[of=3]"]);
        }
    }
    hold("cwm status --graph", &["status", "--graph"]);
    hold("cwm status --graph", &["status", "--graph", "-v"]);
    hold("cwm log STAGE", &["log", "numbers"]);
    hold("cwm show", &["show", "numbers"]);
    hold("cwm show", &["show", "sums"]);
    hold("cwm show --path", &["show", "--path", "numbers"]);
    hold("cwm export", &["export", "numbers", "copied"]);
    hold("cwm export", &["export", "numbers", "copied"]);
    hold("cwm store verify", &["store", "verify"]);
    hold("cwm lock", &["lock"]);
    hold("cwm accept", &["accept", "--list"]);
    hold("cwm store ls", &["store", "ls", "--all"]);
    assert_eq!(context.cwm(&["store", "tag", "first"]).code, 0);
    hold("cwm store tag", &["store", "tag", "--list"]);
    hold("cwm store du", &["store", "du"]);
    hold("cwm store gc", &["store", "gc"]);
    context.write("given", "1\n");
    hold("cwm accept --files", &["accept", "numbers", "--files", "given", "--set", "n=9"]);
    hold("cwm show", &["show", "numbers", "--set", "n=9"]);
    hold("cwm init", &["init", "--command", "begun"]);
    std::fs::copy(context.path("pipeline.lock"), context.path("old.lock")).expect("a copy");
    context.edit("pipeline.yaml", "n: 1", "n: 2");
    hold("cwm status", &["status"]);
    hold("cwm why", &["why", "numbers", "sums"]);
    context.run(&[]);
    hold("cwm diff", &["diff", "old.lock"]);
    hold("cwm runs", &["runs"]);
    hold("cwm store gc", &["store", "gc", "--delete"]);
    hold("cwm store ls", &["store", "ls", "--all"]);
    std::fs::remove_dir_all(context.path("artifacts/objects")).expect("removed");
    hold("cwm status", &["status"]);
    hold("cwm why", &["why", "numbers"]);
    hold("cwm store verify", &["store", "verify"]);
    context
        .write("pipeline.yaml", "cwm: 1\nstages:\n  a: { stage: comand }\n  b: { stage: command, from: a, wiht: x }\n");
    let wrong = context.cwm(&["status", "--json"]);
    assert_eq!((wrong.code, wrong.stdout.lines().count()), (3, 1));
    assert!(wrong.stderr.contains("did you mean"), "{}", wrong.stderr);
    tables.hold("Errors", &parsed(&wrong));
    hold("cwm util man", &["util", "man", "pages"]);
    hold("cwm util completions", &["util", "completions", "fish"]);
    if cfg!(feature = "model-tools") {
        hold("cwm model devices", &["model", "devices"]);
    }
}

#[test]
fn every_error_is_shown_as_json_too() {
    let tables = Tables(documented());
    let context = Context::with(PIPELINE);
    let store = context.path("artifacts");
    std::fs::create_dir(&store).expect("a folder");
    context.write("artifacts/format", "99\n");
    for (code, arguments) in
        [(4, &["status"][..]), (4, &["run"]), (4, &["store", "gc"]), (4, &["store", "verify"]), (4, &["store", "ls"])]
    {
        let ran = context.cwm(&[arguments, &["--json"]].concat());
        assert_eq!(ran.code, code, "{arguments:?}: {}{}", ran.stdout, ran.stderr);
        let reported = parsed(&ran);
        tables.hold("Errors", &reported);
        assert_eq!(reported["exit_code"], code, "{reported}");
        assert_eq!(reported["event"].as_str(), (arguments[0] == "run").then_some("error"));
    }
    std::fs::remove_dir_all(store).expect("removed");
    let plain = |arguments: &[&str]| {
        let reported = parsed(&context.cwm(&[arguments, &["--json"]].concat()));
        tables.hold("Errors", &reported);
        (
            reported["exit_code"].as_i64().expect("a code"),
            reported["errors"][0]["message"].as_str().expect("text").to_owned(),
        )
    };
    assert!(plain(&["show", "nothing"]).1.contains("nothing"));
    assert!(plain(&["show", "--path", "numbers"]).1.contains("numbers has no result yet"));
    assert!(plain(&["log", "numbers"]).1.contains("numbers"));
    assert!(plain(&["show"]).1.contains("required"));
    assert_eq!(plain(&["status", "-f", "none.yaml"]).0, 2);
    assert!(plain(&["status", "--no-such-option"]).1.contains("--no-such-option"));
    assert_eq!(plain(&["util", "man", "/proc/none"]).0, 70);
}

#[test]
fn events_of_runs_are_those_that_the_page_describes() {
    let text = page("docs/events.md");
    let reported: BTreeMap<String, BTreeSet<String>> = text
        .lines()
        .filter_map(row)
        .map(|cells| {
            let words = cells[1].split('`').skip(1).step_by(2).map(str::to_owned);
            (cells[0].clone(), words.chain(["event".to_owned()]).collect())
        })
        .collect();
    let context = Context::with(PIPELINE);
    let runs: [&[&str]; 6] =
        [&["--set", "m=1"], &["--dry-run"], &["--set", "n=x"], &[], &["--force", "numbers"], &["--check", "numbers"]];
    let mut seen = BTreeSet::new();
    for arguments in runs {
        let run = context.run(arguments);
        for line in run.raw.stdout.lines() {
            let event: BTreeMap<String, Value> = serde_json::from_str(line).expect("an object a line");
            let name = event["event"].as_str().expect("a name").to_owned();
            let known = reported.get(&name).unwrap_or_else(|| panic!("docs/events.md does not tell of `{name}`"));
            let untold: Vec<_> = event.keys().filter(|field| !known.contains(*field)).collect();
            assert!(untold.is_empty(), "docs/events.md, `{name}`: {untold:?}");
            seen.insert(name);
        }
    }
    for name in [
        "planned",
        "cached",
        "would_run",
        "started",
        "finished",
        "failed",
        "skipped",
        "dry_summary",
        "summary",
        "error",
        "check_summary",
    ] {
        assert!(seen.contains(name), "no run had a `{name}`: {seen:?}");
    }
}

/// All Rust code of the program, as one text.
fn sources() -> String {
    let mut folders: Vec<PathBuf> =
        ["src", "executor", "crates"].iter().map(|name| Path::new(ROOT).join(name)).collect();
    let mut text = String::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                text += &std::fs::read_to_string(path).expect("text");
            }
        }
    }
    text
}

#[test]
fn every_field_that_the_page_describes_is_in_the_code() {
    let code = sources();
    let missing: Vec<String> = documented()
        .into_iter()
        .flat_map(|(section, fields)| fields.into_keys().map(move |path| (section.clone(), path)))
        .filter(|(_, path)| {
            let name = path.rsplit('.').next().unwrap_or_default().trim_end_matches("[]");
            let is_field = [format!("{name}: "), format!("\"{name}\"")].iter().any(|text| code.contains(text));
            // `cause` is the tag of an enumeration, `*` any name.
            !name.is_empty() && name != "*" && !is_field && !code.contains(&format!("tag = \"{name}\""))
        })
        .map(|(section, path)| format!("{section}: `{path}`"))
        .collect();
    assert!(missing.is_empty(), "docs/json.md tells of fields that no code has:\n{}", missing.join("\n"));
}

#[test]
fn every_command_that_prints_data_has_json_and_a_section() {
    let context = Context::new();
    let tables = documented();
    let names = context.listed_commands(&[]);
    assert!(names.len() > 10, "{names:?}");
    for name in names.iter().map(String::as_str) {
        // A group has a section for all of its commands, or one for each.
        let members = context.listed_commands(&[name]);
        let commands: Vec<Vec<&str>> = match &members[..] {
            [] => vec![vec![name]],
            members => members.iter().map(|member| vec![name, member.as_str()]).collect(),
        };
        for words in commands {
            let command = words.join(" ");
            assert!(context.cwm(&[&words[..], &["--help"]].concat()).stdout.contains("--json"), "`cwm {command}`");
            let has = |section: &str| tables.contains_key(&format!("cwm {section}"));
            assert!(has(name) || has(&command), "docs/json.md has no section for `cwm {command}`");
        }
    }
}

/// Finished cells stay done, and the exit code reports the failure. A reader that stops early is no fault.
#[test]
fn events_that_cannot_be_written_are_reported_and_are_no_success() {
    let context = Context::with(PIPELINE);
    let full = std::fs::File::options().write(true).open("/dev/full");
    let Ok(full) = full else { return println!("skipped: no /dev/full") };
    for arguments in [&["run", "--json"][..], &["run", "--dry-run", "--json"], &["status", "--json"]] {
        let mut command = context.command(arguments);
        let output = command.stdout(full.try_clone().unwrap()).output().expect("cwm starts");
        let ran = crate::context::finish(output);
        assert_eq!(ran.code, 70, "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("cannot write to standard output"), "{}", ran.stderr);
    }
    context.run(&[]).ran_just(&[]);
    let mut command = context.command(&["run", "--json"]);
    let mut child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let ran = crate::context::finish(child.wait_with_output().unwrap());
    assert!(ran.code == 0 && ran.stderr.is_empty(), "{}: {}", ran.code, ran.stderr);
}
