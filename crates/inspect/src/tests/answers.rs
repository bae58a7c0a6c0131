//! Items, answers, grades and tallies, described.

use std::path::Path;

use cwm_answers::{
    Answer, AnswersWriter, Grade, GradesDescription, GradesWriter, NOT_ASKED, PlayerSettings, Tallies, Tally,
};
use tempfile::tempdir;

use super::*;

fn described(format: Format, path: &Path) -> String {
    ChessInspector.describe(&format, path, DETAIL).unwrap().unwrap().lines.join("\n")
}

#[test]
fn items_are_counted_by_category() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("items");
    let item = |task: &str, number: usize| {
        format!(
            "{{\"task_id\":\"{task}_{number}\",\"task_type\":\"{task}\",\"task_category\":\"Motifs\",\"input\":\"fen\",\"question\":\"\",\
             \"format_examples\":[],\"correct_answer\":\"a1>a2\",\"answer_type\":\"multi\",\"metadata\":{{}}}}\n"
        )
    };
    std::fs::write(&path, [item("motifs_pin", 0), item("motifs_pin", 1), item("motifs_fork", 0)].concat()).unwrap();
    assert_eq!(
        described(Format::ITEMS, &path),
        "items       3\nMotifs      3 of 2 tasks\n\nmotifs_pin_0 fen\n            key a1>a2"
    );
    std::fs::write(&path, "{}").unwrap();
    assert!(ChessInspector.describe(&Format::ITEMS, &path, DETAIL).is_err());
}

#[test]
fn answers_are_reported_with_their_run_and_how_they_ended() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("answers");
    let mut writer =
        AnswersWriter::create(&path, &PlayerSettings { name: "x".into(), ..PlayerSettings::default() }).unwrap();
    let finishes = ["stop", "stop", "failed", NOT_ASKED];
    for (number, finish) in finishes.into_iter().enumerate() {
        let is_there = finish == "stop";
        writer
            .push(Answer {
                task_id: format!("t_{number}"),
                response: is_there.then(|| "FINAL\u{1b} ANSWER: a".to_owned()),
                finish: Some(finish.to_owned()),
                completion_tokens: is_there.then_some(1_501),
                ..Answer::default()
            })
            .unwrap();
    }
    writer.finish().unwrap();
    assert_eq!(
        described(Format::ANSWERS, &path),
        "run         name x\nitems       4, 3 asked, 2 answered\nfinish      failed 1, not_asked 1, stop 2\n\
         tokens      3,002 of completions, 1501.0 an answer\n\nt_0         FINAL\\u{1b} ANSWER: a"
    );
}

#[test]
fn grades_and_tallies_are_reported_by_run() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("grades");
    let graded = GradesDescription { resamples: 1_000, ..GradesDescription::default() };
    let mut writer = GradesWriter::create(&path, &graded).unwrap();
    for (correct, sound) in [(true, Some(true)), (false, Some(true)), (false, None), (false, Some(false))] {
        writer.push(Grade { run: "x".into(), correct, sound, ..Grade::default() }).unwrap();
    }
    writer.finish().unwrap();
    assert_eq!(described(Format::GRADES, &path), "grades      4\nx           25.0 % of 4 correct, 50.0 % sound");
    let overall =
        Tally { run: "x".into(), items: 4, accuracy: 0.25, low: 0.0, high: 0.75, sound: 2, ..Tally::default() };
    let folder = folder.path().join("tallies");
    Tallies { graded, overall: vec![overall], ..Tallies::default() }.write(&folder).unwrap();
    assert_eq!(
        described(Format::TALLIES, &folder),
        "tasks       0\nitems       0\nresamples   1,000\nx           25.0 % [0.0, 75.0] of 4 correct, 50.0 % sound"
    );
}
