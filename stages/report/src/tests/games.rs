//! Tables of the games: splits, coverage, sets, drops.

use cwm_contract::testing::Trial;

use super::{label, lines, page_table, read, rows, run, trial};

/// The same trial with a counts file of the stage `name`.
fn counted(trial: Trial, folder: &std::path::Path, name: &str, json: &str) -> Trial {
    let path = folder.join(format!("counts of {name}"));
    std::fs::write(&path, json).unwrap();
    trial.labelled("counts", label(name), path)
}

#[test]
fn counts_become_tables() {
    let folder = tempfile::tempdir().unwrap();
    let trial = counted(
        trial(folder.path(), &rows()),
        folder.path(),
        "corpus",
        r#"{"stage":"parse","read":1000,"kept":900,"plies":9,"dropped":{"short":40,"null_move":60,"variant":0}}"#,
    );
    let trial = counted(
        trial,
        folder.path(),
        "split",
        r#"{"stage":"split","buckets":10000,"validation_buckets":500,
            "train":{"games":800,"plies":64000},"validation":{"games":100,"plies":8000}}"#,
    );
    let trial = counted(
        trial,
        folder.path(),
        "tokens",
        r#"{"stage":"tokenize","sets":{"train":{"games":800,"plies":64000,"positions":64800,"unique_moves":1024}}}"#,
    );
    let report = run(trial).unwrap();
    let drops = page_table(&report, "drops");
    assert_eq!(
        lines(&drops, "corpus"),
        [
            "| corpus | read | 1,000 | 100.00 |",
            "| corpus | kept | 900 | 90.00 |",
            "| corpus | dropped: null move | 60 | 6.00 |",
            "| corpus | dropped: short | 40 | 4.00 |",
        ]
    );
    assert!(read(&report, "tables/drops.csv").contains("ours,corpus,dropped: variant,0,0\n"));
    let splits = page_table(&report, "table-01");
    assert_eq!(
        splits.lines().skip(6).collect::<Vec<_>>(),
        [
            "| Train and validation | split | 900 | 72,900 | 100.00 | – |",
            "| Train and validation | paper | 10,000,000 | – | – | – |",
            "| Train and validation | difference | −9,999,100 | – | – | – |",
            "| Train | split | 800 | 64,800 | 88.89 | 95.00 |",
            "| Validation | split | 100 | 8,100 | 11.11 | 5.00 |",
            "| Validation | paper | – | – | ≈ 0.5 | – |",
            "| Validation | difference | – | – | +10.61 | – |",
            "| Held-out test | this run | 50 | 500 | – | – |",
            "| Held-out test | paper | 10,000 | – | – | – |",
            "| Held-out test | difference | −9,950 | – | – | – |",
            "| Random-uniform test | this run | 50 | 500 | – | – |",
            "| Random-uniform test | paper | 10,000 | – | – | – |",
            "| Random-uniform test | difference | −9,950 | – | – | – |",
        ]
    );
    let coverage = page_table(&report, "table-03");
    assert!(coverage.contains("| train | tokens | 800 | 64,800 | 1,024 | 5.00 | – |"), "{coverage}");
    assert!(coverage.contains("| train | paper | 10,000,000 | – | 1,968 | 9.61 | 0 |"), "{coverage}");
}

/// Appendix A.2: "zero random-only move identifiers and zero train-only move identifiers".
#[test]
fn moves_that_one_set_alone_has_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let set = |moves: &str| format!(r#"{{"games":10,"plies":800,"positions":810,"unique_moves":9,"moves":"{moves}"}}"#);
    let tokens = |sets: String| format!(r#"{{"stage":"tokenize","all":{},"sets":{{{sets}}}}}"#, set(""));
    let corpus = tokens(format!(r#""train":{},"validation":{}"#, set("ff0000"), set("000100")));
    let test = |moves: &str| tokens(format!(r#""dataset":{}"#, set(moves)));
    let mut trial = trial(folder.path(), &rows());
    for (name, json) in [("tokens", corpus), ("random_uniform", test("f00103")), ("long", test("ff0000"))] {
        trial = counted(trial, folder.path(), name, &json);
    }
    let coverage = page_table(&run(trial).unwrap(), "table-03");
    let only = |row: &str| lines(&coverage, row)[0].rsplit(" | ").next().unwrap().to_owned();
    assert_eq!(only("| train and validation | tokens"), "4 |", "{coverage}");
    assert_eq!(
        ["| train | tokens", "| validation | tokens", "| random_uniform |", "| long |"].map(only),
        ["4 |", "0 |", "2 |", "0 |"]
    );
    assert_eq!(["| train and validation | paper", "| random_uniform | paper"].map(only), ["0 |", "0 |"]);
    assert_eq!(["| train and validation | diff", "| random_uniform | diff"].map(only), ["+4 |", "+2 |"]);
}

#[test]
fn the_train_row_of_the_paper_stands_beside_all_games_of_the_corpus() {
    let folder = tempfile::tempdir().unwrap();
    let trial = counted(
        trial(folder.path(), &rows()),
        folder.path(),
        "tokens",
        r#"{"stage":"tokenize","all":{"games":900,"plies":72000,"positions":72900,"unique_moves":1900},"sets":{
            "train":{"games":800,"plies":64000,"positions":64800,"unique_moves":1024},
            "validation":{"games":100,"plies":8000,"positions":8100,"unique_moves":900}}}"#,
    );
    let report = run(trial).unwrap();
    let coverage = page_table(&report, "table-03");
    assert_eq!(
        coverage.lines().skip(6).collect::<Vec<_>>(),
        [
            "| train and validation | tokens | 900 | 72,900 | 1,900 | 9.28 | – |",
            "| train and validation | paper | 10,000,000 | – | 1,968 | 9.61 | 0 |",
            "| train and validation | difference | −9,999,100 | – | −68 | −0.33 | – |",
            "| train | tokens | 800 | 64,800 | 1,024 | 5.00 | – |",
            "| validation | tokens | 100 | 8,100 | 900 | 4.39 | – |",
            "",
            "Not run here; the paper's numbers:",
            "",
            "| Set | Source | Games | Positions | Distinct moves | Coverage (%) | Only here |",
            "| :--- | :--- | ---: | ---: | ---: | ---: | ---: |",
            "| random-uniform test | paper (not run here) | 10,000 | – | 1,968 | 9.61 | 0 |",
        ]
    );
    let sets = page_table(&report, "sets");
    assert_eq!(lines(&sets, "validation"), ["| tokens | validation | 100 | 8,000 | 80.0 | 900 |"]);
}

#[test]
fn what_happens_in_games_that_were_played_here_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let trial = counted(
        trial(folder.path(), &rows()),
        folder.path(),
        "shifted_games[test=castling]",
        r#"{"stage":"play","policy":"castling","games":4,"plies":1302,"captures":106,"en_passant":1,
            "castlings":{"king_side":3,"queen_side":2},"promotions":{"queen":4,"rook":3,"bishop":2,"knight":1},
            "mates":1,"draws":2,"unfinished":1}"#,
    );
    let table = page_table(&run(trial).unwrap(), "played");
    assert_eq!(
        table.lines().nth(6).unwrap(),
        "| shifted_games[test=castling] | castling | 4 | 325.5 | 26.5 | 1.25 | 2.50 | 0.25 | 25.00 | 50.00 | 25.00 |"
    );
}

#[test]
fn reasons_that_nobody_has_heard_of_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let counts = r#"{"stage":"import","read":100,"kept":90,"plies":9,"dropped":{"full_moon":10,"short":0}}"#;
    let report = run(counted(trial(folder.path(), &rows()), folder.path(), "theirs", counts)).unwrap();
    assert_eq!(
        lines(&page_table(&report, "drops"), "theirs"),
        [
            "| theirs | read | 100 | 100.00 |",
            "| theirs | kept | 90 | 90.00 |",
            "| theirs | dropped: full moon | 10 | 10.00 |",
        ]
    );
    assert!(read(&report, "tables/drops.csv").contains("ours,theirs,dropped: short,0,0\n"));
    assert!(read(&report, "index.html").contains("<h2 id=\"games\">Games kept and dropped</h2>"));
}

#[test]
fn without_a_split_or_a_test_set_there_is_no_table_of_splits() {
    let folder = tempfile::tempdir().unwrap();
    let counts = r#"{"stage":"parse","read":100,"kept":90,"plies":9,"dropped":{"short":10}}"#;
    let report = run(counted(Trial::new(folder.path().join("trial")), folder.path(), "corpus", counts)).unwrap();
    assert!(report.join("tables/drops.csv").exists() && !report.join("tables/table-01.csv").exists());
}

/// The data half of the paper: nothing is trained, and the test sets are known by the names of their stages.
#[test]
fn games_without_models_are_a_report_too() {
    let folder = tempfile::tempdir().unwrap();
    let split = r#"{"stage":"split","buckets":10000,"validation_buckets":50,
        "train":{"games":995,"plies":64000},"validation":{"games":5,"plies":300}}"#;
    let test = r#"{"stage":"tokenize","all":{"games":10,"plies":800,"positions":810,"unique_moves":300},
        "sets":{"dataset":{"games":10,"plies":800,"positions":810,"unique_moves":300}}}"#;
    let mut trial = Trial::new(folder.path().join("trial"));
    for (name, json) in [("split", split), ("held_out", test), ("tokens[test=random_uniform]", test), ("other", test)] {
        trial = counted(trial, folder.path(), name, json);
    }
    let report = run(trial).unwrap();
    assert_eq!(
        page_table(&report, "table-01").lines().skip(6).collect::<Vec<_>>(),
        [
            "| Train and validation | split | 1,000 | 65,300 | 100.00 | – |",
            "| Train and validation | paper | 10,000,000 | – | – | – |",
            "| Train and validation | difference | −9,999,000 | – | – | – |",
            "| Train | split | 995 | 64,995 | 99.50 | 99.50 |",
            "| Validation | split | 5 | 305 | 0.50 | 0.50 |",
            "| Validation | paper | – | – | ≈ 0.5 | – |",
            "| Validation | difference | – | – | 0.00 | – |",
            "| Held-out test | held_out | 10 | 810 | – | – |",
            "| Held-out test | paper | 10,000 | – | – | – |",
            "| Held-out test | difference | −9,990 | – | – | – |",
            "| Random-uniform test | tokens[test=random_uniform] | 10 | 810 | – | – |",
            "| Random-uniform test | paper | 10,000 | – | – | – |",
            "| Random-uniform test | difference | −9,990 | – | – | – |",
        ]
    );
    let coverage = page_table(&report, "table-03");
    assert_eq!(lines(&coverage, "held").len(), 1, "{coverage}");
    // Only the random-uniform set is one of the paper's, and so is known by its name.
    assert_eq!(
        lines(&coverage, "difference"),
        ["| random_uniform | difference | −9,990 | – | −1,668 | −8.15 | – |"],
        "{coverage}"
    );
    let page = read(&report, "index.html");
    assert!(page.contains("No model was scored.") && !page.contains("What was scored"));
    for absent in ["tables/table-08.csv", "tables/table-04.csv", "tables/shifts.csv", "figures/exact-by-prefix.svg"] {
        assert!(!report.join(absent).exists(), "{absent}");
    }
    let nothing = run(Trial::new(folder.path().join("nothing"))).unwrap_err();
    assert_eq!(nothing.message, "there is nothing to report");
}
