//! `needs:`: a cell's share of the machine.

use std::time::Duration;

use cwm_contract::{Needs, Value, amount};

use cwm_core::located::{DURATION, duration};
use cwm_core::{Diagnostic, Diagnostics, Node, SpannedStr, suggest, visible};

const KEYS: [&str; 4] = ["cpu", "gpu", "memory", "time"];

/// `default` with what is written (names already substituted) in its place, and how long it takes at most, if that is written.
pub fn needs(
    mut needs: Needs,
    written: &[(SpannedStr, Node)],
    problems: &mut Diagnostics,
) -> (Needs, Option<Duration>) {
    let mut time = None;
    for (key, node) in written {
        let value = node.scalar();
        let wanted = match key.text.as_str() {
            "cpu" => match value {
                Some(Value::Int(cores)) if (1..=1 << 20).contains(cores) => {
                    needs.cpu = Some(*cores as u32);
                    continue;
                }
                Some(Value::Text(text)) if text == "all" => {
                    needs.cpu = None;
                    continue;
                }
                _ => "a number of cores from 1, or `all`",
            },
            "gpu" => match value {
                Some(Value::Int(devices)) if (0..=1 << 20).contains(devices) => {
                    needs.gpu = *devices as f64;
                    continue;
                }
                Some(Value::Float(part)) if part.is_finite() && *part >= 0.0 => {
                    needs.gpu = *part;
                    continue;
                }
                _ => "a number of accelerators, or a part of one such as 0.25",
            },
            "memory" => match value.and_then(amount::parse_bytes) {
                Some(bytes) => {
                    needs.memory = bytes;
                    continue;
                }
                None => "an amount such as `4GiB` or `500MB`",
            },
            "time" => match duration(node) {
                Some(longest) => {
                    time = Some(longest);
                    continue;
                }
                None => DURATION,
            },
            _ => {
                problems.push(
                    Diagnostic::at(key.place, format!("there is no need `{}`", visible(&key.text)))
                        .maybe_hint(suggest(&key.text, "needs", KEYS)),
                );
                continue;
            }
        };
        problems.push(
            Diagnostic::at(node.place, format!("`{}` must be {wanted}, not {}", key.text, node.value()))
                .maybe_related(node.origin, "its value comes from here"),
        );
    }
    (needs, time)
}
