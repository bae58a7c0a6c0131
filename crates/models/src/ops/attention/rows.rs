//! Sums over the rows of a matrix. They are vectorised over what is independent, so that each sum keeps its order: that of [`dot`]
//! over channels, that of the rows over rows. With a horizontal sum for each key, attention on 77 steps took twice the time.
//!
//! [`dot`]: crate::ops::dot

use macerator::{Scalar, Simd, Vector, vload_unaligned, vstore_unaligned};

use crate::ops::LANES;

/// The columns of a matrix [steps, channels], each followed by zeros up to a multiple of [`LANES`].
#[derive(Default)]
pub struct Columns {
    values: Vec<f32>,
    stride: usize,
}

impl Columns {
    /// Sets the matrix to these rows of `width` channels.
    pub fn set(&mut self, rows: &[f32], width: usize) {
        self.stride = (rows.len() / width).next_multiple_of(LANES);
        self.values.clear();
        self.values.resize(self.stride * width, 0.0);
        for (t, row) in rows.chunks_exact(width).enumerate() {
            for (channel, &x) in row.iter().enumerate() {
                self.values[channel * self.stride + t] = x;
            }
        }
    }

    /// Sets the first `count` elements of `into` to the products of `x` with as many rows, each the same bits as `dot`. Elements
    /// up to the next multiple of [`LANES`] have no meaning afterwards.
    ///
    /// # Panics
    /// There are fewer rows, or `into` does not have these elements: a mistake of the caller's.
    #[inline(always)]
    pub fn dots<S: Simd>(&self, x: &[f32], count: usize, into: &mut [f32]) {
        for first in (0..count).step_by(f32::lanes::<S>()) {
            let product =
                |channel: usize, x: f32| x.splat::<S>() * load::<S>(&self.values[channel * self.stride + first..]);
            let mut lanes = [0.0f32.splat::<S>(); LANES];
            let (whole, rest) = x.as_chunks::<LANES>();
            for (chunk, x) in whole.iter().enumerate() {
                for lane in 0..LANES {
                    lanes[lane] += product(chunk * LANES + lane, x[lane]);
                }
            }
            for (number, (lane, &x)) in lanes.iter_mut().zip(rest).enumerate() {
                *lane += product(whole.len() * LANES + number, x);
            }
            let mut half = LANES / 2;
            while half > 0 {
                for lane in 0..half {
                    lanes[lane] += lanes[lane + half];
                }
                half /= 2;
            }
            store::<S>(&mut into[first..], lanes[0]);
        }
    }
}

/// Adds to `into` the rows of a matrix [weights, channels], each times its weight, one after the other.
#[inline(always)]
pub fn add_weighted<S: Simd>(weights: &[f32], rows: &[f32], into: &mut [f32]) {
    let (width, lanes) = (into.len(), f32::lanes::<S>());
    let whole = width - width % lanes;
    for channel in (0..whole).step_by(lanes) {
        let mut sum = load::<S>(&into[channel..]);
        for (&weight, row) in weights.iter().zip(rows.chunks_exact(width)) {
            sum += weight.splat::<S>() * load::<S>(&row[channel..]);
        }
        store::<S>(&mut into[channel..], sum);
    }
    if whole < width {
        for (&weight, row) in weights.iter().zip(rows.chunks_exact(width)) {
            add_scaled(&mut into[whole..], weight, &row[whole..]);
        }
    }
}

/// Adds `x`, times its weight, to each row of a matrix [weights, channels].
#[inline(always)]
pub fn add_to_each<S: Simd>(weights: &[f32], x: &[f32], rows: &mut [f32]) {
    let (width, lanes) = (x.len(), f32::lanes::<S>());
    let whole = width - width % lanes;
    for channel in (0..whole).step_by(lanes) {
        let x = load::<S>(&x[channel..]);
        for (&weight, row) in weights.iter().zip(rows.chunks_exact_mut(width)) {
            let row = &mut row[channel..];
            store::<S>(row, load::<S>(row) + weight.splat::<S>() * x);
        }
    }
    if whole < width {
        for (&weight, row) in weights.iter().zip(rows.chunks_exact_mut(width)) {
            add_scaled(&mut row[whole..], weight, &x[whole..]);
        }
    }
}

#[inline(always)]
fn add_scaled(into: &mut [f32], factor: f32, from: &[f32]) {
    for (into, from) in into.iter_mut().zip(from) {
        *into += factor * from;
    }
}

#[inline(always)]
fn load<S: Simd>(from: &[f32]) -> Vector<S, f32> {
    let from = &from[..f32::lanes::<S>()];
    // SAFETY: the slice has all elements that are read.
    unsafe { vload_unaligned(from.as_ptr()) }
}

#[inline(always)]
fn store<S: Simd>(into: &mut [f32], values: Vector<S, f32>) {
    let into = &mut into[..f32::lanes::<S>()];
    // SAFETY: the slice has all elements that are written.
    unsafe { vstore_unaligned(into.as_mut_ptr(), values) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::dot;
    use crate::testing::{random, values};

    #[macerator::with_simd]
    fn all<S: Simd>(x: &[f32], weights: &[f32], rows: &[f32], sums: [&mut [f32]; 3]) {
        let [dots, weighted, each] = sums;
        let mut columns = Columns::default();
        columns.set(rows, x.len());
        columns.dots::<S>(x, weights.len(), dots);
        add_weighted::<S>(weights, rows, weighted);
        add_to_each::<S>(weights, x, each);
    }

    #[test]
    fn sums_are_those_of_one_row_after_the_other_to_the_bit() {
        let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        for width in [1, 6, 16, 20, 32, 72] {
            for count in [1, 3, 16, 17, 40] {
                let steps = count + 5;
                let given = values(&random::<2>([steps + 2, width], (width * 100 + count) as u64, 1.0));
                let (x, rest) = given.split_at(width);
                let (start, rows) = rest.split_at(width);
                let weights = &values(&random::<1>([count], 3, 1.0));
                let (mut dots, mut weighted, mut each) =
                    (vec![0.0; count.next_multiple_of(LANES)], start.to_vec(), rows.to_vec());
                all(x, weights, rows, [&mut dots, &mut weighted, &mut each]);

                let of_rows: Vec<f32> = rows.chunks_exact(width).take(count).map(|row| dot(x, row)).collect();
                assert_eq!(bits(&dots[..count]), bits(&of_rows), "{width} {count}");
                let (mut sums, mut all_rows) = (start.to_vec(), rows.to_vec());
                for ((&weight, row), into) in
                    weights.iter().zip(rows.chunks_exact(width)).zip(all_rows.chunks_exact_mut(width))
                {
                    add_scaled(&mut sums, weight, row);
                    add_scaled(into, weight, x);
                }
                assert_eq!(bits(&weighted), bits(&sums), "{width} {count}");
                assert_eq!(bits(&each), bits(&all_rows), "{width} {count}");
            }
        }
    }
}
