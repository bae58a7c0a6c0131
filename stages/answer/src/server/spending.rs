//! What answers cost.

use std::collections::BTreeMap;

use crate::entry::Usage;

/// Characters of a prompt that are about one token.
const CHARACTERS_A_TOKEN: f64 = 2.5;

/// Dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices {
    input: f64,
    output: f64,
}

impl Prices {
    /// As the parameter has them; `None` if it is empty.
    pub fn of_parameter(prices: &BTreeMap<String, f64>) -> Option<Self> {
        Some(Prices { input: *prices.get("input")?, output: *prices.get("output")? })
    }

    fn dollars(self, input: f64, output: f64) -> f64 {
        (input * self.input + output * self.output) / 1e6
    }
}

/// Dollars of an answer: what the server reports, else its tokens by the prices; `None` if neither is known.
pub fn of_answer(usage: &Usage, prices: Option<Prices>) -> Option<f64> {
    usage.cost.or_else(|| {
        let (input, output) = (usage.prompt_tokens?, usage.completion_tokens?);
        Some(prices?.dollars(input as f64, output as f64))
    })
}

/// Dollars of an attempt that broke off after so many tokens of its answer, about. An attempt without any is not billed.
pub fn of_broken(prompt: &str, tokens: u64, prices: Option<Prices>) -> f64 {
    match prices {
        Some(prices) if tokens > 0 => prices.dollars(prompt.chars().count() as f64 / CHARACTERS_A_TOKEN, tokens as f64),
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_cost_counts_before_prices_and_broken_answers_are_paid_too() {
        let prices = Prices::of_parameter(&BTreeMap::from([("input".to_owned(), 1.0), ("output".to_owned(), 4.0)]));
        let counted = Usage { prompt_tokens: Some(1_000_000), completion_tokens: Some(500_000), ..Usage::default() };
        assert_eq!(of_answer(&counted, prices), Some(3.0));
        assert_eq!(of_answer(&Usage { cost: Some(0.5), ..counted }, prices), Some(0.5));
        assert_eq!(of_answer(&counted, None), None);
        assert_eq!(of_answer(&Usage::default(), prices), None);
        assert_eq!(of_broken(&"x".repeat(2_500_000), 250_000, prices), 2.0);
        assert_eq!(of_broken("prompt", 0, prices), 0.0);
        assert_eq!(Prices::of_parameter(&BTreeMap::new()), None);
    }
}
