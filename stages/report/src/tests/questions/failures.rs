//! Answers that are not correct.

use cwm_contract::{Stage, Value};
use serde_json::json;

use super::*;
use crate::Report;
use crate::tests::hostile::HOSTILE;

/// Two mates in one: Ra8, the key, and Rb8.
const FEN: &str = "6k1/5ppp/8/8/8/8/8/RR4K1 w - - 0 1";

/// An item of a task whose answer is one move.
fn item(id: &str, question: &str) -> String {
    let item = json!({
        "task_id": id, "task_type": "short_tactics_rating_beginner", "task_category": "Short Tactics", "input": FEN, "question": question,
        "format_examples": ["e2e4", "d7d5"], "correct_answer": "a1a8", "answer_type": "single", "metadata": { "pv": "h8g8 a1a8" },
    });
    format!("{item}\n")
}

fn grade(run: &PlayerSettings, id: &str, extracted: &str) -> Grade {
    Grade {
        run: run.full_name(),
        task_id: id.into(),
        task: "short_tactics_rating_beginner".into(),
        category: "Short Tactics".into(),
        extracted: Some(extracted.into()),
        verdict: "wrong_answer".into(),
        sound: Some(false),
        fault: Some("illegal_move".into()),
        ..Grade::default()
    }
}

/// The page of a run's answers: of each its id and response; the answer is what stands behind the last space.
fn page(folder: &Path, run_of: &PlayerSettings, question: &str, answers: &[(&str, &str)], bytes: i128) -> String {
    let [items, graded, answered] = ["items", "grades", "answers"].map(|name| folder.join(name));
    std::fs::write(&items, answers.iter().map(|(id, _)| item(id, question)).collect::<String>()).unwrap();
    let mut writer = GradesWriter::create(&graded, &GradesDescription::default()).unwrap();
    for (id, response) in answers {
        writer.push(grade(run_of, id, response.rsplit(' ').next().unwrap_or_default())).unwrap();
    }
    let correct = Grade { correct: true, ..grade(run_of, "right", "a1a8") };
    writer.push(correct).unwrap();
    writer.finish().unwrap();
    let mut writer = AnswersWriter::create(&answered, run_of).unwrap();
    for (id, response) in answers {
        let answer = Answer { task_id: (*id).into(), response: Some((*response).into()), ..Answer::default() };
        writer.push(answer).unwrap();
    }
    writer.finish().unwrap();
    let tallies_of = folder.join("tallies");
    tallies(&[(run_of.clone(), 40)], false).write(&tallies_of).unwrap();
    let trial = Trial::new(folder.join("trial"))
        .input("tallies", tallies_of)
        .input("items", items)
        .input("grades", graded)
        .input("answers", answered)
        .with("answer_bytes", Value::Int(bytes));
    read(&run(trial).unwrap(), "index.html")
}

const QUESTION: &str = "FEN.\nCONTEXT_PLACEHOLDER\nFind the move, such as FORMAT_EXAMPLE_PLACEHOLDER";

#[test]
fn an_answer_has_its_board_question_response_and_key() {
    let folder = tempfile::tempdir().unwrap();
    let run = gpt("none", "pieces_moves");
    let page = page(folder.path(), &run, QUESTION, &[("a", "I think\nFINAL ANSWER: a1a9")], 1 << 20);
    assert!(page.contains("GPT-5[context=pieces_moves]: 1 of 1</summary>"), "{page}");
    for part in [
        "<strong>a</strong>: wrong_answer, illegal_move, not sound",
        "<use class=\"white\" href=\"#q-piece-R\" x=\"0\" y=\"280\"/>",
        "<dt>Answer</dt><dd><code>a1a9</code></dd>",
        "<dt>Key</dt><dd><code>a1a8</code></dd>",
        "<dt>Sound answer</dt><dd><code>a1a8, b1b8</code></dd>",
        "<pre>I think\nFINAL ANSWER: a1a9</pre>",
        "Find the move, such as e2e4</pre>",
        "Legal moves: ",
    ] {
        assert!(page.contains(part), "{part} is not in {page}");
    }
}

#[test]
fn hostile_answers_are_text() {
    for hostile in HOSTILE {
        let folder = tempfile::tempdir().unwrap();
        let hostile = format!("{hostile}</pre></script><img src=x onerror=alert(1)>\r\n{hostile} ");
        let hostile = format!("{hostile}<b>&lt;{{{{ 7*7 }}}}");
        let run = PlayerSettings { name: hostile.clone(), ..gpt("none", "none") };
        let page = page(folder.path(), &run, &hostile, &[(&hostile, &hostile)], 1 << 20);
        assert!(!page.contains("<img ") && !page.contains("<script>alert") && !page.contains("<b>"), "{page}");
        assert!(!page.contains(['\u{0}', '\u{7}', '\r', '\u{200b}', '\u{202e}', '\u{2028}', '\u{e0041}']));
        assert!(page.contains("onerror=alert(1)&#62;\n") || page.contains("onerror=alert(1)&gt;\n"), "{page}");
    }
}

#[test]
fn a_long_response_loses_its_beginning_and_the_page_keeps_to_its_size() {
    let long = format!("first{} FINAL ANSWER: a1a9", "x".repeat(1 << 20));
    let answers: Vec<(String, &str)> = (0..9).map(|nth| (format!("item_{nth}"), long.as_str())).collect();
    let answers: Vec<(&str, &str)> = answers.iter().map(|(id, text)| (id.as_str(), *text)).collect();
    let page_of = |bytes| {
        let folder = tempfile::tempdir().unwrap();
        page(folder.path(), &gpt("none", "none"), QUESTION, &answers, bytes)
    };
    let whole = page_of(1 << 20);
    assert!(whole.contains("3 of 9</summary>") && whole.contains(" FINAL ANSWER: a1a9</pre>"));
    assert!(whole.contains("(without its first 1,046,600 characters)") && !whole.contains("firstx"), "{whole}");
    let half = page_of(5_000);
    assert!(half.contains("1 of 9</summary>"), "{half}");
    assert!(page_of(0).contains("0 of 9</summary>"));
}

#[test]
fn grades_need_their_items_and_answers() {
    assert_eq!(Report.check_inputs(&["tallies"]), None);
    assert_eq!(Report.check_inputs(&["tallies", "grades", "items", "answers"]), None);
    let wrong = Report.check_inputs(&["tallies", "grades"]).unwrap();
    assert!(wrong.contains("items, answers"), "{wrong}");
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    page(folder.path(), &gpt("none", "none"), QUESTION, &[("a", "b")], 0);
    std::fs::write(path("items"), item("other", QUESTION)).unwrap();
    let inputs = ["tallies", "items", "grades", "answers"];
    let trial = inputs.into_iter().fold(Trial::new(path("again")), |trial, name| trial.input(name, path(name)));
    let failure = run(trial).unwrap_err();
    assert!(failure.message.contains("the grades of GPT-5 have a, which no items have"), "{failure}");
}
