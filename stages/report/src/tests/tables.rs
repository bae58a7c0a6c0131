//! The numbers in the tables.

use super::{lines, page_table, read, rows, run, trial};
use crate::synthetic::{ScoredLabel, scored};

#[test]
fn test_results_stand_beside_the_papers() {
    let folder = tempfile::tempdir().unwrap();
    let report = run(trial(folder.path(), &rows())).unwrap();
    let table = page_table(&report, "table-08");
    // Mean and sample deviation by hand: 0.5 and 0.7 give 0.6 and 0.1414…; 10 % and 20 % give 15 % and 7.07 %.
    assert_eq!(
        lines(&table, "d32/l1"),
        ["| Transformer | d32/l1 | 2 runs | 0.600000 ± 0.141421 | 86.00 ± 1.41 | 15.00 ± 7.07 | 1.00 ± 1.41 \
          | 1.250000 ± 0.353553 | 76.00 ± 1.41 | 2.00 ± 1.41 | 0.00 ± 0.00 |"]
    );
    // The paper's values: Table 8, first row; the differences by hand.
    assert_eq!(
        lines(&table, "Transformer | d128/l1"),
        [
            "| Transformer | d128/l1 | this run | 0.127515 | 96.81 | 36.82 | 0.10 | not run | not run | not run | not run |",
            "| Transformer | d128/l1 | paper | 0.137515 | 95.81 | 26.82 | 0.02 | 0.611882 | 85.53 | 2.67 | 0.00 |",
            "| Transformer | d128/l1 | difference | −0.010000 | +1.00 | +10.00 | +0.08 | – | – | – | – |",
        ]
    );
    assert_eq!(
        lines(&table, "Mamba-3 | d512/l6"),
        [
            "| Mamba-3 | d512/l6 | paper (not run here) | 1.29×10⁻⁵ | 100.00 | 99.99 | 99.76 | 0.015915 | 99.66 | 81.13 | 10.82 |"
        ]
    );
    let csv = read(&report, "tables/table-08.csv");
    assert!(csv.starts_with("kind,model,size,source,held_out_games_loss,held_out_games_loss_sd,"), "{csv}");
    let rows = lines(&csv, "Transformer,d32/l1");
    let mean = "ours,Transformer,d32/l1,2 runs,0.6,0.141421356237,86,1.41421356237,15,7.0710678";
    assert!(rows[0].starts_with(mean), "{rows:?}");
    // Each run by itself.
    assert!(rows[1].starts_with("ours,Transformer,d32/l1,seed 0,0.5,,85,,10,,0,,1,,75,,"), "{rows:?}");
    assert!(
        rows[2].starts_with("ours,Transformer,d32/l1,seed 1,0.7,,87,,20,,2,,1.5,,77,,") && rows.len() == 3,
        "{rows:?}"
    );
}

#[test]
fn a_model_of_another_program_has_a_row_with_or_without_a_loss() {
    let folder = tempfile::tempdir().unwrap();
    let other = |size: &str, without_loss| ScoredLabel {
        family: "gru".into(),
        parameters: None,
        status: None,
        without_loss,
        ..scored(size, 0, "held_out", [0.25, 0.5, 0.125, 0.0], &[(0.5, 0.125)])
    };
    let all: Vec<ScoredLabel> = rows().into_iter().chain([other("tiny", true), other("small", false)]).collect();
    let table = page_table(&run(trial(folder.path(), &all)).unwrap(), "table-08");
    assert_eq!(
        lines(&table, "| gru |"),
        [
            "| gru | small | this run | 0.250000 | 50.00 | 12.50 | 0.00 | not run | not run | not run | not run |",
            "| gru | tiny | this run | – | 50.00 | 12.50 | 0.00 | not run | not run | not run | not run |",
        ]
    );
}

#[test]
fn what_was_not_run_stands_apart() {
    let folder = tempfile::tempdir().unwrap();
    let report = run(trial(folder.path(), &rows())).unwrap();
    let table = page_table(&report, "table-08");
    let (ours, papers) = table.split_once("Not run here; the paper's numbers:").unwrap();
    assert_eq!((lines(ours, "not run here").len(), lines(papers, "paper (not run here)").len()), (0, 15));
    let page = read(&report, "index.html");
    assert!(page.contains("<summary>Not run here: 15 of the paper&#39;s models</summary>"));
    assert!(page.contains("aria-labelledby=\"table-08.paper-caption\""));
    // Table 11 has the paper's largest models, and none of ours is of that size.
    assert!(page.contains("<summary>Not run here: 4 of the paper&#39;s models</summary>"));
}

#[test]
fn prefix_bins_are_all_in_the_data() {
    let folder = tempfile::tempdir().unwrap();
    let mut all = rows();
    let bins: Vec<(f64, f64)> = (0..27).map(|bin| (0.99, 1.0 - f64::from(bin) / 50.0)).collect();
    all.push(scored("d512/l6", 0, "random_uniform", [0.1, 0.99, 0.5, 0.0], &bins));
    let report = run(trial(folder.path(), &all)).unwrap();
    let table = page_table(&report, "table-11");
    // Bins 0, 4, 8, 12, 16, 20, 25 of ours; the paper's row is Table 11's first.
    assert_eq!(
        lines(&table, "Transformer | d512/l6"),
        [
            "| Transformer | d512/l6 | this run | 100.00 | 92.00 | 84.00 | 76.00 | 68.00 | 60.00 | 50.00 |",
            "| Transformer | d512/l6 | paper | 99.99 | 89.75 | 79.95 | 72.82 | 37.61 | 0.04 | 0.00 |",
            "| Transformer | d512/l6 | difference | +0.01 | +2.25 | +4.05 | +3.18 | +30.39 | +59.96 | +50.00 |",
        ]
    );
    assert_eq!(
        lines(&table, "d32/l1"),
        ["| Transformer | d32/l1 | 2 runs | 100.00 ± 0.00 | 0.00 ± 0.00 | – | – | – | – | – |"]
    );
    assert!(lines(&table, "SLiCE | d512/l6")[0].contains("| paper (not run here) | 99.98 |"));
    let csv = read(&report, "tables/table-11.csv");
    assert!(
        csv.starts_with("kind,model,size,test_set,bin_start,bin_end,source,runs,positions,exact_percent,"),
        "{csv}"
    );
    assert_eq!(
        lines(&csv, "SLiCE,d512/l6,Random-uniform games,80,100"),
        ["paper,SLiCE,d512/l6,Random-uniform games,80,100,paper (not run here),,,86.5,"]
    );
    assert_eq!(lines(&csv, "ours,Transformer,d512/l6,Random-uniform games").len(), 27);
    assert_eq!(
        lines(&csv, "Transformer,d512/l6,Random-uniform games,80,100"),
        [
            "ours,Transformer,d512/l6,Random-uniform games,80,100,this run,1,100,92,",
            "paper,Transformer,d512/l6,Random-uniform games,80,100,paper,,,89.75,",
            "difference,Transformer,d512/l6,Random-uniform games,80,100,difference,,,2.25,",
        ]
    );
    // Seeds that reach different lengths: three bins of two runs, two of one.
    let csv = read(&report, "tables/table-11-held_out.csv");
    let runs: Vec<_> = lines(&csv, "Transformer,d32/l1").iter().map(|line| line.split(',').nth(7).unwrap()).collect();
    assert_eq!(runs, ["2", "2", "2", "1", "1"]);
    assert!(
        page_table(&report, "table-12")
            .contains("| Gated DeltaNet | d512/l6 | paper (not run here) | 100.00 | 99.93 |")
    );
}

/// Table 11 of a model whose bins are so wide.
fn table_11(bin_width: u64) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut one = scored("d512/l6", 0, "random_uniform", [0.1, 0.9, 0.5, 0.0], &[(0.9, 0.5); 17]);
    one.bin_width = bin_width;
    let report = run(trial(folder.path(), &[one])).unwrap();
    page_table(&report, "table-11")
}

#[test]
fn narrow_bins_are_added_up_to_the_papers() {
    let table = table_11(5);
    assert!(table.contains("| 0–20 | 80–100 |") && table.contains("bins of 5 plies are added up"), "{table}");
    assert_eq!(
        lines(&table, "| paper |"),
        ["| Transformer | d512/l6 | paper | 99.99 | 89.75 | 79.95 | 72.82 | 37.61 | 0.04 | 0.00 |"]
    );
    assert!(table.contains("| Transformer | d512/l6 | this run | 50.00 | 50.00 |"), "{table}");
}

#[test]
fn bins_of_another_width_are_not_set_beside_the_papers() {
    let table = table_11(8);
    assert!(table.contains("| 0–8 | 8–16 | 16–24 | 32–40 | 64–72 | 128–136 |"), "{table}");
    assert_eq!(lines(&table, "| paper |").len(), 0);
    assert!(table.contains("The paper's bins are 20 plies wide"));
}

#[test]
fn a_model_has_a_row_for_each_further_shift() {
    let folder = tempfile::tempdir().unwrap();
    let mut all = rows();
    for (seed, loss) in [(0, 0.5), (1, 0.7)] {
        all.push(scored("d32/l1", seed, "quiet", [loss, 0.8, 0.1, 0.0], &[(0.9, 0.5), (0.8, 0.2)]));
    }
    let mut long = scored("d32/l1", 0, "long", [2.0, 0.6, 0.05, 0.0], &[(0.9, 0.5); 30]);
    long.status = Some("diverged".into());
    all.push(long);
    all.push(scored("d128/l1", 0, "long", [1.0, 0.7, 0.06, 0.01], &[(0.9, 0.25); 30]));
    let report = run(trial(folder.path(), &all)).unwrap();
    // 50 games in 200 positions are 150 plies, in 3,000 positions 2,950.
    assert_eq!(
        page_table(&report, "shifts").lines().skip(6).collect::<Vec<_>>(),
        [
            "| Transformer | d32/l1 | Long | this run, diverged | 50 | 3,000 | 59.0 | 2.000000 | 60.00 | 5.00 | 0.00 |",
            "| Transformer | d32/l1 | Quiet | 2 runs | 50 | 200 | 3.00 | 0.600000 ± 0.141421 | 80.00 ± 0.00 | 10.00 ± 0.00 | 0.00 ± 0.00 |",
            "| Transformer | d128/l1 | Long | this run | 50 | 3,000 | 59.0 | 1.000000 | 70.00 | 6.00 | 1.00 |",
        ]
    );
    let table = page_table(&report, "shifts-exact");
    assert!(
        table.contains("| Test set | Source | 0–20 | 20–40 | 40–60 | 80–100 | 160–180 | 320–340 | 580–600 |"),
        "{table}"
    );
    assert_eq!(
        lines(&table, "| Quiet |"),
        ["| Transformer | d32/l1 | Quiet | 2 runs | 50.00 ± 0.00 | 20.00 ± 0.00 | – | – | – | – | – |"]
    );
    assert_eq!(read(&report, "tables/shifts-labelwise.csv").lines().count(), 1 + 2 + 2 * 30);
    // The paper's table and figure are about the paper's test sets.
    assert!(!page_table(&report, "table-08").contains("long"));
    let panels = |name: &str| read(&report, &format!("figures/{name}.svg")).matches("class=\"halo b ink\"").count();
    assert_eq!((panels("exact-by-prefix"), panels("exact-by-prefix-shifts")), (2, 2));
}

#[test]
fn parameter_counts_agree_with_the_papers() {
    let folder = tempfile::tempdir().unwrap();
    let report = run(trial(folder.path(), &rows())).unwrap();
    let table = page_table(&report, "table-04");
    assert_eq!(
        table.lines().skip(6).take(4).collect::<Vec<_>>(),
        [
            "| Transformer | d32/l1 | this run | 3,128,150 | 3.13 |",
            "| Transformer | d128/l1 | this run | 3,128,150 | 3.13 |",
            "| Transformer | d128/l1 | paper | – | 3.13 |",
            "| Transformer | d128/l1 | difference | – | 0.00 |",
        ]
    );
    assert_eq!(lines(&table, "paper (not run here)").len(), 27);
}

#[test]
fn losses_that_are_not_finite_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let rows = [
        scored("d32/l1", 0, "random_uniform", [f64::INFINITY, 0.5, 0.1, 0.0], &[(0.5, 0.1)]),
        scored("d32/l1", 1, "random_uniform", [0.5, 0.5, 0.1, 0.0], &[(0.5, 0.1)]),
        scored("d64/l1", 0, "random_uniform", [f64::NAN, 0.5, 0.1, 0.0], &[(0.5, 0.1)]),
        scored("d96/l1", 0, "random_uniform", [4.434e17, 0.5, 0.1, 0.0], &[(0.5, 0.1)]),
    ];
    let report = run(trial(folder.path(), &rows)).unwrap();
    let table = page_table(&report, "table-08");
    assert!(lines(&table, "| d32/l1 |")[0].contains("| inf | 50.00 ± 0.00 |"), "{table}");
    assert!(lines(&table, "| d64/l1 |")[0].contains("| NaN | 50.00 |"));
    assert!(lines(&table, "| d96/l1 |")[0].contains("| 4.43×10¹⁷ |"));
    let csv = read(&report, "tables/table-08.csv");
    assert!(lines(&csv, "d32/l1")[0].contains(",inf,"));
    assert!(lines(&csv, "d64/l1")[0].contains(",nan,"));
}

#[test]
fn what_was_not_run_does_not_break_the_report() {
    let folder = tempfile::tempdir().unwrap();
    let only = [scored("d32/l1", 0, "my_shift", [0.5, 0.9, 0.2, 0.1], &[(0.9, 0.2)])];
    let report = run(trial(folder.path(), &only)).unwrap();
    let table = page_table(&report, "shifts");
    let row = "| Transformer | d32/l1 | My shift | this run | 50 | 100 | 1.00 | 0.500000 | 90.00 | 20.00 | 10.00 |";
    assert!(table.contains(row), "{table}");
    // The results stand below the name of the test set, and not below one of the paper's.
    let table = page_table(&report, "table-08");
    assert!(table.contains("| Model | Size | Source | My shift: Loss | My shift: Labelwise (%) |"), "{table}");
    assert!(table.contains("| Transformer | d32/l1 | this run | 0.500000 | 90.00 | 20.00 | 10.00 |"), "{table}");
    assert!(!table.contains("Held-out") && !table.contains("paper (not run here)"), "{table}");
    let splits = page_table(&report, "table-01");
    assert!(splits.contains("| Held-out test | paper (not run here) | 10,000 | – |"), "{splits}");
    // Programs read the name itself.
    assert!(read(&report, "tables/shifts.csv").contains("ours,Transformer,d32/l1,my_shift,"));
    let bins = read(&report, "tables/shifts-exact.csv");
    assert!(bins.contains("ours,Transformer,d32/l1,my_shift,0,20,this run,1,100,20\n"), "{bins}");
    for absent in ["table-11", "table-12", "table-11-held_out"] {
        assert!(!report.join(format!("tables/{absent}.csv")).exists(), "{absent}");
    }
    assert!(!report.join("figures/learning-curves.svg").exists());
    let index: serde_json::Value = serde_json::from_str(&read(&report, "tables/index.json")).unwrap();
    for list in ["tables", "figures"] {
        for entry in index[list].as_array().unwrap() {
            for file in entry["files"].as_array().unwrap() {
                assert!(report.join(file.as_str().unwrap()).exists(), "{file}");
            }
        }
    }
}

#[test]
fn two_stages_that_score_one_model_stay_apart() {
    let folder = tempfile::tempdir().unwrap();
    let first = scored("d32/l1", 0, "held_out", [0.5, 0.9, 0.2, 0.1], &[(0.9, 0.2)]);
    let second = ScoredLabel { label: first.label.replace("evaluation", "sequential"), ..first.clone() };
    let report = run(trial(folder.path(), &[first, second])).unwrap();
    let table = page_table(&report, "table-08");
    assert_eq!(lines(&table, "| d32/l1 | this run |").len(), 2, "{table}");
    assert!(table.contains("Transformer (stage=sequential)"));
}

#[test]
fn a_loss_that_is_odd_is_reported_where_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let mut all = rows();
    all.push(scored("d64/l1", 0, "held_out", [3.5, 0.5, 0.0, 0.0], &[(0.5, 0.0)]));
    let report = run(trial(folder.path(), &all)).unwrap();
    let told = "worse than that of a model to which all classes of a label are equally likely: Transformer d64/l1 on held-out \
                games (3.500000).";
    for (id, said) in [("table-08", true), ("table-01", false)] {
        assert_eq!(page_table(&report, id).contains(told), said, "{id}");
    }
    let page = read(&report, "index.html");
    assert!(page.contains("<p class=\"warning\">Worse than guessing evenly"), "{page}");
    assert!(!page_table(&report, "table-08").contains("Larger, but"));
}
