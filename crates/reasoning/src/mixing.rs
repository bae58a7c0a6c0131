//! Which examples of several sources are mixed, so that the shares of tokens are those that are wanted.

use serde::{Deserialize, Serialize};

/// The format `mixture`: what a mix took of each of its sources.
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
    /// Their tokens: of what is learnt alone.
    pub tokens: u64,
    /// Whether the mix ended because it had no more examples.
    pub exhausted: bool,
}

/// A source of a mix.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// Its share of the tokens, in proportion to the others'; with 0 nothing is taken.
    pub weight: f64,
    /// The tokens of what is learnt of each of its examples, in the order in which they are taken.
    pub tokens: Vec<u64>,
}

/// What was taken of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// How many of its examples, from the first.
    pub examples: usize,
    /// Their tokens.
    pub tokens: u64,
}

/// A mix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mixed {
    /// The source of each example, in the order of taking.
    pub order: Vec<usize>,
    /// What was taken of each source.
    pub taken: Vec<Taken>,
    /// The first source without more examples, if that was the end.
    pub exhausted: Option<usize>,
}

impl Mixed {
    /// All tokens that were taken.
    pub fn tokens(&self) -> u64 {
        self.taken.iter().map(|taken| taken.tokens).sum()
    }

    /// What it took of the sources, which have these names.
    pub fn mixture(&self, names: &[String], sources: &[Source], budget: u64) -> Mixture {
        let source = |(at, ((name, source), taken)): (usize, ((&String, &Source), &Taken))| MixtureSource {
            source: name.clone(),
            weight: source.weight,
            examples: taken.examples,
            tokens: taken.tokens,
            exhausted: self.exhausted == Some(at),
        };
        let sources = names.iter().zip(sources).zip(&self.taken).enumerate().map(source).collect();
        Mixture { budget, tokens: self.tokens(), sources }
    }
}

/// Takes again and again the next example of the source with the least tokens for its weight (the first of equals), until a source
/// with a weight has no more, or the next example would bring the tokens above `budget`.
///
/// # Errors
///
/// A weight is no number or negative, or all are 0.
pub fn mix(sources: &[Source], budget: u64) -> Result<Mixed, String> {
    if let Some(bad) = sources.iter().find(|source| !source.weight.is_finite() || source.weight < 0.) {
        return Err(format!("the weight {} is not a number from 0 on", bad.weight));
    }
    if sources.iter().all(|source| source.weight == 0.) {
        return Err("no source has a weight above 0".to_owned());
    }
    let none = Taken { examples: 0, tokens: 0 };
    let mut mixed = Mixed { order: Vec::new(), taken: vec![none; sources.len()], exhausted: None };
    let mut left = budget;
    let weighted: Vec<usize> = (0..sources.len()).filter(|&at| sources[at].weight > 0.).collect();
    loop {
        let next_of = |at: usize| sources[at].tokens.get(mixed.taken[at].examples).copied();
        mixed.exhausted = weighted.iter().copied().find(|&at| next_of(at).is_none());
        if mixed.exhausted.is_some() {
            break;
        }
        let used = |at: usize| mixed.taken[at].tokens as f64 / sources[at].weight;
        let least = weighted.iter().copied().min_by(|&a, &b| used(a).total_cmp(&used(b)));
        let Some((next, tokens)) = least.and_then(|at| Some((at, next_of(at)?))) else { break };
        let Some(rest) = left.checked_sub(tokens) else { break };
        left = rest;
        mixed.order.push(next);
        mixed.taken[next].examples += 1;
        mixed.taken[next].tokens += tokens;
    }
    Ok(mixed)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;
    use crate::golden;

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
        assert_eq!(rows.len(), 6);
        for row in rows {
            let source = |source: GoldenSource| Source { weight: source.weight, tokens: source.tokens };
            let sources: Vec<Source> = row.sources.into_iter().map(source).collect();
            let mixed = mix(&sources, row.budget).unwrap();
            assert_eq!(mixed.order, row.order.iter().map(|(source, _)| *source).collect::<Vec<_>>());
            assert_eq!(mixed.taken.iter().map(|taken| taken.tokens).collect::<Vec<_>>(), row.took);
            assert_eq!(mixed.tokens(), row.total);
            let mut taken = vec![0; sources.len()];
            for (source, tokens) in row.order {
                assert_eq!(sources[source].tokens[taken[source]], tokens);
                taken[source] += 1;
            }
        }
    }

    #[test]
    fn a_mixture_names_the_source_that_ended_it() {
        let source = |weight, tokens: &[u64]| Source { weight, tokens: tokens.to_vec() };
        let sources = [source(1., &[4, 4, 4]), source(0.5, &[3]), source(0., &[])];
        let names = ["built[builder=best_move]", "kept", "unused"].map(str::to_owned);
        let mixture = mix(&sources, 100).unwrap().mixture(&names, &sources, 100);
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
    fn weights_that_mix_nothing_are_refused() {
        let source = |weight| Source { weight, tokens: vec![1] };
        assert_eq!(mix(&[source(0.)], 1).unwrap_err(), "no source has a weight above 0");
        assert_eq!(mix(&[source(1.), source(-1.)], 1).unwrap_err(), "the weight -1 is not a number from 0 on");
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
                .map(|(tokens, weight)| Source { weight: f64::from(weight), tokens })
                .collect();
            let mixed = mix(&sources, budget).unwrap();
            prop_assert!(mixed.tokens() <= budget);
            for (taken, weight) in mixed.taken.iter().zip(weights) {
                for (other, other_weight) in mixed.taken.iter().zip(weights) {
                    let apart = taken.tokens as f64 / f64::from(weight) - other.tokens as f64 / f64::from(other_weight);
                    prop_assert!(apart <= 59. / f64::from(weight) + 1e-9);
                }
            }
        }
    }
}
