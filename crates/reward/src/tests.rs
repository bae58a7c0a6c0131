use std::cell::RefCell;
use std::io::{self, Cursor, Read, Write};
use std::path::{Path, PathBuf};

use cwm_questions::{Item, read_items};
use cwm_reasoning::{RewardOptions, Verifier};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;

/// A king in the corner behind his pawn: four legal moves.
const FEN: &str = "7k/8/8/8/8/8/P7/K7 w - - 0 1";

fn item(task: &str, key: &str, answer_type: &str, metadata: &Value) -> String {
    let item = json!({
        "task_id": format!("{task}_0000"), "task_type": task, "task_category": "Reasoning", "input": FEN, "question": "",
        "format_examples": [], "correct_answer": key, "answer_type": answer_type, "metadata": metadata,
    });
    format!("{item}\n")
}

fn lines() -> String {
    let values = json!({ "values": { "a1b1": 0.2, "a1b2": 0.6, "a2a3": 0.5, "a2a4": 0.7 } });
    let candidates = json!({ "candidates": ["a2a4", "a2a3", "a1b1"] });
    item("reasoning_predict_move", "a2a4", "graded", &values)
        + &item("reasoning_best_move", "a2a4", "graded", &candidates)
        + &item("reasoning_legal_moves", "a2a3, a2a4", "graded", &json!({}))
}

fn file(folder: &TempDir, text: &str) -> PathBuf {
    let path = folder.path().join("items.jsonl");
    std::fs::write(&path, text).unwrap();
    path
}

fn request(items: &Path) -> RewardRequest {
    let (reading, scaling) = ("release".to_owned(), "normalise".to_owned());
    RewardRequest { items: items.to_owned(), reading, scaling, cut: 0.3 }
}

/// The answers to `input`.
fn answers(input: &[u8]) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let mut output = Vec::new();
    ItemRewards.serve(&request(&file(&folder, &lines())), &mut Cursor::new(input), &mut output).unwrap();
    let text = String::from_utf8(output).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn line(task: &str, text: &str) -> String {
    format!("{}\n", json!({ "task_id": format!("reasoning_{task}_0000"), "text": text }))
}

#[test]
fn each_line_is_answered_in_its_order() {
    let input = line("best_move", "<answer>a2a4</answer>")
        + "\n"
        + &line("legal_moves", "<answer>['a2a4', 'a2a5']</answer>")
        + &line("worst_move", "")
        + "{\"task_id\": \"reasoning_best_move_0000\"}\n"
        + &line("predict_move", "<answer>a2a5</answer>")
        + r#"{"more": 1, "text": "<answer>a1b2</answer>", "task_id": "reasoning_predict_move_0000"}"#;
    let found = answers(input.as_bytes());
    assert_eq!(found[0], json!({ "reward": 1.0, "verdict": "right", "score": 1.0 }));
    assert_eq!(
        found[1],
        json!({ "error": "line 2: not an object with the texts `task_id` and `text`: EOF while parsing a value at column 0" })
    );
    assert_eq!(found[2], json!({ "reward": 1.0 / 3.0, "verdict": "scored", "score": 1.0 / 3.0 }));
    assert_eq!(found[3], json!({ "error": "line 4: \"reasoning_worst_move_0000\" is none of the items" }));
    assert!(
        found[4]["error"].as_str().unwrap().contains("line 5: ")
            && found[4].to_string().contains("missing field `text`")
    );
    assert_eq!(found[5], json!({ "reward": -0.2, "verdict": "illegal", "score": null }));
    assert_eq!(found[6]["verdict"], "legal");
    assert!((found[6]["reward"].as_f64().unwrap() - 0.8).abs() < 1e-12);
    assert_eq!(found.len(), 7);
    assert!(answers(b"").is_empty());
}

/// Python writes half a surrogate pair as it stands, and a text may have any character.
#[test]
fn odd_texts_are_read() {
    let found = answers(
        concat!(
            r#"{"task_id":"reasoning_best_move_0000","text":"\ud800 \u0000 \u202e <answer>a2a4\udfff</answer>"}"#,
            "\n\"text\"\n[1]\n{\"task_id\":\"reasoning_best_move_0000\",\"text\":[1]}\n",
        )
        .as_bytes(),
    );
    assert_eq!(found[0]["verdict"], "right");
    assert!(found[1..].iter().all(|answer| answer.get("error").is_some()) && found.len() == 4, "{found:?}");
    let mut bytes = line("best_move", "<answer>a2a4?</answer>").into_bytes();
    let mark = bytes.iter().position(|byte| *byte == b'?').unwrap();
    bytes[mark] = 0xff;
    assert_eq!(answers(&bytes)[0]["verdict"], "right");
}

/// A long line is read once, whatever the pieces in which it comes.
#[test]
fn long_lines_are_answered_in_linear_time() {
    let text = format!("{}<answer>a2a4</answer>", "<answer>".repeat(1 << 21));
    let started = std::time::Instant::now();
    let found = answers((line("best_move", &text) + &line("best_move", "")).as_bytes());
    assert_eq!((found[0]["verdict"].as_str(), found.len()), (Some("unreadable"), 2));
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

/// A trainer that sends a line only after it has the answer to the line before.
struct Trainer<'a> {
    left: RefCell<Vec<String>>,
    answered: &'a RefCell<Vec<u8>>,
    sent: usize,
}

impl Read for Trainer<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let answers = self.answered.borrow().iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(answers, self.sent, "the server reads on before it has answered");
        let Some(line) = self.left.borrow_mut().pop() else { return Ok(0) };
        self.sent += 1;
        buffer[..line.len()].copy_from_slice(line.as_bytes());
        Ok(line.len())
    }
}

struct Answers<'a>(&'a RefCell<Vec<u8>>, Vec<u8>);

impl Write for Answers<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.1.extend(bytes);
        Ok(bytes.len())
    }

    /// Only what was flushed arrives.
    fn flush(&mut self) -> io::Result<()> {
        self.0.borrow_mut().append(&mut self.1);
        Ok(())
    }
}

#[test]
fn a_trainer_may_wait_for_each_answer() {
    let folder = tempfile::tempdir().unwrap();
    let answered = RefCell::new(Vec::new());
    let lines_sent = vec![line("best_move", "<answer>a2a4</answer>"); 20];
    let mut trainer = Trainer { left: RefCell::new(lines_sent), answered: &answered, sent: 0 };
    ItemRewards.serve(&request(&file(&folder, &lines())), &mut trainer, &mut Answers(&answered, Vec::new())).unwrap();
    assert_eq!(answered.borrow().iter().filter(|byte| **byte == b'\n').count(), 20);
}

/// Pieces of any size give the same answers as all at once, and these are the verifier's.
#[test]
fn rewards_are_those_of_the_verifier() {
    struct Pieces<'a>(&'a [u8], usize);
    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1 = self.1 * 7 % 1_009;
            let size = (self.1 + 1).min(self.0.len()).min(buffer.len());
            buffer[..size].copy_from_slice(&self.0[..size]);
            self.0 = &self.0[size..];
            Ok(size)
        }
    }
    let items: Vec<Item> = read_items(lines().as_bytes(), "items", cwm_questions::UnknownTasks::Fail).unwrap();
    let verifiers: Vec<Verifier> = items.iter().map(|item| Verifier::new(item).unwrap()).collect();
    let texts = [
        "<answer>a2a4</answer>",
        "<answer>a2a3</answer>",
        "<answer>[a2a3, a2a4]</answer>",
        "a2a4",
        "<answer>h1h8</answer>",
    ];
    let of = |number: usize| (number % items.len(), texts[number / items.len() % texts.len()]);
    let input: String = (0..1_000)
        .map(|number| {
            let (item, text) = of(number);
            format!("{}\n", json!({ "task_id": items[item].task_id, "text": text }))
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let mut output = Vec::new();
    ItemRewards.serve(&request(&file(&folder, &lines())), &mut Pieces(input.as_bytes(), 5), &mut output).unwrap();
    let text = String::from_utf8(output).unwrap();
    assert_eq!(text.lines().count(), 1_000);
    for (number, line) in text.lines().enumerate() {
        let (item, text) = of(number);
        let judged = verifiers[item].judge(text, &RewardOptions::default());
        let found: Value = serde_json::from_str(line).unwrap();
        let expected = (Some(judged.reward), Some(judged.verdict.name()), judged.score);
        assert_eq!((found["reward"].as_f64(), found["verdict"].as_str(), found["score"].as_f64()), expected, "{text}");
    }
}

#[test]
fn items_and_parameters_that_cannot_be_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |text: &str, change: &dyn Fn(&mut RewardRequest)| {
        let mut request = request(&file(&folder, text));
        change(&mut request);
        ItemRewards.serve(&request, &mut Cursor::new(b""), &mut Vec::new()).unwrap_err().message
    };
    let single = item("structural_piece_arrangement", "x", "single", &json!({}));
    let found = refused(&single, &|_| {});
    assert!(
        found.starts_with(
            "structural_piece_arrangement_0000: an item of \"structural_piece_arrangement\" is not graded"
        ),
        "{found}"
    );
    let found = refused(&item("reasoning_predict_move", "a2a4", "single", &json!({})), &|_| {});
    assert_eq!(found, "reasoning_predict_move_0000: the item is not graded: its `answer_type` must be `graded`");
    assert!(refused("\n", &|_| {}).ends_with("items.jsonl has no items"));
    let found = refused(&(lines() + "null\n"), &|_| {});
    assert!(found.contains("line 4: not an item"), "{found}");
    assert_eq!(refused(&lines(), &|request| request.cut = f64::NAN), "the cut is NaN, and must lie between 0 and 1");
    assert_eq!(refused(&lines(), &|request| request.reading = "strict".into()), "there is no reading `strict`");
    let found = refused(&lines(), &|request| request.items = folder.path().join("none"));
    assert!(found.contains("none"), "{found}");
}
