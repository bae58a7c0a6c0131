//! Intervals, hyper-parameters and ablations: the values in bins beyond the metrics.

use super::{lines, page_table, read, run, trial};
use crate::synthetic::{ScoredLabel, scored};

fn of(family: &str, row: ScoredLabel) -> ScoredLabel {
    ScoredLabel { label: row.label.replace('[', &format!("[family={family},")), family: family.into(), ..row }
}

#[test]
fn one_run_has_its_interval_and_several_their_deviation() {
    let folder = tempfile::tempdir().unwrap();
    let within = |row: ScoredLabel| ScoredLabel { within: Some(0.01), ..row };
    let bins = [(0.9, 0.4)];
    let rows = [
        within(scored("d32/l1", 0, "held_out", [0.5, 0.85, 0.1, 0.02], &bins)),
        within(scored("d64/l1", 0, "held_out", [0.25, 0.75, 0.5, 0.02], &bins)),
        within(scored("d64/l1", 1, "held_out", [0.75, 0.75, 0.5, 0.02], &bins)),
    ];
    let report = run(trial(folder.path(), &rows)).unwrap();
    let table = page_table(&report, "table-08");
    assert_eq!(
        lines(&table, "| d32/l1 |"),
        [
            "| Transformer | d32/l1 | this run | 0.500000 [0.490000, 0.510000] | 85.00 [84.00, 86.00] | 10.00 [9.00, 11.00] \
             | 2.00 [1.00, 3.00] | not run | not run | not run | not run |"
        ]
    );
    assert!(
        lines(&table, "| d64/l1 |")[0]
            .starts_with("| Transformer | d64/l1 | 2 runs | 0.500000 ± 0.353553 | 75.00 ± 0.00 |")
    );
    assert!(table.contains("95 % interval") && table.contains("standard deviation"), "{table}");
    let csv = read(&report, "tables/table-08.csv");
    let column = |name: &str| csv.lines().next().unwrap().split(',').position(|found| found == name).unwrap();
    let (loss, low) = (column("held_out_games_loss"), column("held_out_games_loss_low"));
    let row = |part: &str| lines(&csv, part)[0].split(',').map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(row("d64/l1,2 runs")[loss..=low], ["0.5", "0.353553390593", ""]);
    assert_eq!(row("d64/l1,seed 1")[loss..=low + 1], ["0.75", "", "0.74", "0.76"], "each run has its own");
    // Along the game intervals are in the data alone.
    assert!(!page_table(&report, "table-11-held_out").contains("["));
    let csv = read(&report, "tables/table-11-held_out.csv");
    assert!(csv.contains("ours,Transformer,d32/l1,Held-out games,0,20,this run,1,100,40,,39,41\n"), "{csv}");
}

#[test]
fn the_final_settings_are_those_of_the_checkpoints() {
    let folder = tempfile::tempdir().unwrap();
    let with = |settings, row: ScoredLabel| ScoredLabel { settings: Some(settings), ..row };
    let row = |size, seed| scored(size, seed, "held_out", [0.5, 0.85, 0.1, 0.0], &[(0.9, 0.4)]);
    let rows = [
        with([0.003, 5000.0, 0.95, 0.0, 0.01], row("d128/l1", 0)),
        with([0.001, 100.0, 0.99, 0.01, 0.1], row("d64/l1", 0)),
        with([0.003, 100.0, 0.99, 0.01, 0.1], row("d64/l1", 1)),
        // A model of another program, whose settings are unknown.
        ScoredLabel { settings: None, ..row("d8/l1", 0) },
    ];
    let report = run(trial(folder.path(), &rows)).unwrap();
    let table = page_table(&report, "table-07");
    assert_eq!(
        lines(&table, "| Transformer | d128/l1"),
        [
            "| Transformer | d128/l1 | this run | 0.003 | 5000 | 0.95 | 0 | 0.01 |",
            "| Transformer | d128/l1 | paper | 0.003 | 5000 | 0.95 | 0 | 0.1 |",
            "| Transformer | d128/l1 | difference | 0 | 0 | 0 | 0 | −0.09 |",
        ]
    );
    assert_eq!(
        lines(&table, "d64/l1"),
        ["| Transformer | d64/l1 | this run | 0.001, 0.003 | 100 | 0.99 | 0.01 | 0.1 |"]
    );
    assert_eq!((lines(&table, "d8/l1").len(), lines(&table, "paper (not run here)").len()), (0, 15));
    assert!(
        table.contains("| SLiCE | d512/l6 | paper (not run here) | 0.0003 | 5000 | 0.99 | 0.001 | 0.01 |"),
        "{table}"
    );
}

#[test]
fn trainings_of_the_same_settings_stand_apart_and_scans_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let row = |label: &str| ScoredLabel {
        label: format!("{label},size=d64/l1,seed=0,test=held_out]"),
        settings: Some([0.003, 5000.0, 0.95, 0.0, 0.01]),
        ..scored("d64/l1", 0, "held_out", [0.5, 0.85, 0.1, 0.0], &[(0.9, 0.4)])
    };
    let rows = ["evaluation[games=1000", "evaluation[games=100000", "again[scan=sequential,games=1000"].map(row);
    let report = run(trial(folder.path(), &rows)).unwrap();
    assert_eq!(
        lines(&page_table(&report, "table-07"), "d64/l1"),
        [
            "| Transformer (games=1000) | d64/l1 | this run | 0.003 | 5000 | 0.95 | 0 | 0.01 |",
            "| Transformer (games=100000) | d64/l1 | this run | 0.003 | 5000 | 0.95 | 0 | 0.01 |",
        ]
    );
}

#[test]
fn ablations_stand_in_tables_of_their_own_with_every_scan() {
    let folder = tempfile::tempdir().unwrap();
    let row = |test| scored("d256/l2", 0, test, [0.5, 0.9, 0.2, 0.0], &[(0.9, 0.2)]);
    let mut sequential = of("slice_diag", row("random_uniform"));
    sequential.label = "sequential_evaluation[scan=sequential,size=d256/l2,seed=0,test=random_uniform]".into();
    let rows = [
        row("held_out"),
        of("slice_diag", row("held_out")),
        ScoredLabel { metrics: [4.434e17, 0.9, 0.2, 0.0], ..of("slice_diag", row("random_uniform")) },
        sequential,
    ];
    let report = run(trial(folder.path(), &rows)).unwrap();
    assert!(!page_table(&report, "table-08").contains("Diagonal"));
    assert_eq!(
        lines(&page_table(&report, "table-09"), "Diagonal SLiCE | d256/l2"),
        [
            "| Diagonal SLiCE | d256/l2 | this run | 0.500000 | 90.00 | 20.00 | 0.00 |",
            "| Diagonal SLiCE | d256/l2 | paper | 0.042201 | 99.76 | 86.40 | 24.99 |",
            "| Diagonal SLiCE | d256/l2 | difference | +0.457799 | −9.76 | −66.40 | −24.99 |",
        ]
    );
    let table = page_table(&report, "table-10");
    assert_eq!(
        lines(&table, "| d256/l2 |")[..6],
        [
            "| Diagonal SLiCE | d256/l2 | this run | 4.43×10¹⁷ | 90.00 | 20.00 | 0.00 |",
            "| Diagonal SLiCE | d256/l2 | paper | 4.43×10¹⁷ | 88.96 | 13.32 | 0.13 |",
            "| Diagonal SLiCE | d256/l2 | difference | +4.00×10¹⁴ | +1.04 | +6.68 | −0.13 |",
            "| Diagonal SLiCE (scan=sequential) | d256/l2 | this run | 0.500000 | 90.00 | 20.00 | 0.00 |",
            "| Diagonal SLiCE (scan=sequential) | d256/l2 | paper | 4.43×10¹⁷ | 88.96 | 13.32 | 0.13 |",
            "| Diagonal SLiCE (scan=sequential) | d256/l2 | difference | −4.43×10¹⁷ | +1.04 | +6.68 | −0.13 |",
        ]
    );
    assert_eq!(lines(&table, "paper (not run here)").len(), 11);
    // The same model, however it was computed.
    assert_eq!(lines(&page_table(&report, "table-04"), "Diagonal SLiCE | d256/l2 | this run").len(), 1);

    // Without any ablation there is no table of the paper's alone.
    let report = run(trial(folder.path(), &rows[..1])).unwrap();
    assert!(!report.join("tables/table-09.csv").exists() && report.join("tables/table-08.csv").exists());
}

#[test]
fn bins_of_an_earlier_version_have_no_intervals_and_no_settings() {
    let folder = tempfile::tempdir().unwrap();
    let report = run(trial(folder.path(), &super::rows())).unwrap();
    let table = page_table(&report, "table-08");
    assert!(!table.contains("interval") && !table.contains("["), "{table}");
    assert!(!report.join("tables/table-07.csv").exists());
}
