//! The real stages end to end, on a benchmark so small that it takes seconds.

use std::collections::BTreeSet;
use std::path::Path;

use crate::context::Context;

/// `pipeline.yaml` of the repository with fewer and smaller things in it.
fn miniature() -> Context {
    let context = Context::new();
    let yaml =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("pipeline.yaml")).expect("the pipeline");
    let mut smaller = yaml.clone();
    for (old, new) in [
        ("games: 4000", "games: 60"),
        ("validation: 500", "validation: 2000"),
        ("policy: uniform, games: 100", "policy: uniform, games: 3"),
        ("size: [d64/l1, d128/l1], seed: [0, 1]", "size: [d16/l1], seed: [0, 1]"),
    ] {
        assert!(smaller.contains(old), "pipeline.yaml no longer says `{old}`: this test must follow");
        smaller = smaller.replace(old, new);
    }
    context.write("pipeline.yaml", &smaller);
    context
}

#[test]
fn from_nothing_to_a_report_and_what_an_edit_runs_again() {
    let context = miniature();
    let run = context.run(&[]);
    assert_eq!(run.raw.code, 0, "{}\n{}", run.raw.stdout, run.raw.stderr);
    assert_eq!(run.ran.len(), 15, "{:?}", run.ran);
    assert!(run.raw.stdout.contains("\"exported\""), "{}", run.raw.stdout);
    for file in
        ["index.html", "tables/table-01.md", "tables/table-08.md", "tables/table-11.csv", "figures/exact-by-prefix.svg"]
    {
        assert!(!context.read(&format!("report/{file}")).is_empty(), "{file}");
    }
    let page = context.read("report/index.html");
    assert!(!page.contains("src=\"http") && !page.contains("href=\"http"), "the page needs the network");
    context.run(&[]).ran_just(&[]);

    // Bin width: the bins and what follows.
    context.edit("pipeline.yaml", "bin_width: 5", "bin_width: 10");
    context.run(&[]).ran_just(&["bins", "report"]);

    // One more seed: its own cells and what gathers.
    context.edit("pipeline.yaml", "seed: [0, 1]", "seed: [0, 1, 2]");
    let run = context.run(&[]);
    run.ran_just(&[
        "model[size=d16/l1,seed=2]",
        "evaluation[size=d16/l1,seed=2,test=held_out]",
        "evaluation[size=d16/l1,seed=2,test=random_uniform]",
        "bins",
        "report",
    ]);

    // `why` names the parameter, old and new, and where it stands.
    context.edit("pipeline.yaml", "validation: 2000", "validation: 2001");
    let why = context.cwm(&["why", "split"]).stdout;
    assert!(why.contains("parameter `validation` changed: 2000 -> 2001 (line "), "{why}");
    let why = context.cwm(&["why", "report"]).stdout;
    assert!(why.contains("parameter `validation` changed"), "the cause is followed to its root:\n{why}");

    assert_eq!(context.cwm(&["verify"]).code, 0);
}

#[test]
fn any_number_of_cores_makes_the_same_artifacts() {
    let digests = |jobs: &str| {
        let context = miniature();
        let run = context.run(&["--jobs", jobs]);
        assert_eq!(run.raw.code, 0, "{}\n{}", run.raw.stdout, run.raw.stderr);
        context.read("pipeline.lock")
    };
    assert_eq!(digests("1"), digests("2"));
}

#[test]
fn a_training_that_was_killed_goes_on_and_ends_with_the_same_bytes() {
    let undisturbed = miniature();
    assert_eq!(undisturbed.run(&["model"]).raw.code, 0);
    let context = miniature();
    context.run(&["tokens"]);
    let mut child = context.command(&["run", "model", "--jobs", "1"]).spawn().expect("cwm starts");
    // As soon as the first training has begun; where exactly it is hit does not matter.
    let work = context.path("artifacts/work");
    let began = || {
        work.read_dir()
            .is_ok_and(|mut entries| entries.any(|entry| entry.is_ok_and(|entry| entry.path().join("log").exists())))
    };
    for _ in 0..1200 {
        if began() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(25));
    }
    std::thread::sleep(std::time::Duration::from_millis(300));
    child.kill().expect("a kill");
    child.wait().expect("an end");
    assert_eq!(context.run(&["model"]).raw.code, 0);
    assert_eq!(context.read("pipeline.lock"), undisturbed.read("pipeline.lock"));
}

#[test]
fn real_games_go_the_same_way() {
    let Some(shared) = crate::context::shared() else { return };
    let context = Context::new();
    let yaml =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("lichess.yaml")).expect("the pipeline");
    let names = |yaml: &str| -> BTreeSet<String> {
        let stages =
            yaml.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   ") && line.contains(':'));
        stages.map(|line| line.trim().split(':').next().unwrap_or_default().to_owned()).collect()
    };
    let miniature =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("pipeline.yaml")).expect("the pipeline");
    for name in ["corpus", "split", "tokens", "model", "evaluation", "bins", "report"] {
        assert!(names(&yaml).contains(name) && names(&miniature).contains(name), "both name a stage `{name}`");
    }
    context.write("lichess.yaml", &yaml);
    let games = shared.join("data/lichess-sample.pgn.zst");
    let set = format!("games={}", games.display());
    let run = context.run(&["lichess.yaml", "tokens", "--set", &set]);
    run.ran_just(&["games", "corpus", "split", "tokens"]);
    let counts = context.cwm(&["path", "corpus.counts", "-f", "lichess.yaml", "--set", &set]).stdout;
    let counts: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(counts.trim()).expect("counts")).expect("JSON");
    assert_eq!(
        (&counts["read"], &counts["kept"]),
        (&14_807.into(), &14_100.into()),
        "as the authors' program keeps them"
    );
    assert_eq!(counts["dropped"]["short"], 707);
    let path = context.cwm(&["path", "games", "-f", "lichess.yaml", "--set", &set]).stdout;
    assert_eq!(
        Path::new(path.trim()).canonicalize().ok(),
        games.canonicalize().ok(),
        "referenced in place, not copied"
    );
}

#[test]
fn the_secret_of_the_ids_enters_the_key_and_is_written_nowhere() {
    let context = miniature();
    context.edit("pipeline.yaml", "with: { ids: site } }\n  split", "with: { ids: hmac } }\n  split");
    let run = |key: &str| {
        let output = context.command(&["run", "corpus", "--json"]).env("CHESS_WORLD_MODEL_ID_KEY", key).output();
        crate::context::Run::read(crate::context::finish(output.expect("cwm starts")))
    };
    run("first-very-secret").ran_just(&["games", "corpus"]);
    run("second-very-secret").ran_just(&["corpus"]);
    run("first-very-secret").ran_just(&[]);
    for (path, _) in context.inventory(".") {
        if path.is_file() {
            let bytes = std::fs::read(&path).expect("a file");
            let found = bytes.windows(11).any(|window| window == b"very-secret");
            assert!(!found, "{} holds the secret", path.display());
        }
    }
}
