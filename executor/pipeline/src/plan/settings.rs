//! Reads the settings of a cell that are in no key: `needs:`, `device:`, `retry:` and `limits:`.

use std::time::Duration;

use cwm_contract::{DeviceChoice, Needs, Stage, Value, amount};

use super::substitute::Scope;
use crate::spec::StageSpec;
use cwm_core::located::DURATION;
use cwm_core::{Content, Diagnostic, Node, Problems, nearest};

/// The settings of a cell.
#[derive(Clone, Copy, Debug, Default)]
pub struct CellSettings {
    /// Its share of the machine.
    pub needs: Needs,
    /// The time limit of its batch job. On this machine it has no effect.
    pub time: Option<Duration>,
    /// Its device, if its stage can choose one.
    pub device: DeviceChoice,
    /// Its retries, and the limits of an attempt.
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

const MOST_RETRIES: i128 = 100;
const TIMES: &str = "a number of further attempts, up to 100";

/// Reads the settings of a cell. `kind` is none where the kind of the stage is not known, `needs` are the stage's own.
pub fn settings(stage: &StageSpec, kind: Option<&'static dyn Stage>, needs: Needs, scope: &Scope) -> CellSettings {
    let problems = scope.problems;
    let mut settings = CellSettings { needs, ..CellSettings::default() };
    let CellSettings { needs, time, retry, .. } = &mut settings;
    for (key, node) in &stage.needs {
        let Some(node) = &scope.node(node) else { continue };
        match key.text.as_str() {
            "cpu" => {
                let cores = match node.scalar() {
                    Some(Value::Int(cores)) if (1..=1 << 20).contains(cores) => Some(Some(*cores as u32)),
                    Some(Value::Text(text)) if text == "all" => Some(None),
                    _ => None,
                };
                set(&mut needs.cpu, cores, node, "cpu", "a number of cores from 1, or `all`", problems);
            }
            "gpu" => {
                let devices = match node.scalar() {
                    Some(Value::Int(devices)) if (0..=1 << 20).contains(devices) => Some(*devices as f64),
                    Some(Value::Float(part)) if part.is_finite() && *part >= 0.0 => Some(*part),
                    _ => None,
                };
                let wanted = "a number of accelerators, or a part of one such as 0.25";
                set(&mut needs.gpu, devices, node, "gpu", wanted, problems);
            }
            "memory" => set_memory(&mut needs.memory, node, problems),
            "time" => set(time, node.duration().map(Some), node, "time", DURATION, problems),
            _ => problems.unknown_key(key, "`needs`", &["cpu", "gpu", "memory", "time"]),
        }
    }
    let value = |written: &Option<Node>| scope.node(written.as_ref()?);
    match value(&stage.retry) {
        Some(node) if matches!(node.content, Content::Map(_)) => {
            for (key, node) in problems.map(&node, "`retry`") {
                match key.text.as_str() {
                    "times" => set(&mut retry.retries, times(node), node, "times", TIMES, problems),
                    "wait" => set(&mut retry.wait, node.duration(), node, "wait", DURATION, problems),
                    _ => problems.unknown_key(key, "`retry`", &["times", "wait"]),
                }
            }
        }
        Some(node) => {
            let wanted = "a number of further attempts up to 100, or `{ times: 2, wait: 10s }`";
            set(&mut retry.retries, times(&node), &node, "retry", wanted, problems);
        }
        None => {}
    }
    let limits = value(&stage.limits);
    for (key, node) in limits.iter().flat_map(|node| problems.map(node, "`limits`")) {
        match key.text.as_str() {
            "time" => set(&mut retry.time, node.duration().map(Some), node, "time", DURATION, problems),
            "memory" => set_memory(&mut retry.memory, node, problems),
            _ => problems.unknown_key(key, "`limits`", &["time", "memory"]),
        }
    }
    if let Some((key, node)) = &stage.device {
        let node = scope.node(node);
        match kind.filter(|kind| !kind.uses_devices()) {
            Some(kind) => {
                let message = format!("`{}` stages compute on the CPU alone", kind.kind());
                problems.push(Diagnostic::at(key.place, message).hint("leave `device` out"));
            }
            None => settings.device = node.map(|node| device(&node, problems)).unwrap_or_default(),
        }
    }
    settings
}

/// Reads a device. A wrong one is reported.
fn device(node: &Node, problems: &Problems) -> DeviceChoice {
    let text = node.text();
    if let Some(Ok(choice)) = text.map(str::parse) {
        return choice;
    }
    let hint = text.and_then(|text| nearest(text, DeviceChoice::NAMES)).map_or_else(
        || "`cuda:0` is the first GPU of NVIDIA, `wgpu:0` of any maker; `cwm model devices` lists them".to_owned(),
        |meant| format!("did you mean `{meant}`?"),
    );
    let message = format!("`device` must be auto, cpu or a GPU by number such as cuda:0, not {}", node.value());
    problems.push(node.problem(message).hint(hint));
    DeviceChoice::Auto
}

fn times(node: &Node) -> Option<u32> {
    match node.scalar() {
        Some(Value::Int(times)) if (0..=MOST_RETRIES).contains(times) => Some(*times as u32),
        _ => None,
    }
}

/// Sets a number of bytes, or reports what it must be: a number below 1 MB without a unit is one whose unit was left out.
fn set_memory<T: From<u64>>(place: &mut T, node: &Node, problems: &Problems) {
    if let Some(Value::Int(bytes @ 1..=999_999)) = node.scalar() {
        let unit = if *bytes < 1000 { "GB" } else { "MB" };
        let problem = node.problem(format!("`memory` is {bytes} bytes, because it has no unit"));
        return problems.push(problem.hint(format!("write its unit: `memory: {bytes}{unit}`")));
    }
    let bytes = node.scalar().and_then(amount::parse_bytes);
    set(place, bytes.map(T::from), node, "memory", "an amount such as `4GiB` or `500MB`", problems);
}

/// Sets a value, or reports what it must be.
fn set<T>(place: &mut T, value: Option<T>, node: &Node, key: &str, wanted: &str, problems: &Problems) {
    match value {
        Some(value) => *place = value,
        None => problems.push(node.problem(format!("`{key}` must be {wanted}, not {}", node.value()))),
    }
}
