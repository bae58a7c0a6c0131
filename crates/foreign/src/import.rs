//! A model from a file of another program.

use std::collections::BTreeMap;
use std::path::Path;

use cwm_models::Network;
use cwm_models::checkpoint::{Description, FORMAT, Status};
use cwm_models::parameters::{Layout, Weights};
use cwm_sequences::NEEDS_MASK;
use serde_json::{Map, Value, json};

use crate::error::ForeignError;
use crate::file::{ForeignFile, Source};
use crate::gpt2::transpose_matrices;
use crate::recognise::{Candidate, ImportHints, RecognisedModel, recognise};
use crate::tensor::Tensor;
use crate::tied::remove_tied_heads;

/// The option of files whose matrices are [in, out], which no shape shows: only GPT-2 has such files.
const GELU: (&str, &str) = ("gelu", "tanh");

/// A model that was taken over, and how.
#[derive(Debug)]
pub struct ImportedModel {
    /// Description of the model and of its file.
    pub description: Description,
    /// The built network.
    pub network: Network,
    /// Its parameters.
    pub weights: Weights,
    /// Remarks on how it was read.
    pub notes: Vec<String>,
}

/// Reads the model that the file `path` holds. Floats of 16 bits are widened exactly; those of 64 are refused where
/// float32 does not hold them, unless `hints` has them rounded; those that would be infinite are refused all the same.
///
/// # Errors
/// The file cannot be read, is damaged, or holds no model that fits `hints`, or several.
pub fn import_model(path: &Path, hints: &ImportHints) -> Result<ImportedModel, ForeignError> {
    let (mut contents, mut source) = ForeignFile::open(path)?.into_parts();
    remove_tied_heads(path, &mut contents, &mut source)?;
    let is_turned = transpose_matrices(path, &mut contents)?;
    let mut hints = hints.clone();
    let mut turned = None;
    if is_turned && !hints.options.contains_key(GELU.0) {
        hints.options.insert(GELU.0.into(), GELU.1.into());
        turned = Some(format!("its matrices are [in, out], as those of GPT-2: `{}: {}` was used", GELU.0, GELU.1));
    }
    let RecognisedModel { network, candidate, assumed_options } = recognise(path, &contents, &hints)?;
    if !network.is_causal() && hints.vocabulary.as_ref().is_some_and(|vocabulary| vocabulary.form == "words") {
        let (message, hint) = NEEDS_MASK;
        let what = format!("cannot be of the form `words`: each of its sequences {message}");
        return Err(ForeignError::content(path, what).hint(hint));
    }
    let layout = network.layout().clone();
    let tensors = found(path, &layout, &candidate, &mut source)?;
    let digest = source.digest()?;
    let mut weights = Weights::zeros(layout.clone());
    let (mut types, mut rounded) = (BTreeMap::<String, u64>::new(), 0);
    let mut values = Vec::new();
    for (index, (name, tensor)) in tensors.into_iter().enumerate() {
        let bytes = source.read(name, tensor)?;
        let element = &tensor.storage.element;
        values.clear();
        let lost = element.widen(&bytes, &mut values);
        let too_large = element.too_large(&bytes);
        if too_large > 0 {
            let what = format!("`{name}` is {element}, and {too_large} of its {} values are too large", values.len());
            let largest = format!("float32 ends at {:e}, and rounding does not help", f32::MAX);
            return Err(ForeignError::part(path, what).hint(largest));
        }
        if lost > 0 && !hints.round {
            let what = format!("`{name}` is {element}, and {lost} of its {} values are no float32", values.len());
            return Err(ForeignError::part(path, what).hint("have them rounded with `round: true` (`--round`)"));
        }
        rounded += lost;
        *types.entry(element.to_string()).or_default() += 1;
        weights.get_mut(index).copy_from_slice(&values);
    }
    let mut notes = vec![format!("read from {}: {}", candidate.place(), describe_types(&types))];
    if rounded > 0 {
        notes.push(format!("{rounded} values were rounded to float32"));
    }
    if !weights.is_finite() {
        notes.push("some values are not finite".into());
    }
    notes.extend(turned);
    notes.extend(
        assumed_options.iter().map(|(name, value)| format!("the file does not have `{name}`: {value} was used")),
    );
    let mut imported = Map::new();
    imported.insert("file".into(), json!(format!("blake3:{digest}")));
    imported.insert("format".into(), json!(source.format()));
    imported.insert("key".into(), json!(candidate.path));
    imported.insert("types".into(), json!(types));
    imported.insert("rounded".into(), json!(rounded));
    let mut training = Map::from_iter([("imported".to_owned(), Value::Object(imported))]);
    training.extend(hints.vocabulary.iter().map(|vocabulary| ("vocabulary".to_owned(), json!(vocabulary))));
    let description = Description {
        format: FORMAT,
        architecture: network.architecture().clone(),
        parameters: layout.total() as u64,
        status: Status::Finished,
        training,
    };
    Ok(ImportedModel { description, network, weights, notes })
}

/// The tensors of a model, in the order of its layout. All of them, and what they are in all, are looked at here, before
/// memory is allocated for any: a file can ask for any size.
fn found<'c>(
    path: &Path,
    layout: &Layout,
    candidate: &Candidate<'c>,
    source: &mut Source,
) -> Result<Vec<(&'c str, &'c Tensor)>, ForeignError> {
    let (mut tensors, mut total) = (Vec::with_capacity(layout.parameters().len()), 0u64);
    for declared in layout.parameters() {
        let Some((name, Ok(tensor))) = candidate.tensors.get(&declared.name).copied() else {
            return Err(ForeignError::content(path, format!("has no `{}`", declared.name)));
        };
        source.check(name, tensor)?;
        total = total.saturating_add(tensor.elements().unwrap_or(u64::MAX));
        tensors.push((name.as_str(), tensor));
    }
    let length = source.length();
    if total > source.most_parameters() {
        let error = ForeignError::content(path, format!("declares {total} parameters, in {length} bytes"));
        return Err(error
            .hint("its tensors are expanded from few numbers: save them with `.contiguous()`, if they are a model's"));
    }
    Ok(tensors)
}

/// `12 tensors (3 float16, 9 float32)`.
fn describe_types(types: &BTreeMap<String, u64>) -> String {
    let each: Vec<String> = types.iter().map(|(name, count)| format!("{count} {name}")).collect();
    format!("{} tensors ({})", types.values().sum::<u64>(), each.join(", "))
}
