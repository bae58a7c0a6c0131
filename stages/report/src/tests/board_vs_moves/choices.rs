//! Tables of choices.

use super::*;

fn report() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let report = run(with_choices(folder.path())).unwrap();
    (folder, report)
}

#[test]
fn arms_are_measured_on_the_positions_that_all_were_asked_and_the_papers_stand_apart() {
    let (_folder, report) = report();
    let table = page_table(&report, "board-vs-moves-arms");
    // Of 160 positions 80 have more than 60 legal moves, and those at even records every other one is best.
    assert_eq!(
        lines(&table, "| controlled |"),
        [
            "| controlled | held_out | board/none | d64/l2 | 2 seeds | 229,568 | 252,000 | 756,000 | 7,875 | 160 | 80 | 1.750 [1.750, 1.750] | 100.00 \
             [100.00, 100.00] | 100.00 [100.00, 100.00] | 50.00 [50.00, 50.00] | 50.00 [50.00, 50.00] |",
            "| controlled | held_out | moves/causal | d64/l2 | this run | 229,568 | 252,000 | 756,000 | 7,875 | 160 | 80 | 1.500 [1.500, 1.500] | 100.00 \
             [100.00, 100.00] | 50.00 [50.00, 50.00] | 25.00 [25.00, 25.00] | 100.00 [100.00, 100.00] |",
            "| controlled | held_out | prompt/causal | d64/l2 | this run | 229,568 | 252,000 | 756,000 | 7,875 | 80 | 80 | 1.500 [1.500, 1.500] | 100.00 \
             [100.00, 100.00] | 100.00 [100.00, 100.00] | 50.00 [50.00, 50.00] | – |",
        ]
    );
    let papers = lines(&table, "| the paper&#39;s |");
    let papers = if papers.is_empty() { lines(&table, "| the paper's |") } else { papers };
    assert_eq!(papers.len(), 2 + 5, "{table}");
    assert!(
        papers[0].starts_with(
            "| the paper's | chessbench | Llama | 1.3B | this run | – | – | – | – | 160 | 160 | – | 100.00"
        ),
        "{table}"
    );
    assert!(papers[1].starts_with("| the paper's | oracle | characters/causal | d64/l2 | this run |"), "{table}");
    assert_eq!(
        papers[2],
        "| the paper's | – | board/none | – | paper (not run here) | 50,000,000 | – | – | 200,000 | – | – | – | nearly 100 | nearly 100 | over 60 | – |"
    );
    assert!(
        papers[4].contains("| Llama 3.1, prompt | – | paper (not run here) | 1,300,000,000 | – | – | 200,000 |"),
        "{table}"
    );
    assert!(
        papers[6].ends_with("| authors' repository | – | – | – | 596,000 | – | – | 1.401 | – | – | 53.49 | – |"),
        "{table}"
    );
    assert!(
        table.contains("Controlled arms differ here in number of seeds: that, too, may be what a row shows."),
        "{table}"
    );
}

#[test]
fn differences_are_paired_and_only_of_controlled_arms() {
    let (_folder, report) = report();
    let table = page_table(&report, "board-vs-moves-differences");
    let rows = lines(&table, "| held_out |");
    assert_eq!(rows.len(), 3, "{table}");
    assert_eq!(
        rows[0],
        "| held_out | d64/l2 | board/none | moves/causal | +0.250 [+0.250, +0.250] | +50.00 [+50.00, +50.00] | +25.00 [+25.00, +25.00] | −50.00 \
         [−50.00, −50.00] | 80 |"
    );
    assert!(!table.contains("characters") && !table.contains("Llama"), "{table}");
    let json: serde_json::Value =
        serde_json::from_str(&read(&report, "tables/board-vs-moves-differences.json")).unwrap();
    let sources = json["sources"].as_array().unwrap();
    assert!(sources.iter().any(|source| source == "choices[arm=none,seed=1]"), "{json}");
}

#[test]
fn rates_by_ply_by_mobility_and_by_memory() {
    let (_folder, report) = report();
    let of = |id: &str, arm: &str| -> Vec<String> {
        let table = page_table(&report, id);
        let rows = lines(&table, &format!("| {arm} |"));
        rows.into_iter().map(|row| row.split(&format!("{arm} | d64/l2 | ")).nth(1).unwrap().to_owned()).collect()
    };
    // Plies 0, 20, 40, 60 of the positions with up to 60 legal moves.
    let moves = of("board-vs-moves-by-ply", "moves/causal");
    assert_eq!(moves[0], "positions | 20 | 0 | 20 | 20 | 20 |");
    assert_eq!(
        moves[1],
        "legal (%) | 100.00 [100.00, 100.00] | – | 100.00 [100.00, 100.00] | 0.00 [0.00, 0.00] | 0.00 [0.00, 0.00] |"
    );
    let mobility = of("board-vs-moves-by-mobility", "board/none");
    assert_eq!(mobility[0], "positions | 0 | 80 | 0 | 0 | 0 | 0 |");
    let seen = of("board-vs-moves-seen", "board/none");
    assert_eq!(seen[0], "positions | 20 | 60 |");
    assert!(seen[2].starts_with("best (%) | 100.00 [100.00, 100.00] | 33.33"), "{}", seen[2]);
    assert!(!page_table(&report, "board-vs-moves-by-ply").contains("Llama"), "positions without games have no ply");
}

#[test]
fn exposure_is_of_answers_in_several_tokens() {
    let (_folder, report) = report();
    let table = page_table(&report, "board-vs-moves-exposure");
    let rows = lines(&table, "d64/l2");
    assert_eq!(rows.len(), 2, "{table}");
    // Of the even records every other one is best, free or forced.
    assert!(
        rows[0].contains("| prompt/causal |") && rows[0].ends_with("| 50.00 | 50.00 | 0.00 [0.00, 0.00] | 80 |"),
        "{table}"
    );
    assert!(
        rows[1].contains("| characters/causal |")
            && rows[1].ends_with("| 50.00 | 25.00 | +25.00 [+25.00, +25.00] | 160 |"),
        "{table}"
    );
    let csv = read(&report, "figures/board-vs-moves-exposure.csv");
    assert!(
        csv.contains(",Best,characters/causal d64/l2,1.5,25,25,25,,characters/causal d64/l2: +25.00 points"),
        "{csv}"
    );
}

#[test]
fn positions_show_what_each_arm_of_each_group_chose() {
    let (_folder, report) = report();
    let table = page_table(&report, "board-vs-moves-positions");
    let rows = lines(&table, "8/8/8/8");
    assert_eq!(rows.len(), 12 * (3 + 1 + 1), "{table}");
    assert_eq!(
        rows[0],
        "| controlled | held_out | 0 | 8/8/8/8/8/8/8/8 w - - 0 24 | e2e4 | board/none d64/l2 | e2e4 | best |"
    );
    assert_eq!(lines(&table, "| illegal |").len(), 6, "{table}");
    assert_eq!(lines(&table, "| Llama 1.3B |").len(), 12, "{table}");
    assert_eq!(lines(&table, "characters/causal d64/l2 |").len(), 12, "{table}");
}

#[test]
fn the_histogram_counts_legal_moves() {
    let (_folder, report) = report();
    let table = page_table(&report, "board-vs-moves-legal-moves");
    let oracle = lines(&table, "| oracle |");
    assert_eq!(oracle.len(), 8, "{table}");
    assert_eq!(
        (oracle[1], oracle[6]),
        ("| the paper's | oracle | 11–20 | 80 | 50.00 |", "| the paper's | oracle | 61–70 | 80 | 50.00 |")
    );
    assert_eq!(oracle[7], "| the paper's | oracle | up to 60 | 80 | 50.00 |");
}

#[test]
fn a_list_of_moves_learned_from_its_targets_and_visited_them_in_each_epoch() {
    let folder = tempfile::tempdir().unwrap();
    let (trained_positions, training) = (None, training([804, 101, 8, 808]));
    let chooser = Chooser { trained_positions, training, steps: Some(808), ..chooser("moves", "causal", 0) };
    let moves = write(folder.path(), "moves", &chooser, &choices(|_| {}));
    let mut trial = Trial::new(folder.path().join("trial")).labelled("choices", label("choices[arm=moves]"), moves);
    for (name, rows, targets) in [("encoded[form=moves]", 804, 64_701), ("checked[form=moves]", 92, 7_072)] {
        let counts = folder.path().join(name);
        let text = format!(r#"{{"form":"moves","rows":{rows},"stage":"encode","targets":{targets},"tokens":64823}}"#);
        std::fs::write(&counts, text).unwrap();
        trial = trial.labelled("counts", label(name), counts);
    }
    let table = page_table(&run(trial).unwrap(), "board-vs-moves-arms");
    assert!(table.contains("| this run | 229,568 | 64,701 | 517,608 | 808 | 160 |"), "{table}");
}

#[test]
fn masks_stand_beside_the_repositorys_logs() {
    let folder = tempfile::tempdir().unwrap();
    let curves = folder.path().join("curves");
    let text = concat!(
        "{\"kind\":\"train\",\"step\":10,\"loss\":6.5,\"learning_rate\":0.003,\"gradient_norm\":1}\n",
        "{\"kind\":\"train\",\"step\":20,\"loss\":6.0,\"learning_rate\":0.000300009171336,\"gradient_norm\":1}\n",
        "{\"kind\":\"validation\",\"step\":20,\"loss\":5.75,\"legal\":0.5,\"best\":0.125,\"positions\":160}\n",
    );
    std::fs::write(&curves, text).unwrap();
    let counts = folder.path().join("counts");
    std::fs::write(&counts, r#"{"form":"board","rows":84000,"stage":"encode","targets":84000,"tokens":6552000}"#)
        .unwrap();
    let trial = with_choices(folder.path()).labelled("counts", label("encoded[form=board]"), &counts);
    let trial = trial.labelled("curves", label("model[arm=none,seed=1]"), &curves);
    let report = run(trial.labelled("curves", label("model[arm=other]"), &curves)).unwrap();
    let table = page_table(&report, "board-vs-moves-masks");
    assert_eq!(lines(&table, "this run"), ["| controlled | this run, seed 1 | d64/l2 | 20 | 5.750 | 12.50 | – | – |"]);
    assert_eq!(lines(&table, "| authors' repository |").len(), 75, "{table}");
    assert!(table.contains("| the paper's | authors' repository | – | 12,000 | 2.291 | 33.82 | 2.232 |"), "{table}");
    let table = page_table(&report, "board-vs-moves-table-02");
    assert!(
        table.contains(
            "| board/none d64/l2, seed 1 | 0.003 | 32 | 1 | 2,496 | 7,875 | 0.9 | 0.95 | 100 | 7,875 | 0.0003 |"
        ),
        "{table}"
    );
    assert!(
        table.contains("| model[arm=other] | 0.003 | – | – | – | 20 | – | – | – | – | 0.0003 |")
            && table.contains("| pythia | 3×10⁻⁴ | 256 | 4* |"),
        "{table}"
    );
    let svg = read(&report, "figures/board-vs-moves-curves.svg");
    assert!(svg.contains("board/none d64/l2, seed 1, step 20: 5.750 nats"), "{svg}");
    assert!(
        !read(&report, "index.html").contains("id=\"learning-curves\""),
        "curves bring no chapter of the other paper"
    );
}

#[test]
fn trainings_of_a_sweep_have_rows_of_their_own_along_training() {
    let folder = tempfile::tempdir().unwrap();
    let mut trial = Trial::new(folder.path().join("trial"));
    for (rate, loss) in [("1", 5.0), ("2", 4.0)] {
        let made = write(folder.path(), &format!("choices-{rate}"), &chooser("board", "none", 0), &choices(|_| {}));
        trial = trial.labelled("choices", label(&format!("choices[lr={rate}]")), made);
        let curves = folder.path().join(format!("curves-{rate}"));
        let line =
            format!("{{\"kind\":\"validation\",\"step\":20,\"loss\":{loss:?},\"best\":0.5,\"positions\":160}}\n");
        std::fs::write(&curves, line).unwrap();
        trial = trial.labelled("curves", label(&format!("model[lr={rate}]")), &curves);
    }
    let table = page_table(&run(trial).unwrap(), "board-vs-moves-masks");
    assert_eq!(
        lines(&table, "this run"),
        [
            "| controlled | this run, seed 0, lr=1 | d64/l2 | 20 | 5.000 | 50.00 | – | – |",
            "| controlled | this run, seed 0, lr=2 | d64/l2 | 20 | 4.000 | 50.00 | – | – |"
        ]
    );
}

#[test]
fn a_model_that_another_program_trained_is_one_of_the_papers_rows() {
    let folder = tempfile::tempdir().unwrap();
    let imported =
        Chooser { steps: None, trained_positions: None, training: Default::default(), ..chooser("board", "none", 0) };
    let made = write(folder.path(), "imported", &imported, &choices(|_| {}));
    let trial = Trial::new(folder.path().join("trial")).labelled("choices", label("theirs"), made);
    let table = page_table(&run(trial).unwrap(), "board-vs-moves-arms");
    assert!(table.contains("| the paper's | held_out | board/none | d64/l2 | this run |"), "{table}");
}
