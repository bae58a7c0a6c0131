use std::path::Path;

use cwm_answers::{Answer, AnswersWriter, FAILED, Grade, GradesDescription, GradesWriter, NOT_ASKED, PlayerSettings};
use cwm_contract::testing::{self, Outcome, Trial};
use cwm_contract::{Event, Value, Values};
use cwm_questions::{AnswerType, Item, Metadata, write_line};
use cwm_reasoning::{AnswerVerdict, CATEGORY, Example, MessageRole, ReasoningTask, read_examples};
use tempfile::tempdir;

use crate::Keep;

/// An item with this piece, at this full move.
fn item(task: &str, number: usize, piece: &str, fullmove: usize) -> Item {
    let mut metadata = Metadata::default();
    metadata.insert("system", "You are a player.");
    metadata.insert("piece", piece);
    Item {
        task_id: format!("{task}_{number:04}"),
        task_type: task.to_owned(),
        task_category: CATEGORY.to_owned(),
        input: format!("4k3/8/8/8/8/8/8/R3K3 w - - 0 {fullmove}"),
        question: format!("What now, {number}?"),
        format_examples: Vec::new(),
        correct_answer: String::new(),
        answer_type: AnswerType::Graded,
        metadata,
    }
}

fn run() -> PlayerSettings {
    PlayerSettings { name: "teacher".to_owned(), ..PlayerSettings::default() }
}

/// An answer with its verdict and reward.
fn answer(item: &Item, sample: u64, text: &str, verdict: AnswerVerdict, reward: Option<f64>) -> (Answer, Grade) {
    let response = (!text.is_empty()).then(|| text.to_owned());
    let (task_id, run) = (item.task_id.clone(), run().name);
    let answer = Answer { task_id: task_id.clone(), sample: Some(sample), response, ..Answer::default() };
    (answer, Grade { run, task_id, sample, verdict: verdict.name().to_owned(), reward, ..Grade::default() })
}

/// A trial on these items and answers, with their grades if there are any.
fn trial(folder: &Path, items: &[Item], answers: &[(Answer, Grade)]) -> Trial {
    let [items_at, answers_at, grades_at] = ["items.jsonl", "answers", "grades"].map(|name| folder.join(name));
    let mut lines = Vec::new();
    items.iter().for_each(|item| write_line(&mut lines, item).unwrap());
    std::fs::write(&items_at, lines).unwrap();
    let mut writer = AnswersWriter::create(&answers_at, &run()).unwrap();
    answers.iter().for_each(|(answer, _)| writer.push(answer.clone()).unwrap());
    writer.finish().unwrap();
    let runs = [(run().name, run())].into();
    let mut writer =
        GradesWriter::create(&grades_at, &GradesDescription { runs, ..GradesDescription::default() }).unwrap();
    answers.iter().for_each(|(_, grade)| writer.push(grade.clone()).unwrap());
    writer.finish().unwrap();
    let trial = Trial::new(folder.join("work")).input("items", items_at).input("answers", answers_at);
    if answers.is_empty() { trial } else { trial.input("grades", grades_at) }
}

fn examples(outcome: &Outcome) -> Vec<Example> {
    read_examples(&*std::fs::read(&outcome.outputs["examples"]).unwrap(), "examples").unwrap()
}

fn counts(outcome: &Outcome) -> String {
    std::fs::read_to_string(&outcome.outputs["counts"]).unwrap()
}

#[test]
fn what_is_right_is_kept_whole() {
    let folder = tempdir().unwrap();
    let [predict, best, worst, legal] = ReasoningTask::ALL.map(|task| item(task.name(), 0, "white king", 1));
    let answers = [
        // Grades are found by item and number, in whatever order answers come.
        answer(&worst, 0, "<answer>e1e2</answer>", AnswerVerdict::Right, None),
        answer(&best, 0, "", AnswerVerdict::Unreadable, None),
        answer(&best, 1, "<answer>e1d1</answer>", AnswerVerdict::Wrong, None),
        answer(&best, 2, "<think> </think> <answer>e1f1</answer>", AnswerVerdict::Right, None),
        answer(&predict, 0, "<answer>a1a2</answer>", AnswerVerdict::Legal, Some(0.69)),
        answer(&predict, 1, "<answer>a1a3</answer>", AnswerVerdict::Legal, Some(0.7)),
        answer(&predict, 2, "<answer>a1a3</answer>", AnswerVerdict::Legal, Some(0.7)),
        answer(&predict, 3, "<answer>a1b8</answer>", AnswerVerdict::Illegal, None),
        answer(&legal, 0, "<answer>[]</answer>", AnswerVerdict::Scored, Some(0.59)),
        answer(&legal, 1, "<answer>['e1d1']</answer>", AnswerVerdict::Scored, Some(0.6)),
    ];
    let items = [predict, best, worst, legal];
    let trial = trial(folder.path(), &items, &answers).with("largest_piece_share", Value::Float(1.));
    let outcome = trial.run(&Keep).unwrap();
    let kept = examples(&outcome);
    let found: Vec<_> = kept.iter().map(|example| (&*example.id, example.target())).collect();
    let expected = [
        ("keep-000000", "<answer>a1a3</answer>"),
        ("keep-000001", "<think> </think> <answer>e1f1</answer>"),
        ("keep-000002", "<answer>e1e2</answer>"),
        ("keep-000003", "<answer>['e1d1']</answer>"),
    ];
    assert_eq!(found, expected);
    let messages: Vec<_> = kept[1].messages.iter().map(|message| (message.role, &*message.content)).collect();
    assert_eq!(messages[..2], [(MessageRole::System, "You are a player."), (MessageRole::User, "What now, 0?")]);
    assert_eq!(kept[1].meta.text("item"), Some("reasoning_best_move_0000"));
    let expected = concat!(
        r#"{"answers":10,"dropped":{"below":4,"fullmove":0,"piece":0,"repeated":1,"unanswered":1},"examples":4,"not_drawn":0,"#,
        r#""stage":"keep","tasks":{"reasoning_best_move":1,"reasoning_legal_moves":1,"reasoning_predict_move":1,"#,
        r#""reasoning_worst_move":1}}"#,
        "\n"
    );
    assert_eq!(counts(&outcome), expected);
}

/// So many right answers to `predict_move` at each of these full moves.
fn many(fullmoves: &[(usize, usize)]) -> (Vec<Item>, Vec<(Answer, Grade)>) {
    let all = fullmoves.iter().flat_map(|(fullmove, count)| std::iter::repeat_n(*fullmove, *count));
    let task = ReasoningTask::PredictMove.name();
    let items: Vec<Item> = all.enumerate().map(|(number, fullmove)| item(task, number, "", fullmove)).collect();
    let answers =
        items.iter().map(|item| answer(item, 0, "<answer>a1a3</answer>", AnswerVerdict::Legal, Some(1.))).collect();
    (items, answers)
}

#[test]
fn parts_of_a_game_have_their_shares_and_what_is_missing_is_filled() {
    let folder = tempdir().unwrap();
    let (items, answers) = many(&[(5, 40), (15, 40), (45, 3), (200, 9)]);
    let shares =
        [("0-9", 0.25), ("10-19", 0.25), ("40-150", 0.5)].map(|(name, share)| (name.to_owned(), Value::Float(share)));
    let run = |limit| {
        let trial = trial(folder.path(), &items, &answers).with("limit", Value::Int(limit));
        trial.with("fullmoves", Value::Map(shares.clone().into())).run(&Keep).unwrap()
    };
    let outcome = run(40);
    let at = |fullmove: &str| {
        let ends = |example: &&Example| example.meta.text("fen").unwrap().ends_with(fullmove);
        examples(&outcome).iter().filter(ends).count()
    };
    // Ten and ten, the three that are there, and seventeen of the rest.
    assert_eq!((at(" 45"), at(" 200"), at(" 5") + at(" 15")), (3, 0, 37));
    assert!(at(" 5") >= 10 && at(" 15") >= 10);
    assert!(counts(&outcome).contains(r#""fullmove":9"#) && counts(&outcome).contains(r#""not_drawn":43"#));
    let outcome = run(1_000);
    assert_eq!(examples(&outcome).len(), 83);
    let noted = |event: &Event| matches!(event, Event::Note(note) if note == "83 of 1000 answers: no more are right");
    assert!(outcome.events.iter().any(noted));
}

#[test]
fn no_kind_of_piece_has_too_large_a_share() {
    let folder = tempdir().unwrap();
    let task = ReasoningTask::LegalMoves.name();
    let pieces = ["white king", "black king", "white rook", "black queen", "white knight", "black pawn"];
    let items: Vec<Item> = (0..60).map(|number| item(task, number, pieces[number % 6], 1)).collect();
    let right = |item: &Item| answer(item, 0, "<answer>['a1a2']</answer>", AnswerVerdict::Scored, Some(1.));
    let answers: Vec<_> = items.iter().map(right).collect();
    let outcome = trial(folder.path(), &items, &answers).run(&Keep).unwrap();
    let of = |piece: &str| {
        let kept = examples(&outcome);
        let ids: Vec<&str> = kept.iter().filter_map(|example| example.meta.text("item")).collect();
        let is_of = |item: &&Item| item.metadata.text("piece").unwrap().ends_with(piece);
        items.iter().filter(is_of).filter(|item| ids.contains(&&*item.task_id)).count()
    };
    assert_eq!(["king", "rook", "queen", "knight", "pawn"].map(of), [13, 10, 10, 10, 10]);
    assert!(counts(&outcome).contains(r#""piece":7"#), "{}", counts(&outcome));
    // All are drawn, and then some are dropped again.
    let outcome = trial(folder.path(), &items, &answers).with("limit", Value::Int(60)).run(&Keep).unwrap();
    let note = "53 of 60 answers: 7 that were drawn are dropped by `largest_piece_share`";
    assert!(outcome.events.iter().any(|event| matches!(event, Event::Note(found) if found == note)));
    // One kind has more than a quarter however few there are.
    let queens: Vec<Item> = (0..10).map(|number| item(task, number, "black queen", 1)).collect();
    let answers: Vec<_> = queens.iter().map(right).collect();
    let failure = trial(folder.path(), &queens, &answers).run(&Keep).err().unwrap();
    assert_eq!(failure.message, "no answer of 10 is kept; dropped: piece 10");
    assert!(failure.hint.unwrap().contains("`largest_piece_share`"));
}

#[test]
fn of_guided_items_the_text_in_the_tags_is_kept() {
    let folder = tempdir().unwrap();
    let mut items: Vec<Item> = (0..2).map(|number| item("guided_good", number, "", 3)).collect();
    for item in &mut items {
        item.metadata.insert("mode", "good");
        item.metadata.insert("line", vec!["a1a8".to_owned(), "e8e7".to_owned()]);
    }
    let texts = ["Let me see. <answer>Yes: it checks the king.</answer>", "No tags."];
    let answers = items.iter().zip(texts).map(|(item, text)| answer(item, 0, text, AnswerVerdict::Unreadable, None).0);
    let answers: Vec<Answer> = answers.collect();
    // Without grades.
    let trial = trial(folder.path(), &items, &[]);
    let mut writer = AnswersWriter::create(&folder.path().join("answers"), &run()).unwrap();
    answers.into_iter().for_each(|answer| writer.push(answer).unwrap());
    writer.finish().unwrap();
    let outcome = trial.run(&Keep).unwrap();
    let kept = examples(&outcome);
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].target(), "Yes: it checks the king.");
    assert!(kept[0].messages[1].content.ends_with("Should you play a1a8?"));
}

#[test]
fn what_does_not_belong_together_is_named() {
    let folder = tempdir().unwrap();
    let item = item(ReasoningTask::PredictMove.name(), 0, "", 1);
    let right = || answer(&item, 0, "<answer>a1a3</answer>", AnswerVerdict::Legal, Some(1.));
    let failure =
        |answers: &[(Answer, Grade)], items: &[Item]| trial(folder.path(), items, answers).run(&Keep).err().unwrap();
    let (mut other, grade) = right();
    other.task_id = "reasoning_predict_move_0007".to_owned();
    let message = failure(&[(other, grade)], std::slice::from_ref(&item)).message;
    assert_eq!(message, "the answers of teacher have one to reasoning_predict_move_0007, which is no item here");
    let (answer, mut grade) = right();
    grade.sample = 1;
    let message = failure(&[(answer, grade)], std::slice::from_ref(&item)).message;
    assert_eq!(message, "the answer 0 of teacher to reasoning_predict_move_0000 has no grade");
    let (answer, mut grade) = right();
    grade.run = "another".to_owned();
    let found = failure(&[(answer, grade)], std::slice::from_ref(&item));
    assert!(found.message.ends_with("have none of teacher, whose answers are given"), "{}", found.message);
    assert_eq!(found.hint.unwrap(), "they are grades of another");
    let (mut answer, grade) = right();
    answer.response = None;
    answer.finish = Some(FAILED.to_owned());
    let (mut not_asked, same) = right();
    not_asked.finish = Some(NOT_ASKED.to_owned());
    let message = failure(&[(answer, grade), (not_asked, same)], std::slice::from_ref(&item)).message;
    assert_eq!(message, "no answer of 1 is kept; dropped: unanswered 1");
    let trial = trial(folder.path(), std::slice::from_ref(&item), &[right()]).with("predict", Value::Float(1.5));
    assert_eq!(trial.run(&Keep).err().unwrap().message, "parameter `predict` must be from 0 to 1, not 1.5");
}

#[test]
fn the_probe_is_the_same_twice() {
    let folders = [tempdir().unwrap(), tempdir().unwrap()];
    let [one, two] =
        folders.each_ref().map(|folder| testing::probe(&Keep, Values::new(), folder.path()).unwrap().unwrap());
    assert!(one.contains_key("run/examples") && one == two, "{:?}", one.keys());
}
