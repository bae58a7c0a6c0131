//! LaTeX takes the tables: all of them in one document.

use std::path::{Path, PathBuf};
use std::process::Command;

use cwm_contract::testing::Trial;

use super::hostile::{HOSTILE, report};
use super::{rows, run, trial};
use crate::synthetic::{ScoredLabel, scored};

/// Returns true if there is a LaTeX with booktabs; else prints that the test is skipped, and panics if `CWM_REQUIRE`
/// names `latex`.
fn is_latex_installed() -> bool {
    let found = Command::new("kpsewhich").args(["booktabs.sty", "graphicx.sty", "longtable.sty"]).output();
    let found = found.is_ok_and(|found| found.status.success())
        && Command::new("pdflatex").arg("--version").output().is_ok_and(|ran| ran.status.success());
    let required = std::env::var("CWM_REQUIRE").unwrap_or_default();
    let how = "tests/programs/setup, or Debian: apt-get install texlive-latex-recommended";
    assert!(
        found || required.split(',').all(|name| name != "latex"),
        "latex is required (CWM_REQUIRE), but there is no pdflatex with booktabs: {how}"
    );
    if !found {
        println!("skipped: no pdflatex with booktabs ({how})");
    }
    found
}

/// The LaTeX files of a report, by name.
fn tables(report: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(report.join("tables")).unwrap().map(|entry| entry.unwrap().path());
    let mut tables: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "tex")).collect();
    tables.sort();
    tables
}

/// Compiles all these files in one document, and returns LaTeX's log.
fn compile(folder: &Path, tables: &[PathBuf]) -> String {
    let inputs: String = tables
        .iter()
        .enumerate()
        .map(|(number, path)| {
            std::fs::copy(path, folder.join(format!("{number}.tex"))).unwrap();
            format!("\\input{{{number}.tex}}\n\\clearpage\n")
        })
        .collect();
    let document = format!(
        "\\documentclass{{article}}\n\\usepackage{{booktabs,graphicx,longtable}}\n\\begin{{document}}\n{inputs}\\end{{document}}\n"
    );
    std::fs::write(folder.join("document.tex"), document).unwrap();
    let arguments = ["-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "document.tex"];
    let ran = Command::new("pdflatex").args(arguments).current_dir(folder).output().unwrap();
    let log = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{log}");
    assert!(std::fs::read(folder.join("document.pdf")).unwrap().starts_with(b"%PDF"));
    let log = std::fs::read(folder.join("document.log")).unwrap();
    let log = String::from_utf8_lossy(&log).into_owned();
    assert!(!log.contains("Missing character"), "{log}");
    log
}

/// The lines of the log about boxes that are wider than the text, or higher than a page, by more than 5 points.
fn overfull(log: &str) -> Vec<&str> {
    let by = |line: &str| line.split_once('(').and_then(|(_, by)| by.split_once("pt too ")?.0.parse::<f64>().ok());
    let told = log.lines().filter(|line| match line.starts_with("Overfull ") {
        true => by(line).is_none_or(|by| by > 5.0),
        false => line.contains("Float too large"),
    });
    told.collect()
}

/// Differences of models with the longest names, on several test sets: more than a page.
fn with_long_names(folder: &Path) -> Trial {
    let line = |family: &str, baseline: &str, test: &str| {
        let line = serde_json::json!({
            "family": family, "size": "d128/l1", "variant": "", "baseline": baseline, "test": test, "games": 250,
            "positions": 9, "difference": -0.0625, "low": -0.07, "high": -0.05, "p": 0.0001, "confidence": 0.95,
            "labelwise_difference": 0.01, "labelwise_low": -0.02, "labelwise_high": 0.03, "labelwise_p": 0.5,
            "exact_difference": -0.01, "exact_low": -0.02, "exact_high": 0.03, "exact_p": 0.5, "lower_games": 0.975,
        });
        format!("{line}\n")
    };
    let tests = ["held_out", "random_uniform", "en_passant"];
    let of_test = |test: &&str| {
        let others = ["transformer", "slice", "slice_diag", "mamba3", "mamba2", "gated_deltanet"];
        let longest = others.map(|family| line(family, "gated_deltanet_pos", test));
        longest.concat() + &line("gated_deltanet_pos", "slice_diag", test)
    };
    let path = folder.join("differences");
    std::fs::write(&path, tests.iter().map(of_test).collect::<String>()).unwrap();
    trial(folder, &rows()).input("differences", path)
}

#[test]
fn every_table_compiles() {
    if !is_latex_installed() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut all = rows();
    // Losses in every form, intervals, and what makes Table 8 longer than a page.
    for (number, loss) in [f64::INFINITY, f64::NAN, 4.43e17, 1e-7].into_iter().enumerate() {
        let one = scored(&format!("d{number}/l1"), 0, "random_uniform", [loss, 0.5, 0.1, 0.0], &[(0.5, 0.1)]);
        all.push(ScoredLabel { within: Some(0.01), ..one });
    }
    let mut found = tables(&super::choices::with_choices(folder.path()));
    let more = tempfile::tempdir().unwrap();
    found.extend(tables(&run(trial(more.path(), &all)).unwrap()));
    assert!(found.len() > 12, "{found:?}");
    // A table that no page holds, with intervals.
    let long = (0..60).map(|number| ScoredLabel {
        within: Some(0.01),
        ..scored(&format!("d{number}/l2"), 0, "random_uniform", [0.5, 0.5, 0.1, 0.0], &[(0.5, 0.1)])
    });
    let long_folder = tempfile::tempdir().unwrap();
    found.extend(tables(&run(trial(long_folder.path(), &long.collect::<Vec<_>>())).unwrap()));
    let names_folder = tempfile::tempdir().unwrap();
    found.extend(tables(&run(with_long_names(names_folder.path())).unwrap()));
    let log = compile(folder.path(), &found);
    let overfull = overfull(&log);
    assert!(overfull.is_empty(), "{overfull:?}");
}

#[test]
fn no_text_is_a_command_to_latex() {
    if !is_latex_installed() {
        return;
    }
    let folders: Vec<_> = HOSTILE.iter().map(|text| (tempfile::tempdir().unwrap(), text)).collect();
    let found: Vec<PathBuf> = folders.iter().flat_map(|(folder, text)| tables(&report(folder.path(), text))).collect();
    compile(folders[0].0.path(), &found);
}
