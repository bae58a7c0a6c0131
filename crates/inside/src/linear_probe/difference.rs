//! Linear probes without training: contrastive differences of means.

use super::{LinearProbe, SQUARES};

/// Sums of rows by class of each square.
#[derive(Clone, Debug)]
pub struct DifferenceSums {
    classes: usize,
    width: usize,
    total: Vec<f64>,
    rows: u64,
    sums: Vec<f64>,
    counts: Vec<u64>,
}

impl DifferenceSums {
    /// Returns sums without rows.
    pub fn new(classes: usize, width: usize) -> Self {
        DifferenceSums {
            classes,
            width,
            total: vec![0.0; width],
            rows: 0,
            sums: vec![0.0; SQUARES * classes * width],
            counts: vec![0; SQUARES * classes],
        }
    }

    /// Adds rows `x` [rows, width] whose squares have the classes `labels` [rows, 64].
    pub fn add(&mut self, x: &[f32], labels: &[u8]) {
        for (x, labels) in x.chunks_exact(self.width).zip(labels.chunks_exact(SQUARES)) {
            self.rows += 1;
            add(&mut self.total, x);
            for (square, &label) in labels.iter().enumerate() {
                let place = square * self.classes + usize::from(label);
                self.counts[place] += 1;
                add(&mut self.sums[place * self.width..(place + 1) * self.width], x);
            }
        }
    }

    /// The linear probe whose weights are, for each square and class, the mean row with that class less the mean of the others,
    /// and whose bias is minus the product of that difference with the middle of both means. A class that a square never has gets
    /// the difference 0 and is never predicted; a class that it always has gets the difference 0 too and is always predicted.
    pub fn probe(&self) -> LinearProbe {
        let (mut weight, mut bias) = (Vec::with_capacity(self.sums.len()), Vec::with_capacity(self.counts.len()));
        for (sums, &count) in self.sums.chunks_exact(self.width).zip(&self.counts) {
            let (own, others) = (count as f64, (self.rows - count) as f64);
            if count == 0 || count == self.rows {
                weight.extend(std::iter::repeat_n(0.0, self.width));
                bias.push(if count == 0 { f32::NEG_INFINITY } else { 0.0 });
                continue;
            }
            let mut threshold = 0.0;
            for (sum, total) in sums.iter().zip(&self.total) {
                let (mean, rest) = (sum / own, (total - sum) / others);
                threshold += 0.5 * (mean + rest) * (mean - rest);
                weight.push((mean - rest) as f32);
            }
            bias.push(-threshold as f32);
        }
        LinearProbe { bias: Some(bias), ..LinearProbe::new(self.classes, self.width, weight) }
    }
}

fn add(sums: &mut [f64], values: &[f32]) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += f64::from(*value));
}
