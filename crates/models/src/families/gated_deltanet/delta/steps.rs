//! The rule itself, one step after the other.

use crate::ops::state_space::steps::{forget, read, write};
use crate::streaming::Real;

/// Added to the square sum of queries and keys before its root (fla's `l2norm`).
pub const EPSILON: f32 = 1e-6;

/// x / √(Σx² + ε)
fn unit<F: Real>(x: &[F]) -> Vec<F> {
    let inverse = (x.iter().fold(F::zero(), |sum, &x| sum + x * x) + F::of(EPSILON)).sqrt().recip();
    x.iter().map(|&x| x * inverse).collect()
}

/// One step of one head: the state [key, value] decays, is corrected at the key towards the value, and answers the query.
pub fn advance<F: Real>(state: &mut [F], q: &[F], k: &[F], v: &[F], decay: F, strength: F) -> Vec<F> {
    let k = unit(k);
    forget(state, decay.exp());
    let held = read(state, &k, v.len());
    let correction: Vec<F> = v.iter().zip(held).map(|(&v, held)| strength * (v - held)).collect();
    write(state, F::one(), &k, &correction);
    let scale = F::of(q.len() as f32).sqrt().recip();
    read(state, &unit(q), v.len()).into_iter().map(|answer| answer * scale).collect()
}
