//! Draws the moves of a position that a search looks at.

use crate::draws::RandomChoices;

/// The rule by which moves are drawn by their values.
#[derive(Debug, PartialEq)]
pub(super) struct Rule {
    /// The fewest moves, if there are as many.
    least: usize,
    /// The most moves.
    most: usize,
    /// The probability that moves must exceed, if `least` do.
    min_probability: f64,
    /// When the drawn moves have this probability together, the less probable ones are dropped.
    top_p: f64,
    /// The temperature of the probabilities, in centipawns; negative for the opponent, whose moves are the better the less they are
    /// worth.
    temperature: f64,
}

pub(super) const ROOT: Rule = Rule { least: 2, most: 3, min_probability: 0., top_p: 1., temperature: 500. };
pub(super) const OWN: Rule = Rule { least: 1, most: 2, min_probability: 0.2, top_p: 0.8, temperature: 20. };
pub(super) const OPPONENT: Rule = Rule { least: 1, most: 2, min_probability: 0.2, top_p: 0.8, temperature: -10. };

/// The softmax of the scores, which are centipawns of the root player.
pub(super) fn probabilities(scores: &[i32], rule: &Rule) -> Vec<f64> {
    let logits: Vec<f64> = scores.iter().map(|&score| f64::from(score) / rule.temperature).collect();
    let greatest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logits.iter().map(|logit| (logit - greatest).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

/// Indices of the drawn moves, shuffled. Of equal scores the first is the more probable one.
pub(super) fn draw(scores: &[i32], rule: &Rule, draws: &mut RandomChoices) -> Vec<usize> {
    let probabilities = probabilities(scores, rule);
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]));
    let probable = order.iter().filter(|&&at| probabilities[at] > rule.min_probability).count();
    order.truncate(probable.max(rule.least));
    if order.len() > rule.most {
        order = without_replacement(&order, &probabilities, rule.most, draws);
    }
    let mut mass = 0.;
    let mut kept = 0;
    while kept < order.len() && (kept < rule.least || mass < rule.top_p) {
        mass += probabilities[order[kept]];
        kept += 1;
    }
    order.truncate(kept);
    draws.shuffle(&mut order);
    order
}

/// Draws `count` of `indices`, each next one in proportion to its probability; returns them in their old order.
fn without_replacement(
    indices: &[usize],
    probabilities: &[f64],
    count: usize,
    draws: &mut RandomChoices,
) -> Vec<usize> {
    let mut weights: Vec<f64> = indices.iter().map(|&at| probabilities[at]).collect();
    let mut chosen = Vec::with_capacity(count);
    while let Some(next) = (chosen.len() < count).then(|| draws.weighted(&weights)).flatten() {
        weights[next] = 0.;
        chosen.push(next);
    }
    chosen.sort_unstable();
    chosen.into_iter().map(|at| indices[at]).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;
    use crate::golden;

    #[derive(Deserialize)]
    struct Golden {
        which: String,
        scores: Vec<i32>,
        probabilities: Vec<f64>,
        possible: Vec<Vec<usize>>,
    }

    fn rule(which: &str) -> &'static Rule {
        match which {
            "root" => &ROOT,
            "own" => &OWN,
            "opponent" => &OPPONENT,
            other => panic!("{other}"),
        }
    }

    fn drawn_sets(scores: &[i32], rule: &Rule, times: u64) -> BTreeMap<Vec<usize>, u64> {
        let mut sets = BTreeMap::new();
        for ordinal in 0..times {
            let mut set = draw(scores, rule, &mut RandomChoices::new("test", 0, ordinal));
            set.sort_unstable();
            *sets.entry(set).or_insert(0) += 1;
        }
        sets
    }

    #[test]
    fn golden_draws() {
        let Some(rows) = golden::lines::<Golden>("draws.jsonl") else { return };
        assert!(!rows.is_empty());
        for row in rows {
            let rule = rule(&row.which);
            let found = probabilities(&row.scores, rule);
            assert!(found.iter().zip(&row.probabilities).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
            let sets = drawn_sets(&row.scores, rule, 300);
            for set in sets.keys() {
                assert!(row.possible.contains(set), "{} {:?}: {set:?}", row.which, row.scores);
            }
            if row.possible.len() == 1 {
                assert_eq!(sets.len(), 1);
            }
        }
    }

    /// The probability that weighted drawing without replacement gives this set of three.
    fn expected(set: &[usize], p: &[f64]) -> f64 {
        let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        let of = |order: [usize; 3]| {
            let [a, b, c] = order.map(|at| p[set[at]]);
            a * b / (1. - a) * c / (1. - a - b)
        };
        orders.into_iter().map(of).sum()
    }

    #[test]
    fn frequencies_are_those_of_weighted_drawing_without_replacement() {
        let scores = [400, 150, 0, -100, -600];
        let times = 40_000;
        let sets = drawn_sets(&scores, &ROOT, times);
        let p = probabilities(&scores, &ROOT);
        assert_eq!(sets.len(), 10);
        let square = |(set, count): (&Vec<usize>, &u64)| {
            let expected = expected(set, &p) * times as f64;
            (*count as f64 - expected).powi(2) / expected
        };
        let chi_squared: f64 = sets.iter().map(square).sum();
        // The quantile of .999 for 9 degrees of freedom.
        assert!(chi_squared < 27.88, "{chi_squared}");
    }
}
