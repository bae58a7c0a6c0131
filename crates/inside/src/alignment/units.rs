//! Rows of length 1.

/// Rows divided by their lengths, in f64: 8 bytes a value, so 10^5 rows of width 768 take 614 MB.
#[derive(Clone, Debug)]
pub struct Units {
    values: Vec<f64>,
    width: usize,
}

impl Units {
    /// Divides rows [rows, width] by their lengths.
    ///
    /// # Errors
    /// The number of the first row that has no direction: its length is 0 or not finite.
    pub fn new(rows: &[f32], width: usize) -> Result<Self, usize> {
        let mut values = Vec::with_capacity(rows.len());
        for (number, row) in rows.chunks_exact(width).enumerate() {
            let length = row.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt();
            if length == 0.0 || !length.is_finite() {
                return Err(number);
            }
            values.extend(row.iter().map(|&value| f64::from(value) / length));
        }
        Ok(Units { values, width })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.values.len() / self.width
    }

    /// Number of values of a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// A row of length 1.
    pub fn row(&self, number: usize) -> &[f64] {
        &self.values[number * self.width..(number + 1) * self.width]
    }

    /// The cosine of two rows.
    pub fn cosine(&self, a: usize, b: usize) -> f64 {
        dot(self.row(a), self.row(b))
    }
}

/// Σ a b, in four lanes.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 4];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    for (a, b) in a.iter().zip(b) {
        for lane in 0..4 {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]) + rest
}
