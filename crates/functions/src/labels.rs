//! The labels of a position that are right, as two columns hold them (docs/formats.md, "scores").

/// Labels of a position: the squares, then the state.
pub const LABELS: usize = 75;
/// Labels in `right_squares`; the others are in `right_state`.
const SQUARES: usize = 64;

/// Bit i: label i is wrong.
pub fn wrong(right_squares: u64, right_state: u16) -> u128 {
    !(u128::from(right_squares) | u128::from(right_state) << SQUARES) & ((1 << LABELS) - 1)
}
