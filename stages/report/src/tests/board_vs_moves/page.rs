//! The chapter on the page.

use super::*;
use crate::synthetic::{scored, write_bins};

#[test]
fn the_chapter_says_what_was_compared_and_warns_of_one_seed() {
    let folder = tempfile::tempdir().unwrap();
    let matches = write_matches(folder.path(), "matches", "random", None, [3, 2, 1]);
    let report = run(with_choices(folder.path()).input("matches", matches)).unwrap();
    let page = read(&report, "index.html");
    assert!(page.contains("This page compares 5 players, on 400 positions and in 6 games."), "{page}");
    assert!(!page.contains("was trained with one seed"), "board/none has two");
    assert!(page.contains("Whether the board is better for best moves cannot be shown here"), "{page}");
    assert!(!page.contains("Exposure bias cannot") && !page.contains("Which mask is better"), "{page}");
    let one = write(folder.path(), "one", &chooser("board", "none", 0), &choices(|_| {}));
    let causal = write(folder.path(), "causal", &chooser("board", "causal", 0), &choices(|_| {}));
    let trial = Trial::new(folder.path().join("one_trial")).labelled("choices", label("c[mask=none]"), one);
    let report = run(trial.labelled("choices", label("c[mask=causal]"), causal)).unwrap();
    let page = read(&report, "index.html");
    for limit in [
        "Each arm was trained with one seed.",
        "Exposure bias cannot be shown here",
        "Which mask is better cannot be shown here",
    ] {
        assert!(page.contains(limit), "{limit}");
    }
    assert!(!page.contains("Whether the board is better for best moves"), "{page}");
}

#[test]
fn no_two_things_on_the_page_have_one_id() {
    let folder = tempfile::tempdir().unwrap();
    let matches = write_matches(folder.path(), "matches", "level:0", Some(0), [3, 2, 1]);
    let report = run(with_choices(folder.path()).input("matches", matches)).unwrap();
    let page = read(&report, "index.html");
    let mut ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|part| part.split('"').next()).collect();
    ids.sort_unstable();
    let twice: Vec<_> = ids.windows(2).filter(|pair| pair[0] == pair[1]).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

#[test]
fn an_arm_whose_training_diverged_is_marked() {
    let folder = tempfile::tempdir().unwrap();
    let mut diverged = chooser("board", "none", 0);
    diverged.training.insert("status".into(), "diverged".into());
    let one = write(folder.path(), "one", &diverged, &choices(|_| {}));
    let other = write(folder.path(), "other", &chooser("moves", "causal", 0), &choices(|_| {}));
    let trial = Trial::new(folder.path().join("trial")).labelled("choices", label("c[arm=none]"), one);
    let report = run(trial.labelled("choices", label("c[arm=moves]"), other)).unwrap();
    let page = read(&report, "index.html");
    // Without a `title` it is that of the only chapter.
    assert!(page.contains("<h1>Board against moves</h1>"), "{page}");
    assert!(page.contains("Trainings of board/none d64/l2 diverged: they ended early"), "{page}");
    let table = page_table(&report, "board-vs-moves-arms");
    assert!(table.contains("| board/none | d64/l2 | this run, diverged |"), "{table}");
    assert!(table.contains("| moves/causal | d64/l2 | this run |"), "{table}");
}

#[test]
fn both_papers_stand_on_one_page_and_shared_inputs_alone_are_the_first_papers() {
    let folder = tempfile::tempdir().unwrap();
    let bins = folder.path().join("bins");
    write_bins(&bins, &[scored("d32/l1", 0, "held_out", [0.5, 0.85, 0.1, 0.0], &[(1.0, 1.0)])]);
    let counts = folder.path().join("counts");
    std::fs::write(
        &counts,
        r#"{"digest":"00ff","engine":"Stockfish 15.1","games":3,"dropped":{"legal_moves":2},"nodes":1000,"options":{"Use NNUE":"false"},"game_over":1,"positions":9,"stage":"analyse"}"#,
    )
    .unwrap();
    let both = with_choices(folder.path()).input("bins", &bins).labelled("counts", label("labels"), &counts);
    let report = run(both).unwrap();
    let page = read(&report, "index.html");
    assert!(page.contains("<h2>Chess-World-Model</h2>") && page.contains("<h2>Board against moves</h2>"), "{page}");
    let table = page_table(&report, "board-vs-moves-data");
    assert!(
        table.contains("| labels | analyse | nodes | 1,000 |") && table.contains("| dropped: legal_moves | 2 |"),
        "{table}"
    );
    for row in ["digest | 00ff |", "engine | Stockfish 15.1 |", "options: Use NNUE | false |"] {
        assert!(table.contains(row), "{table}");
    }
    let alone = Trial::new(folder.path().join("alone")).input("bins", &bins);
    let before = read(&run(alone).unwrap(), "tables/table-08.csv");
    assert_eq!(read(&report, "tables/table-08.csv"), before);
    let only = Trial::new(folder.path().join("only")).labelled("counts", label("labels"), &counts);
    assert!(!read(&run(only).unwrap(), "index.html").contains("board-vs-moves"));
}

#[test]
fn hostile_names_reach_no_file_unescaped() {
    let folder = tempfile::tempdir().unwrap();
    let hostile = "<script>alert('x\")</script>|`a`&\u{202e}\n";
    let chooser = Chooser { name: hostile.into(), size: Some(hostile.into()), ..Chooser::default() };
    let choices = choices(|choice| (choice.text, choice.fen) = (hostile.into(), hostile.into()));
    let path = write(folder.path(), "hostile", &chooser, &choices);
    let trial = Trial::new(folder.path().join("trial"));
    let report = run(trial.labelled("choices", label("choices[test=<b>]"), path)).unwrap();
    for (name, bytes) in super::super::files(&report) {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains('\u{202e}'), "{}", name.display());
        let is_markup = name.extension().is_some_and(|end| end == "html" || end == "svg");
        assert!(!is_markup || !text.contains("<script>alert"), "{}", name.display());
    }
}

#[test]
fn what_does_not_belong_together_is_an_error_that_names_the_record() {
    let folder = tempfile::tempdir().unwrap();
    let one = write(folder.path(), "one", &chooser("board", "none", 0), &choices(|_| {}));
    let two = write(folder.path(), "two", &chooser("board", "causal", 0), &choices(|choice| choice.best = 1));
    let trial = Trial::new(folder.path().join("trial"));
    let failure = run(trial.labelled("choices", label("a"), one).labelled("choices", label("b"), two)).unwrap_err();
    assert!(failure.message.contains("have different positions, or best moves, under record 0"), "{failure}");
    let counts = folder.path().join("counts");
    std::fs::write(&counts, "[1]").unwrap();
    let failure = run(with_choices(folder.path()).input("counts", counts)).unwrap_err();
    assert!(failure.message.starts_with("the counts of counts ("), "{failure}");
}
