//! Questions to a model behind a server: what is asked, what is not asked again, and where the server's key is not.

use crate::context::{Context, Run, finish};
use crate::fault_server::{Response, Server, empty};

const KEY: &str = "sk-key-of-this-test-0123456789";

/// A server that answers every question, and repeats the key in the headers that it is sent.
fn server() -> Server {
    server_with(|_| "FINAL ANSWER: e2e4".to_owned())
}

/// The same with this answer to the body of a request.
pub fn server_with(answer: impl Fn(&str) -> String + Send + Sync + 'static) -> Server {
    Server::start(move |_, request| match request.path.as_str() {
        "/v1/models" => empty("404 Not Found"),
        _ => {
            let content = serde_json::json!(answer(&request.body));
            let body = format!(
                "data: {{\"choices\":[{{\"delta\":{{\"content\":{content}}},\"finish_reason\":\"stop\"}}]}}\n\ndata: [DONE]\n\n"
            );
            let head =
                format!("HTTP/1.1 200 OK\r\nX-Key: {}\r\n", request.authorization.as_deref().unwrap_or_default());
            Response { head, body: body.into_bytes(), stalls: false, repeats: false }
        }
    })
}

/// A pipeline that asks about so many items.
fn pipeline(server: &Server, items: usize) -> Context {
    let context = Context::with(&format!(
        "cwm: 1\nvars: {{ url: \"{}/v1\", connections: 2 }}\nstages:\n  asked:\n    stage: answer\n    \
         from: {{ items: {{ file: items.jsonl }} }}\n    \
         with: {{ model: m, url: $url, connections: $connections, key_variable: CWM_TEST_KEY }}\n",
        server.base
    ));
    write_items(&context, items);
    context
}

fn write_items(context: &Context, count: usize) {
    let item = |number: usize| {
        format!(
            "{{\"task_id\": \"motifs_pin_{number:04}\", \"task_type\": \"motifs_pin\", \"task_category\": \"Motifs\", \
             \"input\": \"8/8/8/8/8/8/8/8 w - - 0 1\", \"question\": \"Question {number}\", \"format_examples\": [\"a\", \"b\"], \
             \"correct_answer\": \"a1>a2>a3\", \"answer_type\": \"multi\", \"metadata\": {{}}}}\n"
        )
    };
    context.write("items.jsonl", &(0..count).map(item).collect::<String>());
}

fn run(context: &Context, arguments: &[&str]) -> Run {
    let mut all = vec!["run", "--json"];
    all.extend(arguments);
    Run::read(finish(context.command(&all).env("CWM_TEST_KEY", KEY).output().expect("cwm starts")))
}

fn asked(server: &Server) -> usize {
    server.requests().iter().filter(|request| request.path.ends_with("/chat/completions")).count()
}

#[test]
fn nothing_is_asked_twice_wherever_the_server_is() {
    let (one, two) = (server(), server());
    let context = pipeline(&one, 5);
    run(&context, &[]).ran_just(&["asked"]);
    assert_eq!(asked(&one), 5);
    assert!(run(&context, &[]).cached.contains("asked"));
    let elsewhere = format!("url={}/v1", two.base);
    assert!(run(&context, &["--set", &elsewhere, "--set", "connections=9"]).cached.contains("asked"));
    // What was recorded is not computed again.
    assert_eq!(run(&context, &["--check"]).raw.code, 0);
    assert_eq!((asked(&one), asked(&two), one.requests().len()), (5, 0, 6));
}

#[test]
fn a_dry_run_counts_a_stage_whose_items_cannot_be_read() {
    let server = server();
    let context = pipeline(&server, 1);
    let dry_run = || finish(context.command(&["run", "--dry-run"]).output().expect("cwm starts"));
    let ran = dry_run();
    assert!(ran.code == 0 && format!("{}{}", ran.stdout, ran.stderr).contains("asks 1 question;"), "{}", ran.stdout);
    context.write("items.jsonl", "{}\n");
    let ran = dry_run();
    assert_ne!(ran.code, 0);
    assert!(format!("{}{}", ran.stdout, ran.stderr).contains("would fail 1"), "{}", ran.stdout);
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn the_key_is_in_no_file_and_no_message() {
    let server = server();
    let context = pipeline(&server, 3);
    let ran = run(&context, &[]);
    assert!(server.requests().iter().all(|request| request.authorization == Some(format!("Bearer {KEY}"))));
    assert!(!ran.raw.stdout.contains(KEY) && !ran.raw.stderr.contains(KEY));
    let mut waiting = vec![context.path("")];
    let mut files = 0;
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            waiting.extend(std::fs::read_dir(path).expect("a folder").map(|entry| entry.expect("an entry").path()));
        } else if let Ok(bytes) = std::fs::read(&path) {
            files += 1;
            let found = bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
            assert!(!found, "the key is in {}", path.display());
        }
    }
    assert!(files > 3, "{files} files");
}
