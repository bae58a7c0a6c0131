//! Random bits for dropout, made from counters.
//!
//! Burn's generators are one per process and cannot be saved; with several micro-batches at once the order of calls
//! would decide their bits. Here each bit is a function of (seed, step, micro-batch, place in the model, element), so a
//! run can be continued at any step, on any number of threads, with equal bits.

use std::cell::Cell;

use burn::tensor::{Bool, DType, Device, Int, Tensor};

/// A stream of keys for one micro-batch of one step.
#[derive(Debug)]
pub struct CounterRng {
    key: u64,
    calls: Cell<u64>,
}

/// The key of one call of dropout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RngKey(u32, u32);

impl CounterRng {
    /// The generator of micro-batch `micro_batch` of step `step` under `seed`.
    pub fn new(seed: u64, step: u64, micro_batch: u64) -> Self {
        let key = [step, micro_batch].iter().fold(mix(seed), |key, &part| mix(key ^ mix(part)));
        CounterRng { key, calls: Cell::new(0) }
    }

    /// The key of the next call.
    pub fn next_key(&self) -> RngKey {
        let call = self.calls.get();
        self.calls.set(call + 1);
        let key = mix(self.key ^ mix(call));
        RngKey(key as u32, (key >> 32) as u32)
    }
}

impl RngKey {
    /// Factor of element `index` under dropout with probability `p`: 0 or `1/(1-p)`.
    #[inline(always)]
    pub fn factor(self, index: u32, p: f32) -> f32 {
        // 24 bits: the resolution of a float below 1.
        let uniform = (scramble(scramble(index ^ self.0) ^ self.1) >> 8) as f32 * (1.0 / 16_777_216.0);
        if uniform < p { 0.0 } else { 1.0 / (1.0 - p) }
    }

    /// The two words of the key, for kernels that compute [`RngKey::factor`] themselves.
    #[cfg(feature = "gpu")]
    pub fn words(self) -> [u32; 2] {
        [self.0, self.1]
    }

    /// Returns the mask of the elements that dropout with probability `p` sets to 0: those whose [`RngKey::factor`] is
    /// 0.
    pub fn dropped(self, elements: usize, p: f32, device: &Device) -> Tensor<1, Bool> {
        self.dropped_at(indices(elements, device), p)
    }

    /// Returns the mask of the elements with these indices, to the bit; computed where the indices are, in 64-bit
    /// integers.
    pub fn dropped_at<const D: usize>(self, indices: Tensor<D, Int>, p: f32) -> Tensor<D, Bool> {
        let first = scramble_all(indices.bitwise_and_scalar(LOW_BITS).bitwise_xor_scalar(i64::from(self.0)));
        let bits = scramble_all(first.bitwise_xor_scalar(i64::from(self.1))).bitwise_right_shift_scalar(8i64);
        // Below p as a float is below p as a whole number of units: both are exact.
        bits.lower_elem((f64::from(p) * 16_777_216.0).ceil() as i64)
    }
}

/// 0, 1, .., in 64-bit integers.
pub fn indices(count: usize, device: &Device) -> Tensor<1, Int> {
    Tensor::arange(0..count as i64, (device, DType::I64))
}

/// The 32 bits that are meant, in 64.
const LOW_BITS: i64 = 0xffff_ffff;

/// [`scramble`] for all elements, 32 bits in 64 each. Its second factor is taken less 2^32, which changes no bit of the
/// lower half and keeps products within 64 bits.
fn scramble_all<const D: usize>(x: Tensor<D, Int>) -> Tensor<D, Int> {
    let folded = |x: Tensor<D, Int>, bits: i64| x.clone().bitwise_xor(x.bitwise_right_shift_scalar(bits));
    let x = (folded(x, 16) * 0x7feb_352d_i64).bitwise_and_scalar(LOW_BITS);
    let x = (folded(x, 15) * (0x846c_a68b_i64 - (1 << 32))).bitwise_and_scalar(LOW_BITS);
    folded(x, 16)
}

/// A mixing of 32 bits by Wellons (2018, "lowbias32"); unlike 64-bit products its steps vectorise everywhere.
#[inline(always)]
fn scramble(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(0x7feb_352d);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014) after its increment.
#[inline(always)]
fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropout_keeps_the_mean_and_drops_a_share_p() {
        let key = CounterRng::new(1, 2, 3).next_key();
        let factors: Vec<f32> = (0..100_000).map(|i| key.factor(i, 0.1)).collect();
        let dropped = factors.iter().filter(|&&factor| factor == 0.0).count();
        assert!((9_500..10_500).contains(&dropped), "{dropped}");
        let mean = factors.iter().sum::<f32>() / 1e5;
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
    }

    #[test]
    fn on_a_device_the_same_elements_go() {
        for (seed, p) in [(1, 0.1), (2, 0.5), (3, 0.123_456_7), (4, 1e-6), (5, 0.999)] {
            let key = CounterRng::new(seed, 2, 3).next_key();
            let factors: Vec<bool> = (0..50_000).map(|i| key.factor(i, p) == 0.0).collect();
            let dropped = key.dropped(50_000, p, &crate::device::cpu()).into_data();
            assert_eq!(dropped.try_into_vec::<bool>().unwrap(), factors, "p {p}");
        }
        // Keys with all bits set are the largest that the products see.
        let key = RngKey(u32::MAX, u32::MAX);
        let dropped = key.dropped(9_999, 0.3, &crate::device::cpu()).into_data().try_into_vec::<bool>().unwrap();
        assert_eq!(dropped, (0..9_999).map(|i| key.factor(i, 0.3) == 0.0).collect::<Vec<_>>());
    }

    #[test]
    fn other_seeds_steps_micro_batches_and_calls_give_other_keys() {
        let first = |seed, step, micro| CounterRng::new(seed, step, micro).next_key();
        let key = first(0, 0, 0);
        assert_eq!(key, first(0, 0, 0));
        for other in [first(1, 0, 0), first(0, 1, 0), first(0, 0, 1)] {
            assert_ne!(key, other);
        }
        let rng = CounterRng::new(0, 0, 0);
        assert_ne!(rng.next_key(), rng.next_key());
    }
}
