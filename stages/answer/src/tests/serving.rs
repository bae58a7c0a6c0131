//! A server that behaves.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::*;

#[test]
fn every_item_is_asked_once_and_the_file_is_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    // The first come last.
    let server = server(|_, request| {
        std::thread::sleep(Duration::from_millis(40 - 2 * asked(request) as u64));
        right(request)
    });
    let outcome = trial(folder.path(), 20, &server.base).with("connections", Value::Int(8)).run(&Impatient).unwrap();
    check_right(&outcome, 20);
    assert_eq!(questions(&server).len(), 20);
    let (run, rows) = answers(&outcome);
    assert_eq!((run.name.as_str(), run.served_model.as_deref(), run.max_tokens), ("m", Some("m-2026"), Some(8_192)));
    let first = &rows[0];
    assert_eq!((first.finish.as_deref(), first.attempts, first.completion_tokens), (Some("stop"), Some(1), Some(5)));
    assert_eq!((first.cost, &first.fault, first.request.is_some()), (None, &None, true));
}

#[test]
fn requests_have_the_fields_of_the_parameters() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(|_, request| right(request));
    let extra =
        Value::Map([("usage".to_owned(), Value::Map([("include".to_owned(), Value::Bool(true))].into()))].into());
    trial(folder.path(), 1, &server.base)
        .with("key_variable", text(KEY_VARIABLE))
        .with("max_tokens", Value::Int(99))
        .with("max_tokens_field", text("max_completion_tokens"))
        .with("temperature", Value::Float(0.5))
        .with("reasoning", text("medium"))
        .with("examples", Value::Int(2))
        .with("extra", extra)
        .run(&Impatient)
        .unwrap();
    let sent = &questions(&server)[0];
    let body: serde_json::Value = serde_json::from_str(&sent.body).unwrap();
    let expected = serde_json::json!({
        "model": "m", "max_completion_tokens": 99, "temperature": 0.5, "reasoning_effort": "medium", "usage": { "include": true },
        "messages": [{ "role": "user", "content": "Question [0]: two" }],
        "stream": true, "stream_options": { "include_usage": true },
    });
    assert_eq!(body, expected);
    assert_eq!(sent.authorization, std::env::var(KEY_VARIABLE).ok().map(|key| format!("Bearer {key}")));
}

#[test]
fn the_server_is_looked_at_before_anything_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let behaving = server(|_, request| right(request));
    let failure = fails(trial(folder.path(), 2, &behaving.base).with("model", text("qwen")).run(&Impatient));
    assert!(failure.message.ends_with("the server has no model `qwen`"), "{failure}");
    assert_eq!(failure.hint.as_deref(), Some("it has other, m"));
    assert!(questions(&behaving).is_empty());
    // A variant of a listed model.
    assert!(trial(folder.path(), 2, &behaving.base).with("model", text("m:latest")).run(&Impatient).is_ok());
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let failure = fails(trial(folder.path(), 2, &format!("http://{closed}")).run(&Impatient));
    assert!(failure.message.contains("/v1/models: ") && failure.message.contains("refused"), "{failure}");
    // A server without that path.
    let without = Server::start(|_, request| match request.path.as_str() {
        "/v1/chat/completions" => right(request),
        _ => empty("404 Not Found"),
    });
    let folder = tempfile::tempdir().unwrap();
    let outcome = trial(folder.path(), 2, &without.base).run(&Impatient).unwrap();
    assert!(notes(&outcome)[0].contains("does not list its models"), "{:?}", notes(&outcome));
}

#[test]
fn many_connections_are_open_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (open, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let seen = most.clone();
    // Answers come only when as many questions are open as may be.
    let server = server(move |_, request| {
        most.fetch_max(open.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        let begun = Instant::now();
        while most.load(Ordering::SeqCst) < 256 && begun.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(10));
        }
        open.fetch_sub(1, Ordering::SeqCst);
        right(request)
    });
    let outcome = trial(folder.path(), 600, &server.base).with("connections", Value::Int(256)).run(&Impatient).unwrap();
    check_right(&outcome, 600);
    assert_eq!(seen.load(Ordering::SeqCst), 256);
    assert_eq!(questions(&server).len(), 600);
}

#[test]
fn a_rate_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(|_, request| right(request));
    let begun = Instant::now();
    let trial = trial(folder.path(), 5, &server.base).with("requests_per_minute", Value::Int(600));
    check_right(&trial.run(&Impatient).unwrap(), 5);
    assert!(begun.elapsed() >= Duration::from_millis(400), "{:?}", begun.elapsed());
}

#[test]
fn a_budget_ends_the_questions_and_a_larger_one_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(|_, request| right(request));
    let prices =
        || Value::Map([("input".to_owned(), Value::Float(1e5)), ("output".to_owned(), Value::Float(0.0))].into());
    let run = |budget: f64| {
        trial(folder.path(), 6, &server.base)
            .with("connections", Value::Int(1))
            .with("budget", Value::Float(budget))
            .with("prices", prices())
            .run(&Impatient)
    };
    // A dollar each.
    let failure = fails(run(2.5));
    assert_eq!(failure.message, "the budget of $2.5 is spent; 3 questions are left");
    assert!(
        failure.hint.as_ref().unwrap().starts_with("raise `budget`; the 3 answers so far are kept"),
        "{:?}",
        failure.hint
    );
    let before = questions(&server).len();
    assert!(before <= 4, "{before}");
    assert!(fails(run(2.5)).message.contains("3 questions are left"));
    assert_eq!(questions(&server).len(), before);
    check_right(&run(100.0).unwrap(), 6);
    let folder = tempfile::tempdir().unwrap();
    let failure = fails(trial(folder.path(), 2, &server.base).with("budget", Value::Float(1.0)).run(&Impatient));
    assert_eq!(failure.message, "the server reports no cost, so the `budget` cannot be kept");
    let uncounted = server_of_one_object("{\"choices\":[{\"message\":{\"content\":\"a\"}}]}");
    let folder = tempfile::tempdir().unwrap();
    let trial = trial(folder.path(), 1, &uncounted.base).with("budget", Value::Float(1.0)).with("prices", prices());
    let failure = fails(trial.run(&Impatient));
    assert!(failure.hint.as_ref().unwrap().starts_with("leave `budget` out"), "{:?}", failure.hint);
}

fn server_of_one_object(object: &'static str) -> Server {
    server(move |_, _| plain("200 OK", object))
}

#[test]
fn attempts_at_questions_without_an_answer_count_in_a_further_run() {
    let folder = tempfile::tempdir().unwrap();
    // Half a dollar for each attempt, and no content.
    let server = server_of_one_object(
        "{\"choices\":[{\"message\":{\"content\":null},\"finish_reason\":\"stop\"}],\"usage\":{\"cost\":0.5}}",
    );
    let run = |on_error: &str, budget: f64| {
        let trial = trial(folder.path(), 1, &server.base).with("on_error", text(on_error));
        trial.with("attempts", Value::Int(2)).with("budget", Value::Float(budget)).run(&Impatient)
    };
    assert!(fails(run("fail", 10.0)).message.ends_with("after 2 attempts"));
    assert_eq!(fails(run("count", 1.0)).message, "the budget of $1 is spent; 1 questions are left");
    assert_eq!(answers(&run("count", 2.0).unwrap()).1[0].fault.as_deref(), Some("no_content"));
    assert_eq!(fails(run("count", 2.0)).message, "the budget of $2 is spent; 1 questions are left");
    assert_eq!(questions(&server).len(), 4);
}
