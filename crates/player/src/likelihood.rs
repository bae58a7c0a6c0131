//! What one row of logits means.

/// Tokens that a draw is made among, at most.
const LIKELIEST: usize = 200;

/// The likeliest token; of equal ones the first.
pub fn likeliest(logits: &[f32]) -> u16 {
    let mut best = 0;
    for (token, logit) in logits.iter().enumerate() {
        if *logit > logits[best] {
            best = token;
        }
    }
    best as u16
}

/// The likeliest of these tokens; of equal ones the first. There is at least one.
pub fn likeliest_of(logits: &[f32], tokens: &[u16]) -> u16 {
    let of_tokens: Vec<f32> = at(logits, tokens).collect();
    tokens[usize::from(likeliest(&of_tokens))]
}

/// ln of the sum of exponentials of all logits: less it, a logit is the ln of its probability.
pub fn ln_sum(logits: impl Iterator<Item = f32> + Clone) -> f64 {
    let largest = logits.clone().fold(f32::NEG_INFINITY, f32::max);
    let sum: f64 = logits.map(|logit| (f64::from(logit) - f64::from(largest)).exp()).sum();
    f64::from(largest) + sum.ln()
}

/// ln of the probability of a token.
pub fn ln_likelihood(logits: &[f32], token: u16) -> f64 {
    f64::from(logits[usize::from(token)]) - ln_sum(logits.iter().copied())
}

/// ln of the probability of each of these tokens among them.
pub fn ln_likelihoods_among(logits: &[f32], tokens: &[u16]) -> Vec<f64> {
    let sum = ln_sum(at(logits, tokens));
    at(logits, tokens).map(|logit| f64::from(logit) - sum).collect()
}

fn at<'a>(logits: &'a [f32], tokens: &'a [u16]) -> impl Iterator<Item = f32> + Clone + 'a {
    tokens.iter().map(|&token| logits[usize::from(token)])
}

/// A token drawn among the 200 likeliest at this temperature, by a number in [0, 1).
pub fn draw(logits: &[f32], temperature: f64, uniform: f64) -> u16 {
    let mut order: Vec<usize> = (0..logits.len()).collect();
    let by_logit = |a: &usize, b: &usize| logits[*b].total_cmp(&logits[*a]);
    // The sort is stable: of equal ones the first comes first.
    order.sort_by(by_logit);
    order.truncate(LIKELIEST);
    let largest = f64::from(logits[order[0]]);
    let weights: Vec<f64> =
        order.iter().map(|&token| ((f64::from(logits[token]) - largest) / temperature).exp()).collect();
    let mut left = uniform * weights.iter().sum::<f64>();
    for (&token, weight) in order.iter().zip(&weights) {
        if left < *weight {
            return token as u16;
        }
        left -= weight;
    }
    order[0] as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_equal_logits_the_lower_token_wins() {
        assert_eq!(likeliest(&[0.0, 2.0, 1.0, 2.0]), 1);
        assert_eq!(likeliest_of(&[5.0, 1.0, 2.0, 2.0], &[1, 2, 3]), 2);
        assert_eq!(draw(&[0.0, 2.0, 1.0, 2.0], 1e-3, 0.0), 1);
    }

    #[test]
    fn likelihoods_add_up_to_one() {
        let logits = [300.0, 301.0, 299.5, -1e9];
        let sum: f64 = (0..4).map(|token| ln_likelihood(&logits, token).exp()).sum();
        assert!((sum - 1.0).abs() < 1e-12);
        let among = ln_likelihoods_among(&logits, &[0, 2]);
        assert!((among[0] - among[1] - 0.5).abs() < 1e-12);
        assert!((among.iter().map(|ln| ln.exp()).sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn draws_have_the_probabilities_of_their_temperature() {
        let logits = [0.0f32, 1.0, -1.0];
        let draws = 30_000;
        let mut counts = [0; 3];
        (0..draws).for_each(|i| counts[usize::from(draw(&logits, 0.5, (f64::from(i) + 0.5) / f64::from(draws)))] += 1);
        let weights = logits.map(|logit| (f64::from(logit) / 0.5).exp());
        let sum: f64 = weights.iter().sum();
        for (count, weight) in counts.into_iter().zip(weights) {
            assert!((f64::from(count) / f64::from(draws) - weight / sum).abs() < 1e-3, "{counts:?}");
        }
    }

    #[test]
    fn only_the_two_hundred_likeliest_are_drawn() {
        let logits: Vec<f32> = (0..1000).map(|token| if token < 250 { 1.0 } else { 0.5 }).collect();
        assert_eq!(draw(&logits, 1.0, 1.0 - 1e-12), 199);
        assert_eq!(draw(&logits, 1.0, 0.0), 0);
    }
}
