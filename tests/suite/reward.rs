//! `cwm reward`: rewards for a program that trains a model and knows nothing of chess.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::context::{Context, finish};

/// Positions of few men, and items about them.
const ITEMS: &str = "
cwm: 1
stages:
  values: { stage: analyse, with: { place: 200, max_pieces: 5, min_legal: 3, multipv: all, depth: 1, seed: 1 } }
  trials: { stage: questions, from: { evaluations: values.evaluations }, with: { tasks: [reasoning_predict_move], per_task: 5 } }
";

fn start(context: &Context, arguments: &[&str]) -> Child {
    let mut command: Command = context.command(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

#[test]
fn a_trainer_gets_a_reward_for_each_answer() {
    if !cfg!(all(feature = "analyse", feature = "questions", feature = "reward")) {
        println!("skipped: built without the stages `analyse` and `questions` and the feature `reward`");
        return;
    }
    let context = Context::with(ITEMS);
    let ran = context.run(&[]);
    assert_eq!(ran.raw.code, 0, "{}", ran.raw.stderr);
    let mut child = start(&context, &["reward", "trials"]);
    let (mut input, mut output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let mut ask = |line: String| -> Value {
        // Each line waits for the answer to the one before.
        writeln!(input, "{line}").unwrap();
        let mut answer = String::new();
        output.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap()
    };
    let mut asked = |text: &str| ask(json!({ "task_id": "reasoning_predict_move_0003", "text": text }).to_string());
    assert_eq!(asked("I resign."), json!({ "reward": -0.5, "verdict": "unreadable", "score": null }));
    assert_eq!(asked("<answer>a1a1</answer>"), json!({ "reward": -0.2, "verdict": "illegal", "score": null }));
    assert!(ask("null".to_owned())["error"].as_str().unwrap().starts_with("line 3: "));
    let unknown = ask(json!({ "task_id": "reasoning_predict_move_0005", "text": "" }).to_string());
    assert_eq!(unknown, json!({ "error": "line 4: \"reasoning_predict_move_0005\" is none of the items" }));
    drop(input);
    let ended = finish(child.wait_with_output().unwrap());
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
}

#[test]
fn items_without_rewards_are_refused() {
    if !cfg!(feature = "reward") {
        println!("skipped: built without the feature `reward`");
        return;
    }
    let context = Context::with(ITEMS);
    context.write(
        "items.jsonl",
        concat!(
            r#"{"task_id": "motifs_pin_0000", "task_type": "motifs_pin", "task_category": "Motifs", "input": "#,
            r#""4k3/8/8/8/8/8/8/4K3 w - - 0 1", "question": "", "format_examples": [], "correct_answer": "a", "#,
            r#""answer_type": "multi", "metadata": {}}"#,
        ),
    );
    let refused = context.cwm(&["reward", "items.jsonl"]);
    assert!(refused.stderr.contains("motifs_pin_0000: an item of \"motifs_pin\" is not graded"), "{}", refused.stderr);
    let missing = context.cwm(&["reward", "./nothing.jsonl"]);
    assert!(missing.code == 2 && missing.stderr.contains("./nothing.jsonl does not exist"), "{}", missing.stderr);
    let unnamed = context.cwm(&["reward", "items.jsonl", "--reading", "strict"]);
    assert!(unnamed.code == 2 && unnamed.stderr.contains("lenient"), "{}", unnamed.stderr);
}
