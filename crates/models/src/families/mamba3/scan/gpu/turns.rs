//! Angles in whole numbers: 2^32 are a turn, and what overflows is whole turns.
//!
//! The CPU sums angles in f64. A sum in two floats would do on most GPUs, but some drivers cancel terms as if floats
//! were exact, and then the second float is always zero. Here a step is a product of numbers of 12 bits, which is exact, and
//! a small rest; and integers have no rounding.

use cubecl::prelude::*;

/// 1/2π in two parts, the first of 12 bits.
const PER_RADIAN: f32 = 0.159_118_65;
const PER_RADIAN_REST: f32 = 3.629_074_9e-5;

/// The product of a speed and a step size, in radians, as a part of a turn: 2^32 are a whole one.
#[cube]
pub(super) fn part_of_turn(speed: f32, size: f32) -> u32 {
    let (speed_high, size_high) = (upper_half(speed), upper_half(size));
    let (speed_low, size_low) = (speed - speed_high, size - size_high);
    let turns = speed_high * PER_RADIAN;
    let high = upper_half(turns);
    let low = (turns - high) + (speed_high * PER_RADIAN_REST + speed_low * (PER_RADIAN + PER_RADIAN_REST));
    fixed(high * size_high) + fixed(high * size_low + low * size)
}

/// The nearest part of a turn, from turns.
#[cube]
fn fixed(turns: f32) -> u32 {
    let rest = turns - f32::floor(turns + 0.5f32);
    u32::reinterpret(i32::cast_from(rest * 4_294_967_296.0f32))
}

/// The 12 first bits of a float.
#[cube]
fn upper_half(x: f32) -> f32 {
    f32::reinterpret(u32::reinterpret(x) & 0xffff_f000u32)
}

/// The bits that make any float NaN, if `x` is not finite: the whole numbers above have no NaN.
#[cube]
pub(super) fn poison(x: f32) -> u32 {
    let exponent = u32::reinterpret(x) & 0x7f80_0000u32;
    if exponent == 0x7f80_0000u32 { 0x7fc0_0000u32.runtime() } else { 0u32.runtime() }
}

/// Cosine and sine of a part of a turn: Cephes' polynomials for what is left after quarters.
#[cube]
pub(super) fn cosine_and_sine(angle: u32) -> (f32, f32) {
    let quarters = (angle + 0x2000_0000u32) >> 30u32;
    let rest = i32::reinterpret(angle - (quarters << 30u32));
    let x = f32::cast_from(rest) * 1.462_918_1e-9f32;
    let square = x * x;
    let sine = x + x * square * (-0.166_666_55f32 + square * (8.332_161e-3f32 - 1.951_529_6e-4f32 * square));
    let quartic = 4.166_664_6e-2f32 + square * (-1.388_731_6e-3f32 + 2.443_315_7e-5f32 * square);
    let cosine = 1.0f32 - 0.5f32 * square + square * square * quartic;
    let is_odd = quarters & 1u32 == 1u32;
    let of_cosine = if is_odd { -sine } else { cosine };
    let of_sine = if is_odd { cosine } else { sine };
    let sign = if quarters >= 2u32 { -1.0f32.runtime() } else { 1.0f32.runtime() };
    (sign * of_cosine, sign * of_sine)
}
