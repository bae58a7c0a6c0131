//! Downloads from the network: keys by sums, pins, months, lists, beginnings, pipes.

mod interruption;
mod pins;
mod pipes;
mod sources;

use crate::context::{Context, Ran};

const TAG: &str = "\"v1\"";

/// So many games of 20 plies, as a file of Lichess has them.
fn games(count: usize) -> String {
    let moves: String =
        (1..=10).map(|number| format!("{number}. {} ", ["Nf3 Nf6", "Ng1 Ng8"][(number + 1) % 2])).collect();
    (0..count)
        .map(|game| {
            format!("[Event \"Rated\"]\n[Site \"https://lichess.org/{game:08}\"]\n[Result \"*\"]\n\n{moves}*\n\n")
        })
        .collect()
}

/// A pipeline with a download, and a stage that reads what it brings.
fn pipeline(with: &str) -> Context {
    Context::with(&format!(
        "cwm: 1\nstages:\n  games: {{ stage: download, with: {{ {with} }} }}\n  \
         size: {{ stage: command, from: games, with: {{ run: 'wc -c < \"$in\" > \"$out\"' }} }}\n"
    ))
}

/// The sum of some bytes, by a program that everyone has.
fn sum(bytes: &[u8]) -> String {
    use std::io::Write;
    let mut child = std::process::Command::new("sha256sum")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("sha256sum starts");
    child.stdin.take().expect("its input").write_all(bytes).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    String::from_utf8_lossy(&output.stdout)[..64].to_owned()
}

#[track_caller]
fn well(ran: Ran) -> String {
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    ran.stdout
}

/// The record of the only result of `stage`.
fn record(context: &Context, stage: &str) -> serde_json::Value {
    let shown: serde_json::Value = serde_json::from_str(&well(context.cwm(&["show", "--json", stage]))).expect("JSON");
    shown[0].clone()
}
