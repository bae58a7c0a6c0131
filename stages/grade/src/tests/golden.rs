use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct Row {
    run: String,
    task_id: String,
    response: String,
    prompt_tokens: u64,
    completion_tokens: u64,
    cost: f64,
    verdict: String,
    sound: Option<bool>,
}

#[derive(Deserialize)]
struct Expected {
    items: u64,
    correct: u64,
    sound: u64,
    by_category: BTreeMap<String, [u64; 2]>,
    verdicts: BTreeMap<String, u64>,
    completion_tokens: u64,
    cost: f64,
}

/// The items that the golden runs answer, as their lines are, and the trial on them.
fn golden_trial(folder: &Path, cores: usize) -> Option<(Vec<Row>, Trial)> {
    let runs = golden_text("runs.jsonl")?;
    let rows: Vec<Row> = runs.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ids: BTreeSet<&str> = rows.iter().map(|row| row.task_id.as_str()).collect();
    let mut trial = Trial::new(folder.join(format!("work{cores}"))).cores(cores);
    for category in ["structural", "motifs", "short_tactics", "position_judgement"] {
        let text = golden_text(&format!("published/{category}.jsonl.zst"))?;
        let is_asked = |line: &&str| ids.contains(line.split('"').nth(3).unwrap());
        let lines: String = text.lines().filter(is_asked).flat_map(|line| [line, "\n"]).collect();
        let path = folder.join(category);
        std::fs::write(&path, lines).unwrap();
        trial = trial.labelled("items", Label::stage(category), path);
    }
    for name in ["alpha", "beta", "gamma"] {
        let of_run = rows.iter().filter(|row| row.run == name);
        let answers: Vec<Answer> = of_run
            .map(|row| Answer {
                task_id: row.task_id.clone(),
                response: Some(row.response.clone()),
                prompt_tokens: Some(row.prompt_tokens),
                completion_tokens: Some(row.completion_tokens),
                cost: Some(row.cost),
                ..Answer::default()
            })
            .collect();
        let path = folder.join(name);
        write(&path, &run_of(name), &answers);
        trial = trial.labelled("answers", Label::stage(name), path);
    }
    Some((rows, trial))
}

#[test]
fn golden_runs_have_the_golden_tallies() {
    let folder = tempfile::tempdir().unwrap();
    let Some((rows, trial)) = golden_trial(folder.path(), 2) else { return };
    let outcome = trial.run(&Grade).unwrap();
    let tallies = tallies(&outcome);
    let mut expected: BTreeMap<String, serde_json::Value> =
        serde_json::from_str(&golden_text("tallies.json").unwrap()).unwrap();
    for (name, field) in [("agreement", 0), ("both_correct", 1)] {
        let pairs: BTreeMap<String, u64> = serde_json::from_value(expected.remove(name).unwrap()).unwrap();
        assert_eq!(tallies.pairs.len(), pairs.len());
        for pair in &tallies.pairs {
            let found = [pair.agreement, pair.both_correct][field];
            assert_eq!(found, pairs[&format!("{}/{}", pair.run, pair.other)], "{name}");
            assert_eq!(pair.items, 184);
            assert!(pair.low <= pair.difference && pair.difference <= pair.high, "{pair:?}");
        }
    }
    assert_eq!(tallies.overall.len(), expected.len());
    for tally in &tallies.overall {
        let expected: Expected = serde_json::from_value(expected[&tally.run].clone()).unwrap();
        assert_eq!((tally.items, tally.correct, tally.sound), (expected.items, expected.correct, expected.sound));
        let verdicts = [
            ("correct", tally.correct),
            ("format_error", tally.format_error),
            ("max_token_reached", tally.max_token_reached),
            ("multi_extra_items", tally.multi_extra_items),
            ("multi_false_items", tally.multi_false_items),
            ("multi_missing_items", tally.multi_missing_items),
            ("wrong_answer", tally.wrong_answer),
        ];
        assert_eq!(
            verdicts.map(|(name, count)| (name.to_owned(), count)).into_iter().collect::<BTreeMap<_, _>>(),
            expected.verdicts
        );
        assert_eq!(tally.completion_tokens, Some(expected.completion_tokens));
        assert!((tally.cost.unwrap() - expected.cost).abs() < 1e-9);
        let categories = tallies.categories.iter().filter(|row| row.run == tally.run);
        let by_category: BTreeMap<String, [u64; 2]> =
            categories.map(|row| (row.category.clone().unwrap(), [row.correct, row.items])).collect();
        assert_eq!(by_category, expected.by_category);
    }
    for tally in tallies.overall.iter().chain(&tallies.categories).chain(&tallies.tasks) {
        assert!(tally.low <= tally.accuracy && tally.accuracy <= tally.high, "{tally:?}");
    }
    let grades: Vec<_> = Grades::open(&outcome.outputs["grades"]).unwrap().map(Result::unwrap).collect();
    let of = |run: &str, id: &str| grades.iter().find(|grade| grade.run == run && grade.task_id == id).unwrap();
    for row in &rows {
        let grade = of(&row.run, &row.task_id);
        assert_eq!((&grade.verdict, grade.sound), (&row.verdict, row.sound), "{}", row.task_id);
    }
    assert_eq!(grades.len(), rows.len());
    let chance = |task: &str| tallies.items.iter().find(|row| row.task == task).unwrap().chance;
    assert_eq!((chance("position_judgement_winning"), chance("motifs_pin")), (0.2, 0.0));
    assert!((0.02..0.1).contains(&chance("short_tactics_rating_expert")));
}

#[test]
fn bytes_do_not_depend_on_cores() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = |cores| Some(all_bytes(&golden_trial(folder.path(), cores)?.1.run(&Grade).unwrap()));
    assert!(bytes(1) == bytes(2));
}

/// The digests distinguish the published items from others.
#[test]
fn published_items_have_their_published_digest() {
    let Some(text) = golden_text("published/motifs.jsonl.zst") else { return };
    let folder = tempfile::tempdir().unwrap();
    let items = folder.path().join("motifs.jsonl");
    std::fs::write(&items, &text).unwrap();
    let ids = text.lines().map(|line| line.split('"').nth(3).unwrap().to_owned());
    let answers: Vec<Answer> = ids.map(|task_id| Answer { task_id, ..Answer::default() }).collect();
    let path = folder.path().join("answers");
    write(&path, &run_of("silent"), &answers);
    let trial = Trial::new(folder.path().join("work")).input("items", items).input("answers", path);
    let digests = tallies(&trial.run(&Grade).unwrap()).graded.items;
    assert_eq!(digests["Motifs"], "22d70b7f6a5b63b3e1f8494a1e5588e63859660c71b436690260000940e04815");
}
