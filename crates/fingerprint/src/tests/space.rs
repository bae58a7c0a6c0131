//! Space, comments, and everything else that rustfmt does: none of it matters.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use proptest::prelude::*;

use super::house::SPLIT;
use crate::normal::encode_file;

fn encode(source: &str) -> Vec<u8> {
    encode_file(syn::parse_file(source).unwrap_or_else(|error| panic!("{error} in:\n{source}")))
}

#[track_caller]
fn same(one: &str, other: &str) {
    assert!(encode(one) == encode(other), "should be the same:\n{one}\n{other}");
}

#[track_caller]
fn different(one: &str, other: &str) {
    assert!(encode(one) != encode(other), "should differ:\n{one}\n{other}");
}

#[test]
fn inside_a_macro_operators_count_and_the_space_around_them_does_not() {
    same("m! { a=-1; b }", "m! { a = - 1 ; b }");
    same("m! { x=>&y; z }", "m! { x => & y ; z }");
    different("m! { a == b; }", "m! { a = = b; }");
    different("m! { a..=b; }", "m! { a.. =b; }");
    same("m! { &'a str; }", "m! { & 'a   str ; }");
    different("m! { 'a'; }", "m! { 'b'; }");
}

#[test]
fn a_comma_after_the_last_entry_says_nothing() {
    same("fn f(a: u8, b: u8) {}", "fn f(\n    a: u8,\n    b: u8,\n) {}");
    same("fn f() { g(a) }", "fn f() { g(\n a,\n) }");
    same("fn f() { x.g(a, [b, c]) }", "fn f() { x.g(a, [b, c,],) }");
    same("use a::{b, c};", "use a::{\n    b,\n    c,\n};");
    same("struct S { a: u8 }", "struct S { a: u8, }");
    same("struct S(u8);", "struct S(u8,);");
    same("enum E { A, B(u8) }", "enum E { A, B(u8,), }");
    same("fn f<A, B>() where A: X {}", "fn f<A, B,>() where A: X, {}");
    same("type T = (A, B);", "type T = (A, B,);");
    same("fn f() { let S { a, b } = x; let (c, d) = y; }", "fn f() { let S { a, b, } = x; let (c, d,) = y; }");
    same("#[derive(A, B)] struct S;", "#[derive(A, B,)] struct S;");
    same("type T = Vec<A>;", "type T = Vec<A,>;");
    same("type T = fn(A) -> Box<dyn Fn(B)>;", "type T = fn(A,) -> Box<dyn Fn(B,)>;");
    same("fn f() { |a, b| a; }", "fn f() { |a, b,| a; }");
}

#[test]
fn the_comma_of_a_tuple_of_one_says_something() {
    different("fn f() { (a,) }", "fn f() { (a) }");
    different("type T = (A,);", "type T = (A);");
    different("fn f((a,): T) {}", "fn f((a): T) {}");
}

#[test]
fn braces_around_a_body_say_nothing() {
    same("fn f() { match x { 1 => a, _ => b } }", "fn f() { match x { 1 => { a } _ => { b } } }");
    same("fn f() { match x { 1 => return a, _ => b } }", "fn f() { match x { 1 => { return a; } _ => b, } }");
    same("fn f() { match x { 1 => panic!(), _ => b } }", "fn f() { match x { 1 => { panic!() } _ => b } }");
    same("fn f() { g(|x| x + 1) }", "fn f() { g(|x| { x + 1 }) }");
    different("fn f() { match x { 1 => a, _ => b } }", "fn f() { match x { 1 => { a; } _ => b } }");
    different("fn f() { g(|x| x) }", "fn f() { g(|x| { x; }) }");
}

#[test]
fn a_semicolon_after_return_says_nothing() {
    same("fn f() { return a }", "fn f() { return a; }");
    different("fn f() { a }", "fn f() { a; }");
}

#[test]
fn neighbouring_use_and_mod_lines_have_no_order() {
    same("use a::{c, b};\nuse b;\nmod y;\nmod x;", "use b;\nuse a::{b, c};\nmod x;\nmod y;");
    same("use a::{b};", "use a::b;");
    different("use a::{self};", "use a;");
    different("mod x;\n#[macro_use]\nmod y;", "#[macro_use]\nmod y;\nmod x;");
    different("fn a() {}\nfn b() {}", "fn b() {}\nfn a() {}");
}

#[test]
fn a_string_that_goes_on_counts_by_its_value() {
    same("const A: &str = \"a \\\n    b\";", "const A: &str = \"a \\\n          b\";");
    different("const A: &str = \"a\n    b\";", "const A: &str = \"a\n          b\";");
    different("const A: &str = r\"a \\\n    b\";", "const A: &str = r\"a \\\n          b\";");
    different("const A: &str = \"a\\\\\n b\";", "const A: &str = \"a\\\\\n  b\";");
}

#[test]
fn a_macro_that_reads_as_expressions_is_treated_as_such() {
    same("fn f() { assert!(g(a, b), \"x\") }", "fn f() { assert!(g(a, b,), \"x\") }");
    same("fn f() { vec![a, b] }", "fn f() { vec![a, b,] }");
    different("fn f() { m!(a) }", "fn f() { m!(a,) }");
}

#[test]
fn test_only_members_of_any_kind_of_list_are_left_out() {
    same("trait T { fn a(); }", "trait T { fn a(); #[cfg(test)] fn b(); }");
    same("fn f() { S { a } }", "fn f() { S { a, #[cfg(test)] b: 1 } }");
    same("fn f(S { a }: S) {}", "fn f(S { a, #[cfg(test)] b }: S) {}");
    same("mod m { fn a() {} }", "mod m { fn a() {} #[cfg(any(test, all(test, unix)))] fn b() {} }");
    same("static A: &[F] = &[a::F, b::F];", "static A: &[F] = &[a::F, #[cfg(test)] c::F, b::F, #[cfg(test)] &d(1),];");
    different("fn a() {}", "fn a() {} #[cfg(any())] fn b() {}");
    different("static A: [u8; 1] = [1];", "static A: [u8; 1] = [1, #[cfg(unix)] 2];");
}

/// rustfmt, told to lay out this repository's own code quite differently.
#[test]
fn no_width_or_style_of_rustfmt_matters() {
    if !Command::new("rustfmt").arg("--version").output().is_ok_and(|output| output.status.success()) {
        return println!("skipped: rustfmt is not installed (rustup component add rustfmt)");
    }
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut sources = vec![SPLIT.to_owned()];
    for folder in ["fingerprint/src", "contract/src", "encoding/src"] {
        for entry in fs::read_dir(crates.join(folder)).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|extension| extension == "rs") {
                sources.push(fs::read_to_string(path).expect("read"));
            }
        }
    }
    for style in ["max_width=60", "max_width=200,use_small_heuristics=Max", "hard_tabs=true,use_small_heuristics=Off"] {
        let mut changed = 0;
        for source in &sources {
            let formatted = rustfmt(source, style);
            changed += usize::from(formatted != *source);
            assert!(encode(source) == encode(&formatted), "{style} changes the code of:\n{formatted}");
        }
        assert!(changed > 10, "{style} is too much like our own style to show anything");
    }
}

fn rustfmt(source: &str, style: &str) -> String {
    let config = format!("newline_style=Unix,{style}");
    let mut child = Command::new("rustfmt")
        .args(["--edition", "2024", "--config", &config])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("rustfmt starts");
    child.stdin.take().expect("piped").write_all(source.as_bytes()).expect("written");
    let output = child.wait_with_output().expect("rustfmt ends");
    assert!(output.status.success(), "rustfmt refuses:\n{source}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The tokens of a file as text, each with whether the next one must follow without space.
fn pieces(tokens: TokenStream, pieces: &mut Vec<(String, bool)>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                pieces.push((open.to_owned(), false));
                self::pieces(group.stream(), pieces);
                pieces.push((close.to_owned(), false));
            }
            TokenTree::Punct(punct) => pieces.push((punct.to_string(), punct.spacing() == Spacing::Joint)),
            other => pieces.push((other.to_string(), false)),
        }
    }
}

const GAPS: &[&str] = &[" ", "\n", "\t\t", "\r\n", " // so be it\n", " /* a, /* b */ } */ ", "\n\n\n", " //// four\n"];

proptest! {
    #[test]
    fn any_space_and_any_comment_between_tokens_changes_nothing(
        choices in prop::collection::vec(0..GAPS.len(), 64..512),
    ) {
        let mut tokens = Vec::new();
        pieces(SPLIT.parse().expect("tokens"), &mut tokens);
        let mut text = String::new();
        for (at, (piece, joined)) in tokens.iter().enumerate() {
            text.push_str(piece);
            if !joined {
                text.push_str(GAPS[choices[at % choices.len()]]);
            }
        }
        prop_assert_eq!(encode(&text), encode(SPLIT));
    }
}
