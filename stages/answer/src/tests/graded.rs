//! Answers to the graded items of *Reasoning through chess*.

use cwm_contract::testing;
use cwm_questions::Metadata;
use cwm_reasoning::{AnswerVerdict, RewardOptions, VerifiedAnswer, Verifier};

use super::*;
use crate::probe::graded_items;

fn run(folder: &Path, items: &[Item], cores: usize, others: &[(&str, Value)]) -> Result<Outcome, Failure> {
    let path = folder.join("items.jsonl");
    write_items(&path, items);
    let trial = Trial::new(folder.join(format!("work-{cores}"))).input("items", path).cores(cores);
    others.iter().fold(trial, |trial, (name, value)| trial.with(name, value.clone())).run(&Answer)
}

/// Items of each task, so many of each.
fn many(count: usize) -> Vec<Item> {
    let number = |(number, item): (usize, Item)| Item { task_id: format!("{}_{number:04}", item.task_type), ..item };
    graded_items().unwrap().into_iter().flat_map(|item| vec![item; count]).enumerate().map(number).collect()
}

fn judged(item: &Item, row: &Row) -> VerifiedAnswer {
    Verifier::new(item).unwrap().judge(row.response.as_deref().unwrap(), &RewardOptions::default())
}

#[test]
fn the_oracle_has_the_reward_1() {
    let folder = tempfile::tempdir().unwrap();
    let mut items = graded_items().unwrap();
    // An item from elsewhere may have values of its moves, and no key.
    assert!(items[0].task_type.ends_with("predict_move"));
    items[0].correct_answer.clear();
    let (_, rows) = answers(&run(folder.path(), &items, 1, &[("player", text("oracle"))]).unwrap());
    assert_eq!(rows.len(), 4);
    for (item, row) in items.iter().zip(&rows) {
        assert!((judged(item, row).reward - 1.0).abs() < 1e-12, "{row:?}");
        assert_eq!(row.sample, None);
        assert!(row.response.as_deref().unwrap().starts_with("<think>\n\n</think>\n<answer>"), "{row:?}");
    }
}

#[test]
fn random_answers_are_legal_and_rank_in_the_middle() {
    let folder = tempfile::tempdir().unwrap();
    let items = many(400);
    let player = [("player", text("random")), ("seed", Value::Int(7))];
    let (_, rows) = answers(&run(folder.path(), &items, 2, &player).unwrap());
    let mean = |task: &str| {
        let of_task = items.iter().zip(&rows).filter(|(item, _)| item.task_type.ends_with(task));
        let scores: Vec<f64> = of_task
            .map(|(item, row)| {
                let judged = judged(item, row);
                assert!(
                    matches!(
                        judged.verdict,
                        AnswerVerdict::Legal | AnswerVerdict::Right | AnswerVerdict::Wrong | AnswerVerdict::Scored
                    ),
                    "{row:?}"
                );
                judged.score.unwrap()
            })
            .collect();
        assert_eq!(scores.len(), 400);
        scores.iter().sum::<f64>() / 400.0
    };
    // Standard errors are .015, .02 and .02; no two moves are worth the same.
    assert!((mean("predict_move") - 0.5).abs() < 0.06);
    assert!((mean("best_move") - 0.2).abs() < 0.08);
    assert!((mean("worst_move") - 0.2).abs() < 0.08);
    assert!((mean("legal_moves") - 0.5).abs() < 0.1);
}

#[test]
fn an_engine_draws_moves_by_their_values() {
    let folder = tempfile::tempdir().unwrap();
    let items = graded_items().unwrap();
    let player = |temperature: Option<f64>, samples| {
        let mut values = vec![("player", text("engine")), ("samples", Value::Int(samples))];
        values.extend(temperature.map(|temperature| ("temperature", Value::Float(temperature))));
        values
    };
    // Without a temperature, the best is answered.
    let (_, rows) = answers(&run(folder.path(), &items, 1, &player(None, 1)).unwrap());
    assert!(items.iter().zip(&rows).all(|(item, row)| (judged(item, row).reward - 1.0).abs() < 1e-12));
    // With one, each move has its share.
    let work = folder.path().join("drawn");
    std::fs::create_dir_all(&work).unwrap();
    let outcome = run(&work, &items, 1, &player(Some(0.2), 1_000)).unwrap();
    let (described, rows) = answers(&outcome);
    assert_eq!((rows.len(), described.temperature), (4_000, Some(0.2)));
    for (item, rows) in items.iter().zip(rows.chunks(1_000)) {
        let samples: Vec<u64> = rows.iter().map(|row| row.sample.unwrap()).collect();
        assert!(samples == (0..1_000).collect::<Vec<_>>() && rows.iter().all(|row| row.task_id == item.task_id));
        let verifier = Verifier::new(item).unwrap();
        if verifier.task().wants_a_list() {
            assert!(rows.iter().all(|row| (judged(item, row).reward - 1.0).abs() < 1e-12));
            continue;
        }
        let sign = if item.task_type.ends_with("worst_move") { -1.0 } else { 1.0 };
        let weight = |uci: &str| {
            let value = verifier.values().unwrap().iter().find(|(other, _)| *other == uci).unwrap().1;
            (sign * value / 0.2).exp()
        };
        let sum: f64 = verifier.choices().into_iter().map(weight).sum();
        for uci in verifier.choices() {
            let share = weight(uci) / sum;
            let answer = format!("<answer>{uci}</answer>");
            let found = rows.iter().filter(|row| row.response.as_deref().unwrap().ends_with(&answer)).count() as f64;
            // Four standard deviations.
            let bound = 4.0 * (share * (1.0 - share) * 1_000.0).sqrt() + 1.0;
            assert!((found - share * 1_000.0).abs() <= bound, "{uci}: {found} of 1000, not {share}");
        }
    }
    let two = run(&work, &items, 2, &player(Some(0.2), 1_000)).unwrap();
    assert_eq!(std::fs::read(&outcome.outputs["answers"]).unwrap(), std::fs::read(&two.outputs["answers"]).unwrap());
}

#[test]
fn fewer_samples_are_the_first_ones_and_rules_are_not_asked() {
    let folder = tempfile::tempdir().unwrap();
    let items = graded_items().unwrap();
    let run = |name: &str, player: &str, samples| {
        let folder = folder.path().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        answers(&run(&folder, &items, 1, &[("player", text(player)), ("samples", Value::Int(samples))]).unwrap()).1
    };
    let (two, three) = (run("two", "random", 2), run("three", "random", 3));
    for (few, many) in two.chunks(2).zip(three.chunks(3)) {
        assert_eq!(few, &many[..2]);
    }
    let one = run("one", "random", 1);
    assert!(
        one.iter()
            .zip(two.chunks(2))
            .all(|(one, two)| one.response == two[0].response && one.request == two[0].request)
    );
    let rules = run("rules", "rules", 1);
    assert!(rules.iter().all(|row| !row.is_asked() && row.response.is_none()));
}

#[test]
fn a_server_is_sent_the_system_message_and_each_sample_is_a_question() {
    let server = server(|number, _| stream(&format!("<answer>{number}</answer>")));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("items.jsonl");
    write_items(&path, &graded_items().unwrap()[..1]);
    let trial = |samples| {
        Trial::new(folder.path().join("work"))
            .input("items", &path)
            .with("model", text("m"))
            .with("url", text(&format!("{}/v1", server.base)))
            .with("key_variable", text("NO_SUCH_VARIABLE"))
            .with("connections", Value::Int(1))
            .with("samples", Value::Int(samples))
    };
    let (_, rows) = answers(&trial(3).run(&Impatient).unwrap());
    let texts: Vec<_> = rows.iter().map(|row| row.response.as_deref().unwrap()).collect();
    assert_eq!(texts, ["<answer>0</answer>", "<answer>1</answer>", "<answer>2</answer>"]);
    let asked = questions(&server);
    assert_eq!(asked.len(), 3);
    let body: serde_json::Value = serde_json::from_str(&asked[0].body).unwrap();
    assert_eq!(body["messages"][0]["role"], "system");
    assert!(body["messages"][0]["content"].as_str().unwrap().contains("<answer>"));
    assert_eq!(body["messages"][1]["role"], "user");
    assert!(body["messages"][1]["content"].as_str().unwrap().contains("A B C D E F G H"));
}

#[test]
fn what_lacks_its_values_is_an_error_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let mut item = graded_items().unwrap().remove(1);
    item.metadata = Metadata::default();
    item.metadata.insert("candidates", serde_json::json!(["e1g1", "d2d3"]));
    item.correct_answer = "e1g1".to_owned();
    let items = [item];
    let failure = run(folder.path(), &items, 1, &[("player", text("engine"))]).err().unwrap();
    assert!(failure.message.contains("metadata lack `values`, by which an engine answers"), "{}", failure.message);
    assert!(run(folder.path(), &items, 1, &[("player", text("random"))]).is_ok());
}

#[test]
fn results_from_before_samples_keep_their_keys() {
    let unused = |others: &[(&str, Value)]| {
        let defaults =
            Answer.parameters().into_iter().map(|spec| (spec.name.to_owned(), spec.default.unwrap_or_default()));
        let mut values: Values = defaults.collect();
        values.extend(others.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        Answer.unused_parameters(&values)
    };
    for player in ["server", "oracle", "random", "rules", "engine", "world_model"] {
        let unused = unused(&[("player", text(player))]);
        assert!(unused.contains(&"samples"), "{player}");
        assert_eq!(unused.contains(&"temperature"), player != "server", "{player}");
        assert_eq!(unused.contains(&"seed"), player != "random", "{player}");
    }
    let drawn = unused(&[("player", text("engine")), ("temperature", Value::Float(0.5)), ("samples", Value::Int(2))]);
    assert!(["samples", "temperature", "seed"].iter().all(|name| !drawn.contains(name)));
}

#[test]
fn the_probe_has_graded_items() {
    let folder = tempfile::tempdir().unwrap();
    let values = Values::from([("player".to_owned(), text("random")), ("samples".to_owned(), Value::Int(2))]);
    let probed = testing::probe(&Answer, values, folder.path()).unwrap().unwrap();
    assert!(probed.contains_key("run/answers"), "{:?}", probed.keys());
}
