//! `needs:`: a cell's share of the machine.

use cwm_contract::{Needs, Value};

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::spec::names::{printable, suggest};
use crate::spec::{Node, Word};

const KEYS: [&str; 3] = ["cpu", "gpu", "memory"];

/// `default` with what is written (names already substituted) in its place.
pub fn needs(mut needs: Needs, written: &[(Word, Node)], problems: &mut Diagnostics) -> Needs {
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
            "memory" => match value.and_then(bytes) {
                Some(bytes) => {
                    needs.memory = bytes;
                    continue;
                }
                None => "an amount such as `4GiB` or `500MB`",
            },
            _ => {
                problems.push(
                    Diagnostic::at(key.place, format!("there is no need `{}`", printable(&key.text)))
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
    needs
}

/// Bytes: an integer, or a number with a unit.
fn bytes(value: &Value) -> Option<u64> {
    let text = match value {
        Value::Int(bytes) => return u64::try_from(*bytes).ok().filter(|bytes| *bytes > 0),
        Value::Text(text) => text,
        _ => return None,
    };
    let unit = text.find(|c: char| c.is_ascii_alphabetic())?;
    let number: f64 = text[..unit].trim().parse().ok()?;
    let factor: u64 = match text[unit..].to_ascii_lowercase().as_str() {
        "b" => 1,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        "kib" | "k" => 1 << 10,
        "mib" | "m" => 1 << 20,
        "gib" | "g" => 1 << 30,
        "tib" | "t" => 1 << 40,
        _ => return None,
    };
    let bytes = number * factor as f64;
    (bytes >= 1.0 && bytes <= (1u64 << 60) as f64).then_some(bytes as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_of_memory() {
        let read = |text: &str| bytes(&Value::Text(text.into()));
        assert_eq!(read("4GiB"), Some(4 << 30));
        assert_eq!(read("1.5 MB"), Some(1_500_000));
        assert_eq!(read("512m"), Some(512 << 20));
        assert_eq!(bytes(&Value::Int(1024)), Some(1024));
        for wrong in ["", "4", "GiB", "-1GB", "4XB", "nanGB", "1e400GB", "0b"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
