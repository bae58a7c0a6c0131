//! Magnitudes of values: the norm of a gradient, and the check that losses and weights are finite.
//!
//! Each row of 1,024 values gives three numbers, then each 1,024 of those three again, until one is left: so the sum of
//! squares has the same bits on every run, and an error of a few roundings however many values there are. Squares are in
//! units of the largest, since squares of f32 reach no further than its root.

use cubecl::prelude::*;
use cwm_models::gpu::{Array, Gpu, THREADS, cubes, sum_of_cube};

/// Values of a cube.
const ROW: usize = 1024;
/// Values of a thread.
const EACH: usize = ROW / THREADS as usize;

/// The sum of squares of an array or of several, on the GPU: the largest absolute value that is finite, the sum of squares of
/// finite values in units of it, and 0 if all values are finite, 1 if one is infinite, 2 if one is not a number.
pub fn magnitude(gpu: &Gpu, arrays: &[&Array]) -> Array {
    let threads = CubeDim::new_1d(THREADS);
    let rows: Vec<usize> = arrays.iter().map(|array| array.len().div_ceil(ROW).max(1)).collect();
    let mut count: usize = rows.iter().sum();
    let mut parts = gpu.empty(3 * count.max(1));
    let mut from = 0;
    for (array, rows) in arrays.iter().zip(rows) {
        let (len, into) = (array.len() as u32, from as u32);
        of_values::launch(gpu.client(), cubes(rows), threads, array.arg(), parts.arg(), len, into, rows as u32);
        from += rows;
    }
    // Of no array at all, this makes the three zeros.
    let mut done = count == 1;
    while !done {
        let rows = count.div_ceil(ROW).max(1);
        let sums = gpu.empty(3 * rows);
        of_parts::launch(gpu.client(), cubes(rows), threads, parts.arg(), sums.arg(), count as u32, rows as u32);
        (parts, count, done) = (sums, rows, rows == 1);
    }
    parts
}

/// The norm of what [`magnitude`] made, read back.
pub fn norm(magnitude: &[f32]) -> f64 {
    match magnitude {
        [largest, squares, 0.0] => f64::from(*largest) * f64::from(*squares).sqrt(),
        [_, _, 1.0] => f64::INFINITY,
        _ => f64::NAN,
    }
}

#[cube(launch)]
fn of_values(x: &[f32], parts: &mut [f32], len: u32, from: u32, rows: u32) {
    let start = CUBE_POS * ROW + UNIT_POS as usize;
    let mut largest = 0.0f32;
    let mut class = 0.0f32;
    #[unroll]
    for i in 0..EACH {
        let at = start + i * THREADS as usize;
        if at < len as usize {
            let value = f32::abs(x[at]);
            let kind = class_of(value);
            class = f32::max(class, kind);
            if kind == 0.0f32 {
                largest = f32::max(largest, value);
            }
        }
    }
    let largest = largest_of_cube(largest);
    let class = largest_of_cube(class);
    let mut squares = 0.0f32;
    #[unroll]
    for i in 0..EACH {
        let at = start + i * THREADS as usize;
        if at < len as usize && class_of(x[at]) == 0.0f32 {
            let unit = relative(x[at], largest);
            squares += unit * unit;
        }
    }
    let squares = sum_of_cube(squares, THREADS);
    if UNIT_POS == 0 && CUBE_POS < rows as usize {
        let into = 3 * (from as usize + CUBE_POS);
        parts[into] = largest;
        parts[into + 1] = squares;
        parts[into + 2] = class;
    }
}

#[cube(launch)]
fn of_parts(parts: &[f32], sums: &mut [f32], count: u32, rows: u32) {
    let start = CUBE_POS * ROW + UNIT_POS as usize;
    let mut largest = 0.0f32;
    let mut class = 0.0f32;
    #[unroll]
    for i in 0..EACH {
        let at = start + i * THREADS as usize;
        if at < count as usize {
            largest = f32::max(largest, parts[3 * at]);
            class = f32::max(class, parts[3 * at + 2]);
        }
    }
    let largest = largest_of_cube(largest);
    let class = largest_of_cube(class);
    let mut squares = 0.0f32;
    #[unroll]
    for i in 0..EACH {
        let at = start + i * THREADS as usize;
        if at < count as usize {
            let unit = relative(parts[3 * at], largest);
            squares += parts[3 * at + 1] * unit * unit;
        }
    }
    let squares = sum_of_cube(squares, THREADS);
    if UNIT_POS == 0 && CUBE_POS < rows as usize {
        sums[3 * CUBE_POS] = largest;
        sums[3 * CUBE_POS + 1] = squares;
        sums[3 * CUBE_POS + 2] = class;
    }
}

/// 0 for a finite value, 1 for an infinite one, 2 for what is not a number. By its bits: compilers of shaders may assume
/// that neither occurs.
#[cube]
fn class_of(value: f32) -> f32 {
    let bits = u32::reinterpret(value) & 0x7fff_ffffu32;
    let infinite = 0x7f80_0000u32;
    let mut class = 0.0f32;
    if bits == infinite {
        class = 1.0f32;
    }
    if bits > infinite {
        class = 2.0f32;
    }
    class
}

/// `x` in units of `largest`. Quarters of both, since some GPUs divide only by numbers up to a quarter of the largest float;
/// and nothing is divided by less than the smallest normal one.
#[cube]
pub fn relative(x: f32, largest: f32) -> f32 {
    (x * 0.25f32) / f32::max(largest * 0.25f32, 1.175_494_4e-38f32)
}

/// The largest `value` of a cube; each thread gets it.
#[cube]
fn largest_of_cube(value: f32) -> f32 {
    let mut largest = Shared::<[f32]>::new_slice(THREADS as usize);
    largest[UNIT_POS as usize] = value;
    sync_cube();
    let mut half = comptime!(THREADS / 2).runtime();
    while half > 0 {
        if UNIT_POS < half {
            let other = largest[(UNIT_POS + half) as usize];
            largest[UNIT_POS as usize] = f32::max(largest[UNIT_POS as usize], other);
        }
        sync_cube();
        half /= 2;
    }
    let found = largest[0];
    sync_cube();
    found
}
