//! Answers with their claims, and the gains by reinforcement learning.

use cwm_answers::{Answer, AnswersWriter, Grade, GradesWriter};
use cwm_contract::Value;
use cwm_reasoning::{ClaimRule, RewardOptions, Verifier};
use serde_json::json;

use super::*;
use crate::tests::hostile::HOSTILE;

/// Two mates in one: Ra8 and Rb8.
const FEN: &str = "6k1/5ppp/8/8/8/8/8/RR4K1 w - - 0 1";

/// Its legal moves.
const MOVES: &str = "a1a2 a1a3 a1a4 a1a5 a1a6 a1a7 a1a8 b1b2 b1b3 b1b4 b1b5 b1b6 b1b7 b1b8 b1c1 b1d1 b1e1 b1f1 g1f1 g1f2 g1g2 g1h1 g1h2";

fn item(id: &str) -> serde_json::Value {
    let mut values = serde_json::Map::new();
    for played in MOVES.split(' ') {
        let win = if ["a1a8", "b1b8"].contains(&played) { 1.0 } else { 0.5 };
        values.insert(played.to_owned(), win.into());
    }
    json!({
        "task_id": id, "task_type": PREDICT, "task_category": "Reasoning", "input": FEN, "question": "Find a good move.",
        "format_examples": [], "correct_answer": "a1a8, b1b8", "answer_type": "graded", "metadata": { "values": values },
    })
}

/// Files of the answers of two runs, graded, with claims counted by `rule`: of each item its id and the answers before and after.
fn trial_with(folder: &Path, answers: &[(String, [Answer; 2])], rule: ClaimRule, bytes: i128) -> Trial {
    let [items, graded] = ["items", "grades"].map(|name| folder.join(name));
    let lines: String = answers.iter().map(|(id, _)| format!("{}\n", item(id))).collect();
    std::fs::write(&items, lines).unwrap();
    let runs = ["before[data=a]", "after[data=a]"];
    let mut trial = trial_of(folder, &tallies_of(runs.iter().flat_map(|run| measures(run, 0.5)).collect()));
    let mut grades = GradesWriter::create(&graded, &GradesDescription::default()).unwrap();
    for nth in [1, 0] {
        let path = folder.join(format!("answers-{nth}"));
        let mut writer =
            AnswersWriter::create(&path, &PlayerSettings { name: runs[nth].into(), ..PlayerSettings::default() })
                .unwrap();
        for (id, answers) in answers {
            let answer = Answer { task_id: id.clone(), ..answers[nth].clone() };
            let response = answer.response.clone().unwrap();
            let verifier = Verifier::new(&serde_json::from_value(item(id)).unwrap()).unwrap();
            let judged = verifier.judge(&response, &RewardOptions::default());
            let grade = Grade {
                run: runs[nth].into(),
                task_id: id.clone(),
                task: PREDICT.into(),
                category: "Reasoning".into(),
                extracted: response.rsplit(['>', '<']).nth(2).map(|answer| answer.trim().to_owned()),
                verdict: judged.verdict.name().into(),
                score: judged.score,
                reward: Some(judged.reward),
                true_move_claims: Some(verifier.claims(&answer.whole_text(), rule).true_moves() as u64),
                ..Grade::default()
            };
            grades.push(grade).unwrap();
            writer.push(answer).unwrap();
        }
        writer.finish().unwrap();
        trial = trial.input("answers", path);
    }
    grades.finish().unwrap();
    trial.input("items", items).input("grades", graded).with("answer_bytes", Value::Int(bytes))
}

fn answered(thinking: &str, uci: &str) -> Answer {
    let response = Some(format!("<think>{thinking}</think>\n<answer> {uci} </answer>"));
    Answer { response, ..Answer::default() }
}

/// The answer of a server that sends the reasoning apart.
fn answer_with_separate_reasoning(thinking: &str, uci: &str) -> Answer {
    let response = Some(format!("<answer> {uci} </answer>"));
    Answer { response, reasoning: Some(thinking.to_owned()), ..Answer::default() }
}

/// The page of two answers to one item.
fn page_of(id: &str, answers: [Answer; 2], rule: ClaimRule) -> String {
    let folder = tempfile::tempdir().unwrap();
    let report = run(trial_with(folder.path(), &[(id.to_owned(), answers)], rule, 1 << 20)).unwrap();
    read(&report, "index.html")
}

#[test]
fn an_answer_has_its_board_claims_verdict_and_reward() {
    let answers = [answered("My rook on a1 takes a1h8 or a1a8.", "a1a8"), answered("no", "a1a9")];
    let page = page_of("a", answers, ClaimRule::Position);
    for part in [
        "before[data=a]: 1 of 1</summary>",
        "<strong>a</strong>: legal, reward 1.00; 2 of 3 claims are true",
        "<strong>a</strong>: illegal, reward −0.20; 0 of 0 claims are true",
        "&lt;think&gt;<mark class=\"claim-true\">My rook on a1</mark> takes <mark class=\"claim-false\">a1h8</mark> or ",
        "<line class=\"arrow-best\" x1=\"20\" y1=\"300\" x2=\"20\" y2=\"20\"/>",
        "<line class=\"arrow-answer\" x1=\"20\" y1=\"300\" x2=\"20\" y2=\"20\"/>",
        "<use class=\"white\" href=\"#r-piece-R\" x=\"0\" y=\"280\"/>",
        "<dt>Key</dt><dd><code>a1a8, b1b8</code></dd>",
        "<code>a1a8</code> 100.00 %",
    ] {
        let unescaped = part.replace("&lt;", "&#60;").replace("&gt;", "&#62;");
        assert!(page.contains(part) || page.contains(&unescaped), "{part} is not in {page}");
    }
}

#[test]
fn reasoning_that_a_server_sends_apart_is_shown_with_claims_as_they_were_counted() {
    for (rule, claims, last) in [(ClaimRule::Position, "2 of 3", "false"), (ClaimRule::Line, "3 of 3", "true")] {
        let answer = answer_with_separate_reasoning("My rook on b1 waits: g1f1 g8f8.", "a1a8");
        let page = page_of("a", [answer, answered("", "a1a8")], rule);
        for part in [
            format!("legal, reward 1.00; {claims} claims are true"),
            "<mark class=\"claim-true\">My rook on b1</mark> waits: <mark class=\"claim-true\">g1f1</mark> ".to_owned(),
            format!("<mark class=\"claim-{last}\">g8f8</mark>"),
        ] {
            assert!(page.contains(&part), "{part} is not in {page}");
        }
    }
}

#[test]
fn answers_that_were_graded_twice_are_shown_once() {
    let folder = tempfile::tempdir().unwrap();
    let answers = [("a".to_owned(), [answered("", "a1a8"), answered("", "b1b8")])];
    let trial = trial_with(folder.path(), &answers, ClaimRule::Position, 1 << 20);
    let report = run(trial.labelled("grades", label("lenient"), folder.path().join("grades"))).unwrap();
    assert!(read(&report, "index.html").contains("before[data=a]: 1 of 1</summary>"));
}

#[test]
fn gains_are_paired_by_item() {
    let folder = tempfile::tempdir().unwrap();
    let answers: Vec<(String, [Answer; 2])> = (0..60)
        .map(|nth| {
            let before = if nth % 3 == 0 { "a1a8" } else { "a1a9" };
            let after = if nth % 6 == 1 { "a1a9" } else { "b1b8" };
            (format!("item_{nth:02}"), [answered("", before), answered("", after)])
        })
        .collect();
    let report = run(trial_with(folder.path(), &answers, ClaimRule::Position, 0)).unwrap();
    let gains = read(&report, "tables/reasoning-gains.csv");
    // By hand: legal 20 of 60 and 50 of 60, rewards 20 - 0.2 · 40 and 50 - 0.2 · 10, by 60.
    assert!(lines(&gains, "ours,a,reasoning_predict_move,reward,60,0.2,")[0].contains(",0.8,"), "{gains}");
    assert!(lines(&gains, "ours,a,reasoning_predict_move,legal,60,0.333333333333,")[0].contains(",0.5,"), "{gains}");
    assert!(read(&report, "index.html").contains("before[data=a]: 0 of 60</summary>"));
}

#[test]
fn hostile_answers_are_text() {
    for hostile in HOSTILE {
        let hostile =
            format!("{hostile} a1a8</pre></script><img src=x onerror=alert(1)>\r\n{hostile}<b>&lt;{{{{ 7*7 }}}}");
        let page = page_of(
            &hostile,
            [answer_with_separate_reasoning(&hostile, "a1a8"), answered("", &hostile)],
            ClaimRule::Position,
        );
        // It is there: as the item's id and in the answer, of both runs.
        assert!(page.matches("onerror=alert(1)").count() >= 4, "{page}");
        assert!(!page.contains("<img ") && !page.contains("<script>alert") && !page.contains("<b>"), "{page}");
        assert!(!page.contains(['\u{0}', '\u{7}', '\r', '\u{200b}', '\u{202e}', '\u{2028}', '\u{e0041}']));
    }
}
