//! Loss and gradient of some squares' matrices, as one product.
//!
//! Squares are problems of their own: nothing that one learns depends on another. So a linear probe is cut into blocks that
//! cores train apart, with the same bits on any number of them. Within a block weights lie class by class, so that the softmax
//! runs over vectors of squares.

use std::ops::Range;

use cwm_models::ops::exp::exp;
use cwm_models::ops::matrix::{Matrix, MatrixMut, multiply};

use super::SQUARES;

/// Squares of a block.
pub const BLOCK: usize = 16;

/// [`BLOCK`] squares of a linear probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its first square.
    pub first: usize,
    /// Classes of a square.
    pub classes: usize,
    /// Channels of a row.
    pub width: usize,
}

impl Block {
    /// The blocks of a linear probe.
    pub fn all(classes: usize, width: usize) -> impl Iterator<Item = Block> {
        (0..SQUARES).step_by(BLOCK).map(move |first| Block { first, classes, width })
    }

    /// Its squares.
    pub fn squares(&self) -> Range<usize> {
        self.first..self.first + BLOCK
    }

    /// Number of its weights.
    pub fn weights(&self) -> usize {
        self.classes * BLOCK * self.width
    }

    /// Its part [classes, squares of it, width] of weights [64, classes, width].
    pub fn gather(&self, weight: &[f32]) -> Vec<f32> {
        self.places().flat_map(|place| &weight[place * self.width..(place + 1) * self.width]).copied().collect()
    }

    /// Puts its part back.
    pub fn scatter(&self, part: &[f32], weight: &mut [f32]) {
        for (place, values) in self.places().zip(part.chunks_exact(self.width)) {
            weight[place * self.width..(place + 1) * self.width].copy_from_slice(values);
        }
    }

    /// The places of its part's rows among those of all weights.
    fn places(self) -> impl Iterator<Item = usize> {
        (0..self.classes).flat_map(move |class| self.squares().map(move |square| square * self.classes + class))
    }

    /// Logits [rows, classes, squares of it] of rows `x` [rows, width].
    pub fn logits(&self, part: &[f32], x: &[f32], into: &mut Vec<f32>) {
        let (rows, columns) = (x.len() / self.width, self.classes * BLOCK);
        into.resize(rows * columns, 0.0);
        let weight = Matrix::new(part, columns, self.width, self.width).transposed();
        multiply(MatrixMut::new(into, rows, columns, columns), Matrix::new(x, rows, self.width, self.width), weight);
    }

    /// The sum of the cross-entropies of its squares in rows `x` [rows, width] with the classes `labels` [rows, 64]; `gradient`
    /// becomes that of their share of the mean over rows and all 64 squares. `logits` is room to work in.
    pub fn loss(&self, part: &[f32], x: &[f32], labels: &[u8], logits: &mut Vec<f32>, gradient: &mut [f32]) -> f64 {
        self.logits(part, x, logits);
        let (rows, columns) = (x.len() / self.width, self.classes * BLOCK);
        let factor = 1.0 / (rows * SQUARES) as f32;
        let mut loss = 0.0;
        for (logits, labels) in logits.chunks_exact_mut(columns).zip(labels.chunks_exact(SQUARES)) {
            loss += f64::from(softmax(logits, &labels[self.squares()], factor));
        }
        let grad_logits = Matrix::new(logits, rows, columns, columns).transposed();
        let x = Matrix::new(x, rows, self.width, self.width);
        multiply(MatrixMut::new(gradient, columns, self.width, self.width), grad_logits, x);
        loss
    }

    /// The class with the largest of a row's logits, for each of its squares; of equals the first.
    pub(super) fn likeliest(&self, logits: &[f32], classes: &mut [u8]) {
        let mut largest = [f32::NEG_INFINITY; BLOCK];
        for (class, logits) in (0..).zip(logits.as_chunks::<BLOCK>().0) {
            for ((largest, likeliest), logit) in largest.iter_mut().zip(classes.iter_mut()).zip(logits) {
                if logit > largest {
                    (*largest, *likeliest) = (*logit, class);
                }
            }
        }
    }
}

/// Turns a row's logits [classes, squares] into `factor` times their gradient, softmax minus one-hot; returns the sum of the
/// squares' cross-entropies.
#[macerator::with_simd]
pub(super) fn softmax<S: macerator::Simd>(logits: &mut [f32], labels: &[u8], factor: f32) -> f32 {
    let classes = logits.as_chunks_mut::<BLOCK>().0;
    let mut largest = [f32::NEG_INFINITY; BLOCK];
    for class in classes.iter() {
        for (largest, logit) in largest.iter_mut().zip(class) {
            *largest = if *logit > *largest { *logit } else { *largest };
        }
    }
    let mut loss = 0.0;
    for (square, &label) in labels.iter().enumerate() {
        loss += largest[square] - classes[usize::from(label)][square];
    }
    let mut sums = [0.0f32; BLOCK];
    for class in classes.iter_mut() {
        for ((logit, largest), sum) in class.iter_mut().zip(&largest).zip(&mut sums) {
            *logit = exp(*logit - largest);
            *sum += *logit;
        }
    }
    for sum in &sums {
        loss += sum.ln();
    }
    for class in classes.iter_mut() {
        for (grad, sum) in class.iter_mut().zip(&sums) {
            *grad *= factor / sum;
        }
    }
    for (square, &label) in labels.iter().enumerate() {
        classes[usize::from(label)][square] -= factor;
    }
    loss
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_all_blocks_are_the_whole() {
        let weight: Vec<f32> = (0..SQUARES * 3 * 2).map(|value| value as f32).collect();
        let mut again = vec![0.0; weight.len()];
        for block in Block::all(3, 2) {
            let part = block.gather(&weight);
            assert_eq!(part.len(), block.weights());
            // The second square of the block, class 2.
            let place = (block.first + 1) * 3 + 2;
            assert_eq!(part[(2 * BLOCK + 1) * 2..][..2], weight[place * 2..][..2]);
            block.scatter(&part, &mut again);
        }
        assert_eq!(again, weight);
    }

    #[test]
    fn of_equal_logits_the_first_is_likeliest() {
        let block = Block { first: 0, classes: 3, width: 1 };
        let mut logits = [0.0; 3 * BLOCK];
        logits[BLOCK + 4] = 1.0;
        logits[2 * BLOCK + 4] = 1.0;
        let mut classes = [9; BLOCK];
        block.likeliest(&logits, &mut classes);
        assert_eq!((classes[3], classes[4]), (0, 1));
    }
}
