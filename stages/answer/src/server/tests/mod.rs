//! Responses, piece by piece.

use std::time::Duration;

use proptest::prelude::*;

use super::attempt::read;
use super::key::ServerKey;
use super::lines::Lines;
use super::refusal::{of_status, printable_text};
use super::reply::Reply;
use super::server_error::{ServerError, TransientError};

const LONGEST: usize = 2_000;

fn read_all(response: &str) -> Result<Reply, ServerError> {
    read(&mut Lines::new(response.as_bytes(), LONGEST, Duration::from_secs(3_600)), LONGEST, &ServerKey::none())
}

/// A key that is a secret.
fn key() -> ServerKey {
    ServerKey::new("sk-0123456789").unwrap()
}

#[track_caller]
fn again(result: Result<Reply, ServerError>) -> TransientError {
    match result {
        Err(ServerError::Transient(again)) => again,
        other => panic!("{other:?}"),
    }
}

fn chunk(delta: &str, finish: &str) -> String {
    format!("data: {{\"choices\":[{{\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n")
}

#[test]
fn a_stream_is_put_together() {
    let usage = "data: {\"choices\":[],\"model\":\"m-1\",\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3,\"total_tokens\":10,\
                 \"cost\":0.25,\"completion_tokens_details\":{\"reasoning_tokens\":2}}}\n\n";
    let text = [
        ": OPENROUTER PROCESSING\n\n".to_owned(),
        chunk("{\"role\":\"assistant\",\"content\":null}", "null"),
        chunk("{\"reasoning_content\":\"I \"}", "null"),
        chunk("{\"reasoning\":\"see\",\"reasoning_details\":[{\"type\":\"t\",\"text\":\"see\"}]}", "null"),
        chunk("{\"reasoning_details\":[{\"text\":\".\"},{\"text\":\"!\"}]}", "null"),
        chunk("{\"content\":\"FINAL \"}", "null"),
        chunk("{\"content\":[{\"type\":\"text\",\"text\":\"ANSWER: ♞\"}]}", "null").replace('\n', "\r\n"),
        chunk("{}", "\"stop\""),
        usage.to_owned(),
        "event: done\ndata: [DONE]\n\n".to_owned(),
    ];
    let reply = read_all(&text.concat()).unwrap();
    assert_eq!(reply.content, "FINAL ANSWER: ♞");
    assert_eq!(reply.reasoning.as_deref(), Some("I see.!"));
    assert_eq!((reply.finish.as_deref(), reply.served.as_deref()), (Some("stop"), Some("m-1")));
    let usage = reply.usage;
    assert_eq!((usage.prompt_tokens, usage.completion_tokens, usage.reasoning_tokens), (Some(7), Some(3), Some(2)));
    assert_eq!((usage.total_tokens, usage.cost, reply.has_bad_usage), (Some(10), Some(0.25), false));
}

#[test]
fn an_answer_that_is_whole_needs_no_usage_and_no_end() {
    let text = chunk("{\"content\":\"x\"}", "null") + &chunk("{}", "\"length\"");
    assert_eq!(read_all(&text).unwrap().finish.as_deref(), Some("length"));
    // Without a reason, but with an end.
    assert_eq!(read_all(&(chunk("{\"content\":\"x\"}", "null") + "data: [DONE]\n")).unwrap().content, "x");
}

#[test]
fn what_is_not_whole_is_asked_again_and_counted() {
    let begun = again(read_all(&chunk("{\"content\":\"x\"}", "null").repeat(3)));
    assert_eq!((begun.fault, begun.usage.completion_tokens, begun.is_shared), ("cut", Some(3), false));
    assert_eq!(again(read_all(&chunk("{\"content\":\"x\"}", "\"\""))).fault, "cut");
    assert_eq!(again(read_all("")).fault, "cut");
    assert_eq!(again(read_all("data: {\"choices\"\n")).fault, "unreadable");
    assert_eq!(again(read_all("<html><body>Welcome</body>")).fault, "unreadable");
    assert_eq!(again(read_all("{\"choices\":[]}")).fault, "no_content");
    assert_eq!(again(read_all("{\"object\":\"list\"}")).fault, "no_content");
    let null = "{\"choices\":[{\"message\":{\"content\":null},\"finish_reason\":\"stop\"}]}";
    assert_eq!(again(read_all(null)).fault, "no_content");
    // A model that thought until its tokens were used up has answered nothing.
    assert_eq!(read_all(&null.replace("stop", "length")).unwrap().content, "");
    let long = chunk(&format!("{{\"content\":\"{}\"}}", "x".repeat(500)), "null");
    assert_eq!(again(read_all(&long.repeat(5))).fault, "too_large");
    assert_eq!(again(read_all(&format!("data: {}", "x".repeat(3_000)))).fault, "too_large");
}

#[test]
fn one_object_is_understood_too() {
    let whole = "\n {\"model\":\"m\",\"choices\":[{\"message\":{\"content\":\"a\\ud83db\\ud83d\\ude00\\\\ud83d\"},\"finish_reason\":\"stop\"}],\
                 \"usage\":{\"prompt_tokens\":-1,\"completion_tokens\":2,\"cost\":-3}}\n";
    let reply = read_all(whole).unwrap();
    // Half of a pair is replaced, a pair and an escaped backslash stay.
    assert_eq!(reply.content, "a\u{fffd}b😀\\ud83d");
    assert_eq!((reply.usage.prompt_tokens, reply.usage.cost, reply.has_bad_usage), (None, None, true));
}

#[test]
fn an_error_within_a_response_is_one() {
    assert_eq!(
        again(read_all("{\"error\":{\"message\":\"overloaded\"}}")).message,
        "the server reports an error: overloaded"
    );
    assert_eq!(again(read_all("data: {\"error\":\"boom\"}\n")).fault, "server_error");
    let coded = again(read_all("{\"error\":{\"message\":\"slow down\",\"code\":429}}"));
    assert_eq!((coded.fault, coded.is_shared), ("rate_limit", true));
    let fatal = read_all("{\"error\":{\"message\":\"no credits\",\"code\":402}}");
    assert!(matches!(fatal, Err(ServerError::Fatal(failure)) if failure.message.contains("no credits")));
    let of_key = read_all("{\"error\":{\"message\":\"no such key\",\"code\":401}}");
    assert!(matches!(of_key, Err(ServerError::Key(failure)) if failure.message.contains("no such key")));
}

#[test]
fn statuses_are_told_apart() {
    let of = |code: u16, after: Option<u64>, body: &str| {
        of_status(&code.to_string(), code, None, after.map(Duration::from_secs), body.as_bytes(), &ServerKey::none())
    };
    for code in [408, 409, 425, 429, 500, 502, 503, 529] {
        assert!(matches!(of(code, None, ""), ServerError::Transient(again) if again.is_shared), "{code}");
    }
    for code in [400, 402, 404, 413, 418, 422] {
        assert!(matches!(of(code, None, "no"), ServerError::Fatal(_)), "{code}");
    }
    assert!([401, 403].iter().all(|code| matches!(of(*code, None, "no"), ServerError::Key(_))));
    let used_up = "{\"error\":{\"message\":\"You exceeded your current quota\",\"code\":\"insufficient_quota\"}}";
    assert!(matches!(of(429, Some(1), used_up), ServerError::Fatal(_)));
    let per_minute = "{\"error\":{\"message\":\"You exceeded your current quota: requests per minute\"}}";
    assert!(
        matches!(of(429, Some(7), per_minute), ServerError::Transient(again) if again.retry_after == Some(Duration::from_secs(7)))
    );
    assert!(matches!(
        of(400, None, "{\"error\":{\"message\":\"maximum context length is 8192\"}}"),
        ServerError::TooLong(_)
    ));
    let redirect = of_status("302 Found", 302, Some("http://elsewhere/"), None, b"", &ServerKey::none());
    assert!(
        matches!(redirect, ServerError::Fatal(failure) if failure.message == "the server redirects to `http://elsewhere/`")
    );
}

#[test]
fn words_are_short_and_harmless() {
    assert_eq!(printable_text(" a\n\tb\u{1b}[31m", &ServerKey::none()), "a b\\u{1b}[31m");
    assert!(printable_text(&"x".repeat(10_000), &ServerKey::none()).chars().count() <= 301);
}

#[test]
fn no_part_of_the_key_is_left() {
    // The cut at 300 characters is within the key.
    let words = printable_text(&format!("{} sk-0123456789", "x".repeat(290)), &key());
    assert!(words.ends_with("x (key)"), "{words}");
    let of_key = "{\"model\":\"m-sk-0123456789\",\"choices\":[{\"message\":{\"content\":\"a\",\"reasoning\":\"sk-0123456789\"},\
                  \"finish_reason\":\"sk-0123456789\"}]}";
    let reply = read(&mut Lines::new(of_key.as_bytes(), LONGEST, Duration::from_secs(3_600)), LONGEST, &key()).unwrap();
    assert!(!format!("{reply:?}").contains("0123456789"), "{reply:?}");
    for response in
        ["data: sk-0123456789\n", "{\"error\":\"sk-0123456789\"}", "{\"error\":{\"code\":\"sk-0123456789\"}}"]
    {
        let mut lines = Lines::new(response.as_bytes(), LONGEST, Duration::from_secs(3_600));
        let fault = again(read(&mut lines, LONGEST, &key()));
        assert!(!fault.message.contains("0123456789"), "{}", fault.message);
    }
}

#[test]
fn an_attempt_without_content_has_its_tokens_and_its_cost() {
    let usage = "\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":900,\"cost\":0.5}";
    let whole = format!("{{\"choices\":[{{\"message\":{{\"content\":null}},\"finish_reason\":\"stop\"}}],{usage}}}");
    let fault = again(read_all(&whole));
    assert_eq!((fault.fault, fault.usage.completion_tokens, fault.usage.cost), ("no_content", Some(900), Some(0.5)));
    let streamed = chunk("{\"reasoning\":\"x\"}", "null").repeat(4) + &chunk("{}", "\"stop\"");
    let fault = again(read_all(&streamed));
    assert_eq!((fault.fault, fault.usage.completion_tokens), ("no_content", Some(4)));
}

#[test]
fn costs_beyond_reason_are_left_out() {
    let costs =
        [("1e9", Some(1e9)), ("1e308", None), ("-1", None), ("\"1\"", None), ("NaN", None), ("-Infinity", None)];
    for (cost, expected) in costs {
        let content = "\\\"NaN ♞ \\\\";
        let text =
            format!("{{\"choices\":[{{\"message\":{{\"content\":\"{content}\"}}}}],\"usage\":{{\"cost\":{cost}}}}}");
        let reply = read_all(&text).unwrap();
        assert_eq!(reply.content, "\"NaN ♞ \\");
        assert_eq!((reply.usage.cost, reply.has_bad_usage), (expected, expected.is_none()), "{cost}");
    }
}

proptest! {
    #[test]
    fn no_response_is_a_panic(pieces in prop::collection::vec("(data: ?|\\{|\\}|\\[|\\]|\"|:|,|choices|delta|content|\\\\u[dD][89a-f][0-9a-f]{2}|\\\\|\n|é|[a-z ]{0,4}|null|error|usage){0,30}", 0..4)) {
        let _ = read_all(&pieces.concat());
        let _ = read_all(&format!("{{\"choices\":[{{\"delta\":{{\"content\":\"{}\"}}}}]}}", pieces.concat()));
    }

    #[test]
    fn cuts_between_pieces_change_nothing(text in "[a-zA-Z♞\\\\\" ]{1,40}", cuts in prop::collection::vec(0_usize..40, 0..5)) {
        let mut cuts: Vec<usize> = cuts.into_iter().filter(|cut| text.is_char_boundary(*cut)).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|pair| chunk(&serde_json::json!({ "content": &text[pair[0]..pair[1]] }).to_string(), "null"));
        let reply = read_all(&(pieces.collect::<String>() + &chunk("{}", "\"stop\""))).unwrap();
        prop_assert_eq!(reply.content, text);
    }
}
