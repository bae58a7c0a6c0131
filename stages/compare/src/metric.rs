//! The metrics that models are compared by: a table, beyond which nothing here knows one by its name.

use arrow_schema::DataType;

/// A metric whose mean over positions is compared.
#[derive(Debug)]
pub struct Metric {
    /// Its name in the output.
    pub name: &'static str,
    /// Its values in words.
    pub plural: &'static str,
    /// The column of the scores that it is summed from.
    pub column: &'static str,
    /// The type of that column.
    pub kind: DataType,
    /// The column's value for a position that has everything right: the metric is a share of that.
    pub whole: f64,
}

/// Their number.
pub const METRICS: usize = 3;

/// All of them; the index of each is its place in arrays of sums. The first is the one that decides which model is better:
/// predictions need not have it, and what has none is not compared.
pub const ALL: [Metric; METRICS] = [
    Metric { name: "loss", plural: "losses", column: "loss", kind: DataType::Float64, whole: 1.0 },
    Metric {
        name: "labelwise",
        plural: "shares of right labels",
        column: "correct",
        kind: DataType::UInt8,
        whole: 75.0,
    },
    Metric { name: "exact", plural: "exact positions", column: "exact", kind: DataType::Boolean, whole: 1.0 },
];

/// The index of the first.
pub const DECISIVE: usize = 0;
/// Its values in words.
pub const DECISIVE_PLURAL: &str = ALL[DECISIVE].plural;
/// The column that predictions have it in.
pub const DECISIVE_COLUMN: &str = ALL[DECISIVE].column;

impl Metric {
    /// Returns the prefix of its keys (docs/formats.md, "differences"): nothing for the first, which was once the only
    /// one.
    pub fn prefix(&self) -> String {
        if self.name == ALL[DECISIVE].name { String::new() } else { format!("{}_", self.name) }
    }
}
