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
        ("games: 5000", "games: 60"),
        ("validation: 500", "validation: 2000"),
        ("held_out_games: 250", "held_out_games: 3"),
        ("random_games: 200", "random_games: 3"),
        ("shift_games: 60", "shift_games: 1"),
        ("sweep_games: 400", "sweep_games: 16"),
        ("slice, mamba3, gated_deltanet, slice_diag, mamba2, gated_deltanet_pos]", "slice]"),
        ("size: [d64/l1, d128/l1]", "size: [d16/l1]"),
        // What is true of the miniature is not of this.
        ("        - evaluation[family=mamba3,test=held_out]\n", ""),
        ("expect: lower", "expect: nothing"),
        // Not the size of the models above: those of one family and size are runs of one model.
        ("[transformer, slice]\n      size: &sizes [d16/l1, d32/l1]", "[slice]\n      size: &sizes [d8/l1]"),
    ] {
        assert!(smaller.contains(old), "pipeline.yaml no longer says `{old}`: this test must follow");
        smaller = smaller.replace(old, new);
    }
    context.write("pipeline.yaml", &smaller);
    context
}

/// The shifts of `pipeline.yaml`.
const SHIFTS: [&str; 5] = ["long", "promotion", "castling", "en_passant", "quiet"];

#[test]
fn from_nothing_to_a_report_and_what_an_edit_runs_again() {
    let context = miniature();
    let run = context.run(&[]);
    assert_eq!(run.raw.code, 0, "{}\n{}", run.raw.stdout, run.raw.stderr);
    // 30, and for each of five shifts three stages of its own and two evaluations.
    assert_eq!(run.ran.len(), 55, "{:?}", run.ran);
    assert!(run.raw.stdout.contains("\"exported\""), "{}", run.raw.stdout);
    for file in [
        "index.html",
        "tables/table-01.tex",
        "tables/table-08.tex",
        "tables/table-11.csv",
        "tables/candidates.csv",
        "tables/differences.json",
        "tables/drops.csv",
        "figures/exact-by-prefix.svg",
    ] {
        assert!(!context.read(&format!("report/{file}")).is_empty(), "{file}");
    }
    // Every shift has its row for each model, its games in the tables of sets, and nothing in the paper's table.
    for shift in SHIFTS {
        let rows = |table: &str, part: &str| context.read(&format!("report/tables/{table}.csv")).matches(part).count();
        assert_eq!(rows("shifts", &format!(",{shift},this run,1,")), 2, "{shift}");
        assert_eq!(rows("played", &format!("shift_games[test={shift}],{shift},1,")), 1, "{shift}");
        assert_eq!(rows("sets", &format!("shift_tokens[test={shift}],dataset,1,")), 1, "{shift}");
        assert_eq!(rows("table-08", shift), 0, "{shift}");
    }
    // What was validated on is another set: of lichess.yaml the report says that it is not.
    let results = context.read("report/tables/table-08.json");
    assert!(!results.contains("validated on"), "{results}");
    let page = context.read("report/index.html");
    assert!(!page.contains("src=\"http") && !page.contains("href=\"http"), "the page needs the network");
    assert!(
        page.contains("Predictions of 3 models after each move of ") && page.len() < 5_000_000,
        "boards of all models"
    );
    context.run(&[]).ran_just(&[]);
    crate::sql::ask_what_the_page_asks(&context);
    crate::python::bins(&context, 5);

    // Bin width: the bins and what follows.
    context.edit("pipeline.yaml", "bin_width: 5", "bin_width: 10");
    context.run(&[]).ran_just(&["bins", "report"]);

    // One more seed: its own cells and what gathers. The sweep stays as it is.
    context.edit("pipeline.yaml", "seed: [0]", "seed: [0, 1]");
    let mut cells: Vec<String> = ["bins", "claim", "differences", "report"].map(str::to_owned).into();
    for family in ["transformer", "slice"] {
        let cell = format!("family={family},size=d16/l1,seed=1");
        cells.push(format!("model[{cell}]"));
        cells.extend(["held_out", "random_uniform"].map(|test| format!("evaluation[{cell},test={test}]")));
        cells.extend(SHIFTS.map(|shift| format!("shift_evaluation[{cell},test={shift}]")));
    }
    context.run(&[]).ran_just(&cells.iter().map(String::as_str).collect::<Vec<_>>());

    // `why` names the parameter, old and new, and where it stands.
    context.edit("pipeline.yaml", "validation: 2000", "validation: 2001");
    let why = context.cwm(&["why", "split"]).stdout;
    assert!(why.contains("parameter `validation` changed: 2000 -> 2001 (line "), "{why}");
    let why = context.cwm(&["why", "report"]).stdout;
    assert!(why.contains("parameter `validation` changed"), "the cause is followed to its root:\n{why}");

    assert_eq!(context.cwm(&["store", "verify"]).code, 0);
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
fn a_killed_training_resumes_and_ends_with_the_same_bytes() {
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
fn the_pipeline_runs_on_real_games() {
    let Some(shared) = crate::context::shared() else { return };
    let context = Context::new();
    let yaml =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("pipelines/chess-world-model/lichess.yaml"))
            .expect("the pipeline");
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
    let counts = context.cwm(&["show", "--path", "corpus.counts", "-f", "lichess.yaml", "--set", &set]).stdout;
    let counts: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(counts.trim()).expect("counts")).expect("JSON");
    assert_eq!(
        (&counts["read"], &counts["kept"]),
        (&14_807.into(), &14_100.into()),
        "as the authors' program keeps them"
    );
    assert_eq!(counts["dropped"]["short"], 707);
    let path = context.cwm(&["show", "--path", "games", "-f", "lichess.yaml", "--set", &set]).stdout;
    assert_eq!(
        Path::new(path.trim()).canonicalize().ok(),
        games.canonicalize().ok(),
        "referenced in place, not copied"
    );
}

/// `paper-data.yaml` of the repository.
fn paper_data() -> Context {
    let context = Context::new();
    let yaml = Path::new(env!("CARGO_MANIFEST_DIR")).join("pipelines/chess-world-model/paper-data.yaml");
    context.write("paper-data.yaml", &std::fs::read_to_string(yaml).expect("the pipeline"));
    context
}

#[test]
fn the_papers_data_are_planned_without_a_network() {
    let context = paper_data();
    let planned = context.cwm(&["run", "--dry-run", "paper-data.yaml"]);
    assert_eq!(planned.code, 0, "{}", planned.stderr);
    // The months and the random games are where it begins; all else waits for them.
    let last = planned.stderr.lines().last();
    assert_eq!(last, Some("would run 3, may run 8, cached 0, would fail 0"), "{}", planned.stderr);
    assert!(!context.path("artifacts").exists() && !context.path("paper-data.lock").exists());
}

/// The first kept games of one file, of another, and the paper's random games in full.
#[test]
fn the_papers_data_with_small_months() {
    let Some(shared) = crate::context::shared() else { return };
    let context = paper_data();
    let games = shared.join("data/lichess-sample.pgn.zst");
    let mut set = Vec::new();
    for month in ["train", "held_out"] {
        set.push(format!("{month}={}", games.display()));
    }
    for number in ["train_games=10000", "held_out_games=100"] {
        set.push(number.to_owned());
    }
    let mut arguments = vec!["paper-data.yaml"];
    for pair in &set {
        arguments.extend(["--set", pair]);
    }
    let run = context.run(&arguments);
    assert_eq!(run.raw.code, 0, "{}\n{}", run.raw.stdout, run.raw.stderr);
    let rows = |table: &str| -> Vec<Vec<String>> {
        let csv = context.read(&format!("report-paper-data/tables/{table}.csv"));
        csv.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
    };
    // Games of ours, and the paper's: the kind of the row, the split, where it is from, the games.
    let splits = rows("table-01");
    let games = |split: &str| {
        ["ours", "paper"].map(|kind| {
            let row = splits.iter().find(|row| row[0] == kind && row[1] == split);
            row.map(|row| row[3].parse::<u64>().expect("a count"))
        })
    };
    assert_eq!(games("Train and validation"), [Some(10_000), Some(10_000_000)]);
    assert_eq!(games("Held-out test"), [Some(100), Some(10_000)]);
    assert_eq!(games("Random-uniform test"), [Some(10_000), Some(10_000)]);
    let coverage = rows("table-03");
    let set = |name: &str, from: &str| coverage.iter().find(|row| row[0] == "ours" && row[1] == name && row[2] == from);
    let all = set("train and validation", "tokens").expect("all games of the corpus");
    assert_eq!(all[3], "10000");
    let distinct = |row: &[String]| row[5].parse::<u64>().expect("a count");
    let random = set("random_uniform", "random_uniform").expect("random games");
    assert_eq!((distinct(random), random[3].as_str()), (1_968, "10000"), "as the paper's Table 3 has it");
    let train = set("train", "tokens").expect("those to train on");
    assert!(distinct(train) <= distinct(all) && distinct(all) <= 1_968, "{coverage:?}");

    // A limit that is not met is an error, and says so.
    arguments.extend(["--set", "random_games=10101"]);
    let run = context.run(&arguments);
    assert_eq!(run.failed.keys().collect::<Vec<_>>(), ["random_corpus"]);
}

#[test]
fn the_secret_of_ids_is_in_the_key_and_written_nowhere() {
    let context = miniature();
    let run = |key: &str| {
        let output = context.command(&["run", "corpus", "--json"]).env("CHESS_WORLD_MODEL_ID_KEY", key).output();
        crate::context::Run::read(crate::context::finish(output.expect("cwm starts")))
    };
    // Where the site is the id, the secret means nothing, not even if it is none.
    run("").ran_just(&["games", "corpus"]);
    run("zeroth-very-secret").ran_just(&[]);
    context.edit("pipeline.yaml", "with: { ids: site } }\n  split", "with: { ids: hmac } }\n  split");
    run("first-very-secret").ran_just(&["corpus"]);
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
