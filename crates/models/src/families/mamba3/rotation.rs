//! Keys and queries turn by angles that depend on the input.

use crate::streaming::Real;

/// The pairs of channels that turn together; channels that are in no pair stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// Channels i and i + N/2, for i below N/4 (MIMO).
    Halves,
    /// Channels 2i and 2i + 1, for i below N/4 (SISO).
    Neighbours,
}

impl Pairing {
    /// Rotates the pairs of a row [state]; there are as many as cosines.
    #[inline(always)]
    pub fn rotate<F: Real>(self, row: &mut [F], cosines: &[F], sines: &[F]) {
        let turned = |a: F, b: F, cosine: F, sine: F| (a * cosine - b * sine, a * sine + b * cosine);
        let angles = cosines.iter().zip(sines);
        match self {
            Pairing::Halves => {
                let (first, second) = row.split_at_mut(row.len() / 2);
                for ((a, b), (&cosine, &sine)) in first.iter_mut().zip(second).zip(angles) {
                    (*a, *b) = turned(*a, *b, cosine, sine);
                }
            }
            Pairing::Neighbours => {
                for (pair, (&cosine, &sine)) in row.chunks_exact_mut(2).zip(angles) {
                    (pair[0], pair[1]) = turned(pair[0], pair[1], cosine, sine);
                }
            }
        }
    }

    /// Turns the gradient of a turned row into that of the row; adds that of the angles to `grads`.
    #[inline(always)]
    pub fn rotate_back(self, turned: &[f32], gradient: &mut [f32], cosines: &[f32], sines: &[f32], grads: &mut [f32]) {
        let angles = cosines.iter().zip(sines).zip(grads);
        match self {
            Pairing::Halves => {
                let half = turned.len() / 2;
                let (first, second) = gradient.split_at_mut(half);
                let pairs = turned[..half].iter().zip(&turned[half..]).zip(first.iter_mut().zip(second));
                for (((a, b), (grad_a, grad_b)), ((cosine, sine), grad)) in pairs.zip(angles) {
                    *grad += *grad_b * a - *grad_a * b;
                    (*grad_a, *grad_b) = (*grad_a * cosine + *grad_b * sine, *grad_b * cosine - *grad_a * sine);
                }
            }
            Pairing::Neighbours => {
                let pairs = turned.chunks_exact(2).zip(gradient.chunks_exact_mut(2));
                for ((pair, into), ((cosine, sine), grad)) in pairs.zip(angles) {
                    let (grad_a, grad_b) = (into[0], into[1]);
                    *grad += grad_b * pair[0] - grad_a * pair[1];
                    (into[0], into[1]) = (grad_a * cosine + grad_b * sine, grad_b * cosine - grad_a * sine);
                }
            }
        }
    }
}

/// The turns of one head's rows.
#[derive(Clone, Copy, Debug)]
pub struct Rotations<'a> {
    pub pairing: Pairing,
    /// [steps, state / 4]
    pub cosines: &'a [f32],
    /// [steps, state / 4]
    pub sines: &'a [f32],
}

impl<'a> Rotations<'a> {
    /// Cosines and sines at step `t`, of rows of this many channels.
    #[inline(always)]
    pub fn at(&self, t: usize, state: usize) -> (&'a [f32], &'a [f32]) {
        let of = t * (state / 4)..(t + 1) * (state / 4);
        (&self.cosines[of.clone()], &self.sines[of])
    }
}

/// Cosine and sine of an angle of any size, in f32 but with its turns taken off in f64.
pub fn cosine_and_sine(angle: f64) -> (f32, f32) {
    let rotations = angle / std::f64::consts::TAU;
    let (sine, cosine) = (((rotations - rotations.round()) * std::f64::consts::TAU) as f32).sin_cos();
    (cosine, sine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pairing_turns_its_own_channels() {
        let row = [1.0f64, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
        let turned = |pairing: Pairing| {
            let mut row = row;
            // A quarter turn, and a half turn.
            pairing.rotate(&mut row, &[0.0, -1.0], &[1.0, 0.0]);
            row
        };
        assert_eq!(turned(Pairing::Halves), [-5.0, -2.0, 3.0, 4.0, 1.0, -6.0, 7.0, 8.0]);
        assert_eq!(turned(Pairing::Neighbours), [-2.0, 1.0, -3.0, -4.0, 5.0, 6.0, 7.0, 8.0]);
    }

    #[test]
    fn large_angles_lose_no_digits() {
        for angle in [0.0, 3.0, -1e3, 12_345.678, 1e6] {
            let (cosine, sine) = cosine_and_sine(angle);
            assert!((f64::from(cosine) - angle.cos()).abs() < 3e-7 && (f64::from(sine) - angle.sin()).abs() < 3e-7);
        }
    }
}
