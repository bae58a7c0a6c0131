//! Reads the settings of a cell that are in no key: `needs:`, `device:`, `retry:` and `limits:`.

use std::time::Duration;

use cwm_contract::{DeviceChoice, Needs, Stage, Value, amount};

use super::substitute::Scope;
use crate::spec::StageSpec;
use cwm_core::located::{DURATION, duration};
use cwm_core::{Content, Diagnostic, Diagnostics, Node, SpannedStr, nearest, suggest, visible};

/// The settings of a cell.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings {
    /// Its share of the machine.
    pub needs: Needs,
    /// The time limit of a batch job.
    pub time: Option<Duration>,
    /// The device that it computes on.
    pub device: DeviceChoice,
    /// Its retries and limits.
    pub retry: RetryOptions,
}

/// The values of `retry:` and `limits:` of a cell. The engine has the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryOptions {
    /// The number of attempts after a failed one.
    pub retries: u32,
    /// The time before the second attempt; it doubles before each further one.
    pub wait: Duration,
    /// The time limit of an attempt.
    pub time: Option<Duration>,
    /// The limit of the bytes that the processes of an attempt hold together.
    pub memory: Option<u64>,
}

impl Default for RetryOptions {
    fn default() -> Self {
        RetryOptions { retries: 0, wait: Duration::from_secs(10), time: None, memory: None }
    }
}

const NEEDS: [&str; 4] = ["cpu", "gpu", "memory", "time"];
const MOST_RETRIES: i128 = 100;
const TIMES: &str = "a number of further attempts, up to 100";

/// Reads the settings of a cell. `kind` is none where the kind of the stage is not known, `needs` are the stage's own.
pub fn settings(
    stage: &StageSpec,
    kind: Option<&'static dyn Stage>,
    needs: Needs,
    scope: &mut Scope,
    problems: &mut Diagnostics,
) -> Settings {
    let mut settings = Settings { needs, ..Settings::default() };
    for (key, node) in &stage.needs {
        let Some(node) = scope.node(node, problems) else { continue };
        let value = node.scalar();
        let needs = &mut settings.needs;
        match key.text.as_str() {
            "cpu" => {
                let cores = match value {
                    Some(Value::Int(cores)) if (1..=1 << 20).contains(cores) => Some(Some(*cores as u32)),
                    Some(Value::Text(text)) if text == "all" => Some(None),
                    _ => None,
                };
                set(&mut needs.cpu, cores, &node, "cpu", "a number of cores from 1, or `all`", problems);
            }
            "gpu" => {
                let devices = match value {
                    Some(Value::Int(devices)) if (0..=1 << 20).contains(devices) => Some(*devices as f64),
                    Some(Value::Float(part)) if part.is_finite() && *part >= 0.0 => Some(*part),
                    _ => None,
                };
                let wanted = "a number of accelerators, or a part of one such as 0.25";
                set(&mut needs.gpu, devices, &node, "gpu", wanted, problems);
            }
            "memory" => {
                let bytes = value.and_then(amount::parse_bytes);
                set(&mut needs.memory, bytes, &node, "memory", "an amount such as `4GiB` or `500MB`", problems);
            }
            "time" => set(&mut settings.time, duration(&node).map(Some), &node, "time", DURATION, problems),
            _ => problems.push(
                Diagnostic::at(key.place, format!("there is no need `{}`", visible(&key.text)))
                    .maybe_hint(suggest(&key.text, "needs", NEEDS)),
            ),
        }
    }
    if let Some((key, node)) = &stage.device {
        let node = scope.node(node, problems);
        match kind.filter(|kind| !kind.uses_devices()) {
            Some(kind) => {
                let message = format!("`{}` stages compute on the processor alone", kind.kind());
                problems.push(Diagnostic::at(key.place, message).hint("leave `device` out"));
            }
            None => settings.device = node.map(|node| device(&node, problems)).unwrap_or_default(),
        }
    }
    let mut substituted = |written: &Option<Node>| written.as_ref().and_then(|node| scope.node(node, problems));
    let (retry, limits) = (substituted(&stage.retry), substituted(&stage.limits));
    settings.retry = retry_options(retry.as_ref(), limits.as_ref(), problems);
    settings
}

/// Reads a device. A wrong one is reported.
fn device(node: &Node, problems: &mut Diagnostics) -> DeviceChoice {
    let text = node.text();
    if let Some(Ok(choice)) = text.map(str::parse) {
        return choice;
    }
    let hint = text.and_then(|text| nearest(text, DeviceChoice::NAMES)).map_or_else(
        || "`cuda:0` is the first GPU; `cwm devices` lists them".to_owned(),
        |meant| format!("did you mean `{meant}`?"),
    );
    let message = format!("`device` must be auto, cpu or a GPU by number such as cuda:0, not {}", node.value());
    problems
        .push(Diagnostic::at(node.place, message).hint(hint).maybe_related(node.origin, "its value comes from here"));
    DeviceChoice::Auto
}

fn retry_options(retry: Option<&Node>, limits: Option<&Node>, problems: &mut Diagnostics) -> RetryOptions {
    let mut options = RetryOptions::default();
    match retry {
        Some(node) if matches!(node.content, Content::Map(_)) => {
            for (key, node) in entries(node, "retry", &["times", "wait"], problems) {
                match key.text.as_str() {
                    "times" => set(&mut options.retries, times(node), node, "times", TIMES, problems),
                    _ => set(&mut options.wait, duration(node), node, "wait", DURATION, problems),
                }
            }
        }
        Some(node) => {
            let wanted = "a number of further attempts up to 100, or `{ times: 2, wait: 10s }`";
            set(&mut options.retries, times(node), node, "retry", wanted, problems);
        }
        None => {}
    }
    for (key, node) in limits.map(|node| entries(node, "limits", &["time", "memory"], problems)).unwrap_or_default() {
        match key.text.as_str() {
            "time" => set(&mut options.time, duration(node).map(Some), node, "time", DURATION, problems),
            _ => {
                let bytes = node.scalar().and_then(amount::parse_bytes).map(Some);
                set(&mut options.memory, bytes, node, "memory", "an amount such as `8GiB` or `500MB`", problems);
            }
        }
    }
    options
}

fn times(node: &Node) -> Option<u32> {
    match node.scalar() {
        Some(Value::Int(times)) if (0..=MOST_RETRIES).contains(times) => Some(*times as u32),
        _ => None,
    }
}

/// Sets a value, or reports what it must be.
fn set<T>(place: &mut T, value: Option<T>, node: &Node, key: &str, wanted: &str, problems: &mut Diagnostics) {
    match value {
        Some(value) => *place = value,
        None => problems.push(
            Diagnostic::at(node.place, format!("`{key}` must be {wanted}, not {}", node.value()))
                .maybe_related(node.origin, "its value comes from here"),
        ),
    }
}

/// Returns the entries of a map whose keys are `known`. All others are reported.
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
            let hint = suggest(&key.text, "keys", known.iter().copied());
            let message = format!("`{name}` has no key `{}`", visible(&key.text));
            problems.push(Diagnostic::at(key.place, message).maybe_hint(hint));
        }
    }
    found
}
