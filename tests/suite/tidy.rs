//! The rules of the house, as tests: what each crate must not know, and what no file may hold.
//!
//! They read text, not syntax: the code is formatted by rustfmt, which makes that enough.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The folders that hold crates.
const GROUPS: [&str; 3] = ["crates", "executor", "stages"];

/// A file of the repository.
struct File {
    /// Relative to the root, with `/`.
    path: String,
    text: String,
}

impl File {
    /// `crates/NAME` or `stages/NAME`, for a file of such a crate.
    fn crate_folder(&self) -> String {
        self.path.splitn(3, '/').take(2).collect::<Vec<_>>().join("/")
    }

    /// The text without comments and without what is built for tests only; lines keep their numbers.
    fn product_code(&self) -> String {
        without_tests(&without_comments(&self.text))
    }

    /// `path:line` of every line of `text` that `wrong` finds wrong.
    fn lines(&self, text: &str, wrong: impl Fn(&str) -> bool) -> Vec<String> {
        let numbered = text.lines().enumerate().filter(|(_, line)| wrong(line));
        numbered.map(|(at, line)| format!("{}:{}: {}", self.path, at + 1, line.trim())).collect()
    }
}

fn files_below(folder: &str) -> Vec<File> {
    let mut found = Vec::new();
    let mut waiting = vec![Path::new(ROOT).join(folder)];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                waiting.push(path);
            } else if let Ok(text) = fs::read_to_string(&path) {
                found.push(File { path: relative(&path), text });
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn relative(path: &Path) -> String {
    path.strip_prefix(ROOT).expect("below the root").to_string_lossy().replace('\\', "/")
}

fn rust_files(folders: &[&str]) -> Vec<File> {
    let files = folders.iter().flat_map(|folder| files_below(folder));
    files.filter(|file| file.path.ends_with(".rs")).collect()
}

/// The Rust files whose code enters a fingerprint, but for those that only tests use. The executor is in none.
fn hashed_files() -> Vec<File> {
    let files = rust_files(&["crates", "stages"]);
    let test_only: Vec<String> = files.iter().flat_map(test_modules).collect();
    let is_hashed = |file: &File| {
        let outside = ["crates/contract/", "crates/fingerprint/"].iter().any(|folder| file.path.starts_with(folder));
        let below =
            |module: &String| file.path.strip_prefix(module).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'));
        !outside && file.path.split('/').nth(2) == Some("src") && !test_only.iter().any(below)
    };
    files.into_iter().filter(is_hashed).collect()
}

/// The paths, without `.rs`, of the modules that `file` declares for tests only.
fn test_modules(file: &File) -> Vec<String> {
    let (folder, name) = file.path.rsplit_once('/').expect("a folder");
    let folder = match name {
        "lib.rs" | "main.rs" | "mod.rs" => folder.to_owned(),
        name => format!("{folder}/{}", name.trim_end_matches(".rs")),
    };
    let lines: Vec<&str> = file.text.lines().map(str::trim).collect();
    let pairs = lines.windows(2).filter(|pair| pair[0] == "#[cfg(test)]");
    let modules =
        pairs.filter_map(|pair| pair[1].rsplit("mod ").next().filter(|_| pair[1].contains("mod "))?.strip_suffix(';'));
    modules.map(|module| format!("{folder}/{module}")).collect()
}

fn without_comments(text: &str) -> String {
    let code = |line: &str| match line.trim_start() {
        comment if comment.starts_with("//") => String::new(),
        _ => line.split(" // ").next().unwrap_or_default().to_owned(),
    };
    text.lines().map(code).collect::<Vec<_>>().join("\n")
}

/// Blanks every item under `#[cfg(test)]`: to the line that closes it, at the same indentation, or to a `;`.
fn without_tests(text: &str) -> String {
    let mut kept = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim() != "#[cfg(test)]" {
            kept.push(line);
            continue;
        }
        kept.push("");
        let indentation = &line[..line.len() - line.trim_start().len()];
        for line in lines.by_ref() {
            kept.push("");
            let item = line.strip_prefix(indentation).unwrap_or_default();
            let is_end = item.starts_with('}') || (!item.starts_with([' ', '#']) && item.ends_with([';', ',']));
            if is_end || (!item.starts_with([' ', '#']) && item.ends_with('}')) {
                break;
            }
        }
    }
    kept.join("\n")
}

/// Returns true if `text` holds `word` with no letter, digit or `_` before it.
fn mentions(text: &str, word: &str) -> bool {
    let starts_word = |at: usize| !text[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_');
    text.match_indices(word).any(|(at, _)| starts_word(at))
}

/// The same, with none after it either.
fn mentions_whole(text: &str, word: &str) -> bool {
    let is_whole = |(at, _): (usize, &str)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        let in_word = |next: char| next.is_alphanumeric() || next == '_';
        !before.ends_with(in_word) && !after.starts_with(in_word)
    };
    text.match_indices(word).any(is_whole)
}

/// The names under every kind of `dependencies` of a manifest.
fn dependencies(manifest: &str, with_development: bool) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut inside = false;
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            inside = line.ends_with("dependencies]") && !line.contains("workspace");
            inside &= with_development || !line.contains("dev-");
        } else if inside && !line.is_empty() && !line.starts_with('#') {
            names.insert(line.split(['.', '=', ' ']).next().unwrap_or_default().to_owned());
        }
    }
    names
}

/// Every manifest of the workspace with the folder of its crate (empty for the root).
fn manifests() -> Vec<(String, String)> {
    let mut found = vec![(String::new(), PathBuf::from(ROOT).join("Cargo.toml"))];
    for group in GROUPS {
        for entry in fs::read_dir(Path::new(ROOT).join(group)).expect("a folder of crates") {
            let folder = entry.expect("an entry").path();
            found.push((relative(&folder), folder.join("Cargo.toml")));
        }
    }
    found.into_iter().map(|(folder, path)| (folder, fs::read_to_string(path).expect("a manifest"))).collect()
}

#[track_caller]
fn none(offenders: Vec<String>, rule: &str) {
    assert!(offenders.is_empty(), "{rule}:\n  {}", offenders.join("\n  "));
}

/// Crates whose tests use another one of their layer: stages that run another stage first, since the golden data holds only the two
/// ends of the path, and mutated pipelines, which are planned with mutated lock files.
const TESTED_TOGETHER: [(&str, &str); 6] = [
    ("crates/speech", "crates/reasoning"),
    ("stages/encode", "stages/parse"),
    ("stages/transpositions", "stages/parse"),
    ("stages/tokenize", "stages/parse"),
    ("stages/tokenize", "stages/split"),
    ("executor/pipeline", "executor/project"),
];

/// The tables of crates of docs/architecture.md: the layer of each crate, and the crates that it uses.
fn layers() -> BTreeMap<String, (u32, BTreeSet<String>)> {
    let page = fs::read_to_string(Path::new(ROOT).join("docs/architecture.md")).expect("docs/architecture.md");
    let row = |line: &str| {
        let mut cells = line.strip_prefix("| `")?.split(" | ");
        let folder = cells.next()?.trim_end_matches('`').to_owned();
        let layer = cells.next()?.parse::<u32>().ok()?;
        let uses = cells.next()?.split(", ").filter(|name| *name != "nothing").map(str::to_owned);
        Some((folder, (layer, uses.collect::<BTreeSet<_>>())))
    };
    page.lines().filter_map(row).collect()
}

#[test]
fn arrows_between_crates_point_one_way() {
    let layers = layers();
    let height = |folder: &str| {
        let row = match folder {
            "" => "src",
            stage if stage.starts_with("stages/") => "stages/*",
            other => other,
        };
        layers.get(row).unwrap_or_else(|| panic!("{row} is new: give it a layer in docs/architecture.md")).0
    };
    let folder_of = |name: &str| {
        let short = name.strip_prefix("cwm-")?;
        GROUPS.iter().map(|group| format!("{group}/{short}")).find(|f| Path::new(ROOT).join(f).is_dir())
    };
    let lost = layers.keys().filter(|row| !Path::new(ROOT).join(row.trim_end_matches("/*")).is_dir());
    let mut offenders: Vec<String> = lost.map(|row| format!("docs/architecture.md has {row}, which is gone")).collect();
    for (folder, manifest) in manifests() {
        let own = height(&folder);
        let product = dependencies(&manifest, false);
        let ours: BTreeSet<String> =
            product.iter().filter_map(|name| name.strip_prefix("cwm-")).map(str::to_owned).collect();
        // `src` and the stages have no list: their row in the page stands for many.
        if let Some((_, listed)) = layers.get(&folder).filter(|(_, listed)| *listed != ours) {
            offenders.push(format!("{folder} uses {ours:?}, and docs/architecture.md lists {listed:?}"));
        }
        for name in dependencies(&manifest, true) {
            let Some(used) = folder_of(&name) else { continue };
            let for_tests = !product.contains(&name) && TESTED_TOGETHER.contains(&(folder.as_str(), used.as_str()));
            if for_tests {
                continue;
            }
            if height(&used) >= own || (used == "crates/fingerprint" && !folder.is_empty()) {
                offenders.push(format!("{folder} uses {used}"));
            }
        }
    }
    none(offenders, "a crate uses crates of lower layers, as the tables of docs/architecture.md list them");
}

const TERMINAL_AND_YAML: [&str; 6] = ["serde_yaml", "granit-parser", "clap", "indicatif", "anstream", "owo-colors"];

#[test]
fn no_crate_knows_what_it_must_not() {
    let mut offenders = Vec::new();
    for (folder, manifest) in manifests() {
        let banned: &[&str] = match folder.as_str() {
            "" => &["cwm-chess", "cwm-models", "cwm-encoding", "shakmaty", "pgn-reader", "burn", "datafusion"],
            folder if folder.starts_with("executor/") => {
                // Colours are decided where a diagnostic is drawn; YAML is read in one place.
                let allowed = match folder {
                    "executor/core" => "anstream",
                    "executor/pipeline" => "granit-parser",
                    _ => "",
                };
                let used = dependencies(&manifest, false);
                let wrong = TERMINAL_AND_YAML.iter().filter(|name| **name != allowed && used.contains(**name));
                offenders.extend(wrong.map(|name| format!("{folder}: {name}")));
                &[]
            }
            _ => &TERMINAL_AND_YAML,
        };
        let used = dependencies(&manifest, false);
        offenders.extend(banned.iter().filter(|name| used.contains(**name)).map(|name| format!("{folder}: {name}")));
    }
    none(offenders, "the executor knows no chess, the stages no YAML and no terminal");
}

/// The packages of `Cargo.lock`, each with those that it may be built from, tests included.
fn locked_packages() -> BTreeMap<String, BTreeSet<String>> {
    let lock = fs::read_to_string(Path::new(ROOT).join("Cargo.lock")).expect("Cargo.lock");
    let mut packages: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in lock.split("[[package]]\n").skip(1) {
        let name = package.lines().find_map(|line| line.strip_prefix("name = ")).expect("a name").trim_matches('"');
        let listed = package.lines().filter_map(|line| line.strip_prefix(" \"")?.split(['"', ' ']).next());
        packages.entry(name.to_owned()).or_default().extend(listed.map(str::to_owned));
    }
    packages
}

/// The executor's crates build in seconds, tests included, because nothing heavy is below them; features do not matter here.
#[test]
fn the_executors_crates_build_neither_stages_nor_what_is_heavy() {
    let packages = locked_packages();
    let own: Vec<String> = folders_of("executor").iter().map(|folder| format!("cwm-{folder}")).collect();
    let is_light = |name: &str| {
        let heavy = ["burn", "cubecl", "datafusion", "arrow", "parquet", "shakmaty", "pgn-reader"];
        let is_heavy = heavy.iter().any(|family| name == *family || name.starts_with(&format!("{family}-")));
        !is_heavy && (!name.starts_with("cwm-") || name == "cwm-contract" || own.iter().any(|own| own == name))
    };
    assert!(packages.contains_key("burn") && packages.contains_key("datafusion") && !is_light("cwm-split"));
    let mut offenders = Vec::new();
    for crate_name in &own {
        let (mut seen, mut waiting) = (BTreeSet::new(), vec![crate_name.as_str()]);
        while let Some(name) = waiting.pop() {
            if !seen.insert(name) {
                continue;
            }
            if !is_light(name) {
                offenders.push(format!("{crate_name} builds {name}"));
            }
            waiting.extend(
                packages.get(name).unwrap_or_else(|| panic!("{name} is in Cargo.lock")).iter().map(String::as_str),
            );
        }
        assert!(seen.len() > 5, "{crate_name} rests on {seen:?}");
    }
    none(offenders, "of the executor's crates, `cargo test -p` builds no stage, no chess, no Burn and no DataFusion");
}

/// The names of the crates in a folder of crates.
fn folders_of(group: &str) -> Vec<String> {
    let entries = fs::read_dir(Path::new(ROOT).join(group)).expect("a folder of crates");
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn the_executors_crates_are_small() {
    let lines = |folder: &str| rust_files(&[folder]).iter().map(|file| file.text.lines().count()).sum::<usize>();
    let crates = folders_of("executor").into_iter().map(|name| (format!("executor/{name}"), 9_000));
    let large = crates.chain([("src".to_owned(), 10_000)]).filter(|(folder, most)| lines(folder) > *most);
    let offenders = large.map(|(folder, most)| format!("{folder}: {} lines, at most {most}", lines(&folder)));
    none(offenders.collect(), "a crate of the executor is read in a day");
}

/// The modules at the top of a crate are its top files and folders; the files within one folder may use each other.
#[test]
fn modules_do_not_import_each_other_in_circles() {
    let folders = folders_of("executor").into_iter().map(|name| format!("executor/{name}"));
    let mut found = Vec::new();
    for folder in folders.chain(["crates/models".to_owned(), "src".to_owned()]) {
        let source = if folder == "src" { "src".to_owned() } else { format!("{folder}/src") };
        let uses = module_uses(&source, &rust_files(&[&source]));
        found.extend(circles(&uses).into_iter().map(|circle| format!("{folder}: {}", circle.join(" "))));
    }
    none(found, "the modules at the top of a crate import each other one way");
}

/// For each module at the top of the crate in `source`, the others that its code names: by `crate::` and by `super::`
/// from any depth, also through names that the crate's root re-exports. Names that the root itself defines do not
/// count.
fn module_uses(source: &str, files: &[File]) -> BTreeMap<String, BTreeSet<String>> {
    let inside = |file: &File| -> Vec<String> {
        let path = file.path.strip_prefix(source).unwrap_or_default().trim_start_matches('/').trim_end_matches(".rs");
        path.split('/').filter(|piece| *piece != "mod").map(str::to_owned).collect()
    };
    let is_root = |file: &File| matches!(inside(file).join("/").as_str(), "lib" | "main");
    let path_of = |file: &File| inside(file).into_iter().filter(|piece| piece != "lib" && piece != "main");
    let mut tests: Vec<Vec<String>> = Vec::new();
    for file in files {
        let modules = file.text.split("#[cfg(test)]\nmod ").skip(1).filter_map(|rest| rest.split_once(';'));
        let names = modules.map(|(name, _)| name).filter(|name| identifiers(name).eq([*name]));
        tests.extend(names.map(|name| path_of(file).chain([name.to_owned()]).collect()));
    }
    let is_test = |file: &File| tests.iter().any(|test| inside(file).starts_with(test));
    let top = |file: &File| inside(file).into_iter().next().unwrap_or_default();
    let modules: BTreeSet<String> = files.iter().filter(|file| !is_root(file) && !is_test(file)).map(top).collect();
    let mut given_on = BTreeMap::new();
    for file in files.iter().filter(|file| is_root(file)) {
        let code = one_line(&file.product_code());
        for path in code.split("use ").skip(1).filter_map(|rest| rest.split(';').next()) {
            let Some((module, names)) = path.trim_start_matches("self::").split_once("::") else { continue };
            if modules.contains(module) {
                given_on.extend(identifiers(names).map(|name| (name.to_owned(), module.to_owned())));
            }
        }
    }
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in files.iter().filter(|file| !is_root(file) && !is_test(file)) {
        let (own, code) = (top(file), one_line(&file.product_code()));
        let to_root = "super::".repeat(inside(file).len());
        for start in ["crate::".to_owned(), to_root] {
            for (at, _) in code.match_indices(&start) {
                let before = &code[..at];
                if before.ends_with("super::") || before.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
                    continue;
                }
                for name in named_first(&code[at + start.len()..]) {
                    let module =
                        if modules.contains(name) { Some(name) } else { given_on.get(name).map(String::as_str) };
                    if let Some(module) = module.filter(|module| *module != own) {
                        uses.entry(own.clone()).or_default().insert(module.to_owned());
                    }
                }
            }
        }
    }
    uses
}

fn one_line(code: &str) -> String {
    code.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|name| !name.is_empty())
}

/// The first names of a path, of which `{a::b, c::{d, e}}` has two.
fn named_first(path: &str) -> Vec<&str> {
    let Some(list) = path.strip_prefix('{') else { return identifiers(path).take(1).collect() };
    let (mut depth, mut names, mut start) = (0, Vec::new(), 0);
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                names.extend(identifiers(&list[start..at]).next());
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    names
}

/// The groups of more than one module that reach each other, each in order.
fn circles(uses: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<Vec<String>> {
    let reached = |from: &String| {
        let (mut seen, mut waiting) = (BTreeSet::new(), vec![from]);
        while let Some(module) = waiting.pop() {
            waiting.extend(uses.get(module).into_iter().flatten().filter(|next| seen.insert((*next).clone())));
        }
        seen
    };
    let reach: BTreeMap<&String, BTreeSet<String>> = uses.keys().map(|module| (module, reached(module))).collect();
    let round = reach.iter().filter(|(module, reached)| reached.contains(**module));
    let group = |(module, there): (&&String, &BTreeSet<String>)| {
        let comes_back = |other: &&String| reach.get(*other).is_some_and(|back| back.contains(*module));
        there.iter().filter(comes_back).cloned().collect()
    };
    round.map(group).collect()
}

#[test]
fn circles_of_modules_are_seen() {
    let file = |path: &str, text: &str| File { path: format!("x/src/{path}"), text: text.to_owned() };
    let files = [
        file("lib.rs", "mod a;\nmod b;\nmod c;\npub use b::{Thing, other};\npub struct Own;"),
        file("a.rs", "use crate::{Own, Thing};\n#[cfg(test)]\nmod tests {\n    use crate::c::test;\n}"),
        file("b/mod.rs", "use super::c::{a, d};"),
        file("b/deep.rs", "fn f() {\n    super::super::c::g(super::c::h);\n}"),
        file("c.rs", "// crate::b\nuse crate::{Own, a::{self, b}};\n#[cfg(test)]\nmod tests;"),
        file("c/tests.rs", "use crate::b;"),
        file("d.rs", "use crate::a;"),
    ];
    let uses = module_uses("x/src", &files);
    let expected = [("a", "b"), ("b", "c"), ("c", "a"), ("d", "a")];
    let expected = expected.map(|(from, to)| (from.to_owned(), BTreeSet::from([to.to_owned()])));
    assert_eq!(uses, expected.into());
    assert_eq!(circles(&uses), BTreeSet::from([["a", "b", "c"].map(str::to_owned).to_vec()]));
}

/// Names that this code base no longer uses: metaphors, verbs of speech and bare participles, which the field's own terms
/// (docs/concepts.md) replaced. Code that needs one of them again takes another word.
const FORMER_NAMES: [&str; 226] = [
    "Adopted",
    "Aim",
    "Aims",
    "Analyst",
    "AnswerForm",
    "Answered",
    "ArticleId",
    "AskedPosition",
    "Away",
    "Beliefs",
    "Believed",
    "BelievedGame",
    "Branching",
    "Brought",
    "CannotAnswer",
    "CellTold",
    "CodeSince",
    "ColumnAbout",
    "ComposedArrays",
    "Courier",
    "Cutting",
    "DeviceAbout",
    "Doing",
    "Doubt",
    "Errand",
    "Exchange",
    "ExchangeError",
    "Fault",
    "FetchedTold",
    "Gauge",
    "Given",
    "Harvest",
    "Heard",
    "HeldTask",
    "Ink",
    "InputTold",
    "KeepStamp",
    "Lack",
    "Ledger",
    "Leftover",
    "LegalityOf",
    "Listener",
    "Look",
    "MachineTold",
    "MadeFile",
    "Makers",
    "Mirror",
    "Misbelief",
    "NewTask",
    "NotTheRange",
    "OfGames",
    "OldWork",
    "Opened",
    "OutputTold",
    "Packed",
    "Parcel",
    "PassedOver",
    "Pen",
    "Plate",
    "Presence",
    "Probed",
    "Probing",
    "Provided",
    "Provisions",
    "Pulled",
    "Pushed",
    "PutBack",
    "RanAgain",
    "Reach",
    "Reclaim",
    "Recognised",
    "Recorded",
    "Remade",
    "Remembered",
    "Resident",
    "Said",
    "SameAs",
    "SaysNone",
    "Seat",
    "SeenPositions",
    "Settled",
    "Standing",
    "Stands",
    "Stuck",
    "TableAbout",
    "TakenIn",
    "Telling",
    "Thoughts",
    "Tidings",
    "Told",
    "TranspositionsOf",
    "Turn",
    "UnderWay",
    "Unfetched",
    "Valued",
    "Verdict",
    "Way",
    "WeightsOf",
    "Wish",
    "Workbench",
    "WrittenRecord",
    "adopt_last",
    "as_known",
    "as_shown",
    "as_written",
    "asked_with",
    "asks_for_files",
    "asks_for_records",
    "asks_for_the_locked",
    "awaited_keys",
    "begins_nothing",
    "believed_answer",
    "believed_position",
    "beside_what_is_whole",
    "bring_home",
    "can_go",
    "cause_and_advice",
    "check_ended",
    "close_jobs",
    "copy_in",
    "describe_end",
    "end_in",
    "end_pauses",
    "export_made",
    "failed_already",
    "fetch_made",
    "find_moot",
    "for_room",
    "forget_kept",
    "give_up",
    "give_up_pauses",
    "give_up_pending",
    "give_up_unnamed",
    "go_deaf",
    "has_arrived",
    "has_departed",
    "has_sound",
    "has_to_go_alone",
    "hear",
    "heard_of_remote",
    "hint_at_missing_files",
    "hint_at_remotes",
    "holds_on",
    "in_vain",
    "insist",
    "is_away",
    "is_deaf",
    "is_hostile",
    "is_moot",
    "is_read_once",
    "is_slurms_alone",
    "is_struck",
    "is_stuck",
    "is_unwritten",
    "is_young",
    "knowing_nothing",
    "lacks_just",
    "last_words",
    "lasting_name",
    "leave_jobs",
    "leave_out",
    "let_children_keep",
    "let_go_of",
    "locked_ones",
    "look_at",
    "look_at_copy",
    "look_at_to_check",
    "look_soon",
    "lost_an_input",
    "lost_log",
    "make_note",
    "make_what_is_nowhere",
    "may_ask_for_files",
    "may_pass",
    "must_be_reached",
    "must_be_sound",
    "must_be_there",
    "note_kept_elsewhere",
    "note_readers",
    "of_missing",
    "of_nothing",
    "on_others",
    "on_remade",
    "only_ours",
    "or_aside",
    "or_heir",
    "passing_over_damaged_records",
    "place_arrived",
    "reconsider_dependents",
    "remade",
    "remake_missing_sources",
    "remembering",
    "remembering_by",
    "report_tainted",
    "said_in",
    "seen_whole",
    "set_aside_garbage",
    "set_changed_aside",
    "set_rewritten_aside",
    "setting_records_aside",
    "settling",
    "skipped_behind",
    "something_starts",
    "stand_ins",
    "still_the_same",
    "survey_again",
    "take_in",
    "takes_awaited",
    "to_remake",
    "told_in",
    "told_name",
    "told_of_pull",
    "told_of_remotes",
    "turn_all",
    "turn_back",
    "twins",
    "wait_again",
    "waits_for_provisions",
    "warn_of",
    "was_overtaken",
    "why_lacking",
    "why_now",
    "withdraw_those_that_cannot_go",
    "without_needless",
    "without_secrets_of",
    "writes_beside",
];

#[test]
fn no_former_name_comes_back() {
    let wrong = |line: &str| identifiers(line).any(|name| FORMER_NAMES.contains(&name));
    let files = rust_files(&["src", "executor", "crates", "stages"]);
    assert!(wrong("let courier = Courier::new();") && !wrong("courier"));
    let offenders = files.iter().flat_map(|file| file.lines(&file.product_code(), wrong)).collect();
    none(offenders, "names are the field's terms (docs/concepts.md)");
}

/// Openings of doc comments that name a question about the item, not the item.
const DOC_OPENINGS: [&str; 11] =
    ["How", "Of", "What", "Whatever", "Where", "Whether", "Which", "Who", "Whoever", "Whose", "Why"];

#[test]
fn doc_comments_say_what_the_item_is_or_does() {
    let opening = |line: &str| {
        let text = line.trim().strip_prefix("///").or_else(|| line.trim().strip_prefix("//!"))?;
        Some(text.trim().split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default().to_owned())
    };
    let is_wrong = |before: &str, line: &str| {
        opening(before).is_none() && opening(line).is_some_and(|word| DOC_OPENINGS.contains(&word.as_str()))
    };
    assert!(
        is_wrong("", "/// Whether it ended.") && !is_wrong("/// True if", "/// What") && !is_wrong("", "/// Offers")
    );
    let mut offenders = Vec::new();
    for file in rust_files(&["src", "executor", "crates", "stages"]) {
        // Strings of tests may hold any code.
        let lines: Vec<&str> = if file.path.contains("/tests") { Vec::new() } else { file.text.lines().collect() };
        let wrong = (0..lines.len()).filter(|&at| is_wrong(if at == 0 { "" } else { lines[at - 1] }, lines[at]));
        offenders.extend(wrong.map(|at| format!("{}:{}: {}", file.path, at + 1, lines[at].trim())));
    }
    none(offenders, "a doc comment names the item, or has a verb: no question words first");
}

#[test]
fn every_crate_says_what_it_is() {
    let roots = rust_files(&["src", "executor", "crates", "stages"]);
    let is_root = |file: &&File| file.path.ends_with("src/lib.rs") || file.path == "src/main.rs";
    let silent = roots.iter().filter(is_root).filter(|file| !file.text.starts_with("//!"));
    none(silent.map(|file| file.path.clone()).collect(), "a crate begins with `//!`: what it is and must not know");
}

#[test]
fn hashed_code_reads_nothing_that_the_fingerprint_does_not_see() {
    let banned = ["env!", "option_env!", "include!", "OUT_DIR"];
    let wrong = |line: &str| banned.iter().any(|word| mentions(line, word));
    let offenders = hashed_files().iter().flat_map(|file| file.lines(&file.product_code(), wrong)).collect();
    none(offenders, "no `env!`, `option_env!`, `include!` or OUT_DIR in code that makes output bytes");
}

#[test]
fn hashed_code_includes_only_files_that_are_hashed_too() {
    let mut offenders = Vec::new();
    for file in hashed_files() {
        let code = file.product_code();
        let includes = ["include_str!(", "include_bytes!("].iter().flat_map(|word| code.split(word).skip(1));
        for literal in includes.map(|rest| rest.split(')').next().unwrap_or_default().trim().trim_matches('"')) {
            let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let mut steps: Vec<&str> = folder.split('/').collect();
            for step in literal.split('/') {
                match step {
                    ".." => _ = steps.pop(),
                    step => steps.push(step),
                }
            }
            let path = steps.join("/");
            let below = path.strip_prefix(&format!("{}/", file.crate_folder()));
            let aside = |path: &str| {
                let prose = path.ends_with("README.md") || (path.ends_with(".md") && !path.contains('/'));
                let folders = ["tests/", "benches/", "examples/", "target/"];
                prose || path.ends_with(".snap") || folders.iter().any(|folder| path.starts_with(folder))
            };
            if below.is_none_or(aside) {
                offenders.push(format!("{}: {literal}", file.path));
            }
        }
    }
    none(offenders, "a stage includes only files of its own crate that its fingerprint covers");
}

#[test]
fn nothing_below_the_command_line_prints() {
    let banned = ["println!", "eprintln!", "print!", "eprint!", "dbg!"];
    let wrong = |line: &str| banned.iter().any(|word| mentions(line, word));
    let mut files = hashed_files();
    files.extend(rust_files(&["crates/contract/src", "crates/fingerprint/src", "executor"]));
    // `testing` prints for tests alone: which of the reference data they lack.
    files.retain(|file| !file.path.contains("/tests/") && file.path != "crates/contract/src/testing.rs");
    let offenders = files.iter().flat_map(|file| file.lines(&file.product_code(), wrong)).collect();
    none(offenders, "only src/ prints; a stage reports through its context");
}

/// Names that only Linux has: files and calls of its kernel, and code for one system.
const LINUX_ALONE: [&str; 12] = [
    "/proc/",
    "/sys/",
    "target_os",
    "os::linux",
    "pidfd",
    "prctl",
    "set_child_subreaper",
    "renameat",
    "syncfs",
    "statx",
    "memfd",
    "inotify",
];

#[test]
fn what_only_linux_has_is_in_one_module() {
    let wrong = |line: &str| LINUX_ALONE.iter().any(|mark| line.contains(mark));
    let (mut own, mut offenders) = (0, Vec::new());
    for file in rust_files(&["src", "executor"]).iter().filter(|file| !file.path.contains("/tests")) {
        let lines = file.lines(&file.product_code(), wrong);
        match file.path.starts_with("executor/core/src/os/") {
            true => own += lines.len(),
            false => offenders.extend(lines),
        }
    }
    assert!(own > 10, "only {own} lines were found");
    none(offenders, "what only Linux has is in executor/core/src/os/, so that a port is one file");
}

#[test]
fn each_operating_system_has_the_same_functions() {
    // The name of an argument that a system does not use begins with `_`.
    let signature = |line: &str| {
        let end = line.find(" {").into_iter().chain(line.find(" =")).min().unwrap_or(line.len());
        line[..end].replace("(_", "(").replace(", _", ", ")
    };
    let signatures = |name: &str| -> BTreeSet<String> {
        let path = Path::new(ROOT).join("executor/core/src/os").join(name);
        let text = fs::read_to_string(path).expect("a file");
        text.lines().filter(|line| line.starts_with("pub ")).map(signature).collect()
    };
    let linux = signatures("linux.rs");
    assert!(linux.len() > 10, "{linux:?}");
    assert_eq!(linux, signatures("other.rs"));
}

#[test]
fn no_serde_attribute_gives_bad_messages() {
    let wrong = |line: &str| line.contains("serde(") && (mentions(line, "flatten") || mentions(line, "untagged"));
    let files = rust_files(&["src", "executor", "crates", "stages"]);
    let offenders = files.iter().flat_map(|file| file.lines(&without_comments(&file.text), wrong)).collect();
    none(offenders, "serde's `flatten` and `untagged` are banned: their errors say neither what nor where");
}

/// The names of the model families: the entries of their folder.
fn families() -> BTreeSet<String> {
    let files = files_below("crates/models/src/families");
    let names =
        files.iter().map(|file| file.path.split('/').nth(4).expect("an entry").trim_end_matches(".rs").to_owned());
    names.filter(|name| name != "mod" && name != "tests").collect()
}

#[test]
fn no_family_imports_another() {
    let families = families();
    assert!(families.contains("transformer"), "the families are looked for in the wrong place: {families:?}");
    let mut offenders = Vec::new();
    for file in hashed_files() {
        let own = file.path.strip_prefix("crates/models/src/families/").unwrap_or_default();
        let own = own.split('/').next().unwrap_or_default().trim_end_matches(".rs");
        let mut code: String =
            file.product_code().split_whitespace().collect::<Vec<_>>().join(" ").replace(":: ", "::");
        if own == "mod" {
            code = without_registry(&code);
        }
        for other in families.iter().filter(|other| *other != own) {
            let direct = mentions_whole(&code, &format!("families::{other}"));
            let beside = !own.is_empty() && mentions_whole(&code, &format!("super::{other}"));
            let listed = ["families::{", "super::{"].iter().any(|start| {
                let lists = code.split(start).skip(1).filter_map(|rest| rest.split(';').next());
                lists
                    .into_iter()
                    .any(|list| (!own.is_empty() || *start == "families::{") && mentions_whole(list, other))
            });
            let in_registry = own == "mod" && mentions(&code, &format!("{other}::"));
            if direct || beside || listed || in_registry {
                offenders.push(format!("{} names `{other}`", file.path));
            }
        }
    }
    none(offenders, "a family is named in the registry's list only, so that each can be fingerprinted by itself");
}

/// The registry's file without its lists, `&[ … ];`, where families belong.
fn without_registry(code: &str) -> String {
    let mut pieces = code.split("&[");
    let mut rest = pieces.next().unwrap_or_default().to_owned();
    rest.extend(pieces.map(|piece| piece.split_once("];").map_or(piece, |(_, after)| after)));
    rest
}

#[test]
fn no_tensor_is_made_on_burns_default_device() {
    // In a build with CUDA that is a GPU, even where there is none.
    let marks = ["Device::default()", "&Default::default()"];
    let files = rust_files(&[
        "crates/models",
        "crates/training",
        "crates/model-tools",
        "crates/player",
        "stages/train",
        "stages/learn",
        "stages/choose",
        "stages/evaluate",
        "stages/autoencoder",
        "stages/alignment",
    ]);
    let offenders =
        files.iter().flat_map(|file| file.lines(&file.text, |line| marks.iter().any(|mark| line.contains(mark))));
    none(offenders.collect(), "the device of every tensor is named: `device::cpu()`, or the one that was opened");
}

#[test]
fn no_file_is_long() {
    let files = rust_files(&["src", "executor", "crates", "stages"]);
    // The scheduler's transition table stands in one file with the transitions.
    let most = |path: &str| if path == "executor/engine/src/scheduler.rs" { 800 } else { 700 };
    let long = files.iter().map(|file| (&file.path, file.text.lines().count()));
    let long = long.filter(|(path, lines)| *lines > most(path));
    none(
        long.map(|(path, lines)| format!("{path}: {lines} lines")).collect(),
        "a file has one idea, and at most 700 lines",
    );
}

/// The module that a file is: `families::slice` of `crates/models/src/families/slice/mod.rs`.
fn module(file: &File) -> String {
    let path = file.path.split_once("/src/").map_or("", |(_, path)| path).trim_end_matches(".rs");
    path.trim_end_matches("/mod").replace('/', "::")
}

/// Returns true if `file` is the module `path`, which may start at any module of its crate, or holds it as its tests.
fn is_module(file: &File, path: &str) -> bool {
    let own = module(file);
    let is = |path: &str| own == path || own.ends_with(&format!("::{path}"));
    is(path) || path.strip_suffix("::tests").is_some_and(|path| is(path) && file.text.contains("\nmod tests {"))
}

#[test]
fn every_test_that_fidelity_names_as_evidence_is_there() {
    let text = fs::read_to_string(Path::new(ROOT).join("docs/fidelity.md")).expect("docs/fidelity.md");
    let files = rust_files(&["crates", "stages"]);
    let has = |name: &str| {
        let (module, function) = name.rsplit_once("::").unwrap_or(("", name));
        let function = format!("fn {function}(");
        let is_in = |file: &File| module.is_empty() || is_module(file, module);
        files.iter().any(|file| is_in(file) && file.text.contains(&function) || is_module(file, name))
    };
    let spans = text.split('`').skip(1).step_by(2);
    let is_word =
        |span: &&str| span.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_:".contains(&b));
    // A path, or a sentence: parameters and reasons have two words or three.
    let is_test = |span: &&str| is_word(span) && (span.contains("::") || span.matches('_').count() >= 3);
    let is_file = |span: &&str| span.contains('/') && [".rs", ".py", ".json"].iter().any(|end| span.ends_with(end));
    let tests: Vec<&str> = spans.clone().filter(is_test).collect();
    assert!(tests.len() > 25 && !has("families::slice::scan::tests::nobody") && !has("nobody_has_such_a_test"));
    let lost = tests.into_iter().filter(|name| !has(name));
    let lost = lost.chain(spans.filter(is_file).filter(|path| !Path::new(ROOT).join(path).exists()));
    none(lost.map(str::to_owned).collect(), "docs/fidelity.md names tests that are there, by their paths");
}

/// The text files that git tracks; all of the tree's, where there is no git.
fn tracked_files() -> Vec<File> {
    let git = Command::new("git").args(["-C", ROOT, "ls-files", "-z"]).output();
    match git {
        Ok(output) if output.status.success() && !output.stdout.is_empty() => {
            let names = String::from_utf8(output.stdout).expect("UTF-8");
            let names = names.split_terminator('\0').map(|name| (name.to_owned(), Path::new(ROOT).join(name)));
            names.filter_map(|(path, file)| Some(File { path, text: fs::read_to_string(file).ok()? })).collect()
        }
        _ => ["src", "executor", "crates", "stages", "tests", "docs"]
            .iter()
            .flat_map(|folder| files_below(folder))
            .collect(),
    }
}

#[test]
fn no_source_has_open_work() {
    let marks = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("XX", "X"),
        concat!("todo", "!("),
        concat!("unimple", "mented!("),
    ];
    let wrong = |line: &str| marks.iter().any(|mark| mentions_whole(line, mark));
    let files = tracked_files();
    let offenders = files.iter().flat_map(|file| file.lines(&file.text, wrong));
    none(offenders.collect(), "what is not done is an issue, not a note in the code");
}

#[test]
fn no_file_names_an_absolute_path() {
    let folders = ["root", "home", "Users", "work/main", "work/shared", "work/target"].map(|name| format!("/{name}/"));
    let wrong = |line: &str| {
        let absolute = |folder: &String| {
            let before = |at: usize| line[..at].chars().next_back();
            line.match_indices(folder)
                .any(|(at, _)| before(at).is_none_or(|c| !c.is_alphanumeric() && !"._-~$}/*".contains(c)))
        };
        folders.iter().any(absolute)
    };
    let offenders = tracked_files().iter().flat_map(|file| file.lines(&file.text, wrong)).collect();
    none(offenders, "paths are relative, or come from the environment");
}

#[test]
fn packages_come_from_the_public_registry_and_no_file_names_another() {
    let public = "registry+https://github.com/rust-lang/crates.io-index";
    let lock = fs::read_to_string(Path::new(ROOT).join("Cargo.lock")).expect("Cargo.lock");
    let sources: Vec<&str> = lock.lines().filter_map(|line| line.strip_prefix("source = ")).collect();
    assert!(sources.len() > 100, "the lock file lists the packages");
    let others = sources.iter().filter(|source| source.trim_matches('"') != public).map(|source| (*source).to_owned());
    none(others.collect(), "every package comes from crates.io");
    let marks =
        [concat!("replace", "-with"), concat!("sparse", "+http"), concat!("[registr", "ies"), concat!("index", "-url")];
    let wrong = |line: &str| marks.iter().any(|mark| line.contains(mark));
    let offenders = tracked_files().iter().flat_map(|file| file.lines(&file.text, wrong)).collect();
    none(offenders, "where packages are fetched from is the machine's business (~/.cargo/config.toml)");
}

/// The words after `cwm` of each command in a line: between backquotes; in a block of code of a page, or of a comment in YAML, at
/// the beginning and behind `|`, `;`, `&&` and `$(`; in a script behind the quoted path of the program (`"$bin/cwm" run`), in a
/// list or among the arguments of a function (`[cwm, "run"]`, `cwm(program, "run")`). A script that names the program in another
/// way is not looked at.
fn commands_in(line: &str, is_code: bool, is_script: bool) -> Vec<Vec<String>> {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let quoted = line.match_indices("`cwm ").map(|(at, mark)| line[at + mark.len()..].split('`').next());
    let mut found: Vec<Vec<String>> = quoted.map(|text| words(text.unwrap_or_default())).collect();
    if is_code {
        let line = line.replace("&&", ";").replace("$(", ";");
        let parts = line.split(['|', ';']).map(|part| part.trim_start_matches(['#', '$', ' ']));
        found.extend(parts.filter_map(|part| part.strip_prefix("cwm ")).map(words));
    }
    for (at, name) in line.match_indices("cwm").filter(|_| is_script) {
        let rest = &line[at + name.len()..];
        found.extend(match rest.strip_prefix('"') {
            Some(rest) if rest.starts_with(' ') => Some(words(rest)),
            None if rest.starts_with(['(', ',']) => {
                Some(rest.split('"').skip(1).step_by(2).map(str::to_owned).collect())
            }
            _ => None,
        });
    }
    found
}

#[test]
fn every_command_in_texts_and_scripts_exists() {
    let context = crate::context::Context::new();
    let names = context.listed_commands(&[]).into_iter().chain(["exec", "help"].map(str::to_owned));
    let commands: BTreeMap<String, Vec<String>> =
        names.map(|name| (name.clone(), context.listed_commands(&[&name]))).collect();
    // What is no word is an option, or stands for a command.
    let is_word = |word: &&String| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_known = |words: &[String]| match (words.first().filter(is_word), words.get(1).filter(is_word)) {
        (Some(name), second) => commands.get(name).is_some_and(|members| match second {
            Some(second) if !members.is_empty() => members.contains(second),
            _ => true,
        }),
        (None, _) => true,
    };
    let are_known = |line: &str| commands_in(line, true, true).iter().all(|words| is_known(words));
    assert!(are_known("$ x && cwm store ls | cwm runs") && are_known("`cwm {command}`, `cwm --help`"));
    for wrong in [
        "`cwm path a`",
        "`cwm store path`",
        "x | cwm path",
        "\"$bin/cwm\" path a",
        "[cwm, \"path\", \"a\"]",
        "cwm(program, \"path\", f\"{a}\")",
    ] {
        assert!(!are_known(wrong), "{wrong}");
    }
    let product = ["src/", "executor/", "crates/", "stages/"];
    let (mut count, mut offenders) = (0, Vec::new());
    for File { path, text } in tracked_files() {
        let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
        let is_script = ending == "py" || text.starts_with("#!");
        let text = match ending {
            "rs" if product.iter().any(|folder| path.starts_with(folder)) => without_tests(&text),
            "md" | "yaml" => text,
            _ if is_script => text,
            _ => continue,
        };
        let mut is_block = false;
        for (number, line) in text.lines().enumerate() {
            is_block ^= ending == "md" && line.trim_start().starts_with("```");
            let is_code = is_block || ending == "yaml" && line.trim_start().starts_with("#   ");
            let commands = commands_in(line, is_code, is_script);
            count += commands.len();
            let unknown = commands.iter().filter(|words| !is_known(words));
            offenders.extend(unknown.map(|words| format!("{path}:{}: cwm {}", number + 1, words.join(" "))));
        }
    }
    assert!(count > 400, "only {count} commands were found");
    none(offenders, "a command that a text or a script names is one that `cwm --help` lists");
}

/// The anchor of a heading, as the usual pages make it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn every_link_of_a_page_leads_to_a_file_and_a_heading() {
    let mut lost = Vec::new();
    for page in tracked_files().iter().filter(|file| file.path.ends_with(".md")) {
        let prose = page.text.split("```").step_by(2).collect::<String>();
        for link in prose.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link) {
            let (path, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = match path {
                "" => Path::new(ROOT).join(&page.path),
                _ => Path::new(ROOT).join(&page.path).with_file_name(path),
            };
            let has_heading = || {
                let text = fs::read_to_string(&target).unwrap_or_default();
                text.lines()
                    .filter_map(|line| line.strip_prefix('#'))
                    .any(|line| anchor(line.trim_start_matches('#')) == heading)
            };
            if !link.contains("://") && (!target.exists() || !heading.is_empty() && !has_heading()) {
                lost.push(format!("{}: {link}", page.path));
            }
        }
    }
    none(lost, "links of pages lead somewhere");
}

#[test]
fn product_code_is_read_without_tests_and_comments() {
    let text = "\
fn a() {} // env!
// env!
#[cfg(test)]
use x::env;
fn b() {}
#[cfg(test)]
mod tests {
    fn c() {
        env!(\"X\");
    }
}
fn d() {}
#[cfg(test)]
mod more;
impl E {
    #[cfg(test)]
    fn f() {
        env!();
    }
    fn g() {}
}";
    let file = File { path: "crates/x/src/y.rs".to_owned(), text: text.to_owned() };
    let code = file.product_code();
    assert_eq!(code.lines().count(), text.lines().count());
    assert_eq!(
        code.split_whitespace().collect::<Vec<_>>().join(" "),
        "fn a() {} fn b() {} fn d() {} impl E { fn g() {} }"
    );
    assert_eq!(test_modules(&file), ["crates/x/src/y/more"]);
}
