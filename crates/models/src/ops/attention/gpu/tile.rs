//! Rows of heads, turned by their positions and rounded, in registers and in shared memory.

use cubecl::prelude::{Array as Local, *};

use super::KernelConfig;
use crate::ops::dropout::gpu::factor;

/// Rounds off the last `bits` bits of the mantissa: the nearest, ties to even. NaN stays NaN.
#[cube]
pub fn rounded(x: f32, #[comptime] bits: u32) -> f32 {
    if comptime!(bits == 0) {
        x
    } else {
        let all = u32::reinterpret(x);
        let even = (all >> bits) & 1u32;
        let kept = (all + comptime!((1u32 << (bits - 1)) - 1) + even) & comptime!(u32::MAX << bits);
        if (all & 0x7fff_ffffu32) > 0x7f80_0000u32 { x } else { f32::reinterpret(kept) }
    }
}

/// [`rounded`], all channels.
#[cube]
pub fn all_rounded<N: Size>(x: Vector<f32, N>, #[comptime] bits: u32) -> Vector<f32, N> {
    if comptime!(bits == 0) {
        x
    } else {
        let mut y = x;
        #[unroll]
        for c in 0..N::value() {
            y.insert(c, rounded(x.extract(c), bits));
        }
        y
    }
}

/// The sum of all channels.
#[cube]
pub fn sum<N: Size>(x: Vector<f32, N>) -> f32 {
    let mut all = x.extract(0usize);
    #[unroll]
    for c in 1..N::value() {
        all += x.extract(c);
    }
    all
}

/// Neighbours in each other's place.
#[cube]
fn swapped<N: Size>(x: Vector<f32, N>) -> Vector<f32, N> {
    let mut y = x;
    #[unroll]
    for c in 0..N::value() {
        y.insert(c, x.extract(comptime!(c ^ 1)));
    }
    y
}

/// Vector `v` of the row that begins at vector `row`, as an operand: turned by position `t`, if it is to be.
#[cube]
pub fn operand<N: Size>(
    x: &[Vector<f32, N>],
    turns: &[Vector<f32, N>],
    row: usize,
    t: usize,
    v: usize,
    #[comptime] turn: bool,
    #[comptime] config: KernelConfig,
) -> Vector<f32, N> {
    let own = x[row + v];
    if comptime!(turn) {
        let partner = if comptime!(config.neighbours) {
            swapped::<N>(own)
        } else {
            x[row + (v + comptime!(config.vectors / 2)) % config.vectors]
        };
        let at = 2 * t * config.vectors + v;
        all_rounded::<N>(own * turns[at] + partner * turns[at + config.vectors], config.operand_bits)
    } else {
        all_rounded::<N>(own, config.operand_bits)
    }
}

/// Writes `result` [head width] to the row that begins at vector `row`: rounded, and turned back from position `t`, if it
/// is to be.
#[cube]
pub fn write<N: Size>(
    result: &Local<Vector<f32, N>>,
    turns: &[Vector<f32, N>],
    into: &mut [Vector<f32, N>],
    row: usize,
    t: usize,
    turn: bool,
    #[comptime] config: KernelConfig,
) {
    #[unroll(config.unroll)]
    for v in 0..config.vectors {
        let own = all_rounded::<N>(result[v], config.result_bits);
        if turn {
            let at = 2 * t * config.vectors;
            let partner = if comptime!(config.neighbours) {
                swapped::<N>(own * turns[at + config.vectors + v])
            } else {
                let w = (v + comptime!(config.vectors / 2)) % config.vectors;
                all_rounded::<N>(result[w], config.result_bits) * turns[at + config.vectors + w]
            };
            into[row + v] = own * turns[at + v] + partner;
        } else {
            into[row + v] = own;
        }
    }
}

/// Copies rows `start`.. of a head of a game to `tile`, from vector `offset` on; `first` is the game's first row there,
/// and `stride` the vectors from a row to the next. Rows from `steps` on become zeros.
#[cube]
#[allow(clippy::too_many_arguments)]
pub fn load<N: Size>(
    x: &[Vector<f32, N>],
    turns: &[Vector<f32, N>],
    tile: &mut Shared<[Vector<f32, N>]>,
    #[comptime] offset: usize,
    first: usize,
    stride: usize,
    start: usize,
    steps: usize,
    #[comptime] turn: bool,
    #[comptime] config: KernelConfig,
) {
    let mut at = UNIT_POS as usize;
    while at < comptime!(config.tile * config.vectors) {
        let (t, v) = (start + at / config.vectors, at % config.vectors);
        let mut value = Vector::<f32, N>::new(0.0f32);
        if t < steps {
            value = operand::<N>(x, turns, first + t * stride, t, v, turn, config);
        }
        tile[offset + at] = value;
        at += CUBE_DIM as usize;
    }
}

/// The factor of dropout of the probability of key `j` for query `i`.
#[cube]
#[allow(clippy::too_many_arguments)]
pub fn factor_of(
    part: usize,
    time: usize,
    i: usize,
    j: usize,
    first: u32,
    second: u32,
    dropped: u32,
    kept: f32,
    #[comptime] config: KernelConfig,
) -> f32 {
    if comptime!(config.drops) {
        let index = ((part * time + i) as u32) * (time as u32) + j as u32;
        factor(index, first, second, dropped, kept)
    } else {
        1.0f32.runtime()
    }
}

/// The steps that the last of the first `end` steps sees, of a game's `steps`.
#[cube]
pub fn steps_seen(end: usize, steps: usize, #[comptime] config: KernelConfig) -> usize {
    if comptime!(config.causal) { usize::min(end, steps) } else { steps }
}
