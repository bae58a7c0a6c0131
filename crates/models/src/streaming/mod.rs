//! Models that read one token after another with a state of constant size.
//!
//! This is the recurrence of a family as it is defined, on the CPU and without Burn: what follows a game move by
//! move uses it in f32, and the tests hold the form that trains against it in f64.

#[cfg(test)]
mod finite_differences;
#[cfg(test)]
mod invariants;

pub use crate::ops::Real;

use crate::parameters::Weights;

/// The state of a model after the tokens that it has read: arrays whose number and sizes never change.
#[derive(Clone, Debug, PartialEq)]
pub struct RecurrentState<F>(pub Vec<Vec<F>>);

/// Blocks that read one token after another, in the precision `F`.
pub trait Recurrence<F: Real>: Send + Sync {
    /// The state before the first token.
    fn start(&self, weights: &Weights) -> RecurrentState<F>;

    /// Reads a token; returns the last hidden state after it, [width].
    ///
    /// # Panics
    /// The token is not in the table, or weights or state are another model's: callers check tokens against the
    /// vocabulary.
    fn step(&self, weights: &Weights, state: &mut RecurrentState<F>, token: u32) -> Vec<F>;
}

/// w ⊙ x / sqrt(mean(x²) + ε).
pub(crate) fn rms_norm<F: Real>(x: &[F], weight: &[f32], epsilon: f32) -> Vec<F> {
    let square_sum = x.iter().fold(F::zero(), |sum, &x| sum + x * x);
    let inverse = (square_sum / F::of(x.len() as f32) + F::of(epsilon)).sqrt().recip();
    x.iter().zip(weight).map(|(&x, &w)| x * inverse * F::of(w)).collect()
}

/// a + b, element by element.
pub(crate) fn sum<F: Real>(a: &[F], b: &[F]) -> Vec<F> {
    a.iter().zip(b).map(|(&a, &b)| a + b).collect()
}
