//! The formats `answers`, `grades` and `tallies`: answers of models to items, the grade of each, and sums of grades.
//!
//! Parquet; `docs/formats.md` has the columns. Files of answers and grades are written and read a batch at a time. This
//! crate must not depend on tasks, how answers are judged, or who answers.

mod answer;
mod cell;
mod grade;
mod player_settings;
mod reader;
mod row;
mod tallies;
mod tally;

pub use answer::{Answer, FAILED, NOT_ASKED, is_cost};
pub use grade::Grade;
pub use player_settings::{GradesDescription, PlayerSettings};
pub use reader::AnswersReader;
pub use tallies::Tallies;
pub use tally::{ItemCount, Measure, PairTally, Tally};

/// Writes answers in the order in which they come.
pub type AnswersWriter = cwm_table::TableWriter<Answer>;

/// A file of grades, row by row.
pub type Grades = cwm_table::TableReader<Grade>;

/// Writes grades in the order in which they come.
pub type GradesWriter = cwm_table::TableWriter<Grade>;

#[cfg(test)]
mod tests;
