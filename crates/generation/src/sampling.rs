//! The choice of the next word.

/// The rules by which words are drawn. They apply in the order of the fields, as in vLLM.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampling {
    /// Divides the positive logits of words that the answer has already, and multiplies the others by it; 1 changes nothing.
    pub repetition_penalty: f64,
    /// Divides the logits; 0 chooses the likeliest word, the first of equals, and draws nothing.
    pub temperature: f64,
    /// Leaves out words whose probability is below this share of the largest; 0 leaves out none.
    pub min_p: f64,
    /// Keeps this many of the likeliest words, of equals the first; `None` keeps all.
    pub top_k: Option<usize>,
    /// Keeps the fewest of the likeliest words whose probabilities add up to this share of all that are left; 1 keeps all.
    pub top_p: f64,
    /// The word that ends an answer.
    pub end: u16,
    /// Words of an answer, its end included, at most; at least 1. A longer one is cut there.
    pub max_tokens: usize,
}

impl Sampling {
    /// Draws from the distribution of the model itself, without any rule.
    pub fn plain(end: u16, max_tokens: usize) -> Self {
        Sampling { repetition_penalty: 1.0, temperature: 1.0, min_p: 0.0, top_k: None, top_p: 1.0, end, max_tokens }
    }

    /// The word that follows `answer`, by the model's `logits` after it; `uniform` is a number in [0, 1). `None` if a logit is not
    /// finite.
    pub(crate) fn choose(&self, logits: &[f32], answer: &[u16], uniform: impl FnOnce() -> f64) -> Option<u16> {
        let logits = self.penalised(logits, answer);
        if logits.iter().any(|logit| !logit.is_finite()) {
            return None;
        }
        let mut order: Vec<usize> = (0..logits.len()).collect();
        // The sort is stable: of equal words the first comes first.
        order.sort_by(|&a, &b| logits[b].total_cmp(&logits[a]));
        let largest = logits[*order.first()?];
        if self.temperature == 0.0 {
            return Some(order[0] as u16);
        }
        let weight = |word: usize| ((logits[word] - largest) / self.temperature).exp();
        // The largest weight is 1, so that `min_p` is a bound of weights.
        let mut kept: Vec<(usize, f64)> = order.into_iter().map(|word| (word, weight(word))).collect();
        kept.retain(|&(_, weight)| weight >= self.min_p);
        kept.truncate(self.top_k.unwrap_or(usize::MAX));
        keep_share(&mut kept, self.top_p);
        let mut left = uniform() * sum(&kept);
        for &(word, weight) in &kept {
            if left < weight {
                return Some(word as u16);
            }
            left -= weight;
        }
        // Rounding used up the last weight.
        kept.last().map(|&(word, _)| word as u16)
    }

    fn penalised(&self, logits: &[f32], answer: &[u16]) -> Vec<f64> {
        let mut logits: Vec<f64> = logits.iter().map(|&logit| f64::from(logit)).collect();
        if self.repetition_penalty == 1.0 {
            return logits;
        }
        for (word, logit) in logits.iter_mut().enumerate() {
            if answer.contains(&(word as u16)) {
                *logit *= if *logit > 0.0 { 1.0 / self.repetition_penalty } else { self.repetition_penalty };
            }
        }
        logits
    }
}

/// Keeps the first words whose weights add up to `share` of the sum.
fn keep_share(kept: &mut Vec<(usize, f64)>, share: f64) {
    if share >= 1.0 {
        return;
    }
    let enough = share * sum(kept);
    let mut reached = 0.0;
    let count = kept.iter().take_while(|(_, weight)| {
        let is_needed = reached < enough;
        reached += weight;
        is_needed
    });
    let count = count.count().max(1);
    kept.truncate(count);
}

fn sum(kept: &[(usize, f64)]) -> f64 {
    kept.iter().map(|(_, weight)| weight).sum()
}
