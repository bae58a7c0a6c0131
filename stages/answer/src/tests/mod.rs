//! The stage as a whole, with scripted players, and with a server that misbehaves.

mod engines;
mod faults;
mod golden;
mod graded;
mod kills;
mod players;
mod resume;
mod serving;
mod world_model;

use std::path::{Path, PathBuf};
use std::time::Duration;

use cwm_answers::{Answer as Row, AnswersReader, PlayerSettings};
use cwm_contract::testing::{Outcome, Trial};
use cwm_contract::{Context, Event, Failure, Input, Output, ParameterError, ParameterSpec, Stage, Value, Values};
use cwm_questions::{Item, Task, write_line};
use cwm_web::{Settings, Variables};

use crate::Answer;
use crate::fault_server::{Request, Response, Server, empty};
use crate::probe::item;

/// An environment variable that every test has; its content serves as the key.
const KEY_VARIABLE: &str = "CARGO_MANIFEST_DIR";

/// The stage with short waits.
struct Impatient;

impl Stage for Impatient {
    fn kind(&self) -> &'static str {
        Answer.kind()
    }
    fn description(&self) -> &'static str {
        Answer.description()
    }
    fn inputs(&self) -> Vec<Input> {
        Answer.inputs()
    }
    fn outputs(&self) -> Vec<Output> {
        Answer.outputs()
    }
    fn parameters(&self) -> Vec<ParameterSpec> {
        Answer.parameters()
    }
    fn check(&self, values: &Values) -> Vec<ParameterError> {
        Answer.check(values)
    }
    fn run(&self, context: &Context) -> Result<(), Failure> {
        let (initial_backoff, max_backoff) = (Duration::from_millis(1), Duration::from_millis(4));
        crate::run::run(
            context,
            &Settings { initial_backoff, max_backoff, proxies: Variables::new(), ..Settings::default() },
        )
    }
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn write_items(path: &Path, items: &[Item]) {
    let mut lines = Vec::new();
    items.iter().for_each(|item| write_line(&mut lines, item).unwrap());
    std::fs::write(path, lines).unwrap();
}

/// A file of so many items, each with a question of its own.
fn items(folder: &Path, count: usize) -> PathBuf {
    let path = folder.join(format!("items-{count}.jsonl"));
    let item = |number| Item {
        task_id: format!("structural_legal_move_all_{number:04}"),
        question: format!("Question [{number}]: FORMAT_EXAMPLE_PLACEHOLDER"),
        ..item(Task::LegalMoveAll)
    };
    write_items(&path, &(0..count).map(item).collect::<Vec<_>>());
    path
}

/// The number of the item that a request is about.
fn asked(request: &Request) -> usize {
    let number = request.body.split_once("Question [").unwrap().1.split(']').next().unwrap();
    number.parse().unwrap()
}

/// A trial with so many items and the server at `url`.
fn trial(folder: &Path, count: usize, url: &str) -> Trial {
    Trial::new(folder.join("work"))
        .input("items", items(folder, count))
        .with("model", text("m"))
        .with("url", text(&format!("{url}/v1")))
        .with("key_variable", text("NO_SUCH_VARIABLE"))
}

/// An answer in chunks of HTTP and of the stream.
fn stream(content: &str) -> Response {
    let piece = |value: serde_json::Value| format!("data: {value}\n\n");
    let mut events = vec![": wait\n\n".to_owned()];
    for part in content.split_inclusive(' ') {
        let delta = serde_json::json!({ "content": part });
        events.push(piece(
            serde_json::json!({ "model": "m-2026", "choices": [{ "delta": delta, "finish_reason": null }] }),
        ));
    }
    events.push(piece(serde_json::json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] })));
    let usage = serde_json::json!({ "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 });
    events.push(piece(serde_json::json!({ "choices": [], "usage": usage })));
    events.push("data: [DONE]\n\n".to_owned());
    let mut body: String = events.iter().map(|event| format!("{:x}\r\n{event}\r\n", event.len())).collect();
    body += "0\r\n\r\n";
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n".to_owned();
    Response { head, body: body.into_bytes(), stalls: false, repeats: false }
}

/// A response with this status and body, whose end is the connection's.
fn plain(status: &str, body: &str) -> Response {
    Response { head: format!("HTTP/1.1 {status}\r\n"), body: body.as_bytes().to_vec(), stalls: false, repeats: false }
}

/// A server that lists the model `m`, and answers the n-th question that comes, from 0, as `answer` has it.
fn server(answer: impl Fn(usize, &Request) -> Response + Send + Sync + 'static) -> Server {
    let number = std::sync::atomic::AtomicUsize::new(0);
    Server::start(move |_, request| match request.path.as_str() {
        "/v1/models" => plain("200 OK", "{\"data\":[{\"id\":\"other\"},{\"id\":\"m\"}]}"),
        "/v1/chat/completions" => answer(number.fetch_add(1, std::sync::atomic::Ordering::SeqCst), request),
        _ => empty("404 Not Found"),
    })
}

/// The right answer of the server.
fn right(request: &Request) -> Response {
    stream(&format!("FINAL ANSWER: a{}", asked(request)))
}

/// The requests for answers so far.
fn questions(server: &Server) -> Vec<Request> {
    server.requests().into_iter().filter(|request| request.path == "/v1/chat/completions").collect()
}

fn answers(outcome: &Outcome) -> (PlayerSettings, Vec<Row>) {
    let reader = AnswersReader::open(&outcome.outputs["answers"]).unwrap();
    (reader.run().unwrap().clone(), reader.collect::<Result<_, _>>().unwrap())
}

/// Checks that so many answers came, the right ones in the items' order.
#[track_caller]
fn check_right(outcome: &Outcome, count: usize) {
    let found: Vec<_> = answers(outcome).1.into_iter().map(|row| (row.task_id, row.response.unwrap())).collect();
    let expected: Vec<_> = (0..count)
        .map(|number| (format!("structural_legal_move_all_{number:04}"), format!("FINAL ANSWER: a{number}")))
        .collect();
    assert_eq!(found, expected);
}

#[track_caller]
fn fails(result: Result<Outcome, Failure>) -> Failure {
    result.err().expect("a failure")
}

fn notes(outcome: &Outcome) -> Vec<String> {
    let note = |event: &Event| if let Event::Note(note) = event { Some(note.clone()) } else { None };
    outcome.events.iter().filter_map(note).collect()
}
