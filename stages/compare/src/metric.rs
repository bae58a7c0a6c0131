//! The metric that decides which of two models is better, and the keys of all metrics.

use cwm_scores::metrics::{ALL, Metric};

/// The index of the metric that decides which model is better; models without it are not compared.
pub const DECISIVE: usize = 0;
/// The plural of its values in messages.
pub const DECISIVE_PLURAL: &str = ALL[DECISIVE].plural;
/// The column that predictions have it in.
pub const DECISIVE_COLUMN: &str = ALL[DECISIVE].column;

/// Returns the prefix of the keys of a metric (docs/formats.md, "differences"): nothing for the decisive one, which was once
/// the only one.
pub fn key_prefix(metric: &Metric) -> String {
    if metric.name == ALL[DECISIVE].name { String::new() } else { format!("{}_", metric.name) }
}
