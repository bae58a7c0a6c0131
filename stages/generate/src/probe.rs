//! The probe: models of each way of reading (see [`READERS`]) answer an item of every task.

use std::path::Path;

use cwm_contract::{Failure, Label, ProbeContext, ProbeOutput, Value};
use cwm_models::checkpoint::{self, Description, FORMAT, Status};
use cwm_models::{Architecture, Network};
use cwm_questions::{AnswerType, Item, Metadata, write_line};
use cwm_speech::PositionForm;

use crate::Generate;

/// Families, each with an option: keys and values are kept, a state is kept, nothing is kept.
pub const READERS: [(&str, &[(&str, &str)]); 3] =
    [("transformer", &[]), ("mamba2", &[]), ("gpt", &[("mask", "none"), ("positions", "256")])];

/// Runs `generate` with these models.
pub fn probe(context: &ProbeContext) -> Result<ProbeOutput, Failure> {
    let items = context.folder().join("items.jsonl");
    write_items(&items)?;
    let values = context.values_with([("max_tokens", context.at_most("max_tokens", 8)), ("samples", Value::Int(2))]);
    let mut probed = ProbeOutput::new();
    for (family, options) in READERS {
        let folder = context.folder().join(family);
        write_checkpoint(&folder, family, options, PositionForm::Pieces)?;
        let inputs = [("checkpoint", Label::stage("learn"), folder), ("items", Label::stage("items"), items.clone())];
        probed.extend(context.run(&Generate, family, &values, &inputs)?);
    }
    Ok(probed)
}

/// Writes a checkpoint of a small model with fresh weights into the folder `folder`, which is made.
///
/// # Errors
/// An operation on the disk fails.
pub fn write_checkpoint(
    folder: &Path,
    family: &str,
    options: &[(&str, &str)],
    form: PositionForm,
) -> Result<(), Failure> {
    let vocabulary = form.vocabulary(256);
    let architecture = Architecture {
        family: family.to_owned(),
        size: "d64/l1".parse()?,
        vocabulary: usize::from(vocabulary.inputs),
        dropout: 0.0,
        options: options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
    };
    let network = Network::build(architecture.clone(), usize::from(vocabulary.targets))?;
    let vocabulary = serde_json::to_value(vocabulary).map_err(|error| Failure::internal(error.to_string()))?;
    let description = Description {
        format: FORMAT,
        architecture,
        parameters: network.layout().total() as u64,
        status: Status::Finished,
        training: [("vocabulary".to_owned(), vocabulary)].into_iter().collect(),
    };
    Ok(checkpoint::write(folder, &description, &network.initial_weights(7))?)
}

/// Writes an item of each task into a file.
///
/// # Errors
/// An operation on the disk fails.
pub fn write_items(path: &Path) -> Result<(), Failure> {
    let mut file = fs_err::File::create(path)?;
    for (number, task) in ["predict_move", "best_move", "worst_move", "legal_moves"].into_iter().enumerate() {
        write_line(&mut file, &item(&format!("reasoning_{task}"), number))?;
    }
    Ok(())
}

fn item(task: &str, number: usize) -> Item {
    let mut metadata = Metadata::default();
    metadata.insert("candidates", vec!["a2a3", "c3b3", "c3d4", "c3c2", "c3d3"]);
    metadata.insert("square", "c3");
    Item {
        task_id: format!("{task}_{number:04}"),
        task_type: task.to_owned(),
        task_category: "Reasoning".to_owned(),
        input: "8/4P3/8/8/8/2k5/p7/K7 b - - 0 1".to_owned(),
        question: "?".to_owned(),
        format_examples: Vec::new(),
        correct_answer: String::new(),
        answer_type: AnswerType::Graded,
        metadata,
    }
}
