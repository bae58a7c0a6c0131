//! Every crate that is built in has a licence that `deny.toml` allows: checked offline, from what cargo knows.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The quoted strings of a line or list.
fn quoted(text: &str) -> Vec<String> {
    text.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The licences that `deny.toml` allows to all crates, and its exceptions: a crate and a licence each.
fn allowed() -> (BTreeSet<String>, Vec<(String, String)>) {
    let text = fs::read_to_string(Path::new(ROOT).join("deny.toml")).expect("deny.toml");
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with('#')).collect();
    let text = lines.join("\n");
    let list =
        text.split("\nallow = [").nth(1).and_then(|rest| rest.split("\n]").next()).expect("the list of licences");
    let exceptions = text.lines().filter(|line| line.trim_start().starts_with("{ allow"));
    let exceptions = exceptions.map(|line| match quoted(line).as_slice() {
        [licence, name] => (name.clone(), licence.clone()),
        other => panic!("an exception is one licence and one crate, not {other:?}"),
    });
    (quoted(list).into_iter().collect(), exceptions.collect())
}

/// An SPDX expression, and the old `A/B` for `A OR B`, and `GPL-3.0+` for `GPL-3.0-or-later`.
fn holds(expression: &str, is_allowed: &dyn Fn(&str) -> bool) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ").replace(" WITH ", "+WITH+");
    let words: Vec<String> = spaced.split_whitespace().map(|word| word.replace("+WITH+", " WITH ")).collect();
    let mut at = 0;
    let answer = any(&words, &mut at, is_allowed);
    assert_eq!(at, words.len(), "`{expression}` is no licence expression");
    answer
}

fn any(words: &[String], at: &mut usize, is_allowed: &dyn Fn(&str) -> bool) -> bool {
    let mut answer = all(words, at, is_allowed);
    while words.get(*at).is_some_and(|word| word == "OR") {
        *at += 1;
        answer |= all(words, at, is_allowed);
    }
    answer
}

fn all(words: &[String], at: &mut usize, is_allowed: &dyn Fn(&str) -> bool) -> bool {
    let mut answer = one(words, at, is_allowed);
    while words.get(*at).is_some_and(|word| word == "AND") {
        *at += 1;
        answer &= one(words, at, is_allowed);
    }
    answer
}

fn one(words: &[String], at: &mut usize, is_allowed: &dyn Fn(&str) -> bool) -> bool {
    let Some(word) = words.get(*at) else { return false };
    *at += 1;
    if word != "(" {
        return is_allowed(word) || word.strip_suffix('+').is_some_and(|old| is_allowed(&format!("{old}-or-later")));
    }
    let answer = any(words, at, is_allowed);
    *at += 1;
    answer
}

#[test]
fn licence_expressions_are_read_as_they_are_meant() {
    let is_allowed =
        |licence: &str| ["MIT", "ISC", "GPL-3.0-or-later", "Apache-2.0 WITH LLVM-exception"].contains(&licence);
    for good in [
        "MIT",
        "GPL-3.0+",
        "GPL-2.0 OR MIT",
        "MIT/GPL-2.0",
        "MIT AND ISC",
        "(X OR MIT) AND ISC",
        "Apache-2.0 WITH LLVM-exception",
    ] {
        assert!(holds(good, &is_allowed), "{good}");
    }
    for bad in ["GPL-2.0", "GPL-2.0+", "GPL-3.0", "MIT AND X", "(MIT OR ISC) AND X", "Apache-2.0", ""] {
        assert!(!holds(bad, &is_allowed), "{bad}");
    }
}

/// `NAME VERSION|LICENCE` of every crate of a build with these features, one a line; or what cargo says where it lacks
/// one of them.
fn listed(features: &[&str]) -> Result<String, String> {
    // Offline: what was built is there.
    let arguments = ["tree", "--workspace", "--locked", "--offline", "--edges", "normal,build", "--prefix", "none"];
    let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(arguments)
        .args(["--format", "{p}|{l}"])
        .args(features)
        .current_dir(ROOT)
        .output();
    let output = output.expect("cargo starts");
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(String::from_utf8(output.stdout).expect("UTF-8"))
}

#[track_caller]
fn assert_allowed(listed: &str) {
    let (allowed, exceptions) = allowed();
    let crates: BTreeSet<(&str, &str)> =
        listed.lines().filter_map(|line| line.trim_end_matches(" (*)").split_once('|')).collect();
    assert!(crates.len() > 100, "cargo tree lists the crates");
    let refused: Vec<String> = crates
        .iter()
        .filter(|(package, licence)| {
            let name = package.split(' ').next().unwrap_or_default();
            let excepted = |licence: &str| exceptions.iter().any(|(crate_, other)| crate_ == name && other == licence);
            !holds(licence, &|licence| allowed.contains(licence) || excepted(licence))
        })
        .map(|(package, licence)| format!("{package}: {licence}"))
        .collect();
    assert!(refused.is_empty(), "deny.toml does not allow:\n  {}", refused.join("\n  "));
}

#[test]
fn every_crate_has_a_licence_that_fits_ours() {
    assert_allowed(&listed(&[]).unwrap_or_else(|error| panic!("{error}")));
}

#[test]
fn so_has_every_crate_of_a_build_with_cuda() {
    match listed(&["--features", "cwm/cuda"]) {
        Ok(listed) => assert_allowed(&listed),
        // A build without it fetches none of them.
        Err(error) => println!("skipped: crates of the feature `cuda` are not here: {}", error.trim()),
    }
}
