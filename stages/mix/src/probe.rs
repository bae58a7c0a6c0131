//! The probe: a few examples of each source with a weight.

use cwm_contract::{Failure, Label, ProbeContext, ProbeOutput, Value};
use serde_json::json;

use crate::Mix;

/// Runs `mix` with the weights of the parameters on sources that it makes up.
pub fn probe(context: &ProbeContext) -> Result<ProbeOutput, Failure> {
    let Some(Value::Map(weights)) = context.values().get("weights") else {
        return Err(Failure::internal("a mix has weights"));
    };
    let mut inputs = Vec::new();
    for (number, name) in weights.keys().enumerate() {
        let path = context.folder().join(format!("source-{number}.jsonl"));
        let line = |example: usize| {
            let target = "word ".repeat(1 + (example * 5 + number * 3) % 7);
            let messages = [json!({"role": "user", "content": "?"}), json!({"role": "assistant", "content": target})];
            format!("{}\n", json!({"id": format!("probe-{example:06}"), "messages": messages, "meta": {}}))
        };
        fs_err::write(&path, (0..8).map(line).collect::<String>())?;
        let label: Label = name.parse().map_err(Failure::input)?;
        inputs.push(("examples", label, path));
    }
    context.run(&Mix, "run", &context.values_with([("tokens", context.at_most("tokens", 40))]), &inputs)
}
