//! The correction for several tests at once.

/// Holm's correction of these p-values, in their order: sorted, the k-th smallest of n is multiplied by n + 1 - k; none is below
/// the one before it or above 1.
pub fn holm(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut corrected = vec![0.0; values.len()];
    let mut largest = 0.0f64;
    for (before, &place) in order.iter().enumerate() {
        largest = largest.max(values[place] * (values.len() - before) as f64).min(1.0);
        corrected[place] = largest;
    }
    corrected
}
