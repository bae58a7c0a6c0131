//! The probe: short trainings of a made-up model on made-up items, with each objective, with and without a divergence penalty, with
//! both readings and scalings, and with steps that are bad.

use std::path::Path;

use cwm_contract::{Failure, Label, ProbeContext, ProbeOutput, Value};
use cwm_models::checkpoint::{Description, FORMAT, Status, write};
use cwm_models::{Architecture, Network};
use cwm_policy_gradient::Objective;
use cwm_questions::Item;
use cwm_reasoning::values::Values;
use cwm_reasoning::{RandomChoices, ReasoningTask, TaskOptions, build_item};
use cwm_speech::{END, PositionForm, name};
use serde_json::{Map, json};
use shakmaty::{Chess, Position};

use crate::Reinforce;

/// Words of the longest text that the made-up model reads.
const LONGEST: u32 = 48;
/// The logit of words that make an answer, above the others of the made-up model.
const RAISED: f32 = 6.0;
/// Positions of few men that are trained on, and one that is validated on.
pub const BOARDS: [&str; 4] = [
    "4k3/8/8/8/8/8/4P3/4K2R w K - 0 1",
    "8/5k2/8/3q4/8/8/1K6/8 b - - 0 1",
    "8/2P5/8/4k3/8/8/8/K5N1 w - - 0 1",
    "8/8/3k4/8/1b6/8/5PP1/6K1 w - - 0 1",
];

/// Runs `reinforce` on made-up items.
pub fn probe(context: &ProbeContext) -> Result<ProbeOutput, Failure> {
    let (checkpoint, items, validation) =
        (context.folder().join("checkpoint"), context.folder().join("items"), context.folder().join("validation"));
    write_checkpoint(&checkpoint, "transformer", &[], RAISED)?;
    write_items(&items, &made_up_items(&BOARDS[..3], &ReasoningTask::ALL)?)?;
    write_items(&validation, &made_up_items(&BOARDS[3..], &ReasoningTask::ALL)?)?;
    let inputs = [("checkpoint", checkpoint), ("items", items), ("validation", validation)];
    let inputs = inputs.map(|(name, path)| (name, Label::stage(name), path));
    let common = [
        ("batch_size", Value::Int(4)),
        ("rollouts", Value::Int(8)),
        ("mini_batch", Value::Int(2)),
        ("max_tokens", Value::Int(6)),
        ("validation_every", Value::Int(2)),
        ("keep_answers", context.at_most("keep_answers", 5)),
        ("micro_batch_tokens", context.at_most("micro_batch_tokens", 100)),
    ];
    let mut probed = ProbeOutput::new();
    let own = context.values_with(common.clone());
    probed.extend(context.run(&Reinforce, "own", &own, &inputs)?);
    let changed = |changes: &[(&str, Value)]| {
        let mut values = context.values_with(common.clone());
        values.extend(changes.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        values
    };
    let text = |text: &str| Value::Text(text.to_owned());
    // The model writes no answer tags: with `reading: release` no answer earns more than another, and no update is made.
    for (objective, (scaling, kl)) in
        Objective::NAMES.iter().zip([("normalise", 0.0), ("linear", 0.1), ("normalise", 0.0)])
    {
        let changes = [
            ("objective", text(objective)),
            ("scaling", text(scaling)),
            ("reading", text("lenient")),
            ("kl", Value::Float(kl)),
        ];
        probed.extend(context.run(&Reinforce, objective, &changed(&changes), &inputs)?);
    }
    // At this rate the first update makes weights infinite.
    let guarded = changed(&[("lr", Value::Float(1e38)), ("reading", text("lenient"))]);
    probed.extend(context.run(&Reinforce, "guarded", &guarded, &inputs)?);
    Ok(probed)
}

/// Writes a checkpoint of a small model with made-up weights, whose words are squares and the end more often than others by
/// `raised`: so `reading: lenient` finds moves in its answers.
pub fn write_checkpoint(folder: &Path, family: &str, options: &[(&str, &str)], raised: f32) -> Result<(), Failure> {
    let vocabulary = PositionForm::Pieces.vocabulary(LONGEST);
    let architecture = Architecture {
        family: family.to_owned(),
        size: "d32/l1".parse()?,
        vocabulary: usize::from(vocabulary.inputs),
        dropout: 0.1,
        options: options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
    };
    let network = Network::build(architecture.clone(), usize::from(vocabulary.targets))?;
    let mut weights = network.initial_weights(7);
    // A head without a bias has none to raise.
    let bias = network.layout().find("output_head.bias").map(|bias| weights.get_mut(bias)).unwrap_or_default();
    for (word, bias) in (0..).zip(bias) {
        if name(word).parse::<shakmaty::Square>().is_ok() {
            *bias += raised;
        } else if word == END {
            *bias += raised * 1.5;
        }
    }
    let training = Map::from_iter([("vocabulary".to_owned(), json!(vocabulary))]);
    let parameters = network.layout().total() as u64;
    let description = Description { format: FORMAT, architecture, parameters, status: Status::Finished, training };
    Ok(write(folder, &description, &weights)?)
}

/// Items of these tasks about these positions, whose moves have made-up values.
pub fn made_up_items(boards: &[&str], tasks: &[ReasoningTask]) -> Result<Vec<Item>, Failure> {
    let mut items = Vec::new();
    for (number, fen) in (0..).zip(boards) {
        let position: Chess = cwm_questions::truth::chess_of_fen(fen).map_err(Failure::input)?.0;
        let mut moves: Vec<String> = position
            .legal_moves()
            .iter()
            .map(|legal| legal.to_uci(shakmaty::CastlingMode::Standard).to_string())
            .collect();
        moves.sort_unstable();
        let value = |place: usize| (place * 7 % 11) as f64 / 10.0;
        let values = moves.into_iter().enumerate().map(|(place, uci)| (uci, value(place))).collect();
        let values = Values::new(values).map_err(Failure::internal)?;
        for &task in tasks {
            let mut draws = RandomChoices::new(task.name(), 0, number);
            if let Some(mut item) = build_item(task, &position, &values, &TaskOptions::default(), &mut draws) {
                item.task_id = format!("{}_{number:04}", task.name());
                items.push(item);
            }
        }
    }
    Ok(items)
}

/// Writes items, one a line.
pub fn write_items(path: &Path, items: &[Item]) -> Result<(), Failure> {
    let lines = items.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>();
    let lines = lines.map_err(|error| Failure::internal(error.to_string()))?;
    Ok(fs_err::write(path, lines.join("\n") + "\n")?)
}
