//! `matrix:` as written.

use cwm_contract::Value;

use super::pipeline::check_name;
use cwm_core::{Content, Diagnostic, Node, NodeReader, SpannedStr, is_label, visible};

/// One axis of a matrix.
#[derive(Clone, Debug)]
pub struct AxisSpec {
    /// Its name.
    pub name: SpannedStr,
    /// Its values, in order.
    pub values: Vec<AxisValueSpec>,
    /// In their place, `$name`: the variable that holds the list of them.
    pub variable: Option<Node>,
}

/// One value of an axis.
#[derive(Clone, Debug)]
pub struct AxisValueSpec {
    /// The label that was given; without one, the value's own text is the label.
    pub label: Option<SpannedStr>,
    /// The value; a scalar where no label was given.
    pub value: Node,
}

pub(super) fn axes(node: &Node, reader: &mut NodeReader) -> Vec<AxisSpec> {
    let mut axes = Vec::new();
    for (name, values) in reader.map(node, "`matrix`", "axes") {
        check_name(name, "an axis", reader);
        let count = match &values.content {
            Content::List(items) => items.len(),
            Content::Map(entries) => entries.len(),
            Content::Scalar(_) => 1,
        };
        if count == 0 {
            reader.report(Diagnostic::at(name.place, format!("axis `{}` has no values", name.text)));
        }
        let mut variable = None;
        let values = match &values.content {
            Content::List(items) => items.iter().filter_map(|item| unlabelled(item, reader)).collect(),
            Content::Map(_) => labelled(values, reader),
            Content::Scalar(Value::Text(text)) if text.starts_with('$') => {
                variable = Some(values.clone());
                Vec::new()
            }
            Content::Scalar(_) => {
                reader.report(
                    Diagnostic::at(
                        values.place,
                        format!("axis `{}` must be a list of values or a map from label to value", name.text),
                    )
                    .hint("one value is written `[value]`"),
                );
                continue;
            }
        };
        axes.push(AxisSpec { name: name.clone(), values, variable });
    }
    axes
}

fn unlabelled(item: &Node, reader: &mut NodeReader) -> Option<AxisValueSpec> {
    if item.scalar().is_none() {
        reader.report(
            Diagnostic::at(item.place, format!("{} as a value of an axis needs a label", item.kind()))
                .hint("write the axis as a map: `{ label: value }`"),
        );
        return None;
    }
    Some(AxisValueSpec { label: None, value: item.clone() })
}

fn labelled(values: &Node, reader: &mut NodeReader) -> Vec<AxisValueSpec> {
    let mut labelled = Vec::new();
    for (label, value) in reader.map(values, "an axis", "labels") {
        if is_label(&label.text) {
            labelled.push(AxisValueSpec { label: Some(label.clone()), value: value.clone() });
        } else {
            reader.report(bad_label(label));
        }
    }
    labelled
}

/// Reports a label that [`is_label`] refuses.
pub fn bad_label(label: &SpannedStr) -> Diagnostic {
    Diagnostic::at(label.place, format!("`{}` cannot be a label", visible(&label.text)))
        .hint("a label has no `[`, `]`, `,`, `=`, no control characters, and no space around it: `{ label: value }`")
}
