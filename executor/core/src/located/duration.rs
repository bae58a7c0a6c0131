//! Times as people write them: `90s`, `1h30m`.

use std::time::Duration;

use super::node::Node;
use crate::text::parse_setting_duration;

/// The form of a time, for messages.
pub const DURATION: &str = "a time such as `90s`, `10m` or `1h30m`";

/// A time from a millisecond to a thousand days: whole seconds, or numbers with units, the larger ones first.
pub fn duration(node: &Node) -> Option<Duration> {
    parse_setting_duration(&node.scalar()?.to_string())
}
