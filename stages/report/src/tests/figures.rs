//! The figures of a whole report, and their files in the hands of other programs.

use std::path::Path;
use std::process::Command;

use cwm_page::Block;

use super::{files, read, rows, run, trial};
use crate::papers::chess_world_model::contents::{Measurements, sections};
use crate::papers::chess_world_model::errors::gather;
use crate::papers::chess_world_model::facts::{Metric, PaperFacts};
use crate::papers::chess_world_model::model::{MAIN_FAMILIES, SIZES};
use crate::papers::chess_world_model::read::{bins, errors};
use crate::papers::chess_world_model::results::Results;
use crate::papers::chess_world_model::test_set::TestSet;
use crate::synthetic::{ScoredLabel, column, counts, scored, texts, write, write_bins};

/// The paper's 28 models on its test sets and two more, with its numbers or some that are as good.
fn paper_rows() -> Vec<ScoredLabel> {
    let paper = PaperFacts::load().unwrap();
    let families = MAIN_FAMILIES.iter().chain(&["slice_diag", "mamba2", "gated_deltanet_pos"]);
    let models = families.flat_map(|family| SIZES.iter().map(move |size| (*family, *size)));
    let of_model = |(family, size): (&str, &str)| {
        let tests = ["held_out", "random_uniform", "en_passant", "a test set with a long name, as people give them"];
        let row = |test: &str| {
            let known = if test == "held_out" { TestSet::HeldOut } else { TestSet::RandomUniform };
            let value = |metric| paper.test_result(family, size, &known, &metric).unwrap().value;
            let exact = value(Metric::Exact) / 100.0;
            let labelwise = value(Metric::Labelwise) / 100.0;
            let bins: Vec<(f64, f64)> = (0..31).map(|bin| (labelwise, exact.powf(f64::from(bin) / 8.0))).collect();
            let metrics = [value(Metric::Loss), labelwise, exact, value(Metric::Trajectory) / 100.0];
            let mut row = scored(size, 0, test, metrics, &bins);
            row.label = format!("evaluation[family={family},size={size},test={test}]");
            row.family = family.into();
            row.parameters = Some((paper.parameters(family, size).unwrap().value * 1e6) as u64);
            row
        };
        tests.map(row)
    };
    models.flat_map(of_model).collect()
}

/// Label i is wrong in i + 1 positions, and first in 75 - i of the 100 games that go wrong.
fn write_errors(folder: &Path, rows: &[ScoredLabel]) {
    let text = |name: &str, read: fn(&ScoredLabel) -> &str| {
        column(name, texts(rows.iter().flat_map(|row| std::iter::repeat_n(read(row).to_owned(), 75))))
    };
    let count =
        |name: &str, read: fn(u64) -> u64| column(name, counts((0..rows.len() as u64 * 75).map(|row| read(row % 75))));
    let columns = vec![
        text("label", |row| &row.label),
        text("family", |row| &row.family),
        text("size", |row| &row.size),
        text("test", |row| &row.test),
        count("index", |index| index),
        count("wrong", |index| index + 1),
        count("first", |index| 75 - index),
        count("positions", |_| 1000),
        count("games", |_| 100),
    ];
    write(&folder.join("errors.parquet"), columns);
}

/// As small multiples 28 models are readable: nowhere does a text lie over another or leave the figure.
#[test]
fn figures_of_28_models_are_readable() {
    let folder = tempfile::tempdir().unwrap();
    let rows = paper_rows();
    write_bins(folder.path(), &rows);
    write_errors(folder.path(), &rows);
    let results = Results::gather(&bins::read(folder.path()).unwrap()).unwrap();
    let errors = gather(&errors::read(folder.path()).unwrap(), &results);
    assert_eq!(errors.len(), 28 * 4);
    let given = Measurements { errors, ..Measurements::default() };
    let sections = sections(&results, &given, &PaperFacts::load().unwrap(), None);
    let charts = sections.iter().flat_map(|section| &section.blocks).filter_map(|block| match block {
        Block::Figure(chart) if !chart.is_empty() => Some(chart),
        _ => None,
    });
    let charts: Vec<_> = charts.collect();
    assert_eq!(
        charts.len(),
        3 + 4 + 4,
        "the paper's two, one by test set, four by prefix, one of errors for each test set"
    );
    let faults: Vec<String> = charts.iter().flat_map(|chart| chart.text_overlaps()).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_papers_models_stand_beside_ours() {
    let folder = tempfile::tempdir().unwrap();
    let report = run(trial(folder.path(), &rows())).unwrap();
    let svg = read(&report, "figures/figure-3.svg");
    // Table 8 of the paper, and the mean over the two runs of `rows`.
    assert!(svg.contains("Paper: Mamba-3 d512/l6, 40.83 M parameters: exact state 81.13 %"), "{svg}");
    assert!(svg.contains("Transformer d32/l1, 3.13 M parameters: loss 0.600000"), "{svg}");
    assert!(!report.join("figures/figure-4.svg").exists(), "no variant was run");

    let mut rows = paper_rows();
    rows.retain(|row| ["slice", "slice_diag", "mamba3"].contains(&row.family.as_str()));
    let report = run(trial(&folder.path().join("pairs"), &rows)).unwrap();
    let csv = read(&report, "figures/figure-4.csv");
    let points = |name: &str| csv.lines().filter(|line| line.contains(name)).count();
    assert_eq!((points(",SLiCE,"), points(",Diagonal SLiCE,")), (8, 8), "four sizes on two test sets: {csv}");
    assert_eq!((points(",Mamba"), points("Paper: ")), (0, 2 * 2 * 12), "no pair without its variant: {csv}");
    assert!(csv.contains("Paper: Diagonal SLiCE d128/l1: "), "{csv}");
}

#[test]
fn wrong_labels_become_boards_and_bars() {
    let folder = tempfile::tempdir().unwrap();
    let rows = rows();
    let trial = trial(folder.path(), &rows);
    write_errors(&folder.path().join("bins"), &rows);
    let report = run(trial).unwrap();
    let csv = read(&report, "figures/errors-random_uniform.csv");
    // The larger model of the two was not scored on these games; both runs of the smaller one are.
    // Square 0 is a8, 63 is h1: (i + 1) / 1000 positions and (75 - i) / 100 games.
    for told in [
        "a8: 0.10 % of positions",
        "h1: 6.40 % of positions",
        "a8: 75.00 % of the games that go wrong",
        "h1: 12.00 % of the games that go wrong",
        // 1 + 2 + … + 64 of 1 + 2 + … + 75; 74 + 75 of these.
        "Squares: 72.98 % of what is wrong",
        "Full-move number: 5.23 % of what is wrong",
        // 2 + 1 of them, the other way round.
        "Full-move number: 0.11 % of what is wrong",
    ] {
        assert!(csv.contains(&format!("Transformer d32/l1, {told}")), "{told}: {csv}");
    }
    assert!(read(&report, "figures/errors-held_out.csv").contains("Transformer d128/l1, a8: "), "the largest size");
}

#[test]
fn a_table_of_wrong_labels_that_is_none_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let trial = trial(folder.path(), &rows());
    let path = folder.path().join("bins/errors.parquet");
    let refused = || errors::read(path.parent().unwrap()).unwrap_err().message;
    let one = |name: &str| column(name, counts([1].into_iter()));
    let naming = ["label", "family", "size", "test"].map(|name| column(name, texts(["a".to_owned()].into_iter())));
    let others = ["wrong", "first", "positions", "games"].map(one);
    let with_index = |index| [naming.to_vec(), others.to_vec(), vec![column("index", index)]].concat();

    write(&path, naming[..1].to_vec());
    assert!(refused().ends_with("errors.parquet has no column `family`"), "{}", refused());
    write(&path, with_index(counts([75].into_iter())));
    assert!(refused().ends_with("has labels beyond the 75 of a position"), "{}", refused());
    write(&path, with_index(texts(["0".to_owned()].into_iter())));
    assert!(refused().contains("the column `index` of"), "{}", refused());
    write(&path, with_index(counts([None].into_iter())));
    assert!(refused().ends_with("has missing values"), "{}", refused());
    std::fs::write(&path, "no Parquet").unwrap();
    assert!(run(trial).unwrap_err().message.contains("is no readable Parquet file"));
}

/// Returns the program's output, if it can be run; else prints that the test is skipped, and panics if `CWM_REQUIRE`
/// names it.
fn output(program: &str, package: &str, arguments: &[&str], folder: &Path) -> Option<String> {
    match Command::new(program).args(arguments).current_dir(folder).output() {
        Ok(output) => {
            let told = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(
                output.status.success(),
                "{program} {arguments:?}: {told}{}",
                String::from_utf8_lossy(&output.stderr)
            );
            Some(told)
        }
        Err(error) => {
            let required = std::env::var("CWM_REQUIRE").unwrap_or_default();
            assert!(required.split(',').all(|required| required != program), "{program} is required: {error}");
            println!("skipped: {program} on our PDF files (apt-get install {package})");
            None
        }
    }
}

#[test]
fn other_programs_read_our_pdf_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut rows = rows();
    for row in &mut rows {
        row.family = "fam(i)ly\\ é 😀".into();
    }
    let report = run(trial(folder.path(), &rows)).unwrap();
    let figures = report.join("figures");
    let names: Vec<String> = files(&figures).into_iter().map(|(name, _)| name.display().to_string()).collect();
    let names: Vec<&String> = names.iter().filter(|name| name.ends_with(".pdf")).collect();
    assert!(names.len() >= 3, "{names:?}");
    for name in &names {
        if let Some(told) = output("qpdf", "qpdf", &["--check", name], &figures) {
            assert!(told.contains("No syntax or stream encoding errors found"), "{name}: {told}");
        }
    }
    if let Some(text) = output("pdftotext", "poppler-utils", &["figure-3.pdf", "-"], &figures) {
        assert!(text.contains("Parameters (millions)") && text.contains("fam(i)ly\\ é ?"), "{text}");
    }
    let figures: String =
        names.iter().map(|name| format!("\\includegraphics[width=\\linewidth]{{{name}}}\n\n")).collect();
    let document =
        format!("\\documentclass{{article}}\\usepackage{{graphicx}}\\begin{{document}}\n{figures}\\end{{document}}\n");
    let place = report.join("figures");
    std::fs::write(folder.path().join("document.tex"), document).unwrap();
    let made = format!("-output-directory={}", folder.path().display());
    let document = folder.path().join("document.tex").display().to_string();
    let arguments = ["-interaction=nonstopmode", "-halt-on-error", &made, &document];
    if let Some(told) = output("pdflatex", "texlive-latex-base", &arguments, &place) {
        assert!(!told.contains("Warning: pdflatex"), "{told}");
        assert!(folder.path().join("document.pdf").exists());
    }
}
