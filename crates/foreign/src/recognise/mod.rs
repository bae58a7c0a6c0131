//! Finds the model that a file holds, by the names and shapes of its tensors and by the settings beside them.

mod candidates;
mod difference;
mod family_match;
mod settings;

use std::collections::BTreeMap;
use std::path::Path;

use cwm_models::families::{FAMILIES, Family};
use cwm_models::heads::labels;
use cwm_models::{Architecture, ModelError, Network, Size};
use cwm_sequences::Vocabulary;

pub use candidates::Candidate;
use difference::Difference;
use family_match::{FamilyMatch, match_family};
pub use settings::contradicting_setting;

use crate::error::ForeignError;
use crate::tensor_groups::FileContents;

/// A remedy where settings contradict a model that fits.
const SAVE_ALONE: &str = "if the settings are not this model's, save its state_dict alone";
/// Options without which a GPT of another program is another model; their defaults fit few files.
const NEEDED: [(&str, &str); 2] = [(settings::HEADS, "4"), ("gelu", "tanh")];
/// The table of a move model, and its rows.
const WORDS: (&str, u64) = ("wte.weight", 72);
const HEADS_HINT: &str = "give their number with `options: { heads: N }` (`--option heads=N`)";

/// Facts about the model that its file may not have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportHints {
    /// The family, by its name in the registry.
    pub family: Option<String>,
    /// Width and layers.
    pub size: Option<Size>,
    /// Options of the family.
    pub options: BTreeMap<String, String>,
    /// The place of the parameters in the file: `model_state_dict`.
    pub key: Option<String>,
    /// True if float64 values that are no float32 are rounded.
    pub round: bool,
    /// The encoding of the model's tokens, if it predicts sequences; otherwise it predicts the 75 labels.
    pub vocabulary: Option<Vocabulary>,
}

impl ImportHints {
    /// A model with as many outputs as are expected.
    fn network(&self, architecture: Architecture) -> Result<Network, ModelError> {
        match &self.vocabulary {
            Some(vocabulary) => Network::build(architecture, usize::from(vocabulary.targets)),
            None => labels::network(architecture),
        }
    }
}

/// A model that was recognised.
#[derive(Debug)]
pub struct RecognisedModel<'c> {
    /// The built network.
    pub network: Network,
    /// Its parameters in the file.
    pub candidate: Candidate<'c>,
    /// Options that nothing in the file decides, with the values that were taken.
    pub assumed_options: Vec<(&'static str, String)>,
}

/// The model that `contents` of the file `path` hold.
///
/// # Errors
/// None of the families fits, or more than one, or more than one part of the file. The error names each tensor that
/// stands in the way of what fits best, or what there is to choose from.
pub fn recognise<'c>(
    path: &Path,
    contents: &'c FileContents,
    hints: &ImportHints,
) -> Result<RecognisedModel<'c>, ForeignError> {
    let wrong = |what: String| ForeignError::content(path, what);
    let families = families(hints).map_err(wrong)?;
    let candidates = candidates::candidates(contents, hints).map_err(wrong)?;
    let tables: Vec<Option<String>> = families.iter().map(|family| family_match::table_name(family)).collect();
    let mut fits: Vec<Fitting<'_, 'c>> = Vec::new();
    let mut nearest: Option<NearestMatch<'_, 'c>> = None;
    for candidate in &candidates {
        for (family, table) in families.iter().zip(&tables) {
            match match_family(family, table.as_deref(), candidate, contents, hints) {
                FamilyMatch::Exact(architecture) => fits.push((candidate, architecture, family)),
                FamilyMatch::Mismatch(difference) => {
                    if nearest.as_ref().is_none_or(|nearest| difference.is_nearer_than(&nearest.difference)) {
                        nearest = Some(NearestMatch { difference, candidate, family, table: table.as_deref() });
                    }
                }
            }
        }
    }
    if fits.is_empty() {
        let message = nearest.map(|near| near.describe(contents, hints));
        let error = wrong(message.unwrap_or_else(|| "holds no tensors".into()));
        let is_module = contents.groups.iter().any(|group| group.path.ends_with("_parameters"));
        let rows = |candidate: &Candidate<'_>| Some(*candidate.tensors.get(WORDS.0)?.1.as_ref().ok()?.shape.first()?);
        let has_words = hints.vocabulary.is_none() && candidates.iter().any(|one| rows(one) == Some(WORDS.1));
        return Err(match (is_module, has_words) {
            (true, _) => error.hint("it is a whole module: save its state_dict() instead"),
            (_, true) => error.hint("its 72 tokens may be words of moves: give `form: words` (`--form words`)"),
            _ => error,
        });
    }
    let contradicting_setting = |(_, architecture, family): &Fitting<'_, 'c>| {
        settings::contradicting_setting(family.name, contents)
            .map(|what| (what, SAVE_ALONE))
            .or_else(|| Some((family_match::contradiction(family, architecture, contents, hints)?, HEADS_HINT)))
    };
    let contradictions: Vec<Option<(String, &str)>> = fits.iter().map(contradicting_setting).collect();
    if let Some(Some((what, hint))) = contradictions.first().filter(|_| contradictions.iter().all(Option::is_some)) {
        return Err(wrong(what.clone()).hint(*hint));
    }
    let mut contradictions = contradictions.into_iter();
    fits.retain(|_| contradictions.next().flatten().is_none());
    // A family that fits as it is comes before one that does with unusual options: the diagonal SLiCE before the one
    // with blocks of one channel, which is the same model.
    let plainest = fits.iter().map(|(_, architecture, _)| architecture.options.len()).min();
    fits.retain(|(_, architecture, _)| Some(architecture.options.len()) == plainest);
    let (candidate, architecture, family) = only(path, fits)?;
    let network = hints.network(architecture).map_err(|error| wrong(format!("holds no model of ours: {error}")))?;
    let mut assumed_options = family_match::assumed_options(family, &network, hints);
    let is_open = |name: &str| family.name == "gpt" && assumed_options.iter().any(|(open, _)| *open == name);
    let open: Vec<_> = NEEDED.into_iter().filter(|(name, _)| is_open(name)).collect();
    if !open.is_empty() {
        return Err(undetermined_options(path, &network, candidate, &open));
    }
    assumed_options.extend(settings::unstated_settings(family.name, contents));
    Ok(RecognisedModel { network, candidate: candidate.clone(), assumed_options })
}

/// The error of a GPT with options that nothing in its file decides.
fn undetermined_options(
    path: &Path,
    network: &Network,
    candidate: &Candidate<'_>,
    open: &[(&str, &str)],
) -> ForeignError {
    let each =
        |between: &str, text: fn(&(&str, &str)) -> String| open.iter().map(text).collect::<Vec<_>>().join(between);
    let names = each(" and ", |(name, _)| format!("`{name}`"));
    let pairs = each(", ", |(name, value)| format!("{name}: {value:?}"));
    let flags = each(" ", |(name, value)| format!("--option {name}={value}"));
    let size = network.architecture().size;
    let matrix = candidate.tensors.values().find(|(name, _)| name.ends_with(crate::gpt2::QUERIES));
    let layout = match matrix {
        Some((name, Ok(tensor))) if open.iter().any(|(name, _)| *name == "gelu") => {
            format!(": `{name}` is [out, in], {:?}, as in nanoGPT and unlike GPT-2 of `transformers`", tensor.shape)
        }
        _ => String::new(),
    };
    ForeignError::content(path, format!("holds a gpt {size}, whose tensors do not show {names}{layout}")).hint(format!(
        "give what it was trained with, such as `options: {{ {pairs} }}` (`{flags}`); nanoGPT has `gelu: erf`, GPT-2 `tanh`"
    ))
}

fn families(hints: &ImportHints) -> Result<Vec<&'static Family>, String> {
    match &hints.family {
        None => Ok(FAMILIES.iter().collect()),
        Some(name) => match cwm_models::families::find(name) {
            Ok(family) => Ok(vec![family]),
            Err(error) => Err(format!("cannot be read with these options: {error}")),
        },
    }
}

/// The part of the file that comes nearest to a model, and to which family's.
struct NearestMatch<'a, 'c> {
    difference: Difference,
    candidate: &'a Candidate<'c>,
    family: &'static Family,
    table: Option<&'a str>,
}

impl NearestMatch<'_, '_> {
    /// Describes the differences. Only this match has its options searched, since that takes many models.
    fn describe(&self, contents: &FileContents, hints: &ImportHints) -> String {
        let searched = family_match::nearest(self.family, self.table, self.candidate, contents, hints);
        searched.as_ref().unwrap_or(&self.difference).to_string()
    }
}

/// A part of the file that is a model, and which.
type Fitting<'a, 'c> = (&'a Candidate<'c>, Architecture, &'static Family);

/// The only fit.
fn only<'a, 'c>(path: &Path, fits: Vec<Fitting<'a, 'c>>) -> Result<Fitting<'a, 'c>, ForeignError> {
    let mut places: Vec<String> = fits.iter().map(|(candidate, ..)| candidate.place()).collect();
    places.dedup();
    if places.len() > 1 {
        let error = ForeignError::content(path, format!("holds {} models: {}", places.len(), places.join(", ")));
        return Err(error.hint("choose one with `key` (`--key` of `cwm model import`)"));
    }
    if fits.len() > 1 {
        let names: Vec<&str> = fits.iter().map(|(_, architecture, _)| architecture.family.as_str()).collect();
        let what = format!("fits {}, whose parameters have the same names and shapes", names.join(" and "));
        let error = ForeignError::content(path, what);
        return Err(error.hint("choose one with `family` (`--family` of `cwm model import`)"));
    }
    fits.into_iter().next().ok_or_else(|| ForeignError::content(path, "holds no model"))
}
