//! AdamW with decoupled weight decay (Loshchilov and Hutter 2019), one sweep over all parameters.

use std::sync::Arc;

use cwm_models::parameters::{Layout, Weights};
use rayon::prelude::*;

/// Constants of the optimiser.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamWOptions {
    /// Decay of the first moment.
    pub beta1: f64,
    /// Decay of the second moment.
    pub beta2: f64,
    /// Added to the root of the second moment.
    pub epsilon: f64,
    /// Weight decay, in units of the learning rate; parameters declared without decay get none.
    pub weight_decay: f64,
}

/// The optimiser's state: both moments of each parameter and the number of updates made.
#[derive(Clone, Debug)]
pub struct AdamW {
    options: AdamWOptions,
    /// First moments.
    pub first: Weights,
    /// Second moments.
    pub second: Weights,
    /// Updates made.
    pub updates: u64,
}

/// Values per task; no result depends on it.
const CHUNK: usize = 1 << 14;

impl AdamW {
    /// Returns the state before the first update.
    pub fn new(layout: Arc<Layout>, options: AdamWOptions) -> Self {
        AdamW { options, first: Weights::zeros(layout.clone()), second: Weights::zeros(layout), updates: 0 }
    }

    /// The constants.
    pub fn options(&self) -> AdamWOptions {
        self.options
    }

    /// One update of `weights` with `gradient` times `clip` at this learning rate.
    pub fn update(&mut self, weights: &mut Weights, gradient: &Weights, clip: f64, learning_rate: f64) {
        self.updates += 1;
        let layout = weights.layout().clone();
        for (index, declared) in layout.parameters().iter().enumerate() {
            let factors = Factors::new(self.options, self.updates, clip, learning_rate, declared.decays);
            let moments =
                self.first.get_mut(index).par_chunks_mut(CHUNK).zip(self.second.get_mut(index).par_chunks_mut(CHUNK));
            let values = weights.get_mut(index).par_chunks_mut(CHUNK).zip(gradient.get(index).par_chunks(CHUNK));
            values.zip(moments).for_each(|((w, g), (m, v))| sweep(w, g, m, v, factors));
        }
    }
}

/// Factors of one update.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Factors {
    /// The factor of the gradient.
    pub clip: f32,
    /// The factor of the weights, by their decay.
    pub keep: f32,
    /// The factors of the first moment, and of what is added to it.
    pub first: (f32, f32),
    /// The factors of the second moment.
    pub second: (f32, f32),
    /// The factor of the first moment in the step.
    pub rate: f32,
    /// The factor of the root of the second moment.
    pub root: f32,
    /// The term that is added to that root.
    pub epsilon: f32,
}

impl Factors {
    /// The factors of update `updates`, counted from 1.
    pub fn new(options: AdamWOptions, updates: u64, clip: f64, learning_rate: f64, decays: bool) -> Self {
        let AdamWOptions { beta1, beta2, epsilon, weight_decay } = options;
        let updates = updates as f64;
        let decay = if decays { weight_decay } else { 0.0 };
        Factors {
            clip: clip as f32,
            keep: (1.0 - learning_rate * decay) as f32,
            first: (beta1 as f32, (1.0 - beta1) as f32),
            second: (beta2 as f32, (1.0 - beta2) as f32),
            rate: (learning_rate / (1.0 - beta1.powf(updates))) as f32,
            root: (1.0 / (1.0 - beta2.powf(updates)).sqrt()) as f32,
            epsilon: epsilon as f32,
        }
    }
}

#[macerator::with_simd]
fn sweep<S: macerator::Simd>(w: &mut [f32], g: &[f32], m: &mut [f32], v: &mut [f32], factors: Factors) {
    for (((w, g), m), v) in w.iter_mut().zip(g).zip(m).zip(v) {
        let g = g * factors.clip;
        *m = factors.first.0 * *m + factors.first.1 * g;
        *v = factors.second.0 * *v + factors.second.1 * g * g;
        *w = *w * factors.keep - factors.rate * *m / (v.sqrt() * factors.root + factors.epsilon);
    }
}

#[cfg(test)]
mod tests {
    use cwm_models::parameters::{Declaration, Declarations, Init};

    use super::*;

    fn layout() -> Arc<Layout> {
        let mut declarations = Declarations::default();
        let mut scope = declarations.root();
        scope.declare("w", Declaration::new([3], Init::Constant(1.0)));
        scope.declare("A_log", Declaration::new([1], Init::Constant(1.0)).without_decay());
        Arc::new(Layout::new(declarations).unwrap())
    }

    /// The formulas of models.md §1.5 in f64.
    #[test]
    fn three_updates_equal_the_formulas_and_unmarked_parameters_decay() {
        let layout = layout();
        let options = AdamWOptions { beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weight_decay: 0.1 };
        let mut adamw = AdamW::new(layout.clone(), options);
        let mut weights = Weights::initial(layout.clone(), 0);
        let (mut w, mut m, mut v) = ([1.0f64; 4], [0.0f64; 4], [0.0f64; 4]);
        for (t, rate) in [(1, 0.1), (2, 0.05), (3, 0.2)] {
            let mut gradient = Weights::zeros(layout.clone());
            for i in 0..4 {
                let g = (i as f64 - 1.3) * f64::from(t) * 0.5;
                gradient.values_mut()[i] = g as f32;
                let g = g * 0.5;
                m[i] = 0.9 * m[i] + 0.1 * g;
                v[i] = 0.95 * v[i] + 0.05 * g * g;
                let decay = if i < 3 { 1.0 - rate * 0.1 } else { 1.0 };
                let (m, v) = (m[i] / (1.0 - 0.9f64.powi(t)), v[i] / (1.0 - 0.95f64.powi(t)));
                w[i] = w[i] * decay - rate * m / (v.sqrt() + 1e-8);
            }
            adamw.update(&mut weights, &gradient, 0.5, rate);
        }
        for (found, expected) in weights.values().iter().zip(w) {
            assert!((f64::from(*found) - expected).abs() < 1e-6, "{found} {expected}");
        }
    }
}
