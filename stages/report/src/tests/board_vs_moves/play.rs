//! Tables of matches.

use super::*;

/// The counts that the authors published, 100 games a level: they are rated as an independent program rated them.
const SWEEP: [[u32; 3]; 11] = [
    [99, 0, 1],
    [93, 0, 7],
    [86, 2, 12],
    [82, 2, 16],
    [69, 2, 29],
    [50, 1, 49],
    [56, 1, 43],
    [30, 1, 69],
    [23, 2, 75],
    [17, 5, 78],
    [10, 5, 85],
];

#[test]
fn ratings_are_those_of_the_golden_counts() {
    let folder = tempfile::tempdir().unwrap();
    let mut trial = Trial::new(folder.path().join("trial"));
    for (level, results) in SWEEP.into_iter().enumerate() {
        let name = format!("matches[against=level:{level}]");
        let path = write_matches(folder.path(), &name, &format!("level:{level}"), Some(level as u8), results);
        trial = trial.labelled("matches", label(&name), path);
    }
    let report = run(trial).unwrap();
    let table = page_table(&report, "board-vs-moves-ratings");
    let ours = lines(&table, "| board/none | d64/l2 | attempts | allow | 1,100 | 11 |");
    assert_eq!(ours.len(), 1, "{table}");
    assert!(ours[0].contains("| 2,478 |") && ours[0].contains("| 2274 ["), "{table}");
    let repository = lines(&table, "| authors' repository |");
    assert!(
        repository[0].contains("| sweep | – | 1,100 | 11 | 2,478 |") && repository[0].contains("| 2274 ["),
        "{table}"
    );
    let printed = lines(&table, "| paper (not run here) |");
    assert_eq!((printed.len(), lines(&table, "| characters/causal, as White |").len()), (7, 1), "{table}");
    assert!(lines(&table, "| board/none | – |")[0].contains("| 2680 |"), "{table}");

    let table = page_table(&report, "board-vs-moves-levels");
    assert_eq!(
        lines(&table, "| level 2 |")[0]
            .split("| level 2 | 100 | 86 | 2 | 12 | 87.00")
            .nth(1)
            .map(|rest| rest.contains("| 2 | 12 | 0 | 0.60 | 330 [")),
        Some(true),
        "{table}"
    );
    assert_eq!(lines(&table, "| authors' repository |").len(), 22);
    let table = page_table(&report, "board-vs-moves-table-03");
    assert!(table.contains("| 10 | 2788 | 100 |"), "{table}");
    let svg = read(&report, "figures/board-vs-moves-levels.svg");
    assert!(svg.contains("level 2: 86.00 % won, 86 of 100"), "{svg}");
    let table = page_table(&report, "board-vs-moves-data");
    assert!(
        table.contains("| matches[against=level:2] | match | engine of the games | Stockfish 15.1 (BLAKE3 00ff) |"),
        "{table}"
    );
    assert!(!read(&report, "index.html").contains("class=\"warning\""));
}

#[test]
fn games_that_no_table_could_tell_apart_are_not_added_up() {
    let folder = tempfile::tempdir().unwrap();
    let [one, other] = ["one", "other"].map(|name| write_matches(folder.path(), name, "level:0", Some(0), [10, 0, 10]));
    let trial = Trial::new(folder.path().join("trial")).labelled("matches", label("m[lr=1]"), one);
    let failure = run(trial.labelled("matches", label("m[lr=2]"), other)).map(|_| ()).unwrap_err();
    assert_eq!(failure.message, "m[lr=1] and m[lr=2] are games of the same players, with the same seeds and rules");
}

#[test]
fn games_that_were_all_lost_give_a_bound_and_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let lost = write_matches(folder.path(), "lost", "level:0", Some(0), [0, 0, 60]);
    let random = write_matches(folder.path(), "random", "random", None, [40, 10, 10]);
    let trial = Trial::new(folder.path().join("trial"));
    let report =
        run(trial.labelled("matches", label("m[a=0]"), lost).labelled("matches", label("m[a=r]"), random)).unwrap();
    let table = page_table(&report, "board-vs-moves-ratings");
    let row = lines(&table, "| 60 | 1 |")[0];
    // (1 - E)^60 = 0.05 at 1320 - 400 log10(1 / (0.05^(-1/60) - 1)) = 803.7, and with 30 games 928.5.
    assert!(row.ends_with("| < 804 | < 929 | < 929 |"), "{table}");
    assert!(!table.contains("inf") && !row.contains("[<"), "{table}");
    let page = read(&report, "index.html");
    let levels = page_table(&report, "board-vs-moves-levels");
    assert!(levels.contains("| the paper's | board/none |") && !levels.contains("controlled"), "{levels}");
    assert!(page.contains("Against rated levels all games of board/none d64/l2 were lost, or all won"), "{page}");
    let table = page_table(&report, "board-vs-moves-levels");
    assert!(lines(&table, "| random |")[0].contains("| 60 | 40 | 10 | 10 | 75.00"), "{table}");
    assert!(lines(&table, "| level 0 |")[0].contains("| 60 | 0 | 0 | 60 | 0.00 | 0 | 60 | 0 | 5.00 | < "), "{table}");
}

#[test]
fn a_rating_that_the_games_bound_on_one_side_alone_has_an_open_interval() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_matches(folder.path(), "one", "level:0", Some(0), [1, 0, 59]);
    let trial = Trial::new(folder.path().join("trial"));
    let report = run(trial.labelled("matches", label("m"), path)).unwrap();
    for (table, row) in [("board-vs-moves-ratings", "| 60 | 1 |"), ("board-vs-moves-levels", "| level 0 | 60 | 1 |")] {
        let table = page_table(&report, table);
        assert!(lines(&table, row)[0].contains(" [< "), "{table}");
    }
    let csv = read(&report, "tables/board-vs-moves-ratings.csv");
    assert!(csv.contains(",-inf,"), "{csv}");
}
