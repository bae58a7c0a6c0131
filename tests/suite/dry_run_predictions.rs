//! Compares what a dry run, `status` and `why` predict with what a run then does, on small generated graphs whose stores lack
//! some content. `CWM_DRY_RUN_GRAPHS` is the number of graphs, new ones each time; without it they are the same ten.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseResult, TestRng, TestRunner};
use serde_json::Value;

use crate::context::Context;

/// A stage that writes what it reads, its value, both or nothing: so that outputs of several are equal, and stay as they are
/// although what is read changes.
#[derive(Clone, Debug)]
struct Stage {
    /// The numbers of the stages that it reads; only those before it count.
    reads: Vec<usize>,
    copies: bool,
    tells: bool,
    value: u8,
    is_folder: bool,
    is_kept: bool,
    is_exported: bool,
    /// True if its key may be that of another.
    may_be_twin: bool,
    /// True if it makes something else each time.
    varies: bool,
}

/// A change of a pipeline, or of its store, between two runs.
#[derive(Clone, Debug)]
enum Act {
    LoseObject(usize),
    SpoilObject(usize),
    LoseRecord(usize),
    SpoilRecord(usize),
    LoseLock,
    Set(usize, u8),
    Keep(usize, bool),
    Collect,
}

/// Changes, and then a run of one stage or of all of them, perhaps with one by force.
#[derive(Clone, Debug)]
struct Round {
    acts: Vec<Act>,
    asked: Option<usize>,
    forced: Option<usize>,
}

fn stages() -> impl Strategy<Value = Vec<Stage>> {
    let reads = prop::collection::vec(0..5usize, 0..3);
    let stage = (reads, any::<[bool; 2]>(), 1..3u8, [0..4u8, 0..3, 0..4, 0..4]).prop_map(
        |(reads, [copies, tells], value, [folder, kept, exported, twin])| Stage {
            reads,
            copies,
            tells,
            value,
            is_folder: folder == 0,
            is_kept: kept > 0,
            is_exported: exported == 0,
            may_be_twin: twin == 0,
            varies: false,
        },
    );
    prop::collection::vec(stage, 2..6)
}

fn rounds() -> impl Strategy<Value = Vec<Round>> {
    let act = prop_oneof![
        6 => (0..16usize).prop_map(Act::LoseObject),
        2 => (0..16usize).prop_map(Act::SpoilObject),
        4 => (0..16usize).prop_map(Act::LoseRecord),
        1 => (0..16usize).prop_map(Act::SpoilRecord),
        1 => Just(Act::LoseLock),
        4 => (0..5usize, 1..3u8).prop_map(|(stage, value)| Act::Set(stage, value)),
        1 => (0..5usize, any::<bool>()).prop_map(|(stage, kept)| Act::Keep(stage, kept)),
        1 => Just(Act::Collect),
    ];
    let (asked, forced) = (prop::option::weighted(0.2, 0..5usize), prop::option::weighted(0.1, 0..5usize));
    let round = (prop::collection::vec(act, 0..4), asked, forced);
    prop::collection::vec(round.prop_map(|(acts, asked, forced)| Round { acts, asked, forced }), 1..4)
}

fn sources(stages: &[Stage], index: usize) -> BTreeSet<usize> {
    stages[index].reads.iter().copied().filter(|read| *read < index).collect()
}

fn pipeline(stages: &[Stage]) -> String {
    let mut text = "cwm: 1\nstages:\n".to_owned();
    for (index, stage) in stages.iter().enumerate() {
        let sources = sources(stages, index);
        let from: Vec<String> = sources.iter().enumerate().map(|(nth, source)| format!("i{nth}: s{source}")).collect();
        let mut commands = Vec::new();
        for (nth, source) in sources.iter().enumerate().filter(|_| stage.copies) {
            let inside = if stages[*source].is_folder { "/x" } else { "" };
            commands.push(format!("cat \"$in_i{nth}{inside}\""));
        }
        if stage.tells {
            commands.push("echo $value".to_owned());
        }
        if stage.varies {
            commands.push("cat /proc/sys/kernel/random/uuid".to_owned());
        }
        commands.push("true".to_owned());
        let (made, place) = if stage.is_folder { ("mkdir -p \"$out\"; ", "/x") } else { ("", "") };
        text += &format!(
            "  s{index}:\n    stage: command\n    keep: {}\n    from: {{ {} }}\n    outputs: {{ d: {} }}\n    with: {{ run: '{made}{{ {}; }} > \"$out{place}\"', value: {}, who: {} }}\n",
            stage.is_kept,
            from.join(", "),
            if stage.is_folder { "folder" } else { "file" },
            commands.join("; "),
            stage.value,
            if stage.may_be_twin { 9 } else { index },
        );
    }
    text += "export:\n";
    for index in (0..stages.len()).filter(|index| stages[*index].is_exported) {
        text += &format!("  s{index}: out/s{index}\n");
    }
    text.replace("    from: {  }\n", "").trim_end_matches("export:\n").to_owned()
}

/// Returns the content that a stage makes.
fn content(stages: &[Stage], index: usize) -> String {
    let stage = &stages[index];
    let read = sources(stages, index).into_iter().filter(|_| stage.copies);
    let reported = if stage.tells { format!("{}\n", stage.value) } else { String::new() };
    read.map(|source| content(stages, source)).collect::<String>() + &reported
}

/// Returns true if the content that a stage makes cannot be predicted.
fn varies(stages: &[Stage], index: usize) -> bool {
    stages[index].varies || sources(stages, index).into_iter().any(|source| varies(stages, source))
}

fn files(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    for _ in 0..depth {
        found = found
            .iter()
            .flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten())
            .map(|entry| entry.path())
            .collect();
    }
    found.sort();
    found
}

fn nth(paths: &[PathBuf], n: usize) -> Option<&PathBuf> {
    paths.get(n % paths.len().max(1))
}

fn write_over(path: Option<&PathBuf>) {
    let Some(path) = path else { return };
    fs::set_permissions(path, fs::Permissions::from_mode(0o644)).expect("a mode");
    fs::write(path, "spoilt").expect("other bytes");
}

fn act(context: &Context, stages: &mut [Stage], act: &Act) {
    let objects = files(&context.path("artifacts/objects"), 2);
    match act {
        Act::LoseObject(n) => _ = nth(&objects, *n).map(|path| fs::remove_file(path).expect("an object")),
        Act::SpoilObject(n) => write_over(nth(&objects, *n)),
        Act::LoseRecord(n) => {
            let keys = files(&context.path("artifacts/actions"), 2);
            let _ = nth(&keys, *n).map(|path| fs::remove_dir_all(path).expect("a folder"));
        }
        Act::SpoilRecord(n) => {
            let records = files(&context.path("artifacts/actions"), 3);
            let records: Vec<PathBuf> =
                records.into_iter().filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
            write_over(nth(&records, *n));
        }
        Act::LoseLock => _ = fs::remove_file(context.path("pipeline.lock")),
        Act::Set(stage, value) => _ = stages.get_mut(*stage).map(|stage| stage.value = *value),
        Act::Keep(stage, kept) => _ = stages.get_mut(*stage).map(|stage| stage.is_kept = *kept),
        Act::Collect => _ = context.cwm(&["store", "gc", "--delete"]),
    }
}

/// Returns the labels of the cells that a dry run predicts, with true if they run for certain, and its output.
fn predicted(context: &Context, arguments: &[&str]) -> Result<(BTreeMap<String, bool>, String), TestCaseError> {
    let dry = context.cwm(&[&["run", "--dry-run", "--json"], arguments].concat());
    prop_assert_eq!(dry.code, 0, "{}{}", dry.stdout, dry.stderr);
    let events = dry.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("an event"));
    let would = events.filter(|event| event["event"] == "would_run");
    let reported =
        would.map(|event| (event["label"].as_str().expect("a label").to_owned(), event["uncertain"] == false));
    Ok((reported.collect(), dry.stdout))
}

/// Returns the same as predicted by `status` and `why` for a run of all cells.
fn predicted_by_status_and_why(context: &Context, count: usize) -> Result<[BTreeMap<String, bool>; 2], TestCaseError> {
    let labels: Vec<String> = (0..count).map(|index| format!("s{index}")).collect();
    let mut words = vec!["why", "--json"];
    words.extend(labels.iter().map(String::as_str));
    let mut reported = [BTreeMap::new(), BTreeMap::new()];
    for (reported, words) in reported.iter_mut().zip([&["status", "--json"][..], &words]) {
        let ran = context.cwm(words);
        prop_assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        let rows: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        for row in rows.as_array().expect("rows") {
            let certain = match row["state"].as_str().expect("a state") {
                "would run" => true,
                "may run" | "waits" => false,
                _ => continue,
            };
            reported.insert(row["label"].as_str().expect("a label").to_owned(), certain);
        }
    }
    Ok(reported)
}

fn live(stages: &[Stage], rounds: &[Round]) -> TestCaseResult {
    let mut stages = stages.to_vec();
    let context = Context::with(&pipeline(&stages));
    let first = context.run(&[]);
    prop_assert_eq!(first.raw.code, 0, "{}{}", first.raw.stdout, first.raw.stderr);
    for round in rounds {
        for one in &round.acts {
            act(&context, &mut stages, one);
        }
        context.write("pipeline.yaml", &pipeline(&stages));
        let label = |index: usize| format!("s{}", index % stages.len());
        let mut arguments: Vec<String> = round.forced.iter().flat_map(|n| ["--force".to_owned(), label(*n)]).collect();
        arguments.extend(round.asked.map(label));
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let (reported, dry) = predicted(&context, &arguments)?;
        if arguments.is_empty() {
            let [status, why] = predicted_by_status_and_why(&context, stages.len())?;
            prop_assert_eq!(&reported, &status, "dry run, status: {}", &dry);
            prop_assert_eq!(&reported, &why, "dry run, why: {}", &dry);
        }
        let run = context.run(&arguments);
        let both = || format!("{}\n{:?}:\n{}{}", dry, arguments, run.raw.stdout, run.raw.stderr);
        prop_assert_eq!(run.raw.code, 0, "{}", both());
        for ran in &run.ran {
            prop_assert!(reported.contains_key(ran), "{} ran unpredicted: {}", ran, both());
        }
        for (label, _) in reported.iter().filter(|(_, certain)| **certain) {
            prop_assert!(run.ran.contains(label), "{} did not run: {}", label, both());
        }
    }
    let end = context.run(&[]);
    prop_assert_eq!(end.raw.code, 0, "{}{}", end.raw.stdout, end.raw.stderr);
    for index in (0..stages.len()).filter(|index| stages[*index].is_exported && !varies(&stages, *index)) {
        let name = format!("out/s{index}");
        let found = fs::read_to_string(context.path(&name).join(if stages[index].is_folder { "x" } else { "d" }));
        prop_assert_eq!(found.ok(), Some(content(&stages, index)), "{}", name);
    }
    let again = context.run(&[]);
    prop_assert!(again.ran.is_empty(), "{}", again.raw.stdout);
    prop_assert!(predicted(&context, &[])?.0.is_empty());
    Ok(())
}

#[test]
fn cells_that_run_were_predicted_and_certain_cells_run() {
    let asked = std::env::var("CWM_DRY_RUN_GRAPHS").ok().and_then(|cases| cases.parse().ok());
    let config =
        Config { cases: asked.unwrap_or(10), failure_persistence: None, max_shrink_iters: 300, ..Config::default() };
    let mut runner = match asked {
        Some(_) => TestRunner::new(config),
        None => TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha)),
    };
    let reported = runner.run(&(stages(), rounds()), |(stages, rounds)| live(&stages, &rounds));
    if let Err(error) = reported {
        panic!("{error}");
    }
}

/// Forced stages that come out differently, as date and chance do; nothing is lost meanwhile.
#[test]
fn dependents_of_a_forced_cell_are_predicted() {
    let config = Config { cases: 10, failure_persistence: None, max_shrink_iters: 100, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let forced = prop::collection::vec(0..5usize, 1..3);
    let reported = runner.run(&(stages(), any::<[bool; 5]>(), forced), |(mut stages, vary, forced)| {
        for (stage, varies) in stages.iter_mut().zip(vary) {
            (stage.varies, stage.is_kept) = (varies, true);
        }
        let rounds = forced.into_iter().map(|n| Round { acts: Vec::new(), asked: None, forced: Some(n) });
        live(&stages, &rounds.collect::<Vec<_>>())
    });
    if let Err(error) = reported {
        panic!("{error}");
    }
}

/// Cases that the first test found.
#[test]
fn rebuilt_and_shared_results_are_predicted() {
    let plain = Stage {
        reads: Vec::new(),
        copies: false,
        tells: false,
        value: 1,
        is_folder: false,
        is_kept: true,
        is_exported: false,
        may_be_twin: false,
        varies: false,
    };
    let exported = Stage { is_exported: true, ..plain.clone() };
    let dropped = Stage { is_folder: true, is_kept: false, ..plain.clone() };
    let reads = |source: usize, stage: &Stage| Stage { reads: vec![source], ..stage.clone() };
    let twin = Stage { may_be_twin: true, tells: true, ..plain.clone() };
    let one = |acts: Vec<Act>| [Round { acts, asked: None, forced: None }];
    for n in 0..4 {
        // The last lacks what the first makes again; and so nobody need make the one between.
        let stages = [exported.clone(), reads(0, &dropped), reads(1, &exported)];
        live(&stages, &one(vec![Act::LoseObject(n)])).unwrap();
        // A folder that nobody reads, and of which it is not known any more what is in it.
        let folder = Stage { is_kept: true, ..dropped.clone() };
        live(&[folder, reads(0, &exported)], &one(vec![Act::SpoilObject(n)])).unwrap();
    }
    // One that is not kept, and one that has the same result and is exported.
    let gone = Stage { is_kept: false, ..twin.clone() };
    let kept = Stage { is_exported: true, ..twin.clone() };
    live(&[gone, kept, reads(0, &exported)], &one(Vec::new())).unwrap();
    // Two that do the same.
    live(&[twin.clone(), twin.clone(), reads(1, &exported)], &one(vec![Act::Set(0, 2), Act::Set(1, 2)])).unwrap();
    live(&[twin.clone(), twin], &one(vec![Act::LoseObject(0), Act::LoseObject(0)])).unwrap();
}
