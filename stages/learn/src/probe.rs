//! The probe: short trainings of the very family, options, size and precision, and the schedule's rates.
//!
//! As that of `train`: sequences reach beyond the chunks of the recurrent families, there are two epochs, gradients that are
//! clipped, several micro-batches in a batch, batches that are bad, and weights to begin with.

use cwm_contract::{Failure, Label, Parameters, ProbeContext, ProbeInput, ProbeOutput, Value};
use cwm_models::checkpoint::{Description, FORMAT, Status, write};
use cwm_sequences::{NO_LOSS, SHARD_ROWS, Sequence, SequencesWriter, Vocabulary};
use serde_json::{Map, json};

use crate::Learn;
use crate::config::Config;

/// Tokens of the sequences, as far as the model reads so many.
const LENGTHS: [usize; 5] = [280, 9, 70, 33, 2];

/// Runs `learn` on made-up sequences.
pub fn probe(context: &ProbeContext) -> Result<ProbeOutput, Failure> {
    let config = Config::read(context.values())
        .map_err(|fault| Failure::input(format!("parameter `{}` {}", fault.parameter, fault.message)))?;
    let vocabulary =
        Vocabulary { form: "probe".to_owned(), version: 1, inputs: 40, targets: 20, longest: LENGTHS[0] as u32 };
    let network = config.network(&vocabulary)?;
    let given = |input: &'static str, lengths: &[usize]| -> Result<ProbeInput, Failure> {
        let folder = context.folder().join(input);
        let mut writer = SequencesWriter::create(&folder, &vocabulary, SHARD_ROWS)?;
        for &length in lengths {
            let length = length.min(network.longest().unwrap_or(length));
            let (tokens, mut targets) = made_up(length);
            if !network.is_causal() {
                targets[..length - 1].fill(NO_LOSS);
            }
            writer.push(Sequence { id: &length.to_string(), tokens: &tokens, targets: &targets })?;
        }
        writer.finish()?;
        Ok((input, Label::stage("sequences"), folder))
    };
    let inputs = [given("train", &LENGTHS)?, given("validation", &LENGTHS[2..])?];

    let common = [
        ("rows", Value::Null),
        ("epochs", Value::Null),
        ("horizon", Value::Null),
        ("batch_size", Value::Int(2)),
        ("validation_every", Value::Int(2)),
        ("validation_rows", Value::Int(2)),
        ("curve_every", Value::Int(1)),
        ("micro_batch_tokens", context.at_most("micro_batch_tokens", 200)),
        ("bucket_batches", context.at_most("bucket_batches", 2)),
    ];
    let values = |others: &[(&str, Value)]| {
        let mut values = context.values_with(common.clone());
        values.extend(others.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        values
    };
    let own = values(&[("steps", Value::Int(5)), ("warmup", context.at_most("warmup", 1))]);
    let mut probed = context.run(&Learn, "own", &own, &inputs)?;
    let clipped = values(&[
        ("steps", Value::Int(3)),
        ("warmup", context.at_most("warmup", 2)),
        ("clip", Value::Float(0.01)),
        ("checkpoint", Value::Text("best".into())),
    ]);
    probed.extend(context.run(&Learn, "clipped", &clipped, &inputs)?);
    // A small one, since it takes many steps to give up; its first update leaves no weight of use.
    let guarded = values(&[
        ("size", Value::Text("d64/l1".into())),
        ("rows", Value::Int(2)),
        ("steps", Value::Int(24)),
        ("warmup", Value::Int(0)),
        ("lr", Value::Float(1e38)),
    ]);
    probed.extend(context.run(&Learn, "guarded", &guarded, &inputs)?);
    let checkpoint = context.folder().join("checkpoint");
    let description = Description {
        format: FORMAT,
        architecture: network.architecture().clone(),
        parameters: network.layout().total() as u64,
        status: Status::Finished,
        training: Map::from_iter([("vocabulary".to_owned(), json!(vocabulary))]),
    };
    write(&checkpoint, &description, &network.initial_weights(3))?;
    let [train, validation] = inputs;
    let inputs = [train, validation, ("checkpoint", Label::stage("model"), checkpoint)];
    let begun = values(&[("steps", Value::Int(1)), ("warmup", Value::Int(0))]);
    probed.extend(context.run(&Learn, "begun", &begun, &inputs)?);
    probed.insert("schedule".into(), config.hyper.probed_rates());
    Ok(probed)
}

/// Tokens and targets of a sequence of this length, without a pattern; a third of the places has no target.
fn made_up(length: usize) -> (Vec<u16>, Vec<u16>) {
    let number = |t: usize, below: usize| (t * t + 7 * t + length) % below;
    let target = |t: usize| if (length - t) % 3 == 2 { NO_LOSS } else { number(t, 20) as u16 };
    ((0..length).map(|t| number(t, 40) as u16).collect(), (0..length).map(target).collect())
}
