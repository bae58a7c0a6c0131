//! Mixes examples of several sources, so that the shares of tokens are those that are wanted.

use serde::{Deserialize, Serialize};

/// The format `mixture`: the examples and tokens that a mix took of each of its sources.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mixture {
    /// The tokens that were wanted.
    pub budget: u64,
    /// The tokens that the mix has.
    pub tokens: u64,
    /// The sources in the order of the pipeline.
    pub sources: Vec<MixtureSource>,
}

/// A source in a [`Mixture`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MixtureSource {
    /// Its name in the pipeline.
    pub source: String,
    /// Its weight.
    pub weight: f64,
    /// The examples that were taken.
    pub examples: usize,
    /// Their tokens, of the training targets alone.
    pub tokens: u64,
    /// True if the mix ended because the source had no more examples.
    pub exhausted: bool,
}

/// A source of a mix.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// Its name in the pipeline.
    pub name: String,
    /// Its share of the tokens, in proportion to the others'; with 0 nothing is taken.
    pub weight: f64,
    /// The tokens of the training target of each of its examples, in the order in which they are taken.
    pub tokens: Vec<u64>,
}

/// A mix.
#[derive(Clone, Debug, PartialEq)]
pub struct Mix {
    /// The source of each example, in the order in which they are taken: the first examples of each source.
    pub order: Vec<usize>,
    /// The examples and tokens that were taken of each source.
    pub mixture: Mixture,
}

/// Takes again and again the next example of the source with the least tokens for its weight (the first of equals), until a source
/// with a weight has no more, or the next example would bring the tokens above `budget`.
///
/// # Errors
///
/// A weight is no number or negative, or all are 0.
pub fn mix(sources: &[Source], budget: u64) -> Result<Mix, String> {
    if let Some(bad) = sources.iter().find(|source| !source.weight.is_finite() || source.weight < 0.) {
        return Err(format!("the weight {} of {} is not a number from 0 on", bad.weight, bad.name));
    }
    if sources.iter().all(|source| source.weight == 0.) {
        return Err("no source has a weight above 0".to_owned());
    }
    let nothing = |source: &Source| MixtureSource {
        source: source.name.clone(),
        weight: source.weight,
        examples: 0,
        tokens: 0,
        exhausted: false,
    };
    let mut mixture = Mixture { budget, tokens: 0, sources: sources.iter().map(nothing).collect() };
    let mut order = Vec::new();
    let weighted: Vec<usize> = (0..sources.len()).filter(|&at| sources[at].weight > 0.).collect();
    loop {
        let next_of = |at: usize| sources[at].tokens.get(mixture.sources[at].examples).copied();
        if let Some(at) = weighted.iter().copied().find(|&at| next_of(at).is_none()) {
            mixture.sources[at].exhausted = true;
            break;
        }
        let used = |at: usize| mixture.sources[at].tokens as f64 / sources[at].weight;
        let least = weighted.iter().copied().min_by(|&a, &b| used(a).total_cmp(&used(b)));
        let Some((next, tokens)) = least.and_then(|at| Some((at, next_of(at)?))) else { break };
        if budget - mixture.tokens < tokens {
            break;
        }
        mixture.tokens += tokens;
        order.push(next);
        mixture.sources[next].examples += 1;
        mixture.sources[next].tokens += tokens;
    }
    Ok(Mix { order, mixture })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;
    use crate::golden;

    fn named(weight: f64, tokens: &[u64]) -> Source {
        Source { name: "source".to_owned(), weight, tokens: tokens.to_vec() }
    }

    #[derive(Deserialize)]
    struct GoldenSource {
        weight: f64,
        tokens: Vec<u64>,
    }

    #[derive(Deserialize)]
    struct Golden {
        budget: u64,
        order: Vec<(usize, u64)>,
        sources: Vec<GoldenSource>,
        took: Vec<u64>,
        total: u64,
    }

    #[test]
    fn golden_mixes() {
        let Some(rows) = golden::lines::<Golden>("mixes.jsonl") else { return };
        assert!(!rows.is_empty());
        for row in rows {
            let source = |source: GoldenSource| named(source.weight, &source.tokens);
            let sources: Vec<Source> = row.sources.into_iter().map(source).collect();
            let mixed = mix(&sources, row.budget).unwrap();
            assert_eq!(mixed.order, row.order.iter().map(|(source, _)| *source).collect::<Vec<_>>());
            assert_eq!(mixed.mixture.sources.iter().map(|source| source.tokens).collect::<Vec<_>>(), row.took);
            assert_eq!(mixed.mixture.tokens, row.total);
            let mut taken = vec![0; sources.len()];
            for (source, tokens) in row.order {
                assert_eq!(sources[source].tokens[taken[source]], tokens);
                taken[source] += 1;
            }
        }
    }

    #[test]
    fn a_mixture_names_the_source_that_ended_it() {
        let mut sources = [named(1., &[4, 4, 4]), named(0.5, &[3]), named(0., &[])];
        for (source, name) in sources.iter_mut().zip(["built[builder=best_move]", "kept", "unused"]) {
            source.name = name.to_owned();
        }
        let mixture = mix(&sources, 100).unwrap().mixture;
        let expected = concat!(
            r#"{"budget":100,"tokens":7,"sources":["#,
            r#"{"source":"built[builder=best_move]","weight":1.0,"examples":1,"tokens":4,"exhausted":false},"#,
            r#"{"source":"kept","weight":0.5,"examples":1,"tokens":3,"exhausted":true},"#,
            r#"{"source":"unused","weight":0.0,"examples":0,"tokens":0,"exhausted":false}]}"#
        );
        assert_eq!(serde_json::to_string(&mixture).unwrap(), expected);
        assert_eq!(serde_json::from_str::<Mixture>(expected).unwrap(), mixture);
    }

    #[test]
    fn a_budget_may_be_met_exactly() {
        let mixed = mix(&[named(1., &[2, 2, 2])], 4).unwrap();
        assert_eq!((mixed.order, mixed.mixture.tokens), (vec![0, 0], 4));
        assert!(!mixed.mixture.sources[0].exhausted);
    }

    #[test]
    fn weights_that_mix_nothing_are_refused() {
        let source = |weight| named(weight, &[1]);
        assert_eq!(mix(&[source(0.)], 1).unwrap_err(), "no source has a weight above 0");
        assert_eq!(
            mix(&[source(1.), source(-1.)], 1).unwrap_err(),
            "the weight -1 of source is not a number from 0 on"
        );
        assert!(mix(&[source(f64::NAN)], 1).is_err());
    }

    proptest! {
        /// Until a source has no more, every source has its share but for one example.
        #[test]
        fn shares_are_those_of_the_weights(
            tokens in proptest::collection::vec(proptest::collection::vec(1_u64..60, 1..60), 3),
            weights in proptest::array::uniform3(1_u32..10),
            budget in 0_u64..4_000,
        ) {
            let sources: Vec<Source> = tokens.into_iter().zip(weights)
                .map(|(tokens, weight)| named(f64::from(weight), &tokens))
                .collect();
            let mixed = mix(&sources, budget).unwrap();
            prop_assert!(mixed.mixture.tokens <= budget);
            for (taken, weight) in mixed.mixture.sources.iter().zip(weights) {
                for (other, other_weight) in mixed.mixture.sources.iter().zip(weights) {
                    let apart = taken.tokens as f64 / f64::from(weight) - other.tokens as f64 / f64::from(other_weight);
                    prop_assert!(apart <= 59. / f64::from(weight) + 1e-9);
                }
            }
        }
    }
}
