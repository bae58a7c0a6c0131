use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::literal::{Literal, literal};
use super::*;

fn text(text: &str) -> Option<Literal> {
    Some(Literal::Text(text.to_owned()))
}

/// The results of CPython 3.11's `ast.literal_eval`; none where it fails.
#[test]
fn literals_are_those_of_python() {
    let list =
        |entries: &[Option<&str>]| Some(Literal::List(entries.iter().map(|entry| entry.map(str::to_owned)).collect()));
    let other = || Some(Literal::Other);
    let dictionary = |entries: &[(&str, Literal)]| {
        let entries = entries.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        Some(Literal::Dictionary(entries.collect()))
    };
    for (source, expected) in [
        ("'e2e4'", text("e2e4")),
        (r#""a'b""#, text("a'b")),
        ("'''a\nb'c'''", text("a\nb'c")),
        (r"'\x41\u0042\103\n\q\''", text("AB\u{43}\n\\q'")),
        (r"'\U0001F600'", text("😀")),
        ("''", text("")),
        ("'a' ", text("a")),
        ("('a')", text("a")),
        ("((['a']))", list(&[Some("a")])),
        ("[]", list(&[])),
        ("['a', \"b\",]", list(&[Some("a"), Some("b")])),
        ("[\n'a'\n,\n3]", list(&[Some("a"), None])),
        ("[['a']]", list(&[None])),
        ("[None, True]", list(&[None, None])),
        ("()", other()),
        ("('a',)", other()),
        ("'a', 'b'", other()),
        ("'a',", other()),
        ("{}", dictionary(&[])),
        ("{'a'}", Some(Literal::Unhashable)),
        ("{1, ('a', 2)}", Some(Literal::Unhashable)),
        ("set()", Some(Literal::Unhashable)),
        ("(['a'],)", Some(Literal::Unhashable)),
        ("'a', {'b'}", Some(Literal::Unhashable)),
        ("{'a': {'b'}}", dictionary(&[("a", Literal::Unhashable)])),
        (
            "{'a': ['b'], 'c': 1,}",
            dictionary(&[("a", Literal::List(vec![Some("b".to_owned())])), ("c", Literal::Whole(1))]),
        ),
        ("{'a': 1, 2: 'b', 'a':\nNone}", dictionary(&[("a", Literal::Whole(1)), ("a", Literal::Nothing)])),
        ("b'a'", other()),
        ("...", other()),
        ("None", Some(Literal::Nothing)),
        ("True", other()),
        ("-1", Some(Literal::Whole(-1))),
        ("99999999999999999999", other()),
        ("+ 1.5e-3", other()),
        ("1_000", other()),
        ("1e4", other()),
        ("1.", other()),
        (".5", other()),
        ("00", Some(Literal::Whole(0))),
        ("0x1F", other()),
        ("0b1", other()),
        ("3j", other()),
        ("", None),
        ("e2e4", None),
        ("Nonesuch", None),
        ("[g7g5, g7g6]", None),
        ("['a'", None),
        ("'a", None),
        ("'a\nb'", None),
        ("'a' 'b", None),
        ("'a'\n'b'", None),
        ("[,]", None),
        ("['a',,]", None),
        ("(,)", None),
        ("{'a', 'b': 1}", None),
        ("{'a': }", None),
        ("{['a']}", None),
        ("{{'a'}}", None),
        ("{('a', [])}", None),
        ("{['a']: 1}", None),
        ("{{}: 1}", None),
        (r"'\x4'", None),
        (r"'\", None),
        ("b'é'", None),
        ("007", None),
        ("1__0", None),
        ("1_", None),
        ("1e", None),
        ("1e4x", None),
        ("1 + 2", None),
        ("--1", None),
        (".", None),
        ("1.2.3", None),
        ("0x", None),
        ("inf", None),
        ("['a',\u{a0}'b']", None),
        ("'a\0'", None),
    ] {
        assert_eq!(literal(source), expected, "{source:?}");
    }
}

#[test]
fn brackets_have_a_limit() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert_eq!(literal(&nested(200)), Some(Literal::List(vec![None])));
    assert_eq!(literal(&nested(201)), None);
    assert_eq!(literal(&nested(1_000_000)), None);
}

#[test]
fn long_answers_are_unreadable() {
    let one = |length: usize| read(&format!("<answer>{}.</answer>", "x".repeat(length)), false, ReadingRule::Release);
    assert_eq!(one(100), Some(ReadAnswer::Move("x".repeat(100))));
    assert_eq!(one(101), None);
    let many = |length: usize| read(&format!("<answer>{}</answer>", "e2 ".repeat(length)), true, ReadingRule::Release);
    assert_eq!(many(100), Some(ReadAnswer::Moves(vec!["e2".to_owned(); 100])));
    assert_eq!(many(101), None);
}

/// One megabyte of the same is read in a time that grows with its length.
#[test]
fn hostile_texts_are_read_in_linear_time() {
    let million = |part: &str| part.repeat(1_000_000 / part.len());
    for text in [
        million("<answer>"),
        million("<answer></answer>"),
        million("</answer><answer>") + "</answer>",
        format!("<answer>{}</answer>", million("[")),
        format!("<answer>{}</answer>", million("['a',")),
        format!("<answer>{}</answer>", million("'")),
        format!("<answer>{}</answer>", million("{'a':")),
        format!("<answer>{}</answer>", million("1_")),
        format!("<answer>{}</answer>", million("\\")),
        format!("<answer>{}</answer>", million("e2e4 ")),
        format!("<answer>{}</answer>", million("a1b2a1b2 h8")),
        million("</think>"),
        million("\u{202e}e2"),
    ] {
        let start = Instant::now();
        for reading in ReadingRule::ALL {
            for wants_a_list in [false, true] {
                read(&text, wants_a_list, reading);
            }
        }
        let taken = start.elapsed();
        // Four readings without optimisation on a busy machine; a time that grows with the square of the length is hours.
        assert!(taken < Duration::from_secs(60), "{taken:?}: {}", &text[..8]);
    }
}

proptest! {
    #[test]
    fn no_text_panics(
        text in r"(<answer>|</answer>|<think>|</think>|[a-h][1-8]|[\[\](){}'\x22,:\\ \n=qxé]|[0-9._ej+-]|\PC){0,60}",
        wants_a_list: bool,
    ) {
        for reading in ReadingRule::ALL {
            read(&text, wants_a_list, reading);
        }
        literal(&text);
    }

    /// A list that Python would write is read as it stands.
    #[test]
    fn written_lists_are_read(moves in prop::collection::vec("[a-h][1-8][a-h][1-8][qrbn]?", 1..20)) {
        let quoted: Vec<String> = moves.iter().map(|uci| format!("'{uci}'")).collect();
        let text = format!("<think>e2e4</think> <answer>[{}]</answer>", quoted.join(", "));
        prop_assert_eq!(read(&text, true, ReadingRule::Release), Some(ReadAnswer::Moves(moves)));
    }
}
