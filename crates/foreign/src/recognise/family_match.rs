//! Matches a family with the tensors of a file.

use std::collections::{BTreeMap, BTreeSet};

use cwm_models::architecture::OptionValues;
use cwm_models::families::Family;
use cwm_models::heads::labels;
use cwm_models::parameters::{Layout, Role};
use cwm_models::{Architecture, Network, Size};

use super::ImportHints;
use super::candidates::Candidate;
use super::difference::Difference;
use super::settings::{self, HEADS, HeadsSetting};
use crate::tensor_groups::FileContents;

/// Larger values of options are not looked for.
const MAX_OPTION: u64 = 65_536;
/// Values of an option that are tried, at most.
const MAX_OPTION_VALUES: usize = 512;
/// Counts of which any option can have one at least.
const SOME_COUNTS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Sizes that the table's name is looked up with; any family can be of one of them.
const ANY_SIZES: [&str; 3] = ["d64/l1", "d128/l1", "d192/l1"];

/// The outcome of matching a family with a file.
pub enum FamilyMatch {
    /// The architecture whose names and shapes are all those of the file.
    Exact(Architecture),
    /// No architecture matches.
    Mismatch(Difference),
}

/// The architecture of `family`, which calls its table of tokens `table`, that fits `candidate` best. Width and
/// vocabulary (unless `hints` have it) are those of the table of tokens, the number of layers is that of the names, and
/// what else shapes depend on is looked for among their numbers.
pub fn match_family(
    family: &Family,
    table: Option<&str>,
    candidate: &Candidate<'_>,
    contents: &FileContents,
    hints: &ImportHints,
) -> FamilyMatch {
    let not = |what: String| FamilyMatch::Mismatch(Difference::of_family(family, candidate, what));
    let architecture = match start(family, table, candidate, contents, hints) {
        Ok(architecture) => architecture,
        Err(what) => return not(what),
    };
    match hints.network(architecture.clone()) {
        Ok(network) if Difference::new(network.architecture(), network.layout(), candidate).is_none() => {
            return FamilyMatch::Exact(architecture);
        }
        // Whatever the options, it is no such model; which ones come nearest is looked for if nothing else fits.
        Ok(network) if !has_same_names(network.layout(), candidate) => return closest(architecture, candidate, hints),
        Ok(_) => {}
        Err(error) if family.options.is_empty() => return not(error.to_string()),
        Err(_) => {}
    }
    closest(searched(family, architecture, candidate, hints), candidate, hints)
}

/// Returns the differences between `candidate` and the nearest model of `family`, with its options searched too.
pub fn nearest(
    family: &Family,
    table: Option<&str>,
    candidate: &Candidate<'_>,
    contents: &FileContents,
    hints: &ImportHints,
) -> Option<Difference> {
    let architecture = start(family, table, candidate, contents, hints).ok()?;
    match closest(searched(family, architecture, candidate, hints), candidate, hints) {
        FamilyMatch::Exact(_) => None,
        FamilyMatch::Mismatch(difference) => Some(difference),
    }
}

/// Returns the architecture as far as it is known before options are searched.
///
/// # Errors
/// It cannot be of this family; in a clause.
fn start(
    family: &Family,
    table: Option<&str>,
    candidate: &Candidate<'_>,
    contents: &FileContents,
    hints: &ImportHints,
) -> Result<Architecture, String> {
    let table = table.ok_or("it has no table of tokens")?;
    let Some((_, Ok(tensor))) = candidate.tensors.get(table) else { return Err(format!("it has no `{table}`")) };
    let &[vocabulary, width] = &tensor.shape[..] else {
        return Err(format!("`{table}` has shape {:?}, and is no table", tensor.shape));
    };
    let size = match hints.size {
        Some(size) => size,
        None => format!("d{width}/l{}", layers(candidate)).parse::<Size>().map_err(|error| error.to_string())?,
    };
    let mut options = hints.options.clone();
    if let Some(HeadsSetting { option, values, .. }) = heads_setting(family, contents, hints)
        && let [value] = &values[..]
    {
        options.insert(option.to_owned(), value.clone());
    }
    let vocabulary = hints.vocabulary.as_ref().map_or(vocabulary, |expected| u64::from(expected.inputs));
    let architecture = Architecture {
        family: family.name.to_owned(),
        size,
        vocabulary: usize::try_from(vocabulary).unwrap_or(usize::MAX),
        dropout: settings::dropout(contents),
        options,
    };
    Ok(with_named_options(family, architecture, candidate, hints))
}

/// Sets each option of words to the first word with which most names of parameters are those of the file, since biases and heads
/// show in names.
fn with_named_options(
    family: &Family,
    mut architecture: Architecture,
    candidate: &Candidate<'_>,
    hints: &ImportHints,
) -> Architecture {
    let strangers = |architecture: &Architecture| {
        let network = hints.network(architecture.clone());
        network.map_or(usize::MAX, |network| names_apart(network.layout(), candidate))
    };
    let mut fewest = strangers(&architecture);
    for option in family.options.iter().filter(|option| !hints.options.contains_key(option.name)) {
        let OptionValues::Choice(words) = option.values else { continue };
        for word in words {
            let mut other = architecture.clone();
            other.options.insert(option.name.to_owned(), (*word).to_owned());
            let number = strangers(&other);
            if number < fewest {
                (fewest, architecture) = (number, other);
            }
        }
    }
    architecture
}

/// Counts the names that only the model or only the file has.
fn names_apart(layout: &Layout, candidate: &Candidate<'_>) -> usize {
    let known = layout.parameters().iter().filter(|declared| candidate.tensors.contains_key(&declared.name)).count();
    layout.parameters().len() + candidate.tensors.len() - 2 * known
}

/// Returns the heads that the settings name, if `hints` does not decide them.
fn heads_setting(family: &Family, contents: &FileContents, hints: &ImportHints) -> Option<HeadsSetting> {
    settings::heads(family, contents).filter(|heads| !hints.options.contains_key(heads.option))
}

/// Returns the reason if `architecture`, which fits, contradicts the settings: they say otherwise of an option that no
/// shape determines, or contradict each other.
pub fn contradiction(
    family: &Family,
    architecture: &Architecture,
    contents: &FileContents,
    hints: &ImportHints,
) -> Option<String> {
    let HeadsSetting { setting, option, values } = heads_setting(family, contents, hints)?;
    if values.len() == 1 && architecture.options.get(option) == values.first() {
        return None;
    }
    let network = hints.network(architecture.clone()).ok()?;
    if shapes_determine(&network, option, hints) {
        return None;
    }
    let [value] = &values[..] else {
        return Some(format!("declares `{setting}` = {}, which contradict each other", values.join(" and ")));
    };
    let mut other = architecture.clone();
    other.options.insert(option.to_owned(), value.clone());
    let why = hints.network(other).err().map(|error| format!(": {error}"));
    Some(format!("declares `{setting}` = {value}, which its tensors cannot have{}", why.unwrap_or_default()))
}

/// Returns true if the shapes of a model depend on a counting option, so that it follows from them.
fn shapes_determine(network: &Network, option: &str, hints: &ImportHints) -> bool {
    // Of several values one at least is another than the model's, and can be.
    SOME_COUNTS.iter().any(|value| {
        let mut other = network.architecture().clone();
        other.options.insert(option.to_owned(), value.to_string());
        hints.network(other).is_ok_and(|other| shapes(other.layout()) != shapes(network.layout()))
    })
}

/// Options of the recognised model that do not follow from its shapes, and that nobody named, with their values.
pub fn assumed_options(family: &Family, network: &Network, hints: &ImportHints) -> Vec<(&'static str, String)> {
    let architecture = network.architecture();
    let is_free = |name: &str, value: String| {
        let mut other = architecture.clone();
        other.options.insert(name.to_owned(), value);
        hints.network(other).is_ok_and(|other| shapes(other.layout()) == shapes(network.layout()))
    };
    let mut assumed_options = Vec::new();
    for option in family.options.iter().filter(|option| !hints.options.contains_key(option.name)) {
        let taken = architecture.options.get(option.name).cloned();
        match option.values {
            OptionValues::Choice(words) => {
                let value = architecture.word(option).to_owned();
                if words.iter().any(|word| *word != value && is_free(option.name, (*word).to_owned())) {
                    assumed_options.push((option.name, value));
                }
            }
            OptionValues::Count if taken.is_none() => {
                if !shapes_determine(network, option.name, hints) {
                    let default = architecture.size.heads().ok().filter(|_| option.name == HEADS);
                    assumed_options
                        .push((option.name, default.map_or("its default".into(), |heads| heads.to_string())));
                }
            }
            // Implementations to compute one function are for the caller.
            OptionValues::Implementations(_) | OptionValues::Count => {}
        }
    }
    assumed_options
}

fn closest(architecture: Architecture, candidate: &Candidate<'_>, hints: &ImportHints) -> FamilyMatch {
    match hints.network(architecture.clone()) {
        Ok(network) => match Difference::new(&architecture, network.layout(), candidate) {
            None => FamilyMatch::Exact(architecture),
            Some(difference) => FamilyMatch::Mismatch(difference),
        },
        Err(error) => FamilyMatch::Mismatch(Difference::of_architecture(&architecture, candidate, error.to_string())),
    }
}

/// Sets one option after another to the value with which most tensors fit, until none gets better.
fn searched(family: &Family, start: Architecture, candidate: &Candidate<'_>, hints: &ImportHints) -> Architecture {
    let counts = family.options.iter().filter(|option| matches!(option.values, OptionValues::Count));
    let counts: Vec<&str> =
        counts.map(|option| option.name).filter(|name| !hints.options.contains_key(*name)).collect();
    let values = values(candidate);
    let mut best = (fitting(&start, candidate, hints), start);
    for _ in 0..=counts.len() {
        let before = best.0;
        for name in &counts {
            for value in &values {
                let mut other = best.1.clone();
                other.options.insert((*name).to_owned(), value.to_string());
                let score = fitting(&other, candidate, hints);
                if score > best.0 {
                    best = (score, other);
                }
            }
        }
        if best.0 == before {
            break;
        }
    }
    best.1
}

/// Counts the tensors that have the shape that this architecture gives them.
fn fitting(architecture: &Architecture, candidate: &Candidate<'_>, hints: &ImportHints) -> usize {
    let Ok(network) = hints.network(architecture.clone()) else { return 0 };
    let declared = network.layout().parameters().iter();
    let fits = declared.filter(|declared| {
        let found = candidate.tensors.get(&declared.name).and_then(|(_, tensor)| tensor.as_ref().ok());
        found.is_some_and(|tensor| tensor.shape.iter().copied().eq(declared.shape.iter().map(|&length| length as u64)))
    });
    fits.count()
}

/// Numbers that options might be: lengths of tensors, and how often one divides into another.
fn values(candidate: &Candidate<'_>) -> BTreeSet<u64> {
    let tensors = candidate.tensors.values().filter_map(|(_, tensor)| tensor.as_ref().ok());
    let lengths: BTreeSet<u64> = tensors.flat_map(|tensor| tensor.shape.iter().copied()).collect();
    let lengths: Vec<u64> = lengths.into_iter().filter(|length| (1..=MAX_OPTION).contains(length)).collect();
    let lengths = &lengths[..lengths.len().min(MAX_OPTION_VALUES)];
    let mut values: BTreeSet<u64> = lengths.iter().copied().collect();
    for large in lengths {
        for small in lengths.iter().filter(|small| *small <= large && large.is_multiple_of(**small)) {
            if values.len() < MAX_OPTION_VALUES {
                values.insert(large / small);
            }
        }
    }
    values
}

fn has_same_names(layout: &Layout, candidate: &Candidate<'_>) -> bool {
    names_apart(layout, candidate) == 0
}

fn shapes(layout: &Layout) -> BTreeMap<&str, &[usize]> {
    layout.parameters().iter().map(|declared| (declared.name.as_str(), &declared.shape[..])).collect()
}

/// Returns the name of the family's table of tokens.
pub fn table_name(family: &Family) -> Option<String> {
    ANY_SIZES.iter().find_map(|size| {
        let network = labels::network(Architecture {
            family: family.name.to_owned(),
            size: size.parse().ok()?,
            vocabulary: 2,
            dropout: 0.0,
            options: BTreeMap::new(),
        });
        let network = network.ok()?;
        let table =
            network.layout().parameters().iter().find(|declared| matches!(declared.role, Role::Embedding { .. }));
        table.map(|table| table.name.clone())
    })
}

/// Layers by the names: one more than the largest number in them.
fn layers(candidate: &Candidate<'_>) -> u64 {
    let number = |name: &String| name.split('.').find_map(|part| part.parse::<u32>().ok());
    candidate.tensors.keys().filter_map(number).max().map_or(1, |last| u64::from(last) + 1)
}
