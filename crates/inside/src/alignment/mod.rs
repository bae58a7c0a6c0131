//! Path independence: how alike rows of the residual stream are where different moves led to one position.
//!
//! Each class is a position, and its rows are those at the ends of sequences that lead to it. Classes are compared with random
//! pairs of rows of different classes, and with themselves after rows changed places at random.

mod holm;
mod population;
mod statistics;
mod suffix;
mod units;

pub use holm::holm;
pub use population::Population;
pub use statistics::{Alignment, Null, cohesion, mean_and_deviation};
pub use suffix::{Cosines, by_suffix};
pub use units::Units;

#[cfg(test)]
mod tests;
