//! The probe: short trainings of the very family, options, size and precision, and the schedule's rates.
//!
//! Games reach beyond the chunks of the recurrent families (256 positions at most), and there are two epochs, so that
//! the order of the second differs. What a training of few steps does not meet by itself is provoked: gradients that
//! are clipped, several micro-batches in a batch, a state to go on from, batches that are bad.

use cwm_chess::sample;
use cwm_contract::{Failure, Label, Parameters, ProbeContext, ProbeInput, ProbeOutput, Value};

use crate::Train;
use crate::config::Config;

/// Runs `train` on made-up games.
pub fn probe(context: &ProbeContext) -> Result<ProbeOutput, Failure> {
    let games = sample::games();
    let given = |input: &'static str, name: &str, numbers: &[usize]| -> Result<ProbeInput, Failure> {
        let folder = context.folder().join(name);
        sample::write_dataset(&folder, numbers.iter().filter_map(|number| games.get(*number)))?;
        Ok((input, Label::stage("tokens"), folder))
    };
    let long = [given("train", "long", &[0, 2, 3, 4, 5])?, given("validation", "measured", &[1, 5])?];
    let short = [given("train", "short", &[5, 4, 3])?, given("validation", "one", &[5])?];

    let common = [
        ("games", Value::Null),
        ("epochs", Value::Null),
        ("horizon", Value::Null),
        ("batch_size", Value::Int(2)),
        ("validation_every", Value::Int(2)),
        ("validation_games", Value::Int(2)),
        ("curve_every", Value::Int(1)),
        ("micro_batch_tokens", context.at_most("micro_batch_tokens", 200)),
        ("bucket_batches", context.at_most("bucket_batches", 2)),
        ("shard_games", context.at_most("shard_games", 2)),
    ];
    let values = |others: &[(&str, Value)]| {
        let mut values = context.values_with(common.clone());
        values.extend(others.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        values
    };
    let own = values(&[("steps", Value::Int(5)), ("warmup", context.at_most("warmup", 1))]);
    let mut probed = context.run(&Train, "own", &own, &long)?;
    let clipped = values(&[
        ("steps", Value::Int(3)),
        ("warmup", context.at_most("warmup", 2)),
        ("clip", Value::Float(0.01)),
        ("checkpoint", Value::Text("best".into())),
        ("keep_state", Value::Bool(true)),
    ]);
    probed.extend(context.run(&Train, "clipped", &clipped, &short)?);
    // A small one, since it takes many steps to give up; its first update leaves no weight of use.
    let guarded = values(&[
        ("size", Value::Text("d64/l1".into())),
        ("steps", Value::Int(24)),
        ("warmup", Value::Int(0)),
        ("lr", Value::Float(1e38)),
    ]);
    probed.extend(context.run(&Train, "guarded", &guarded, &short)?);
    let config = Config::read(context.values())
        .map_err(|fault| Failure::input(format!("parameter `{}` {}", fault.parameter, fault.message)))?;
    probed.insert("schedule".into(), config.hyper.probed_rates());
    Ok(probed)
}

#[cfg(test)]
mod tests {
    use cwm_contract::{Values, testing};
    use cwm_models::families::FAMILIES;

    use super::*;

    fn probe(given: &[(&str, Value)]) -> ProbeOutput {
        let folder = tempfile::tempdir().unwrap();
        let values: Values = given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        testing::probe(&Train, values, folder.path()).unwrap().unwrap()
    }

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    #[test]
    fn each_family_trains_to_the_end_and_the_guarded_one_gives_up() {
        for family in FAMILIES {
            let given = [("family", text(family.name)), ("size", text("d64/l1")), ("steps", Value::Int(100_000))];
            let probed = probe(&given);
            let refused: Vec<_> = probed.keys().filter(|name| name.ends_with("refused")).collect();
            assert!(refused.is_empty(), "{}: {refused:?}", family.name);
            let status = |run: &str| {
                let summary: serde_json::Value = serde_json::from_slice(&probed[&format!("{run}/summary")]).unwrap();
                summary["status"].as_str().map(str::to_owned).unwrap()
            };
            assert_eq!(
                ["own", "clipped", "guarded"].map(status),
                ["finished", "finished", "diverged"],
                "{}",
                family.name
            );
        }
    }

    #[test]
    fn the_same_comes_twice_and_what_training_rests_on_has_its_say() {
        let size = ("size", text("d64/l1"));
        let usual = probe(std::slice::from_ref(&size));
        assert!(probe(std::slice::from_ref(&size)) == usual);
        for other in [
            ("precision", text("bf16")),
            ("seed_data", Value::Int(3)),
            ("seed_init", Value::Int(3)),
            ("seed_dropout", Value::Int(3)),
            ("order", text("authors")),
            ("batching", text("bucketed")),
            ("en_passant", text("legal")),
            ("schedule", text("linear")),
            ("warmup", Value::Int(200)),
            ("weight_decay", Value::Float(0.02)),
            ("beta2", Value::Float(0.9)),
        ] {
            assert!(probe(&[size.clone(), other.clone()]) != usual, "{}", other.0);
        }
    }
}
