//! The cost of answers.

use std::collections::BTreeMap;

use cwm_contract::Failure;

use crate::config::Config;
use crate::entry::{Entry, Usage};

/// Characters of a prompt that are about one token.
const CHARACTERS_A_TOKEN: f64 = 2.5;

/// Dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices {
    input: f64,
    output: f64,
}

impl Prices {
    /// The prices of the parameter; `None` if it is empty.
    pub fn of_parameter(prices: &BTreeMap<String, f64>) -> Option<Self> {
        Some(Prices { input: *prices.get("input")?, output: *prices.get("output")? })
    }

    /// Dollars of so many tokens.
    pub fn dollars(self, input: f64, output: f64) -> f64 {
        (input * self.input + output * self.output) / 1e6
    }
}

/// An estimate of the number of tokens of a prompt of so many characters.
pub fn tokens_of(characters: usize) -> f64 {
    characters as f64 / CHARACTERS_A_TOKEN
}

/// Dollars of an answer: what the server reports, else its tokens by the prices; `None` if neither is known.
pub fn of_answer(usage: &Usage, prices: Option<Prices>) -> Option<f64> {
    usage.cost.or_else(|| {
        let (input, output) = (usage.prompt_tokens?, usage.completion_tokens?);
        Some(prices?.dollars(input as f64, output as f64))
    })
}

/// Dollars of an attempt without an answer, about: as those of an answer, with the prompt's tokens by its length where the server
/// did not count them. An attempt without tokens of a completion is not billed.
pub fn of_failed(prompt: &str, usage: &Usage, prices: Option<Prices>) -> f64 {
    let estimate = tokens_of(prompt.chars().count()) as u64;
    let usage = Usage { prompt_tokens: usage.prompt_tokens.or(Some(estimate)), ..*usage };
    of_answer(&usage, prices).unwrap_or_default()
}

/// Checks that this answer counts if there is a budget.
///
/// # Errors
/// The server reports neither its cost nor what `prices` are of.
pub fn check_cost(config: &Config, entry: &Entry) -> Result<(), Failure> {
    let is_known = of_answer(&entry.usage, Prices::of_parameter(&config.prices)).is_some();
    if config.budget.is_none() || is_known {
        return Ok(());
    }
    let (missing, hint) = match config.prices.is_empty() {
        true => ("no cost", "give `prices`, or leave `budget` out"),
        false => ("no cost and no tokens", "leave `budget` out"),
    };
    Err(Failure::input(format!("the server reports {missing}, so the `budget` cannot be kept")).hint(hint))
}

/// Checks that the budget allows `left` more questions.
///
/// # Errors
/// It is spent.
pub fn check_budget(config: &Config, spent: f64, left: u64) -> Result<(), Failure> {
    match config.budget {
        Some(budget) if left > 0 && spent >= budget => {
            Err(Failure::input(format!("the budget of ${budget} is spent; {left} questions are left"))
                .hint("raise `budget`"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_cost_counts_before_prices_and_failed_attempts_are_paid_too() {
        let prices = Prices::of_parameter(&BTreeMap::from([("input".to_owned(), 1.0), ("output".to_owned(), 4.0)]));
        let counted = Usage { prompt_tokens: Some(1_000_000), completion_tokens: Some(500_000), ..Usage::default() };
        assert_eq!(of_answer(&counted, prices), Some(3.0));
        assert_eq!(of_answer(&Usage { cost: Some(0.5), ..counted }, prices), Some(0.5));
        assert_eq!(of_answer(&counted, None), None);
        assert_eq!(of_answer(&Usage::default(), prices), None);
        let prompt = "x".repeat(2_500_000);
        let pieces = Usage { completion_tokens: Some(250_000), ..Usage::default() };
        assert_eq!(of_failed(&prompt, &pieces, prices), 2.0);
        assert_eq!(of_failed(&prompt, &counted, prices), 3.0);
        assert_eq!(of_failed(&prompt, &Usage { cost: Some(0.5), ..Usage::default() }, None), 0.5);
        assert_eq!(of_failed(&prompt, &Usage::default(), prices), 0.0);
        assert_eq!(Prices::of_parameter(&BTreeMap::new()), None);
    }
}
