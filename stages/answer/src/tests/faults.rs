//! A server that refuses, cuts, stalls and talks nonsense.

use std::time::Instant;

use super::*;

/// Asks 4 items of a server that misbehaves at the first two questions, and checks that all answers come.
#[track_caller]
fn check(bad: impl Fn(&Request) -> Response + Send + Sync + 'static) -> (Outcome, Vec<Request>) {
    let folder = tempfile::tempdir().unwrap();
    let server = server(move |number, request| if number < 2 { bad(request) } else { right(request) });
    let trial = trial(folder.path(), 4, &server.base).with("timeout", Value::Int(1)).with("connections", Value::Int(2));
    let outcome = trial.run(&Impatient).unwrap();
    check_right(&outcome, 4);
    let requests = questions(&server);
    assert_eq!(requests.len(), 6);
    assert_eq!(answers(&outcome).1.iter().map(|row| row.attempts.unwrap()).sum::<u64>(), 6);
    drop(folder);
    (outcome, requests)
}

#[test]
fn what_may_pass_is_asked_again() {
    check(|_| empty("503 Service Unavailable"));
    check(|_| plain("200 OK", "<html>Welcome</html>"));
    check(|_| plain("200 OK", "{\"choices\":[]}"));
    check(|_| plain("200 OK", "{\"choices\":[{\"message\":{\"content\":null},\"finish_reason\":\"stop\"}]}"));
    check(|_| plain("200 OK", "{\"error\":{\"message\":\"overloaded\"}}"));
    check(|_| plain("200 OK", "data: {\"choi"));
    check(|_| Response { head: "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n".into(), ..plain("", "data: ") });
    check(|_| Response { head: "nonsense\r\n".into(), ..plain("", "") });
    // Cut within a chunk of HTTP, with part of the answer there.
    let (outcome, _) = check(|request| right(request).cut(250));
    assert!(notes(&outcome).iter().any(|note| note.contains("next attempt in")), "{:?}", notes(&outcome));
}

#[test]
fn silence_endless_white_space_and_endless_answers_have_an_end() {
    let begun = Instant::now();
    check(|request| right(request).cut(250).stalling());
    check(|_| Response { repeats: true, ..plain("200 OK", "    \n") });
    check(|_| Response { repeats: true, ..plain("200 OK", ": wait\n\n") });
    check(|_| {
        std::thread::sleep(Duration::from_secs(36_000));
        plain("", "")
    });
    let endless = format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n", "x".repeat(50_000));
    check(move |_| Response { repeats: true, ..plain("200 OK", &endless) });
    check(|_| Response { repeats: true, ..plain("200 OK", "data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx") });
    // A white space is no content, so each of the first four took its second, and no more than the reads around it.
    assert!(begun.elapsed() < Duration::from_secs(300), "{:?}", begun.elapsed());
}

#[test]
fn an_answer_that_is_whole_is_not_asked_for_again_when_the_end_stalls() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(|_, request| {
        let response = right(request);
        let end = response.body.len() - 30;
        response.cut(end).stalling()
    });
    let trial = trial(folder.path(), 2, &server.base).with("timeout", Value::Int(1));
    check_right(&trial.run(&Impatient).unwrap(), 2);
    assert_eq!(questions(&server).len(), 2);
}

#[test]
fn an_answer_that_is_done_is_whole_whatever_follows() {
    for stalls in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let server = server(move |_, request| {
            let content = format!("FINAL ANSWER: a{}", asked(request));
            let event = serde_json::json!({ "choices": [{ "delta": { "content": content } }] });
            // The rest of the body never comes.
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n".into();
            Response { head, stalls, ..plain("", &format!("data: {event}\n\ndata: [DONE]\n\n")) }
        });
        let begun = Instant::now();
        check_right(&trial(folder.path(), 2, &server.base).run(&Impatient).unwrap(), 2);
        assert_eq!(questions(&server).len(), 2);
        assert!(begun.elapsed() < Duration::from_secs(300), "{:?}", begun.elapsed());
    }
}

#[test]
fn a_server_that_asks_to_wait_is_given_the_time() {
    let begun = Instant::now();
    let (outcome, _) = check(|_| empty("429 Too Many Requests\r\nRetry-After: 1"));
    assert!(begun.elapsed() >= Duration::from_secs(1));
    assert!(notes(&outcome).iter().any(|note| note.ends_with("429 Too Many Requests; next attempt in 1.0 s")));
}

#[test]
fn lists_of_parts_and_whole_objects_are_answers() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(|_, request| {
        let content = serde_json::json!([{ "type": "text", "text": format!("FINAL ANSWER: a{}", asked(request)) }]);
        let choice = serde_json::json!({ "message": { "content": content }, "finish_reason": "stop" });
        plain("200 OK", &serde_json::json!({ "choices": [choice] }).to_string())
    });
    check_right(&trial(folder.path(), 3, &server.base).run(&Impatient).unwrap(), 3);
}

#[test]
fn what_will_not_pass_ends_the_stage_in_the_servers_words() {
    for (status, body) in [
        ("400 Bad Request", "{\"error\":{\"message\":\"`temperature` is not supported\"}}"),
        ("404 Not Found", "{\"detail\":\"Not Found\"}"),
        ("413 Payload Too Large", ""),
        ("422 Unprocessable Entity", "{\"detail\":[{\"msg\":\"field required\"}]}"),
        ("429 Too Many Requests", "{\"error\":{\"message\":\"no money\",\"code\":\"insufficient_quota\"}}"),
        ("302 Found\r\nLocation: http://127.0.0.1:1/v1", ""),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let server = server(move |_, _| plain(status, body));
        let failure = fails(trial(folder.path(), 30, &server.base).run(&Impatient));
        let words = ["temperature", "Not Found", "413", "field required", "no money", "redirects to"];
        assert!(words.iter().any(|words| failure.message.contains(words)), "{failure}");
        assert!(questions(&server).len() <= 4, "{status}: {}", questions(&server).len());
    }
}

#[test]
fn the_key_is_in_no_message_no_answer_and_no_file() {
    let key = std::env::var(KEY_VARIABLE).unwrap();
    let folder = tempfile::tempdir().unwrap();
    // A server that repeats the key wherever it can.
    let echo = |request: &Request| request.authorization.clone().unwrap_or_default();
    let server = server(move |number, request| match number {
        0 => plain("503 Service Unavailable", &format!("{{\"error\":{{\"message\":\"bad key {}\"}}}}", echo(request))),
        1 => stream(&format!("my key is {}", echo(request))),
        _ => plain(
            "401 Unauthorized",
            &format!("{{\"error\":{{\"message\":\"Incorrect API key: {}\"}}}}", echo(request)),
        ),
    });
    let run = |count| {
        let trial = trial(folder.path(), count, &server.base);
        trial.with("key_variable", text(KEY_VARIABLE)).with("connections", Value::Int(1)).run(&Impatient)
    };
    let outcome = run(1).unwrap();
    assert_eq!(answers(&outcome).1[0].response.as_deref(), Some("my key is Bearer (key)"));
    // A server whose model is named by the key, in its list and in its answers.
    let naming = Server::start(move |_, request| match request.path.as_str() {
        "/v1/models" => plain("200 OK", &format!("{{\"data\":[{{\"id\":\"{}\"}}]}}", echo(request))),
        _ => empty("404 Not Found"),
    });
    let trial = trial(folder.path(), 3, &naming.base).with("key_variable", text(KEY_VARIABLE));
    let failure = fails(trial.run(&Impatient));
    assert_eq!(failure.hint.as_deref(), Some("it has Bearer (key)"));
    let failure = fails(run(2));
    assert!(failure.message.contains("401 Unauthorized: Incorrect API key: Bearer (key)"), "{failure}");
    assert!(failure.hint.as_ref().unwrap().contains(&format!("environment variable {KEY_VARIABLE}")));
    assert!(!format!("{failure:?} {:?}", outcome.events).contains(&key));
    let mut files = 0;
    let mut waiting = vec![folder.path().to_owned()];
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            waiting.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            files += 1;
            let bytes = std::fs::read(&path).unwrap();
            assert!(!bytes.windows(key.len()).any(|window| window == key.as_bytes()), "{}", path.display());
        }
    }
    assert!(files >= 3, "{files}");
}

#[test]
fn questions_without_an_answer_fail_the_stage_or_are_counted() {
    let server = server(|_, request| match asked(request) {
        1 => empty("500 Internal Server Error"),
        2 => plain("400 Bad Request", "{\"error\":{\"message\":\"maximum context length is 8\"}}"),
        _ => right(request),
    });
    let folder = tempfile::tempdir().unwrap();
    let run = |count: usize, on_error: &str| {
        let trial = trial(folder.path(), count, &server.base).with("attempts", Value::Int(2));
        trial.with("connections", Value::Int(1)).with("on_error", text(on_error)).run(&Impatient)
    };
    let failure = fails(run(2, "fail"));
    assert!(failure.message.contains("structural_legal_move_all_0001: the server answers 500"), "{failure}");
    assert!(failure.message.ends_with("after 2 attempts"), "{failure}");
    let kept = "`on_error: count` leaves such questions unanswered; the 1 answers so far are kept";
    assert!(failure.hint.as_ref().unwrap().starts_with(kept), "{:?}", failure.hint);
    let (_, rows) = answers(&run(4, "count").unwrap());
    let faults: Vec<_> = rows.iter().map(|row| row.fault.as_deref()).collect();
    assert_eq!(faults, [None, Some("server_error"), Some("too_long"), None]);
    assert_eq!(
        (rows[1].response.as_ref(), rows[1].finish.as_deref(), rows[1].attempts),
        (None, Some("failed"), Some(2))
    );
}
