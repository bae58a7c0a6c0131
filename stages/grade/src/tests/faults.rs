use super::*;

/// The message of answers that were changed so.
fn changed(change: impl Fn(&mut Vec<Answer>)) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut answers = twenty_answers(5);
    change(&mut answers);
    message(trial(folder.path(), &[("said", run_of("x"), answers)]))
}

#[test]
fn answers_that_do_not_belong_to_the_items_are_located() {
    let found = changed(|answers| _ = answers.remove(12));
    assert!(found.contains("the answers of said ("), "{found}");
    assert!(found.contains("lack 1 of 20 items: the first is semantic_easy_random_0002, item 12"), "{found}");
    let found = changed(|answers| answers.push(answer(KEYWORD, 10, "A")));
    assert!(found.contains("have semantic_keyword_0010 in row 20, which is no item"), "{found}");
    let found = changed(|answers| answers.push(answer(KEYWORD, 3, "A")));
    assert!(found.contains("have semantic_keyword_0003 twice: in row 3 and in row 20"), "{found}");
    let found = changed(|answers| answers.clear());
    assert!(found.contains("lack 20 of 20 items"), "{found}");
    let found = changed(|answers| answers[4].finish = Some(NOT_ASKED.into()));
    assert!(
        found.contains("are of 9 of 10 items of semantic_keyword, and semantic_keyword_0004 was not asked"),
        "{found}"
    );
    let found = changed(|answers| answers.iter_mut().for_each(|answer| answer.finish = Some(NOT_ASKED.into())));
    assert!(found.contains("the answers of said are to no item"), "{found}");
}

#[test]
fn keys_that_do_not_follow_from_their_items_are_noted() {
    let folder = tempfile::tempdir().unwrap();
    let (items, answers) = (folder.path().join("items.jsonl"), folder.path().join("answers.parquet"));
    let id = |number: usize| format!("structural_check_in_1_{number:04}");
    let line = |(number, key): (usize, &str)| {
        let right = if number == 0 { "-" } else { "K" };
        let line = serde_json::json!({
            "task_id": id(number), "task_type": "structural_check_in_1", "task_category": "Structural",
            "input": format!("6k1/5ppp/8/8/8/8/8/R3K3 w {right} - 0 1"), "question": "", "format_examples": ["a", "b"],
            "correct_answer": key, "answer_type": "multi", "metadata": {}
        });
        format!("{line}\n")
    };
    std::fs::write(&items, ["a1a8", "a1a7"].into_iter().enumerate().map(line).collect::<String>()).unwrap();
    let said =
        |number| Answer { task_id: id(number), response: Some("FINAL ANSWER: a1a8".into()), ..Answer::default() };
    write(&answers, &run_of("x"), &[said(0), said(1)]);
    let trial = Trial::new(folder.path().join("work")).labelled("items", Label::stage("items"), items);
    let outcome = trial.labelled("answers", Label::stage("said"), answers).run(&Grade).unwrap();
    let note =
        "1 of 2 items have a key that does not follow from them, and count all the same: the first is ".to_owned();
    let note = cwm_contract::Event::Note(note + &id(1));
    assert!(outcome.events.contains(&note), "{:?}", outcome.events);
    let note = "1 of 2 items have a castling right that cannot be, which is passed over: the first is ".to_owned();
    let note = cwm_contract::Event::Note(note + &id(1));
    assert!(outcome.events.contains(&note), "{:?}", outcome.events);
    assert_eq!(tallies(&outcome).overall[0].correct, 1);
}

#[test]
fn runs_have_names_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let runs = |other: PlayerSettings| {
        [("said[n=1]", run_of("x"), twenty_answers(5)), ("said[n=2]", other, twenty_answers(6))]
    };
    let found = message(trial(folder.path(), &runs(run_of("x"))));
    assert_eq!(found, "said[n=1] and said[n=2] are answers of one run, x");
    let other = PlayerSettings { context: Some("pieces".into()), ..run_of("x") };
    let found = tallies(&trial(folder.path(), &runs(other)).run(&Grade).unwrap());
    let names: Vec<_> = found.overall.iter().map(|tally| tally.run.as_str()).collect();
    assert_eq!(names, ["x", "x[context=pieces]"]);
    let prices = [("input".to_owned(), Value::Float(1.0)), ("output".to_owned(), Value::Float(1.0))];
    let prices = Value::Map([("y".to_owned(), Value::Map(prices.into()))].into());
    let found = message(trial(folder.path(), &runs(run_of("z"))).with("prices", prices));
    assert_eq!(found, "`prices` has y, but the runs are x, z");
}

#[test]
fn items_that_are_not_known_fail_or_are_judged_by_their_key() {
    let folder = tempfile::tempdir().unwrap();
    let items = folder.path().join("items.jsonl");
    std::fs::write(&items, item("new_task", 0)).unwrap();
    let path = folder.path().join("answers");
    write(&path, &run_of("x"), &[answer("new_task", 0, "b")]);
    let trial = || Trial::new(folder.path().join("work")).input("items", &items).input("answers", &path);
    let found = message(trial());
    assert_eq!(found, r#"items, line 1: new_task_0000: the task "new_task" is not known"#);
    let tallies = tallies(&trial().with("unknown", Value::Text("key".into())).run(&Grade).unwrap());
    let tally = &tallies.tasks[0];
    assert_eq!((tally.task.as_deref(), tally.correct, tally.sound, tally.unread), (Some("new_task"), 1, 0, 1));
    assert_eq!(tallies.items[0].chance, 0.0);
}

#[test]
fn an_item_is_in_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other.jsonl");
    std::fs::write(&other, item(KEYWORD, 4)).unwrap();
    let trial = trial(folder.path(), &[("said", run_of("x"), twenty_answers(5))]);
    let found = message(trial.labelled("items", Label::stage("more"), &other));
    assert_eq!(found, "more: the item semantic_keyword_0004 is in items too");
    let bad = folder.path().join("bad.jsonl");
    std::fs::write(&bad, item(KEYWORD, 4).replace(r#""input": "fen 4", "#, "")).unwrap();
    let trial = Trial::new(folder.path().join("w")).input("items", &bad).labelled(
        "answers",
        Label::stage("said"),
        folder.path().join("said"),
    );
    let found = message(trial);
    assert!(found.starts_with("items, line 1: semantic_keyword_0004: not an item: missing field `input`"), "{found}");
}

#[test]
fn the_probe_shows_a_change_of_verdicts() {
    let folder = tempfile::tempdir().unwrap();
    let probe = |name: &str| cwm_contract::testing::probe(&Grade, Default::default(), &folder.path().join(name));
    let first = probe("1").unwrap().unwrap();
    assert_eq!(first, probe("2").unwrap().unwrap());
    assert!(first.keys().any(|name| name.ends_with("grades")), "{:?}", first.keys());
    assert!(!first.keys().any(|name| name.ends_with("refused")), "{:?}", first.keys());
}
