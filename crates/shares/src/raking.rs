//! Raking: weights of the cells of a table of two margins, and how many of each cell that makes.

/// Rounds in which the margins are scaled in turn.
const ROUNDS: usize = 8;

/// Splits `total` in proportion to weights by largest remainders: each gets its whole part, and what is left goes to the
/// largest fractions, of equal ones to the first. Nothing to none, or where all weights are 0.
pub fn largest_remainders(weights: &[f64], total: u64) -> Vec<u64> {
    let sum: f64 = weights.iter().sum();
    if sum <= 0.0 {
        return vec![0; weights.len()];
    }
    let exact: Vec<f64> = weights.iter().map(|weight| weight / sum * total as f64).collect();
    let mut numbers: Vec<u64> = exact.iter().map(|exact| exact.floor() as u64).collect();
    let mut order: Vec<usize> = (0..weights.len()).filter(|&at| weights[at] > 0.0).collect();
    order.sort_by(|&a, &b| exact[b].fract().total_cmp(&exact[a].fract()).then(a.cmp(&b)));
    let left = total - numbers.iter().sum::<u64>().min(total);
    for &at in order.iter().cycle().take(left as usize) {
        numbers[at] += 1;
    }
    numbers
}

/// The weights of a table's cells (rows one after the other) whose rows and columns have these shares, as near as can be: 1 where
/// there is anything, 0 elsewhere, then eight rounds in which the rows and the columns are scaled to their shares in turn.
pub fn rake(supply: &[u64], rows: &[f64], columns: &[f64]) -> Vec<f64> {
    let mut cells: Vec<f64> = supply.iter().map(|&there| f64::from(there > 0)).collect();
    let width = columns.len();
    let scale = |cells: &mut [f64], places: &[usize], share: f64| {
        let sum: f64 = places.iter().map(|&at| cells[at]).sum();
        if sum > 0.0 {
            places.iter().for_each(|&at| cells[at] *= share / sum);
        }
    };
    let of_row: Vec<Vec<usize>> = (0..rows.len()).map(|row| (row * width..(row + 1) * width).collect()).collect();
    let of_column: Vec<Vec<usize>> =
        (0..width).map(|column| (0..rows.len()).map(|row| row * width + column).collect()).collect();
    let (all_rows, all_columns): (f64, f64) = (rows.iter().sum(), columns.iter().sum());
    for _ in 0..ROUNDS {
        of_row.iter().zip(rows).for_each(|(places, share)| scale(&mut cells, places, share / all_rows));
        of_column.iter().zip(columns).for_each(|(places, share)| scale(&mut cells, places, share / all_columns));
    }
    cells
}

/// The largest numbers of the cells that are in proportion to their weights, by largest remainders, and never above what there is.
pub fn numbers(supply: &[u64], weights: &[f64]) -> Vec<u64> {
    let sum: f64 = weights.iter().sum();
    let bounds = supply.iter().zip(weights).filter(|(_, weight)| **weight > 0.0);
    // Beyond, the exact number of a cell is one more than there is.
    let most = bounds.map(|(&there, weight)| ((there + 1) as f64 * sum / weight).ceil() as u64).min().unwrap_or(0);
    let mut found = (0..=most).rev().map(|total| largest_remainders(weights, total));
    let fits = |numbers: &Vec<u64>| numbers.iter().zip(supply).all(|(number, there)| number <= there);
    found.find(fits).unwrap_or_else(|| vec![0; supply.len()])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_left_goes_to_the_largest_fractions() {
        assert_eq!(largest_remainders(&[0.1, 0.3, 0.3, 0.15, 0.15], 10), [1, 3, 3, 2, 1]);
        assert_eq!(largest_remainders(&[1.0, 1.0, 1.0], 2), [1, 1, 0]);
        assert_eq!(largest_remainders(&[0.0, 2.0], 5), [0, 5]);
        assert_eq!(largest_remainders(&[0.0], 5), [0]);
    }

    #[test]
    fn margins_are_met_where_a_cell_is_empty() {
        // Black has no position of the second range: White's share of it is all, and the first range makes up for it.
        let cells = rake(&[5, 5, 9, 0], &[0.8, 0.2], &[0.5, 0.5]);
        let near = |found: f64, wanted: f64| assert!((found - wanted).abs() < 0.001, "{found} is not {wanted}");
        near(cells[0], 0.3);
        near(cells[1], 0.5);
        near(cells[2], 0.2);
        near(cells[3], 0.0);
        assert_eq!(numbers(&[5, 5, 9, 0], &cells), [3, 5, 2, 0]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn numbers_are_the_most_in_these_proportions(
            cells in proptest::collection::vec((0u64..50, 0u32..20), 1..12),
        ) {
            let supply: Vec<u64> = cells.iter().map(|(there, _)| *there).collect();
            let weights: Vec<f64> = cells.iter().map(|(_, weight)| f64::from(*weight)).collect();
            let found = numbers(&supply, &weights);
            let total: u64 = found.iter().sum();
            prop_assert!(found.iter().zip(&supply).all(|(number, there)| number <= there));
            prop_assert_eq!(&found, &largest_remainders(&weights, total));
            if weights.iter().any(|weight| *weight > 0.0) {
                let more = largest_remainders(&weights, total + 1);
                prop_assert!(more.iter().zip(&supply).any(|(number, there)| number > there));
            }
        }
    }
}
