//! References such as `model[size=d32/l1].checkpoint`: read, and resolved to a stage and some of its cells.

use std::collections::HashMap;

use super::axes::Labels;
use super::cells::Matrix;
use crate::spec::Spec;
use cwm_core::{Diagnostic, Diagnostics, Place, SpannedStr, suggest, visible};

/// A reference as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address<'t> {
    /// Name of the stage.
    pub stage: &'t str,
    /// Axis and label of each coordinate that is fixed.
    pub coordinates: Vec<(&'t str, &'t str)>,
    /// The output.
    pub port: Option<&'t str>,
}

/// Reads `stage`, `stage.port`, `stage[axis=label,…]`, `stage[…].port`.
///
/// # Errors
/// What is wrong with it, as a sentence.
pub fn address(text: &str) -> Result<Address<'_>, String> {
    let (stage, inside, rest) = match text.find(['[', '.']) {
        Some(at) if text[at..].starts_with('[') => {
            let end = text.find(']').ok_or_else(|| format!("`{}` lacks its closing bracket", visible(text)))?;
            (&text[..at], text.get(at + 1..end).unwrap_or_default(), &text[end + 1..])
        }
        Some(at) => (&text[..at], "", &text[at..]),
        None => (text, "", ""),
    };
    let port = match rest.strip_prefix('.') {
        Some(port) if !port.is_empty() => Some(port),
        None if rest.is_empty() => None,
        _ => return Err(format!("`{}` is not a reference", visible(text))),
    };
    let coordinates = inside
        .split(',')
        .filter(|part| !part.trim().is_empty())
        .map(|part| {
            let (axis, label) = part
                .split_once('=')
                .ok_or_else(|| format!("`{}` is not of the form axis=value", visible(part.trim())))?;
            Ok((axis.trim(), label.trim()))
        })
        .collect::<Result<_, String>>()?;
    Ok(Address { stage, coordinates, port })
}

/// A reference, resolved but for its port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    /// As it stands after substitution.
    pub text: String,
    /// Where.
    pub place: Place,
    /// The stage, by number.
    pub stage: usize,
    /// Position of each axis that is fixed, and the number of the label.
    pub fixed: Vec<(usize, u32)>,
    /// The output, if named.
    pub port: Option<String>,
}

/// All references of a pipeline, each resolved once.
pub struct References<'a> {
    spec: &'a Spec,
    names: &'a HashMap<&'a str, usize>,
    grids: &'a [Option<Matrix>],
    labels: &'a Labels,
    /// Those that are right.
    pub list: Vec<Reference>,
    known: HashMap<(Place, String), Option<usize>>,
}

impl<'a> References<'a> {
    /// None yet.
    pub fn new(
        spec: &'a Spec,
        names: &'a HashMap<&'a str, usize>,
        grids: &'a [Option<Matrix>],
        labels: &'a Labels,
    ) -> Self {
        References { spec, names, grids, labels, list: Vec::new(), known: HashMap::new() }
    }

    /// The number of this reference; `None` if something is wrong with it, which is reported.
    pub fn resolve(&mut self, word: &SpannedStr, problems: &mut Diagnostics) -> Option<usize> {
        let key = (word.place, word.text.clone());
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let resolved = match self.look_up(word) {
            Ok(reference) => reference.map(|reference| {
                self.list.push(reference);
                self.list.len() - 1
            }),
            Err(problem) => {
                problems.push(*problem);
                None
            }
        };
        self.known.insert(key, resolved);
        resolved
    }

    /// `Ok(None)`: the stage itself is not right, and that was said.
    fn look_up(&self, word: &SpannedStr) -> Result<Option<Reference>, Box<Diagnostic>> {
        let wrong = |message: String| Diagnostic::at(word.place, message);
        let address = address(&word.text).map_err(|message| {
            wrong(message).hint("references are `stage`, `stage.port`, `stage[axis=value]`, `stage[axis=value].port`")
        })?;
        let Some(&stage) = self.names.get(address.stage) else {
            let names = self.spec.stages.iter().map(|stage| stage.name.text.as_str());
            return Err(Box::new(
                wrong(format!("there is no stage `{}`", visible(address.stage))).maybe_hint(suggest(
                    address.stage,
                    "stages",
                    names,
                )),
            ));
        };
        let Some(grid) = &self.grids[stage] else { return Ok(None) };
        let mut fixed = Vec::new();
        for (axis, label) in address.coordinates {
            let Some(position) = grid.axis(axis) else {
                let names = grid.axes.iter().map(|axis| axis.name.as_str());
                return Err(Box::new(
                    wrong(format!("stage `{}` has no axis `{}`", address.stage, visible(axis)))
                        .maybe_hint(suggest(axis, "axes", names).or(Some("it has no axes at all".into()))),
                ));
            };
            let values = &grid.axes[position].values;
            match self.labels.find(label).filter(|id| values.iter().any(|value| value.id == *id)) {
                Some(id) if fixed.iter().all(|(other, _)| *other != position) => fixed.push((position, id)),
                Some(_) => return Err(Box::new(wrong(format!("axis `{axis}` is fixed twice")))),
                None => {
                    let labels = values.iter().map(|value| value.label.as_str());
                    return Err(Box::new(
                        wrong(format!("axis `{axis}` of stage `{}` has no value `{}`", address.stage, visible(label)))
                            .related(grid.axes[position].place, "the axis")
                            .maybe_hint(suggest(label, "values", labels)),
                    ));
                }
            }
        }
        Ok(Some(Reference {
            text: word.text.clone(),
            place: word.place,
            stage,
            fixed,
            port: address.port.map(str::to_owned),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let read = |text| address(text).unwrap();
        assert_eq!(read("split"), Address { stage: "split", coordinates: vec![], port: None });
        assert_eq!(read("split.train"), Address { stage: "split", coordinates: vec![], port: Some("train") });
        let model = Address { stage: "model", coordinates: vec![("size", "d32/l1.5"), ("seed", "0")], port: Some("x") };
        assert_eq!(read("model[size=d32/l1.5, seed=0].x"), model);
        for wrong in ["model[size", "model[size].x", "model[a=b]x", "model.", "model[a=b]]"] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }
}
