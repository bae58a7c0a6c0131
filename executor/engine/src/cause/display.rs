//! The text of a cause.

use std::fmt;

use cwm_contract::{Format, Value};

use super::Cause;
use super::values::{change, readable};
use cwm_action::key_parameters::{OUTPUT, VARIABLE};
use cwm_core::format_time;
use cwm_store::EvictionReason;

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::NeverRan => f.write_str("never ran"),
            Cause::Unfinished { at } => {
                write!(f, "it failed or was stopped at {} and was never recorded (`cwm log`)", format_time(*at))
            }
            Cause::Running { owner } => write!(f, "it runs now, and is not recorded yet: {owner}"),
            Cause::RecordMissing { same: None } => {
                f.write_str("the lock file names a result, of which the store has no record")
            }
            Cause::RecordMissing { same: Some(true) } => f.write_str("the lock file names its result, which the store does not have"),
            Cause::RecordMissing { same: Some(false) } => f.write_str(
                "the lock file names an earlier result, of which the store has no record: what changed since is unknown",
            ),
            Cause::RecordDamaged => f.write_str("the record of its result is damaged"),
            Cause::Forced => f.write_str("forced"),
            Cause::ObjectsMissing { count: 1 } => f.write_str("a file of its recorded result is missing"),
            Cause::ObjectsMissing { count } => write!(f, "{count} files of its recorded result are missing"),
            Cause::ObjectsDamaged { count: 1 } => {
                f.write_str("a file of its recorded result was changed since it was stored")
            }
            Cause::ObjectsDamaged { count } => {
                write!(f, "{count} files of its recorded result were changed since they were stored")
            }
            Cause::Evicted { reason } => f.write_str(match reason {
                EvictionReason::Collected => "its files were deleted by `cwm store gc`",
                EvictionReason::NotPulled => "its files were not pulled from a remote",
                EvictionReason::NotKept => "its files were evicted (`keep: false`)",
            }),
            Cause::NotPulled { from, origin } => {
                let remote = remote_name(from.as_deref());
                write!(f, "its result is known from {remote} ({origin}), and its files were not pulled")
            }
            Cause::Parameter { name, old, new, line, set } => {
                if let Some(variable) = name.strip_prefix(VARIABLE) {
                    let text = |value: &Option<Value>| text(&value.clone().filter(|value| *value != Value::Null), "(not set)");
                    return write!(f, "variable `{variable}` of the environment changed: {} -> {}", text(old), text(new));
                }
                if let Some(output) = name.strip_prefix(OUTPUT) {
                    let text = |value: &Option<Value>| value.as_ref().map_or_else(|| "(not declared)".into(), declared);
                    return write!(f, "output `{output}` is declared otherwise: {} -> {}", text(old), text(new));
                }
                let (place, old, new) = match (old, new) {
                    (Some(old), Some(new)) => change(old, new),
                    _ => (String::new(), text(old, "(not given)"), text(new, "(not given)")),
                };
                write!(f, "parameter `{name}` changed{place}: {old} -> {new}")?;
                match line {
                    _ if *set => f.write_str(" (--set)"),
                    Some(line) => write!(f, " (line {line})"),
                    None => Ok(()),
                }
            }
            Cause::Source { old, new, pinned, repinned } => {
                let (old, new) = (text(old, "(nothing)"), text(new, "(nothing)"));
                match (repinned, pinned) {
                    (true, _) => write!(f, "its pin in sources.lock changed: {old} -> {new}"),
                    (false, true) => write!(f, "its source changed: {old} -> {new}, as pinned in sources.lock"),
                    (false, false) => write!(f, "its source changed: {old} -> {new}"),
                }
            }
            Cause::NotPinned { count: 1 } => f.write_str("not fetched before: the fetched content is pinned in sources.lock"),
            Cause::NotPinned { count } => {
                write!(f, "{count} sources not fetched before: the fetched content is pinned in sources.lock")
            }
            Cause::Input { name, label, source, old, new, old_output } => {
                let of_group = if label.is_empty() { String::new() } else { format!(" ({label})") };
                match (old, new) {
                    (None, _) => write!(f, "input `{name}`{of_group} is new, from {source}"),
                    (_, None) => write!(f, "input `{name}`{of_group} is gone"),
                    (Some(old), Some(new)) => {
                        write!(f, "input `{name}`{of_group} changed: {} -> {}", old.short(), new.short())?;
                        if let Some(output) = old_output {
                            write!(f, ", since it was `{source}.{output}` before")?;
                        }
                        write!(f, ", from {source}")
                    }
                }
            }
            Cause::Code { what, .. } if what.is_empty() => f.write_str("its code changed"),
            Cause::Code { what, .. } => write!(f, "code changed: {}", what.join(", ")),
            Cause::Kind { old, new } => write!(f, "it was a `{old}` stage and is a `{new}` stage now"),
            Cause::KeyFormat => f.write_str("this version of cwm computes keys in another way"),
        }
    }
}

/// Returns the name of a remote for people.
pub fn remote_name(name: Option<&str>) -> String {
    name.map_or_else(|| "a remote".to_owned(), |name| format!("the remote `{name}`"))
}

/// Returns the text of a value, or `none`.
fn text(value: &Option<Value>, none: &str) -> String {
    value.as_ref().map_or_else(|| none.to_owned(), readable)
}

/// Describes the declaration of a command's output, from its key.
fn declared(value: &Value) -> String {
    let Value::Map(map) = value else { return readable(value) };
    let mut text = match map.get("file").and_then(Value::as_text) {
        Some("") => "a file".to_owned(),
        Some(extension) => format!("a file .{extension}"),
        None => "a folder".to_owned(),
    };
    if let Some(format) = map.get("format").and_then(Value::as_text).filter(|format| *format != Format::ANY.as_str()) {
        text += &format!(" ({format})");
    }
    text
}
