//! The cost of an answer.

use std::collections::BTreeMap;

use cwm_answers::{Answer, is_cost};

const MILLION: f64 = 1e6;

/// Returns dollars: the server's cost, otherwise by the prices of a million tokens; none if neither is known.
pub fn cost(answer: &Answer, prices: Option<&BTreeMap<String, f64>>) -> Option<f64> {
    answer.cost.filter(|cost| is_cost(*cost)).or_else(|| {
        let price = |name: &str| prices?.get(name).copied();
        let (prompt, completion) = (answer.prompt_tokens?, answer.completion_tokens?);
        // Tokens of reasoning are among those of the completion.
        let reasoning = answer.reasoning_tokens.unwrap_or(0).min(completion);
        let output = price("output")?;
        let text = (completion - reasoning) as f64 * output;
        let dollars = prompt as f64 * price("input")? + text + reasoning as f64 * price("reasoning").unwrap_or(output);
        Some(dollars / MILLION)
    })
}
