//! The chapter on inside models, on made-up findings.

use cwm_findings::{Finding, Kind, write};

use super::*;

fn of(kind: Kind, layer: Option<u32>) -> Finding {
    Finding::new(kind, "gpt d64/l4", "trained", layer, 100)
}

/// Findings of every kind.
fn all() -> Vec<Finding> {
    let edit = |intervention: &str, eta: &str, layer, target: f64| {
        let edit = of(Kind::Edit, layer).name("intervention", intervention).value("original", 0.9);
        let edit = edit.estimate("target", target, Some((target - 0.01, target + 0.01))).value("same_argmax", 0.5);
        if eta.is_empty() { edit } else { edit.name("eta", eta) }
    };
    let probe = |layer, value| of(Kind::Probe, Some(layer)).name("target", "both").value("occupied", value);
    let density = |intervention: &str, board: &str| {
        let density = of(Kind::Density, None).name("intervention", intervention).name("board", board);
        density.value("10", 0.25).value("63", 0.75)
    };
    vec![
        of(Kind::Legality, None).name("of", "all").value("legal", 0.8).value("mass", 0.75).value("seen_games", 3.0),
        probe(0, 0.5).value("accuracy", 0.7),
        probe(1, 0.6).value("accuracy", 0.75),
        Finding { network: "untrained".into(), ..probe(1, 0.4) },
        probe(1, 0.3).name("of", "latents").name("method", "difference"),
        of(Kind::Probe, None).name("of", "latents").name("method", "majority").value("occupied", 0.25),
        of(Kind::Probe, None).name("of", "latents").name("method", "majority").value("occupied", 0.25),
        of(Kind::Probe, Some(1)).name("target", "both").name("square", "e4").value("accuracy", 0.5),
        of(Kind::Composition, Some(1)).name("colour", "white").name("piece", "P").value("P", 0.9).value("p", -0.1),
        of(Kind::Reconstruction, Some(1)).value("ce", 1.5).value("ce_sae", 1.625).value("l0", 12.0),
        of(Kind::Alignment, Some(1)).name("population", "matched").value("statistic", 0.25).value("p", 0.000999),
        edit("none", "", None, 0.25),
        edit("probe", "0.5", None, 0.5),
        edit("probe", "1", None, 0.75),
        edit("probe", "0.5", Some(1), 0.5),
        edit("probe", "0.5", None, 0.5).name("square", "e2"),
        edit("probe", "0.5", None, 0.625).name("piece", "P"),
        density("none", "original"),
        density("probe", "target").name("eta", "0.5"),
        density("cd_probe", "target").name("eta", "0.5"),
        density("probe", "target").name("eta", "1"),
        of(Kind::Case, Some(1))
            .name("case", "e2e4 d7d5")
            .name("intervention", "probe")
            .name("eta", "0.5")
            .name("original", "8/8/8/8/8/8/4P3/8")
            .name("edited", "8/8/8/8/8/8/8/8")
            .name("predicted_before", "8/8/8/8/8/8/4P3/8")
            .name("predicted_after", "8/8/8/8/8/8/4q3/8")
            .value("before_e4", 0.5)
            .value("after_e4", 0.125),
    ]
}

fn report_of(folder: &Path, findings: Vec<Finding>) -> PathBuf {
    let path = folder.join("findings.jsonl");
    write(&path, findings).unwrap();
    run(Trial::new(folder.join("trial")).labelled("findings", label("looked"), path)).unwrap()
}

const TABLES: [&str; 10] = [
    "inside-2",
    "inside-3",
    "inside-4",
    "inside-5",
    "inside-6",
    "inside-edits",
    "inside-edits-layers",
    "inside-cases",
    "inside-words",
    "inside-settings",
];

const FIGURES: [&str; 9] = [
    "figure-inside-2",
    "figure-inside-4",
    "figure-inside-5",
    "figure-inside-6",
    "figure-inside-accuracy",
    "figure-inside-accuracy-squares",
    "figure-inside-composition",
    "figure-inside-layers",
    "figure-inside-squares",
];

#[test]
fn every_kind_has_its_tables_and_figures_with_the_papers_numbers_beside_ours() {
    let folder = tempfile::tempdir().unwrap();
    let report = report_of(folder.path(), all());
    let mut tables = TABLES;
    tables.sort_unstable();
    assert_eq!(names(&report, "tables", ".csv"), tables);
    assert_eq!(names(&report, "figures", ".svg"), FIGURES);
    let csv = |name: &str| read(&report, &format!("tables/{name}.csv"));
    assert_eq!(
        csv("inside-2"),
        "kind,model,network,of,source,legal,legal_mass,seen_games,positions\n\
         ours,gpt d64/l4,trained,all,this run,0.8,0.75,3,100\n\
         paper,GPT d768/l12,trained,all,paper,0.999,,,\n"
    );
    let edits = csv("inside-edits");
    let target = lines(&edits, "ours,gpt d64/l4,trained,probe,1,")[0];
    assert!(target.contains(",0.75,0.74,0.76,"), "{edits}");
    assert_eq!(lines(&edits, "ours,").len(), 3, "{edits}");
    assert!(lines(&edits, "paper,")[0].contains(",none,,paper,0.9969,0.41,"), "{edits}");
    assert_eq!((lines(&csv("inside-5"), "ours,").len(), lines(&csv("inside-4"), "ours,").len()), (3, 2));
    assert!(lines(&csv("inside-cases"), "paper,")[0].contains("0.758"));
    assert!(csv("inside-words").contains("SAE,latent dimension,12288") && !csv("inside-words").contains("0.9969"));
    let drawn = |name: &str| read(&report, &format!("figures/{name}.csv"));
    assert_eq!(lines(&drawn("figure-inside-2"), "probe").len(), 6);
    assert!(!drawn("figure-inside-2").contains("none"));
    // Of η 1 there are no edits by latents.
    let heading = "gpt d64/l4, η 1";
    assert!(drawn("figure-inside-5").contains(heading) && !drawn("figure-inside-6").contains(heading));
    let edit = drawn("figure-inside-4");
    let marked = |panel: &str| lines(&edit, &format!("{panel},")).iter().filter(|line| line.contains(",1,")).count();
    assert_eq!(
        (lines(&edit, "Origins before,").len(), marked("Read before"), marked("Read after")),
        (1, 0, 1),
        "{edit}"
    );
    let letters = read(&report, "figures/figure-inside-4.svg");
    assert!(letters.contains(">P<") && letters.contains(">q<"), "{letters}");
    let boards = drawn("figure-inside-accuracy-squares");
    assert!(boards.contains("trained, layer 1") && boards.contains("e4: 0.5000"), "{boards}");
}

#[test]
fn models_of_one_name_have_their_task_where_there_are_two() {
    let folder = tempfile::tempdir().unwrap();
    let of = |task: &str| {
        Finding::new(Kind::Reconstruction, "gpt d32/l1", "trained", Some(0), 1).name("task", task).value("ce", 1.0)
    };
    let report = report_of(folder.path(), vec![of("moves"), of("state")]);
    let table = read(&report, "tables/inside-3.csv");
    for task in ["moves", "state"] {
        assert_eq!(lines(&table, &format!("ours,gpt d32/l1 ({task}),")).len(), 1, "{table}");
    }
}

#[test]
fn edits_of_other_layers_are_a_line_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let edit = |eta: &str, layers: &str| {
        let edit = of(Kind::Edit, None).name("intervention", "random").name("eta", eta).name("layers", layers);
        edit.value("original", 0.5).value("target", 0.5)
    };
    let report = report_of(folder.path(), vec![edit("0.5", "0 to 4"), edit("1", "0 to 4"), edit("0.5", "3")]);
    let drawn = read(&report, "figures/figure-inside-2.csv");
    let count = |name: &str| lines(&drawn, name).len();
    assert_eq!((count("random, layers 0 to 4"), count("random, layer 3")), (4, 2), "{drawn}");
}

#[test]
fn models_of_several_seeds_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("findings.jsonl");
    write(&path, vec![of(Kind::Probe, Some(1)).name("target", "both").value("occupied", 0.5)]).unwrap();
    let trial = ["0", "1"].iter().fold(Trial::new(folder.path().join("trial")), |trial, seed| {
        trial.labelled("findings", label(&format!("probes[seed={seed}]")), &path)
    });
    let csv = read(&run(trial).unwrap(), "tables/inside-5.csv");
    assert!(csv.contains("gpt d64/l4 (seed 0)") && csv.contains("gpt d64/l4 (seed 1)"), "{csv}");
}

#[test]
fn ticks_of_layers_are_whole() {
    let folder = tempfile::tempdir().unwrap();
    let probe = |layer| of(Kind::Probe, Some(layer)).name("target", "both").value("accuracy", 0.7);
    let report = report_of(folder.path(), vec![probe(0), probe(3)]);
    let svg = read(&report, "figures/figure-inside-accuracy.svg");
    assert!(svg.contains(">2</text>") && svg.contains(">3</text>") && !svg.contains(">1.5</text>"), "{svg}");
}

#[test]
fn probes_of_a_phase_are_a_line_of_their_own_and_majorities_take_no_colour() {
    let probe = |layer, method| of(Kind::Probe, layer).name("target", "both").name("method", method);
    let any = |one: Finding| one.name("phase", "any").value("occupied", 0.6);
    let svg_of = |findings| {
        let folder = tempfile::tempdir().unwrap();
        read(&report_of(folder.path(), findings), "figures/figure-inside-accuracy.svg")
    };
    let third = || probe(Some(1), "linear").name("phase", "3").value("occupied", 0.7);
    let lines = || vec![any(probe(Some(1), "linear")), third()];
    let svg = svg_of(lines());
    assert!(svg.contains(">trained, phase 3</text>") && svg.contains(">trained</text>"), "{svg}");
    let with_majority = [vec![any(probe(None, "majority"))], lines()].concat();
    assert_eq!(svg_of(with_majority), svg);
}

#[test]
fn nothing_is_drawn_of_what_was_not_measured() {
    let folder = tempfile::tempdir().unwrap();
    let legality = all().into_iter().take(1).collect();
    let report = report_of(folder.path(), legality);
    assert_eq!(names(&report, "tables", ".csv"), ["inside-2", "inside-settings", "inside-words"]);
    assert!(names(&report, "figures", ".svg").is_empty());
    let page = read(&report, "index.html");
    assert!(page.contains("This page has 1 finding about gpt d64/l4."), "{page}");
    assert!(page.contains("No untrained network was measured"));
}

#[test]
fn models_of_positions_have_a_table_of_their_own_and_hostile_names_are_escaped() {
    let folder = tempfile::tempdir().unwrap();
    let hostile = "<script>alert('x\")</script>\u{202e}";
    let edit = Finding { model: hostile.into(), ..of(Kind::Edit, Some(0)) };
    let edit = edit.name("intervention", hostile).name("eta", "0.5").value("square_empty", 0.5);
    let report = report_of(folder.path(), vec![edit]);
    assert!(names(&report, "tables", ".csv").contains(&"inside-edits-state".to_owned()));
    for (name, bytes) in files(&report) {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains('\u{202e}'), "{}", name.display());
        let is_markup = name.extension().is_some_and(|end| end == "html" || end == "svg");
        assert!(!is_markup || !text.contains("<script>alert"), "{}", name.display());
    }
}

#[test]
fn a_line_that_is_no_finding_is_an_error_with_its_number() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("findings.jsonl");
    std::fs::write(&path, "{}\n").unwrap();
    let failure = run(Trial::new(folder.path().join("trial")).input("findings", path)).unwrap_err();
    assert!(failure.message.starts_with("line 1 of the findings "), "{failure}");
}
