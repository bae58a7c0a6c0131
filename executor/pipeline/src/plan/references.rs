//! Parses references such as `model[size=d32/l1].checkpoint`, and resolves them to a stage and some of its cells.

use std::collections::HashMap;
use std::rc::Rc;

use super::axes::Labels;
use super::build::PlannedStage;
use super::cells::Matrix;
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

/// Parses `stage`, `stage.port`, `stage[axis=label,…]`, `stage[…].port`.
///
/// # Errors
/// A sentence about the problem.
pub fn address(text: &str) -> Result<Address<'_>, String> {
    let (stage, inside, rest) = match text.find(['[', '.']) {
        Some(at) if text[at..].starts_with('[') => {
            let end = text.find(']').ok_or_else(|| format!("`{}` has no closing bracket", visible(text)))?;
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
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reference {
    /// Its text after substitution.
    pub text: String,
    /// Its place.
    pub place: Place,
    /// The stage, by number.
    pub stage: usize,
    /// The position of each fixed axis, with the number of the label.
    pub fixed: Vec<(usize, u32)>,
    /// The output, if named.
    pub port: Option<String>,
}

/// All references of a pipeline, each resolved once.
pub struct References<'a> {
    names: &'a HashMap<&'a str, usize>,
    labels: &'a Labels,
    known: HashMap<(Place, String), Option<Rc<Reference>>>,
}

impl<'a> References<'a> {
    /// Resolves references to the stages of these `names`, by number.
    pub fn new(names: &'a HashMap<&'a str, usize>, labels: &'a Labels) -> Self {
        References { names, labels, known: HashMap::new() }
    }

    /// Resolves a reference. None if something is wrong with it, which is reported.
    pub fn resolve(
        &mut self,
        word: &SpannedStr,
        stages: &[PlannedStage],
        problems: &mut Diagnostics,
    ) -> Option<Rc<Reference>> {
        let key = (word.place, word.text.clone());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let resolved = match self.look_up(word, stages) {
            Ok(reference) => reference.map(Rc::new),
            Err(problem) => {
                problems.push(*problem);
                None
            }
        };
        self.known.insert(key, resolved.clone());
        resolved
    }

    /// Looks up a reference. `Ok(None)`: the stage itself is wrong, which was reported.
    fn look_up(&self, word: &SpannedStr, stages: &[PlannedStage]) -> Result<Option<Reference>, Box<Diagnostic>> {
        let wrong = |message: String| Diagnostic::at(word.place, message);
        let address = address(&word.text).map_err(|message| {
            wrong(message).hint("references are `stage`, `stage.port`, `stage[axis=value]`, `stage[axis=value].port`")
        })?;
        let Some(&stage) = self.names.get(address.stage) else {
            let names = stages.iter().map(|stage| stage.spec.name.text.as_str());
            return Err(Box::new(
                wrong(format!("there is no stage `{}`", visible(address.stage))).maybe_hint(suggest(
                    address.stage,
                    "stages",
                    names,
                )),
            ));
        };
        let Some(grid) = &stages[stage].grid else { return Ok(None) };
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

impl Reference {
    /// Returns the cells of its stage that it means.
    pub fn cells(&self, grid: &Matrix) -> Vec<usize> {
        let is_meant = |cell: &usize| self.fixed.iter().all(|&(axis, id)| grid.id(*cell, axis) == id);
        (0..grid.cells.len()).filter(is_meant).collect()
    }

    /// Returns true if it fixes the axis at this position.
    pub fn fixes(&self, position: usize) -> bool {
        self.fixed.iter().any(|(fixed, _)| *fixed == position)
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
