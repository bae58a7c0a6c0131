//! Probabilities from one row of logits.

use cwm_models::heads::choice::Score;

/// The number of likeliest tokens or moves of which one is drawn.
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

/// ln of the probability of a token.
pub fn ln_likelihood(logits: &[f32], token: u16) -> f64 {
    -Score::new(logits, usize::from(token)).loss
}

/// ln of the probability of each of these tokens among them. There is at least one.
pub fn ln_likelihoods_among(logits: &[f32], tokens: &[u16]) -> Vec<f64> {
    let among: Vec<f32> = tokens.iter().map(|&token| logits[usize::from(token)]).collect();
    let of_first = ln_likelihood(&among, 0);
    among.iter().map(|&logit| of_first + (f64::from(logit) - f64::from(among[0]))).collect()
}

/// The likeliest of these tokens; of equal ones the first. There is at least one.
pub fn likeliest_of(logits: &[f32], tokens: &[u16]) -> u16 {
    let among: Vec<f32> = tokens.iter().map(|&token| logits[usize::from(token)]).collect();
    tokens[usize::from(likeliest(&among))]
}

/// The place of one drawn among the 200 likeliest at this temperature, by a number in [0, 1). Of each, `likelihoods` has the
/// ln of its likelihood, but for a constant.
pub fn draw(likelihoods: &[f64], temperature: f64, uniform: f64) -> usize {
    let mut order: Vec<usize> = (0..likelihoods.len()).collect();
    let by_likelihood = |a: &usize, b: &usize| likelihoods[*b].total_cmp(&likelihoods[*a]);
    // The sort is stable: of equal ones the first comes first.
    order.sort_by(by_likelihood);
    order.truncate(LIKELIEST);
    let largest = likelihoods[order[0]];
    let weights: Vec<f64> = order.iter().map(|&place| ((likelihoods[place] - largest) / temperature).exp()).collect();
    let mut left = uniform * weights.iter().sum::<f64>();
    for (&place, weight) in order.iter().zip(&weights) {
        if left < *weight {
            return place;
        }
        left -= weight;
    }
    order[0]
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
        let logits = [0.0, 1.0, -1.0];
        let draws = 30_000;
        let mut counts = [0; 3];
        (0..draws).for_each(|i| counts[draw(&logits, 0.5, (f64::from(i) + 0.5) / f64::from(draws))] += 1);
        let weights = logits.map(|logit: f64| (logit / 0.5).exp());
        let sum: f64 = weights.iter().sum();
        for (count, weight) in counts.into_iter().zip(weights) {
            assert!((f64::from(count) / f64::from(draws) - weight / sum).abs() < 1e-3, "{counts:?}");
        }
    }

    #[test]
    fn only_the_two_hundred_likeliest_are_drawn() {
        let logits: Vec<f64> = (0..1000).map(|token| if token < 250 { 1.0 } else { 0.5 }).collect();
        assert_eq!(draw(&logits, 1.0, 1.0 - 1e-12), 199);
        assert_eq!(draw(&logits, 1.0, 0.0), 0);
    }
}
