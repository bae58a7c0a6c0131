//! The metrics, by the names that the files in `sql/` give them: tables, beyond which the code knows none of them.

/// A metric whose mean over positions is taken.
pub(crate) struct Metric {
    /// Its column in the results of `overall.sql` and `prefix.sql`, in those of `sums.sql`, where it is summed, and in what is
    /// written.
    pub(crate) name: &'static str,
    /// The sum of a position that has everything right: the metric is a share of that.
    pub(crate) whole: f64,
    /// True if scores may be without it, all of them or none. `overall.sql` counts positions that are, as
    /// `without_NAME`.
    pub(crate) may_lack: bool,
}

/// Their number.
pub(crate) const METRICS: usize = 3;

/// All of them, in the order of the columns that are written.
pub(crate) const ALL: [Metric; METRICS] = [
    Metric { name: "loss", whole: 1.0, may_lack: true },
    Metric { name: "labelwise", whole: 75.0, may_lack: false },
    Metric { name: "exact", whole: 1.0, may_lack: false },
];

/// A metric of whole games: the share of games in which every position is whole by another metric.
pub(crate) struct GameMetric {
    /// Its column in the result of `overall.sql`, and in what is written.
    pub(crate) name: &'static str,
    /// The name of the other metric.
    pub(crate) of: &'static str,
}

/// Their number.
pub(crate) const GAME_METRICS: usize = 1;

/// All of them, in the order of the columns that are written.
pub(crate) const OF_GAMES: [GameMetric; GAME_METRICS] = [GameMetric { name: "trajectory", of: "exact" }];

impl GameMetric {
    /// The index of the other metric, and that metric.
    pub(crate) fn of_position(&self) -> Option<(usize, &'static Metric)> {
        ALL.iter().enumerate().find(|(_, metric)| metric.name == self.of)
    }
}
