//! Position Judgement: evaluations on a grid.

/// The option that is nearest to `evaluation`: of equally near ones the first.
pub fn nearest(options: &[i64], evaluation: i64) -> Option<i64> {
    options.iter().copied().min_by_key(|option| option.abs_diff(evaluation))
}
