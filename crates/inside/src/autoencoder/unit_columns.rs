//! The decoder's columns stay of length 1.

/// Divides each column of a matrix [rows, columns] by its length; a column of zeros stays.
pub fn set_unit_columns(matrix: &mut [f32], columns: usize) {
    let factors: Vec<f32> = products(matrix, matrix, columns)
        .into_iter()
        .map(|square| if square > 0.0 { 1.0 / square.sqrt() } else { 1.0 } as f32)
        .collect();
    for row in matrix.chunks_exact_mut(columns) {
        row.iter_mut().zip(&factors).for_each(|(value, factor)| *value *= factor);
    }
}

/// Takes out of a gradient its part along each column, of length 1, of `matrix`.
pub fn project_gradient(gradient: &mut [f32], matrix: &[f32], columns: usize) {
    let along = products(gradient, matrix, columns);
    for (gradient, matrix) in gradient.chunks_exact_mut(columns).zip(matrix.chunks_exact(columns)) {
        for ((gradient, value), along) in gradient.iter_mut().zip(matrix).zip(&along) {
            *gradient -= *along as f32 * value;
        }
    }
}

/// The scalar product of each column of both.
fn products(a: &[f32], b: &[f32], columns: usize) -> Vec<f64> {
    let mut sums = vec![0.0f64; columns];
    for (a, b) in a.chunks_exact(columns).zip(b.chunks_exact(columns)) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += f64::from(*a) * f64::from(*b);
        }
    }
    sums
}
