//! How well a family fits the tensors of a file.

use std::collections::{BTreeMap, BTreeSet};

use cwm_models::architecture::OptionValues;
use cwm_models::families::Family;
use cwm_models::parameters::{Layout, Role};
use cwm_models::{Architecture, Network, Size};

use super::candidates::Candidate;
use super::difference::Difference;
use super::{Wish, settings};
use crate::walk::Contents;

/// Larger values of options are not looked for.
const LARGEST_OPTION: u64 = 65_536;
/// Values of an option that are tried, at most.
const MOST_VALUES: usize = 512;
/// Sizes that the table's name is looked up with; any family can be of one of them.
const ANY_SIZES: [&str; 3] = ["d64/l1", "d128/l1", "d192/l1"];

/// Whether a family fits.
pub enum Fit {
    /// With this architecture all names and shapes are those of the file.
    Exact(Architecture),
    /// With none.
    Not(Difference),
}

/// The architecture of `family`, which calls its table of tokens `table`, that fits `candidate` best. Width and vocabulary are those of the table of tokens, the
/// number of layers is that of the names, and what else shapes depend on is looked for among their numbers.
pub fn fit(family: &Family, table: Option<&str>, candidate: &Candidate<'_>, contents: &Contents, wish: &Wish) -> Fit {
    let not = |what: String| Fit::Not(Difference::of_family(family, candidate, what));
    let Some(table) = table else { return not("has no table of tokens".into()) };
    let Some((_, Ok(tensor))) = candidate.tensors.get(table) else { return not(format!("lacks `{table}`")) };
    let &[vocabulary, width] = &tensor.shape[..] else {
        return not(format!("`{table}` has shape {:?}, and is no table", tensor.shape));
    };
    let size = match wish.size {
        Some(size) => Ok(size),
        None => format!("d{width}/l{}", layers(candidate)).parse::<Size>(),
    };
    let size = match size {
        Ok(size) => size,
        Err(error) => return not(error.to_string()),
    };
    let mut architecture = Architecture {
        family: family.name.to_owned(),
        size,
        vocabulary: usize::try_from(vocabulary).unwrap_or(usize::MAX),
        dropout: settings::dropout(contents),
        options: wish.options.clone(),
    };
    let told = settings::options(family, contents);
    for (name, value) in told.into_iter().filter(|(name, _)| !wish.options.contains_key(*name)) {
        architecture.options.insert(name.to_owned(), value);
    }
    match Network::build(architecture.clone()) {
        Ok(network) if Difference::new(network.architecture(), network.layout(), candidate).is_none() => {
            return Fit::Exact(architecture);
        }
        Ok(network) if !has_same_names(network.layout(), candidate) => return closest(architecture, candidate),
        Ok(_) => {}
        Err(error) if family.options.is_empty() => return not(error.to_string()),
        Err(_) => {}
    }
    closest(searched(family, architecture, candidate, wish), candidate)
}

/// Options of the recognised model that its shapes do not tell, and that nobody named, with their values.
pub fn untold(family: &Family, network: &Network, wish: &Wish) -> Vec<(&'static str, String)> {
    let architecture = network.architecture();
    let is_free = |name: &str, value: String| {
        let mut other = architecture.clone();
        other.options.insert(name.to_owned(), value);
        Network::build(other).is_ok_and(|other| shapes(other.layout()) == shapes(network.layout()))
    };
    let mut untold = Vec::new();
    for option in family.options.iter().filter(|option| !wish.options.contains_key(option.name)) {
        let taken = architecture.options.get(option.name).cloned();
        match option.values {
            OptionValues::Words(words) => {
                let value = architecture.word(option).to_owned();
                if words.iter().any(|word| *word != value && is_free(option.name, (*word).to_owned())) {
                    untold.push((option.name, value));
                }
            }
            OptionValues::Count if taken.is_none() => {
                // The default is what makes no difference; of two values one at least is another.
                if (1..=2).all(|value| is_free(option.name, value.to_string())) {
                    untold.push((option.name, "its default".into()));
                }
            }
            // Ways to compute one function are for whoever computes it.
            OptionValues::Ways(_) | OptionValues::Count => {}
        }
    }
    untold
}

fn closest(architecture: Architecture, candidate: &Candidate<'_>) -> Fit {
    match Network::build(architecture.clone()) {
        Ok(network) => match Difference::new(&architecture, network.layout(), candidate) {
            None => Fit::Exact(architecture),
            Some(difference) => Fit::Not(difference),
        },
        Err(error) => Fit::Not(Difference::of_architecture(&architecture, candidate, error.to_string())),
    }
}

/// Sets one option after another to the value with which most tensors fit, until none gets better.
fn searched(family: &Family, start: Architecture, candidate: &Candidate<'_>, wish: &Wish) -> Architecture {
    let counts = family.options.iter().filter(|option| matches!(option.values, OptionValues::Count));
    let counts: Vec<&str> = counts.map(|option| option.name).filter(|name| !wish.options.contains_key(*name)).collect();
    let values = values(candidate);
    let mut best = (fitting(&start, candidate), start);
    for _ in 0..=counts.len() {
        let before = best.0;
        for name in &counts {
            for value in &values {
                let mut other = best.1.clone();
                other.options.insert((*name).to_owned(), value.to_string());
                let score = fitting(&other, candidate);
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

/// How many tensors have the shape that this architecture gives them.
fn fitting(architecture: &Architecture, candidate: &Candidate<'_>) -> usize {
    let Ok(network) = Network::build(architecture.clone()) else { return 0 };
    let declared = network.layout().declared().iter();
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
    let lengths: Vec<u64> = lengths.into_iter().filter(|length| (1..=LARGEST_OPTION).contains(length)).collect();
    let lengths = &lengths[..lengths.len().min(MOST_VALUES)];
    let mut values: BTreeSet<u64> = lengths.iter().copied().collect();
    for large in lengths {
        for small in lengths.iter().filter(|small| *small <= large && large.is_multiple_of(**small)) {
            if values.len() < MOST_VALUES {
                values.insert(large / small);
            }
        }
    }
    values
}

fn has_same_names(layout: &Layout, candidate: &Candidate<'_>) -> bool {
    let declared = layout.declared();
    declared.len() == candidate.tensors.len()
        && declared.iter().all(|declared| candidate.tensors.contains_key(&declared.name))
}

fn shapes(layout: &Layout) -> BTreeMap<&str, &[usize]> {
    layout.declared().iter().map(|declared| (declared.name.as_str(), &declared.shape[..])).collect()
}

/// What the family calls its table of tokens.
pub fn table_name(family: &Family) -> Option<String> {
    ANY_SIZES.iter().find_map(|size| {
        let network = Network::build(Architecture {
            family: family.name.to_owned(),
            size: size.parse().ok()?,
            vocabulary: 2,
            dropout: 0.0,
            options: BTreeMap::new(),
        });
        let network = network.ok()?;
        let table = network.layout().declared().iter().find(|declared| matches!(declared.role, Role::Embedding { .. }));
        table.map(|table| table.name.clone())
    })
}

/// Layers by the names: one more than the largest number in them.
fn layers(candidate: &Candidate<'_>) -> u64 {
    let number = |name: &String| name.split('.').find_map(|part| part.parse::<u32>().ok());
    candidate.tensors.keys().filter_map(number).max().map_or(1, |last| u64::from(last) + 1)
}
