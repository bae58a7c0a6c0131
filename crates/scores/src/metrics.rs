//! The metrics of scores: the one table of them. The stages that read scores name no metric; the SQL of `bins`
//! defines the means.

use arrow_schema::DataType;

/// A metric whose mean over positions is taken.
#[derive(Debug)]
pub struct Metric {
    /// Its name in results, and in the results of the SQL of `bins`.
    pub name: &'static str,
    /// Its values, as messages name them.
    pub plural: &'static str,
    /// The column of the scores that it is summed from.
    pub column: &'static str,
    /// The type of that column.
    pub data_type: DataType,
    /// The column's value for a position that has everything right: the metric is a share of that.
    pub whole: f64,
    /// True if scores may be without it, all of them or none. `overall.sql` of `bins` counts positions that are, as
    /// `without_NAME`.
    pub is_optional: bool,
}

/// The number of metrics.
pub const METRICS: usize = 3;

/// All metrics, in the order of the columns that are written. The first one decides which of two models is better.
pub const ALL: [Metric; METRICS] = [
    Metric {
        name: "loss",
        plural: "losses",
        column: "loss",
        data_type: DataType::Float64,
        whole: 1.0,
        is_optional: true,
    },
    Metric {
        name: "labelwise",
        plural: "shares of right labels",
        column: "correct",
        data_type: DataType::UInt8,
        whole: 75.0,
        is_optional: false,
    },
    Metric {
        name: "exact",
        plural: "exact positions",
        column: "exact",
        data_type: DataType::Boolean,
        whole: 1.0,
        is_optional: false,
    },
];

/// A metric of whole games: the share of games in which every position has the whole value of another metric.
#[derive(Debug)]
pub struct GameMetric {
    /// Its name in results, and in the results of the SQL of `bins`.
    pub name: &'static str,
    /// The index of the other metric in [`ALL`].
    pub of: usize,
}

/// The number of metrics of whole games.
pub const GAME_METRICS: usize = 1;

/// All metrics of whole games, in the order of the columns that are written.
pub const OF_GAMES: [GameMetric; GAME_METRICS] = [GameMetric { name: "trajectory", of: 2 }];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trajectory_is_of_exact_positions() {
        assert_eq!(OF_GAMES.map(|metric| (metric.name, ALL[metric.of].name)), [("trajectory", "exact")]);
    }
}
