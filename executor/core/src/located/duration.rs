//! Times as people write them: `90s`, `1h30m`.

use std::time::Duration;

use cwm_contract::Value;

use super::node::Node;
use crate::text::parse_duration;

/// The form of a time, for messages.
pub const DURATION: &str = "a time such as `90s`, `10m` or `1h30m`";

/// A time from a millisecond to a thousand days: whole seconds, or numbers with units, the larger ones first.
pub fn duration(node: &Node) -> Option<Duration> {
    let time = match node.scalar()? {
        Value::Int(seconds) => Duration::from_secs(u64::try_from(*seconds).ok()?),
        Value::Text(text) => parse_duration(text)?,
        _ => return None,
    };
    (Duration::from_millis(1)..=Duration::from_secs(1000 * 86_400)).contains(&time).then_some(time)
}
