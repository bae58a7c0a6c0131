//! What was chosen from, and models paired by game.

use super::*;

/// A choice of three trainings: the second is taken by an override, one diverged.
fn choice(family: &str) -> String {
    let line = |rank: &str, chosen: bool, why: &str, lr: f64, loss: &str| {
        format!(
            "{{\"rank\":{rank},\"chosen\":{chosen},\"why\":{why},\"label\":\"sweep[lr={lr}]\",\"family\":\"{family}\",\
             \"size\":\"d128/l1\",\"status\":\"finished\",\"parameters\":{{\"lr\":{lr},\"warmup\":5000}},\"loss\":{loss},\
             \"labelwise\":0.9561,\"exact\":0.2602,\"trajectory\":0.0016,\"steps\":70}}\n"
        )
    };
    let ranked = [
        line("1", false, "null", 0.003, "0.143939"),
        line("2", true, "\"override: rank 2\"", 0.001, "0.25"),
        line("3", false, "null", 0.0003, "0.5"),
        line("4", false, "null", 0.0001, "0.75"),
    ];
    ranked.concat() + &line("null", false, "\"<b>diverged\"", 0.01, "\"inf\"")
}

fn with_choices(folder: &Path) -> PathBuf {
    let mut trial = trial(folder, &rows());
    for family in ["slice", "transformer"] {
        let path = folder.join(family);
        std::fs::write(&path, choice(family)).unwrap();
        trial = trial.labelled("candidates", label(&format!("choice[family={family},size=d128/l1]")), path);
    }
    let path = folder.join("differences");
    let line = |test: &str, difference: &str, low: &str| {
        format!(
            "{{\"family\":\"slice\",\"size\":\"d128/l1\",\"variant\":\"\",\"baseline\":\"transformer\",\"test\":\"{test}\",\
             \"games\":250,\"positions\":9,\"difference\":{difference},\"low\":{low},\"high\":null,\"confidence\":0.95,\
             \"lower_games\":0.975}}\n"
        )
    };
    std::fs::write(&path, line("random_uniform", "\"inf\"", "null") + &line("held_out", "-0.0625", "-0.07")).unwrap();
    run(trial.input("differences", path)).unwrap()
}

#[test]
fn the_page_has_the_first_and_the_chosen_and_the_csv_all() {
    let folder = tempfile::tempdir().unwrap();
    let report = with_choices(folder.path());
    let table = read(&report, "tables/candidates.md");
    let rows = lines(&table, "| choice |");
    // Families in the paper's order: three ranks, what is not shown, and the paper's choice.
    assert_eq!(rows.len(), 10, "{table}");
    assert_eq!(
        rows[1],
        "| choice | Transformer | d128/l1 | 2 | lr 0.001, warmup 5000 | 0.250000 | 26.02 | 95.61 | 0.16 | chosen: override: \
         rank 2 |"
    );
    assert!(rows[3].contains("2 more, of which 1 were set aside") && rows[5].contains("SLiCE"), "{table}");
    assert_eq!(
        rows[4],
        "| choice | Transformer | d128/l1 | – | beta2 0.95, lr 0.003, warmup 5000, weight\\_decay 0 | 0.143939 | 26.02 | 95.61 \
         | 0.16 | paper |"
    );
    let csv = read(&report, "tables/candidates.csv");
    assert_eq!(csv.lines().count(), 11, "{csv}");
    assert!(lines(&csv, "set aside: <b>diverged")[0].contains(",inf,"), "{csv}");
    assert!(!read(&report, "index.html").contains("<b>diverged"));
}

#[test]
fn differences_stand_by_test_set_and_what_is_not_finite_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let report = with_choices(folder.path());
    let table = read(&report, "tables/differences.md");
    let rows = lines(&table, "| SLiCE |");
    assert_eq!(rows.len(), 2, "{table}");
    assert_eq!(rows[0], "| Held-out games | SLiCE | d128/l1 | Transformer | −0.062500 | −0.070000 | – | 97.50 | 250 |");
    assert!(rows[1].starts_with("| Random-uniform games | SLiCE | d128/l1 | Transformer | +inf | – |"), "{table}");
    assert!(table.contains("holds 95 %"), "{table}");
}

#[test]
fn trainings_that_were_not_scored_are_in_no_table_of_results() {
    let folder = tempfile::tempdir().unwrap();
    let report = with_choices(folder.path());
    let without = tempfile::tempdir().unwrap();
    let before = run(trial(without.path(), &rows())).unwrap();
    for table in ["table-08", "table-04", "table-11"] {
        assert_eq!(read(&report, &format!("tables/{table}.csv")), read(&before, &format!("tables/{table}.csv")));
    }
}
