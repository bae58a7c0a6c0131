//! Differences between a family and the tensors of a file, tensor by tensor.

use std::collections::BTreeSet;
use std::fmt;

use cwm_models::Architecture;
use cwm_models::families::Family;
use cwm_models::parameters::Layout;

use super::candidates::Candidate;

/// Tensors that are listed one by one.
const MAX_LISTED: usize = 12;

/// The differences between a model and the tensors of a file.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The model that the file was compared with.
    with: String,
    /// The place in the file.
    place: String,
    /// One text a tensor.
    faults: Vec<String>,
    /// Tensors that fit by name.
    known: usize,
}

impl Difference {
    /// Compares a model's parameters with a file's; `None` if all fit.
    pub fn new(architecture: &Architecture, layout: &Layout, candidate: &Candidate<'_>) -> Option<Self> {
        // Shapes last: they may be wrong only because another model is taken for the nearest, which a name is not.
        let (mut faults, mut shapes) = (Vec::new(), Vec::new());
        let mut expected = BTreeSet::new();
        for declared in layout.parameters() {
            expected.insert(declared.name.as_str());
            let (name, needed) = (&declared.name, &declared.shape);
            match candidate.tensors.get(name) {
                None => faults.push(format!("it has no `{name}` {needed:?}")),
                Some((_, Err(what))) => faults.push(format!("`{name}` {what}")),
                Some((_, Ok(tensor))) => {
                    if !tensor.shape.iter().copied().eq(needed.iter().map(|&length| length as u64)) {
                        shapes.push(format!("`{name}` has shape {:?} where {needed:?} is needed", tensor.shape));
                    } else if !tensor.storage.element.is_float() {
                        faults.push(format!("`{name}` is {} where a float is needed", tensor.storage.element));
                    }
                }
            }
        }
        for (name, (original, _)) in &candidate.tensors {
            if !expected.contains(name.as_str()) {
                faults.push(format!("it has `{original}`, which such a model does not have"));
            }
        }
        faults.append(&mut shapes);
        if faults.is_empty() {
            return None;
        }
        let known = expected.iter().filter(|name| candidate.tensors.contains_key(**name)).count();
        let with = format!("{} {}", architecture.family, architecture.size);
        Some(Difference { with, place: candidate.place(), faults, known })
    }

    /// A family that cannot even be compared.
    pub fn of_family(family: &Family, candidate: &Candidate<'_>, what: String) -> Self {
        Difference { with: family.name.to_owned(), place: candidate.place(), faults: vec![what], known: 0 }
    }

    /// An architecture that cannot be built.
    pub fn of_architecture(architecture: &Architecture, candidate: &Candidate<'_>, what: String) -> Self {
        let with = format!("{} {}", architecture.family, architecture.size);
        let what = what.trim_start_matches(&format!("size {}: ", architecture.size)).to_owned();
        Difference { with, place: candidate.place(), faults: vec![what], known: 0 }
    }

    /// Returns true if more of it fits than of `other`; of two with as many, the one with fewer faults is nearer.
    pub fn is_nearer_than(&self, other: &Difference) -> bool {
        (self.known, other.faults.len()) > (other.known, self.faults.len())
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "holds no model of ours; ")?;
        if self.known == 0 {
            let faults = self.faults.join("; ");
            return write!(f, "{} is no {}: {faults}", self.place, self.with);
        }
        write!(f, "the nearest is {}, from which {} differs: ", self.with, self.place)?;
        let shown: Vec<&str> = self.faults.iter().take(MAX_LISTED).map(String::as_str).collect();
        f.write_str(&shown.join("; "))?;
        match self.faults.len().saturating_sub(MAX_LISTED) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}
