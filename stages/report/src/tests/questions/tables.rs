//! Tables and figures.

use super::*;
use crate::tests::hostile::fields;

fn usual() -> Vec<(PlayerSettings, u64)> {
    let oracle = PlayerSettings { name: "oracle".into(), player: Some("oracle".into()), ..PlayerSettings::default() };
    vec![(gpt("none", "none"), 40), (gpt("medium", "none"), 80), (gpt("none", "pieces_moves"), 50), (oracle, 90)]
}

#[test]
fn every_table_and_figure_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let report = report_of(folder.path(), &tallies(&usual(), true));
    let tables = [
        "agreement",
        "categories",
        "context",
        "cost",
        "items",
        "motifs",
        "parameters",
        "prior",
        "reasoning",
        "sound",
        "structural",
        "tasks",
        "tokens",
        "verdicts",
        "words",
    ];
    assert_eq!(names(&report, "tables", ".csv"), tables.map(|name| format!("questions-{name}")));
    let figures = ["accuracy", "agreement", "cost-accuracy", "items", "tokens", "tokens-accuracy", "verdicts"];
    assert_eq!(names(&report, "figures", ".svg"), figures.map(|name| format!("questions-{name}")));
    let drawn = read(&report, "figures/questions-verdicts.csv");
    assert!(drawn.contains("GPT-5: 40.00 % correct, 40 of 100"), "{drawn}");
    let page = read(&report, "index.html");
    assert!(page.contains("This page has 4 runs on 100 items of 5 tasks."), "{page}");
    assert!(
        page.contains("Scripted players do not read prompts") && !page.contains("Not all items are the published ones")
    );
}

#[test]
fn the_papers_numbers_stand_beside_runs_of_its_names_on_the_published_items() {
    let folder = tempfile::tempdir().unwrap();
    let report = report_of(folder.path(), &tallies(&usual(), true));
    let csv = |name: &str| read(&report, &format!("tables/questions-{name}.csv"));
    let categories = csv("categories");
    let of = |start: &str| lines(&categories, start).iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        of("paper,GPT-5[reasoning=medium],paper"),
        ["paper,GPT-5[reasoning=medium],paper,,79.3,,,97,,,,,,,,,40,,,,,"]
    );
    assert!(of("difference,GPT-5[reasoning=medium],difference,,0.7,,,-17,")[0].contains(",40,"), "{categories}");
    assert_eq!(of("paper,GPT-5,paper,,44,").len(), 1);
    assert!(of("paper,GPT-5[context=pieces_moves]").is_empty());
    assert_eq!(of("paper,Gemini-2.5-Pro*,paper (not run here),,43,").len(), 1);
    assert!(of("paper,GPT-5*").is_empty(), "it stands beside ours alone");
    let tokens = csv("tokens");
    assert!(lines(&tokens, "paper,GPT-5[reasoning=medium],paper,,9142,")[0].contains(",11668,14823,"), "{tokens}");
    let reasoning = csv("reasoning");
    assert!(reasoning.contains("ours,GPT-5,medium,this run,40,39,41,80,79,81,40,39,42\n"), "{reasoning}");
    assert!(reasoning.contains("paper,GPT-5,medium,paper,44,,,79.3,,,,,\n"), "{reasoning}");
    assert!(lines(&reasoning, "paper,mean of pairs")[0].contains(",14.7,"), "{reasoning}");
    let context = csv("context");
    assert!(context.contains("ours,GPT-5,this run,40,39,41,,50,49,51,,10,9,12\n"), "{context}");
    assert!(lines(&context, "paper,Claude 3.5 Haiku,paper (not run here),14.5,").len() == 1, "{context}");
    assert!(lines(&csv("cost"), "ours,GPT-5,")[0].contains(",500,300,200,,0.5,0.005,80"), "{}", csv("cost"));
    assert!(
        lines(&csv("agreement"), "ours,oracle,GPT-5[reasoning=medium],100,75,25,10,9,12").len() == 1,
        "{}",
        csv("agreement")
    );
    assert!(
        csv("items").contains("ours,Structural,this run,1,20,19\npaper,Structural,paper,11,1100,\n"),
        "{}",
        csv("items")
    );
    assert_eq!(csv("structural").lines().count(), 12);
}

#[test]
fn on_other_items_the_papers_rows_stand_by_themselves() {
    let folder = tempfile::tempdir().unwrap();
    let report = report_of(folder.path(), &tallies(&usual(), false));
    let categories = read(&report, "tables/questions-categories.csv");
    assert!(lines(&categories, "difference,").is_empty(), "{categories}");
    assert_eq!(lines(&categories, "paper (not run here)").len(), 10, "{categories}");
    let reasoning = read(&report, "tables/questions-reasoning.csv");
    assert!(lines(&reasoning, "difference,").is_empty(), "{reasoning}");
    assert_eq!(lines(&reasoning, "paper,mean of pairs,,paper (not run here),").len(), 1, "{reasoning}");
    assert!(read(&report, "index.html").contains("Not all items are the published ones"));
}

/// Every number of the paper stands beside ours, in a row of its own, or in the list of words.
#[test]
fn no_number_of_the_paper_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let report = report_of(folder.path(), &tallies(&usual(), false));
    let tables = ["categories", "tokens", "cost", "context", "reasoning", "items", "words"];
    let rows = tables.map(|name| fields(&read(&report, &format!("tables/questions-{name}.csv")))).concat();
    let cells: Vec<&String> = rows.iter().filter(|row| row[0] == "paper").flatten().collect();
    for fact in fields(include_str!("../../papers/questions/facts/facts.csv")).iter().skip(1) {
        let number: Option<f64> = fact[4].replace(',', "").parse().ok();
        let is = |cell: &&String| **cell == fact[4] || number.is_some_and(|number| cell.parse() == Ok(number));
        assert!(cells.iter().any(is), "{fact:?}");
    }
}

#[test]
fn tallies_without_their_runs_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut tallies = tallies(&usual(), true);
    tallies.graded.runs.clear();
    tallies.write(&folder.path().join("tallies")).unwrap();
    let failure =
        run(Trial::new(folder.path().join("trial")).input("tallies", folder.path().join("tallies"))).unwrap_err();
    assert!(failure.message.contains("do not describe their run GPT-5"), "{failure}");
}
