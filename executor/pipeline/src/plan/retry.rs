//! `retry:` and `limits:`: how often a cell is tried, and when an attempt is ended.

use std::time::Duration;

use cwm_contract::{Value, amount};

use cwm_core::located::{DURATION, duration};
use cwm_core::{Content, Diagnostic, Diagnostics, Node, SpannedStr, suggest, visible};

/// The values of `retry:` and `limits:` of a cell. They are in no key, and decide nothing: the engine has the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryOptions {
    /// How many more attempts there are after one that failed.
    pub retries: u32,
    /// How long it is before the second attempt; twice as long before each one after that.
    pub wait: Duration,
    /// How long one attempt may run.
    pub time: Option<Duration>,
    /// Bytes that the processes of one attempt may hold together.
    pub memory: Option<u64>,
}

impl Default for RetryOptions {
    fn default() -> Self {
        RetryOptions { retries: 0, wait: Duration::from_secs(10), time: None, memory: None }
    }
}

const MOST_RETRIES: i128 = 100;

/// Reads what is written (names already substituted) under `retry` and `limits`.
pub fn retry_options(retry: Option<&Node>, limits: Option<&Node>, problems: &mut Diagnostics) -> RetryOptions {
    let mut attempts = RetryOptions::default();
    if let Some(node) = retry {
        if matches!(node.content, Content::Map(_)) {
            for (key, node) in entries(node, "retry", &["times", "wait"], problems) {
                match key.text.as_str() {
                    "times" => set(&mut attempts.retries, times(node), node, "times", TIMES, problems),
                    _ => set(&mut attempts.wait, duration(node), node, "wait", DURATION, problems),
                }
            }
        } else {
            let wanted = "a number of further attempts up to 100, or `{ times: 2, wait: 10s }`";
            set(&mut attempts.retries, times(node), node, "retry", wanted, problems);
        }
    }
    for (key, node) in limits.map(|node| entries(node, "limits", &["time", "memory"], problems)).unwrap_or_default() {
        match key.text.as_str() {
            "time" => set(&mut attempts.time, duration(node).map(Some), node, "time", DURATION, problems),
            _ => {
                let bytes = node.scalar().and_then(amount::parse_bytes).map(Some);
                set(&mut attempts.memory, bytes, node, "memory", "an amount such as `8GiB` or `500MB`", problems);
            }
        }
    }
    attempts
}

const TIMES: &str = "a number of further attempts, up to 100";

fn set<T>(place: &mut T, value: Option<T>, node: &Node, key: &str, wanted: &str, problems: &mut Diagnostics) {
    match value {
        Some(value) => *place = value,
        None => problems.push(
            Diagnostic::at(node.place, format!("`{key}` must be {wanted}, not {}", node.value()))
                .maybe_related(node.origin, "its value comes from here"),
        ),
    }
}

/// The entries of a map whose keys are `known`; all else is reported.
fn entries<'n>(
    node: &'n Node,
    name: &str,
    known: &[&'static str],
    problems: &mut Diagnostics,
) -> Vec<(&'n SpannedStr, &'n Node)> {
    let Content::Map(entries) = &node.content else {
        let example = "`{ time: 2h, memory: 8GiB }`";
        let problem =
            Diagnostic::at(node.place, format!("`{name}` must be a map such as {example}, not {}", node.kind()));
        problems.push(problem.maybe_related(node.origin, "its value comes from here"));
        return Vec::new();
    };
    let mut found: Vec<(&SpannedStr, &Node)> = Vec::new();
    for (key, node) in entries {
        if let Some((first, _)) = found.iter().find(|(other, _)| other.text == key.text) {
            let problem = Diagnostic::at(key.place, format!("`{}` is written twice", visible(&key.text)));
            problems.push(problem.related(first.place, "the first"));
        } else if known.contains(&key.text.as_str()) {
            found.push((key, node));
        } else {
            problems.push(
                Diagnostic::at(key.place, format!("`{name}` has no key `{}`", visible(&key.text))).maybe_hint(suggest(
                    &key.text,
                    "keys",
                    known.iter().copied(),
                )),
            );
        }
    }
    found
}

fn times(node: &Node) -> Option<u32> {
    match node.scalar() {
        Some(Value::Int(times)) if (0..=MOST_RETRIES).contains(times) => Some(*times as u32),
        _ => None,
    }
}
