//! The probe: answers of two made-up runs to items of each form.

use std::path::Path;

use cwm_answers::{Answer, AnswersWriter, NOT_ASKED, PlayerSettings};
use cwm_contract::{Failure, Label, ProbeContext, ProbeOutput, Value};
use cwm_questions::{Item, UnknownTasks, read_items, write_line};
use cwm_reasoning::{JudgeTask, JudgedOutput, judge_item};

use crate::Grade;

const FEN: &str = "r3k2r/1P6/8/8/2b5/8/4R3/4K2R b Kkq - 0 1";

/// Items of each task. They have different answers, so that resamples of them differ.
const COPIES: usize = 5;

/// Task, category, metadata, key, and answers to it: of the first run and the second, or the other way round.
const ITEMS: [(&str, &str, &str, &str, [&str; 2]); 11] = [
    (
        "structural_piece_arrangement",
        "Structural",
        "{}",
        "White King: ['e1']",
        ["White King: [e1]", "White King: ['e1']"],
    ),
    ("structural_check_detection", "Structural", "{}", "White Rook at e2", ["white rook on e2", "none"]),
    ("structural_legal_move_all", "Structural", "{}", "e8d7", ["Kd7, e8d7", "e8d7, e8d8"]),
    ("structural_control_squares", "Structural", r#"{"target_square": "e2"}"#, "e3, e4", ["e3; e4", "e3"]),
    ("motifs_skewer", "Motifs", "{}", "h1>h8>e8", ["h1 -> h8 -> e8", "h1>h8>e8"]),
    ("motifs_fork", "Motifs", "{}", "c4>b7-e2", ["c4>e2-b7", "c4>b7-e2"]),
    ("motifs_battery", "Motifs", "{}", "a1>h1", ["h1>a1", "a1>h1"]),
    ("short_tactics_theme_fork", "Short Tactics", r#"{"pv": "e3e2 c4e2"}"#, "c4e2", ["Bxe2", "e8e7"]),
    (
        "position_judgement_losing",
        "Position Judgement",
        r#"{"actual_evaluation": -390, "options": [-400, 0, 400]}"#,
        "-400",
        ["-400 cp", "0"],
    ),
    ("semantic_keyword", "Semantic", r#"{"options": ["a", "b"]}"#, "B", ["(B)", "B"]),
    ("structural_state_tracking_short", "Structural", "{}", "", ["8/8/8/8/8/8/8/8 w - - 0 1", "?"]),
];

/// Task, metadata, key, and answers to it, of a king behind his pawn; each item has two of the three.
const GRADED: [(&str, &str, &str, [&str; 3]); 4] = [
    (
        "predict_move",
        r#"{"values": {"a1b1": 0.2, "a1b2": 0.6, "a2a3": 0.5, "a2a4": 0.7}}"#,
        "a2a4",
        [
            "The pawn on a2, then a2a3 or a1b2: <answer>a1b2</answer>",
            "<answer>[a2a4]</answer>",
            "<answer>a2a3</answer>",
        ],
    ),
    (
        "best_move",
        r#"{"candidates": ["a2a4", "a2a3", "a1b1"]}"#,
        "a2a4",
        ["<answer>a2a4</answer>", "<answer>a2a5</answer>", "<answer>a2a3</answer>"],
    ),
    (
        "worst_move",
        r#"{"candidates": ["a2a4", "a2a3", "a1b1"]}"#,
        "a1b1",
        ["a1b1", "<answer>a2a4</answer>", "<answer>a1b1</answer>"],
    ),
    (
        "legal_moves",
        "{}",
        "a2a3, a2a4",
        ["<answer>a2a3, a1b1</answer>", "<answer>['a2a3', 'a2a4']</answer>", "<answer>a2a4</answer>"],
    ),
];

/// Answers of a judge: of each task two that can be read, and one that cannot.
const JUDGED: [(JudgeTask, [&str; 3]); 3] = [
    (
        JudgeTask::Quality,
        [
            "{'efficacy': 11}",
            "{'efficacy': 3, 'efficiency': 10, 'faithfulness': 1}",
            "{'efficacy': 9, 'efficiency': 2, 'faithfulness': 6}",
        ],
    ),
    (
        JudgeTask::Strategies,
        [
            "{'enumeration': 'a2a3 or a1b2', 'tree_search': 'a2a4', 'backtracking': None, 'self_correction': None, \
             'subgoal_setting': '', 'verification': None}",
            "{'enumeration': None}",
            "{'enumeration': None, 'tree_search': None, 'backtracking': 'The pawn', 'self_correction': None, \
             'subgoal_setting': None, 'verification': 'a2a3'}",
        ],
    ),
    (
        JudgeTask::Claims,
        [
            "{'moves': ['a2a3', 'a2a5'], 'pieces': ['white pawn on a2', 'black king on a1']}",
            "none",
            "{'moves': [], 'pieces': ['white pawn on a2']}",
        ],
    ),
];

/// Runs the stage on the probe's answers.
///
/// # Errors
/// An operation on the disk fails.
pub fn probe(context: &ProbeContext) -> Result<ProbeOutput, Failure> {
    let items = context.folder().join("items.jsonl");
    let lines = |copy| ITEMS.map(|(task, category, metadata, key, _)| line(task, copy, category, metadata, key));
    fs_err::write(&items, (0..COPIES).flat_map(lines).collect::<String>())?;
    let mut inputs = vec![("items", Label::stage("items"), items)];
    for (name, which) in [("first", 0), ("second", 1)] {
        let path = context.folder().join(name);
        write(&path, name, which)?;
        inputs.push(("answers", Label::stage(name), path));
    }
    // The given prices are of other runs.
    let prices = [("input", 1.0), ("output", 2.0)].map(|(name, price)| (name.to_owned(), Value::Float(price)));
    let prices = Value::Map([("second".to_owned(), Value::Map(prices.into()))].into());
    let values = context.values_with([("prices", prices), ("resamples", context.at_most("resamples", 100))]);
    let mut output = context.run(&Grade, "grades", &values, &inputs)?;
    output.extend(graded(context)?);
    output.extend(judged(context)?);
    Ok(output)
}

/// Runs the stage on graded items, to each of which there are two answers.
fn graded(context: &ProbeContext) -> Result<ProbeOutput, Failure> {
    let [items, answers] = ["graded.jsonl", "two"].map(|name| context.folder().join(name));
    let lines = |copy: usize| {
        GRADED.map(|(task, metadata, key, _)| {
            format!(
                concat!(
                    r#"{{"task_id": "reasoning_{0}_{1:04}", "task_type": "reasoning_{0}", "#,
                    r#""task_category": "Reasoning", "input": "7k/8/8/8/8/8/P7/K7 w - - 0 1", "question": "", "#,
                    r#""format_examples": [], "#,
                    r#""correct_answer": "{2}", "answer_type": "graded", "metadata": {3}}}"#,
                    "\n"
                ),
                task, copy, key, metadata
            )
        })
    };
    fs_err::write(&items, (0..COPIES).flat_map(lines).collect::<String>())?;
    let mut writer =
        AnswersWriter::create(&answers, &PlayerSettings { name: "two".to_owned(), ..PlayerSettings::default() })?;
    for copy in 0..COPIES {
        for (task, .., responses) in GRADED {
            for (sample, response) in (0..).zip(responses.into_iter().cycle().skip(copy).take(2)) {
                writer.push(Answer {
                    task_id: format!("reasoning_{task}_{copy:04}"),
                    sample: Some(sample),
                    response: Some(response.to_owned()),
                    ..Answer::default()
                })?;
            }
        }
    }
    writer.finish()?;
    let values =
        context.values_with([("resamples", context.at_most("resamples", 100)), ("prices", Value::Map([].into()))]);
    let inputs = [("items", Label::stage("items"), items), ("answers", Label::stage("two"), answers)];
    context.run(&Grade, "graded", &values, &inputs)
}

/// Runs the stage on two answers of a judge to items of each of its tasks, about answers to graded items.
fn judged(context: &ProbeContext) -> Result<ProbeOutput, Failure> {
    let [items, answers] = ["judged.jsonl", "judge"].map(|name| context.folder().join(name));
    let graded = fs_err::read(context.folder().join("graded.jsonl"))?;
    let graded = read_items(&graded[..], "graded.jsonl", UnknownTasks::Fail)?;
    let mut lines = Vec::new();
    let mut writer =
        AnswersWriter::create(&answers, &PlayerSettings { name: "judge".to_owned(), ..PlayerSettings::default() })?;
    for (copy, of_copy) in graded.chunks(GRADED.len()).enumerate() {
        for (item, (task, texts)) in of_copy.iter().zip(JUDGED) {
            let about = JudgedOutput { item, run: "two", sample: 0, output: GRADED[0].3[0] };
            let item = Item { task_id: format!("{task}_{copy:04}"), ..judge_item(task, &about) };
            write_line(&mut lines, &item)?;
            for (sample, text) in (0..).zip(texts.into_iter().cycle().skip(copy).take(2)) {
                let (task_id, response) = (item.task_id.clone(), Some(format!("<answer>{text}</answer>")));
                writer.push(Answer { task_id, sample: Some(sample), response, ..Answer::default() })?;
            }
        }
    }
    writer.finish()?;
    fs_err::write(&items, lines)?;
    let values =
        context.values_with([("resamples", context.at_most("resamples", 100)), ("prices", Value::Map([].into()))]);
    let inputs = [("items", Label::stage("items"), items), ("answers", Label::stage("judge"), answers)];
    context.run(&Grade, "judged", &values, &inputs)
}

fn line(task: &str, copy: usize, category: &str, metadata: &str, key: &str) -> String {
    let multi = ["check_", "legal_move", "control", "motifs"].iter().any(|part| task.contains(part));
    let answer_type = if multi { "multi" } else { "single" };
    let input = if task.contains("tracking") { format!("{FEN} | e8d7") } else { FEN.to_owned() };
    format!(
        concat!(
            r#"{{"task_id": "{}_{:04}", "task_type": "{}", "task_category": "{}", "input": "{}", "question": "", "#,
            r#""format_examples": [], "correct_answer": "{}", "answer_type": "{}", "metadata": {}}}"#,
            "\n"
        ),
        task, copy, task, category, input, key, answer_type, metadata
    )
}

fn write(path: &Path, name: &str, which: usize) -> Result<(), Failure> {
    let run = PlayerSettings { name: name.to_owned(), max_tokens: Some(100), ..PlayerSettings::default() };
    let mut writer = AnswersWriter::create(path, &run)?;
    for copy in 0..COPIES {
        for (at, (task, .., answers)) in ITEMS.iter().enumerate() {
            let is_asked = which == 0 || !task.starts_with("semantic");
            writer.push(Answer {
                task_id: format!("{task}_{copy:04}"),
                response: Some(format!("FINAL ANSWER: {}", answers[(which + copy) % 2])),
                finish: (!is_asked).then(|| NOT_ASKED.to_owned()),
                prompt_tokens: Some(1_000),
                completion_tokens: Some(90 + at as u64),
                cost: (at % 2 == 0).then_some(0.25),
                ..Answer::default()
            })?;
        }
    }
    writer.finish()
}
