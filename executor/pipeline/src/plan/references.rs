//! Parses references such as `model[size=d32/l1].checkpoint`, and resolves them to a stage and some of its cells.

use std::rc::Rc;

use cwm_contract::Label;

use super::build::Planner;
use super::cells::{Axis, Matrix};
use cwm_core::{Diagnostic, Place, SpannedStr, escape_controls, suggest};

/// A reference as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address<'t> {
    /// Name of the stage, and axis and label of each coordinate that is fixed.
    pub label: Label,
    /// The output.
    pub output_name: Option<&'t str>,
}

/// Parses `stage`, `stage.output`, `stage[axis=label,…]`, `stage[…].output`.
///
/// # Errors
/// A sentence about the problem.
pub fn address(text: &str) -> Result<Address<'_>, String> {
    // After the axes, whose labels may have points.
    let end = match text.find(['[', '.']) {
        Some(at) if text[at..].starts_with('[') => {
            text.find(']').ok_or_else(|| format!("`{}` has no closing bracket", escape_controls(text)))? + 1
        }
        Some(at) => at,
        None => text.len(),
    };
    let (label, rest) = text.split_at(end);
    let output_name = match rest.strip_prefix('.') {
        Some(output_name) if !output_name.is_empty() => Some(output_name),
        None if rest.is_empty() => None,
        _ => return Err(format!("`{}` is not a reference", escape_controls(text))),
    };
    let label: Label = label.parse().map_err(|problem: String| escape_controls(&problem))?;
    if label.stage.is_empty() {
        return Err(format!("`{}` does not begin with the name of a stage", escape_controls(text)));
    }
    Ok(Address { label, output_name })
}

/// An axis of a stage: its name, its place where a problem shows it, and the labels of its values.
pub type NamedAxis<'a> = (&'a str, Option<Place>, Vec<&'a str>);

impl Address<'_> {
    /// Finds the axes that it fixes among those of its stage. Returns their positions and labels.
    ///
    /// # Errors
    /// It has no such axis or label, or fixes an axis twice. The problem has no place.
    pub fn fixed(&self, axes: &[NamedAxis<'_>]) -> Result<Vec<(usize, String)>, Diagnostic> {
        let stage = &self.label.stage;
        let mut fixed: Vec<(usize, String)> = Vec::new();
        for (axis, label) in &self.label.coordinates {
            let Some(position) = axes.iter().position(|(name, ..)| name == axis) else {
                let names = axes.iter().map(|(name, ..)| *name);
                let hint = suggest(axis, "axes", names).or(Some("it has no axes at all".into()));
                let problem =
                    Diagnostic::without_place(format!("stage `{stage}` has no axis `{}`", escape_controls(axis)));
                return Err(problem.maybe_hint(hint));
            };
            let (_, place, labels) = &axes[position];
            if !labels.contains(&label.as_str()) {
                let message = format!("axis `{axis}` of stage `{stage}` has no value `{}`", escape_controls(label));
                let hint = suggest(label, "values", labels.iter().copied());
                let related = place.map(|place| (place, "the axis".to_owned())).into_iter().collect();
                return Err(Diagnostic { related, ..Diagnostic::without_place(message).maybe_hint(hint) });
            }
            if fixed.iter().any(|(other, _)| *other == position) {
                return Err(Diagnostic::without_place(format!("axis `{axis}` is fixed twice")));
            }
            fixed.push((position, label.clone()));
        }
        Ok(fixed)
    }
}

/// A reference, resolved but for its output.
pub struct Reference {
    /// Its text after substitution.
    pub text: String,
    pub place: Place,
    /// The stage, by number.
    pub stage: usize,
    /// The position of each fixed axis, with the label.
    pub fixed: Vec<(usize, String)>,
    /// The output, if named.
    pub output_name: Option<String>,
}

impl Planner<'_> {
    /// Resolves a reference. None if something is wrong with it, or with its stage, which is reported.
    pub fn reference(&self, word: &SpannedStr) -> Option<Rc<Reference>> {
        self.problems.ok(self.look_up(word)).flatten().map(Rc::new)
    }

    /// Looks up a reference. `Ok(None)`: the stage itself is wrong, which was reported.
    fn look_up(&self, word: &SpannedStr) -> Result<Option<Reference>, Diagnostic> {
        let wrong = |message: String| Diagnostic::at(word.place, message);
        let address = address(&word.text).map_err(|message| {
            wrong(message)
                .hint("references are `stage`, `stage.output`, `stage[axis=value]`, `stage[axis=value].output`")
        })?;
        let Some(&stage) = self.numbers.get(address.label.stage.as_str()) else {
            return Err(self.file_without_slash(&word.text, word.place).unwrap_or_else(|| {
                let names = self.stages.iter().map(|stage| stage.spec.name.text.as_str());
                let message = format!("there is no stage `{}`", escape_controls(&address.label.stage));
                wrong(message).maybe_hint(suggest(&address.label.stage, "stages", names))
            }));
        };
        let matrix = &self.stages[stage].matrix;
        if matrix.labels.is_empty() {
            return Ok(None);
        }
        let axes = matrix.axes.iter().map(|axis| {
            let labels = axis.values.iter().map(|value| value.label.as_str());
            (axis.name.as_str(), Some(axis.place), labels.collect())
        });
        let fixed = address.fixed(&axes.collect::<Vec<_>>());
        let fixed = fixed.map_err(|problem| Diagnostic { place: Some(word.place), ..problem })?;
        let (text, output_name) = (word.text.clone(), address.output_name.map(str::to_owned));
        Ok(Some(Reference { text, place: word.place, stage, fixed, output_name }))
    }

    /// Returns the problem of a reference without its stage or output that is the name of a file: only a path has a `/`.
    pub fn file_without_slash(&self, text: &str, place: Place) -> Option<Diagnostic> {
        if !self.folders.absolute(text, Some(place)).is_file() {
            return None;
        }
        let shown = escape_controls(text);
        let message = format!("`{shown}` names a stage, not the file of that name: a path has a `/`");
        Some(Diagnostic::at(place, message).hint(format!("for the file write `./{shown}`")))
    }
}

impl Reference {
    /// Returns the cells of its stage that it means.
    pub fn cells(&self, matrix: &Matrix) -> Vec<usize> {
        let is_meant = |label: &Label| self.fixed.iter().all(|(axis, fixed)| label.coordinates[*axis].1 == *fixed);
        (0..matrix.labels.len()).filter(|&cell| is_meant(&matrix.labels[cell])).collect()
    }

    /// Returns the axes that it does not fix.
    pub fn free_axes<'m>(&self, matrix: &'m Matrix) -> impl Iterator<Item = &'m Rc<Axis>> {
        let is_free = |position: &usize| self.fixed.iter().all(|(fixed, _)| fixed != position);
        matrix.axes.iter().enumerate().filter(move |(position, _)| is_free(position)).map(|(_, axis)| axis)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let read = |text| {
            let Address { label, output_name } = address(text).unwrap();
            (label.to_string(), output_name)
        };
        assert_eq!(read("split"), ("split".to_owned(), None));
        assert_eq!(read("split.train"), ("split".to_owned(), Some("train")));
        assert_eq!(read("model[size=d32/l1.5, seed=0].x"), ("model[size=d32/l1.5,seed=0]".to_owned(), Some("x")));
        for wrong in ["model[size", "model[size].x", "model[a=b]x", "model.", "model[a=b]]"] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }
}
