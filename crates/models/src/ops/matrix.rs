//! Matrix products of parts of slices, on the calling thread.
//!
//! Chunks of a recurrence are small matrices inside larger arrays. A product of Burn tensors would copy each of them
//! first, and start threads of its own.

use std::ops::Range;

/// A matrix inside a slice.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a> {
    values: &'a [f32],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a> Matrix<'a> {
    /// Rows of `columns` values, one every `stride` values of the slice.
    ///
    /// # Panics
    /// The slice is too short: a mistake in an operation.
    pub fn new(values: &'a [f32], rows: usize, columns: usize, stride: usize) -> Self {
        assert!(fits(values.len(), rows, columns, stride), "the matrix is larger than its slice");
        Matrix { values, rows, columns, row_stride: stride, column_stride: 1 }
    }

    /// Rows and columns exchanged.
    pub fn transposed(self) -> Self {
        Matrix {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }

    /// Returns these rows alone.
    pub fn rows(self, rows: Range<usize>) -> Self {
        assert!(rows.start <= rows.end && rows.end <= self.rows, "no such rows");
        let start = (rows.start * self.row_stride).min(self.values.len());
        Matrix { values: &self.values[start..], rows: rows.len(), ..self }
    }

    /// Returns these columns alone.
    pub fn columns(self, columns: Range<usize>) -> Self {
        self.transposed().rows(columns).transposed()
    }

    /// One row of a matrix that was not transposed.
    pub fn row(&self, row: usize) -> &'a [f32] {
        assert!(self.column_stride == 1 && row < self.rows, "no such row");
        &self.values[row * self.row_stride..row * self.row_stride + self.columns]
    }
}

/// A matrix inside a slice, to be written.
#[derive(Debug)]
pub struct MatrixMut<'a> {
    values: &'a mut [f32],
    rows: usize,
    columns: usize,
    stride: usize,
}

impl<'a> MatrixMut<'a> {
    /// Rows of `columns` values, one every `stride` values of the slice.
    ///
    /// # Panics
    /// The slice is too short, or rows overlap: a mistake in an operation.
    pub fn new(values: &'a mut [f32], rows: usize, columns: usize, stride: usize) -> Self {
        assert!(fits(values.len(), rows, columns, stride), "the matrix is larger than its slice");
        MatrixMut { values, rows, columns, stride }
    }

    /// Returns this matrix, borrowed for less long.
    pub fn reborrow(&mut self) -> MatrixMut<'_> {
        MatrixMut { values: self.values, ..*self }
    }

    /// Returns these rows alone.
    pub fn rows(self, rows: Range<usize>) -> Self {
        assert!(rows.start <= rows.end && rows.end <= self.rows, "no such rows");
        let start = (rows.start * self.stride).min(self.values.len());
        MatrixMut { values: &mut self.values[start..], rows: rows.len(), ..self }
    }

    /// Returns these columns alone.
    pub fn columns(self, columns: Range<usize>) -> Self {
        assert!(columns.start <= columns.end && columns.end <= self.columns, "no such columns");
        let start = columns.start.min(self.values.len());
        MatrixMut { values: &mut self.values[start..], columns: columns.len(), ..self }
    }

    /// One row.
    pub fn row(&mut self, row: usize) -> &mut [f32] {
        assert!(row < self.rows, "no such row");
        &mut self.values[row * self.stride..row * self.stride + self.columns]
    }
}

/// Returns true if rows of `columns` values, `stride` apart, lie side by side in so many values.
fn fits(values: usize, rows: usize, columns: usize, stride: usize) -> bool {
    let needed = rows.saturating_sub(1).checked_mul(stride).and_then(|start| start.checked_add(columns));
    rows == 0 || (columns <= stride && needed.is_some_and(|needed| needed <= values))
}

/// `a` times `b` replaces what is in `into`.
///
/// # Panics
/// The shapes do not fit: a mistake in an operation.
pub fn multiply(into: MatrixMut<'_>, a: Matrix<'_>, b: Matrix<'_>) {
    product(into, false, a, b);
}

/// `a` times `b` is added to what is in `into`.
///
/// # Panics
/// The shapes do not fit: a mistake in an operation.
pub fn add_product(into: MatrixMut<'_>, a: Matrix<'_>, b: Matrix<'_>) {
    product(into, true, a, b);
}

fn product(into: MatrixMut<'_>, add: bool, a: Matrix<'_>, b: Matrix<'_>) {
    assert_eq!((into.rows, into.columns, a.columns), (a.rows, b.columns, b.rows), "shapes of a product");
    if into.rows == 0 || into.columns == 0 {
        return;
    }
    // SAFETY: every constructor asserted that the last element of each matrix lies in its slice, parts of a matrix lie
    // within it, and the strides are those of the slices. Elements of `into` do not overlap, since its rows are no
    // longer than its stride, and its slice is borrowed alone.
    unsafe {
        gemm::gemm(
            into.rows,
            into.columns,
            a.columns,
            into.values.as_mut_ptr(),
            1,
            into.stride as isize,
            add,
            a.values.as_ptr(),
            a.column_stride as isize,
            a.row_stride as isize,
            b.values.as_ptr(),
            b.column_stride as isize,
            b.row_stride as isize,
            1.0,
            1.0,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::parameters::{Init, InitRng};

    fn random(len: usize, seed: u64) -> Vec<f32> {
        let mut values = vec![0.0; len];
        Init::Normal(1.0).fill(&mut values, &mut InitRng::seeded(seed));
        values
    }

    proptest! {
        #[test]
        fn products_of_parts_are_sums_of_products(
            (m, n, k) in (0usize..20, 0usize..20, 0usize..40),
            (turn_a, turn_b, add) in any::<(bool, bool, bool)>(),
            gap in 0usize..3,
        ) {
            let part = |turned: bool, rows: usize, columns: usize| if turned { (columns, rows) } else { (rows, columns) };
            let ((ar, ac), (br, bc)) = (part(turn_a, m, k), part(turn_b, k, n));
            // Two rows and one column more on each side than the part that is used.
            let (a_stride, b_stride, stride) = (ac + 2 + gap, bc + 2 + gap, n + 2 + gap);
            let (a, b) = (random((ar + 2) * a_stride, 1), random((br + 2) * b_stride, 2));
            let before = random((m + 2) * stride, 3);
            let mut after = before.clone();
            let view = |values, rows, columns, stride, turned| {
                let view = Matrix::new(values, rows + 2, columns + 2, stride).rows(1..rows + 1).columns(1..columns + 1);
                if turned { view.transposed() } else { view }
            };
            let (a, b) = (view(&a, ar, ac, a_stride, turn_a), view(&b, br, bc, b_stride, turn_b));
            let into = MatrixMut::new(&mut after, m + 2, n + 2, stride).rows(1..m + 1).columns(1..n + 1);
            if add {
                add_product(into, a, b);
            } else {
                multiply(into, a, b);
            }
            let at = |m: &Matrix<'_>, i: usize, j: usize| f64::from(m.values[i * m.row_stride + j * m.column_stride]);
            for i in 0..m + 2 {
                for j in 0..stride {
                    let place = i * stride + j;
                    let mut expected = f64::from(before[place]);
                    if (1..m + 1).contains(&i) && (1..n + 1).contains(&j) {
                        let product: f64 = (0..k).map(|p| at(&a, i - 1, p) * at(&b, p, j - 1)).sum();
                        expected = if add { expected + product } else { product };
                    }
                    prop_assert!((f64::from(after[place]) - expected).abs() < 1e-5, "({}, {})", i, j);
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "larger than its slice")]
    fn a_matrix_lies_within_its_slice() {
        Matrix::new(&[0.0; 11], 3, 4, 4);
    }

    #[test]
    #[should_panic(expected = "larger than its slice")]
    fn rows_that_are_written_do_not_overlap() {
        MatrixMut::new(&mut [0.0; 12], 3, 4, 3);
    }
}
