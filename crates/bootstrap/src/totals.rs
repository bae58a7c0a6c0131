//! Sums over what several resamples drew, side by side.

/// Resamples that are summed side by side, so that a CPU's vectors are used.
pub const LANES: usize = 8;

/// A number for each of [`LANES`] resamples.
pub type Lanes = [f64; LANES];

/// The contribution of one game to each of `N` sums.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Addend<const N: usize> {
    /// Its place among all games.
    pub game: usize,
    /// The values that one draw of the game adds.
    pub values: [f64; N],
}

impl<const N: usize> From<(usize, [f64; N])> for Addend<N> {
    fn from((game, values): (usize, [f64; N])) -> Self {
        Addend { game, values }
    }
}

/// The `N` sums of each resample: every addend as often as `times` says for its game. Each is added up in the order of the
/// addends, so its bits do not depend on what is computed beside it, nor on the CPU.
pub fn totals<const N: usize>(addends: &[Addend<N>], times: &[Lanes]) -> [Lanes; N] {
    let mut totals = [[0.0; LANES]; N];
    for addend in addends {
        let times = &times[addend.game];
        for (total, value) in totals.iter_mut().zip(addend.values) {
            for (total, times) in total.iter_mut().zip(times) {
                *total += value * times;
            }
        }
    }
    totals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_resample_is_summed_by_itself() {
        let times: Vec<Lanes> = (0..3).map(|game| std::array::from_fn(|lane| (game * lane) as f64)).collect();
        let addends = [Addend::from((0, [5.0, 1.0])), Addend::from((2, [0.5, 1.0])), Addend::from((1, [2.0, 1.0]))];
        let [first, second] = totals(&addends, &times);
        for lane in 0..LANES {
            assert_eq!((first[lane], second[lane]), (3.0 * lane as f64, 3.0 * lane as f64));
        }
    }
}
