//! Cleaning and judging by a model.

use cwm_answers::{Answer, AnswersWriter, PlayerSettings};
use cwm_contract::Value;
use cwm_contract::testing::Trial;
use cwm_questions::{UnknownTasks, read_items};

use super::{comments, counts, on_pgn, text};
use crate::Comments;

const PGN: &str = "[White \"Marble\"]\n[Black \"Quill\"]\n[Annotator \"Marble\"]\n\n1. e4 {I take the centre and I am happy.} e5 {He answers in the \
                   centre too, of course.} 2. Nf3 {Develops, said my teacher Stone.} Nc6 {In the opening be happy.} *\n";

#[test]
fn a_models_answers_are_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let first = on_pgn(folder.path(), PGN, &[("names", "keep")]).unwrap();
    let items = read_items(text(&first, "items").as_bytes(), "items", UnknownTasks::Keep).unwrap();
    assert_eq!(items.len(), 8);
    assert!(items[0].question.contains("White: Marble. Black: Quill. Comment by: Marble.\n"), "{}", items[0].question);
    assert!(items[1].question.contains("I take the centre and I am happy."), "{}", items[1].question);
    let path = folder.path().join("answers.parquet");
    let answers = [
        "Here it is.\nFINAL ANSWER: White takes the centre and White is happy.",
        "FINAL ANSWER: keep",
        "I do not know.",
        "FINAL ANSWER: KEEP",
        "FINAL ANSWER: DROP",
        "FINAL ANSWER: KEEP",
        "FINAL ANSWER: In the opening be happy.",
        "FINAL ANSWER: DROP",
    ];
    write(&path, items.iter().map(|item| item.task_id.as_str()).zip(answers));
    let run = || {
        let pgn = folder.path().join("annotated.pgn");
        let trial = Trial::new(folder.path()).with("clean", Value::Text("model".into()));
        trial.input("pgn", pgn).input("answers", &path).run(&Comments)
    };
    let outcome = run().unwrap();
    let kept = comments(&outcome);
    assert_eq!((kept.len(), kept[0].cleaned_by.as_str()), (1, "small-model"));
    assert_eq!(kept[0].cleaned, "White takes the centre and White is happy.");
    let dropped = &counts(&outcome)["dropped"];
    assert_eq!([&dropped["no_answer"], &dropped["other_name"], &dropped["judged_unfit"]], [1, 1, 1]);
    write(&path, items[..3].iter().map(|item| item.task_id.as_str()).zip(answers));
    let failure = run().map(|_| ()).unwrap_err();
    assert_eq!(failure.message, "the answers have none to comment_judge_0001");
}

fn write<'a>(path: &std::path::Path, answers: impl Iterator<Item = (&'a str, &'a str)>) {
    let run = PlayerSettings { name: "small-model".into(), ..PlayerSettings::default() };
    let mut writer = AnswersWriter::create(path, &run).unwrap();
    for (task_id, response) in answers {
        let response = Some(response.to_owned());
        writer.push(Answer { task_id: task_id.to_owned(), response, ..Answer::default() }).unwrap();
    }
    writer.finish().unwrap();
}
