//! Findings that belong in one row of panels: those of a model, and of one value of a name.

use cwm_findings::Finding;

use crate::papers::inside_models::measured::distinct;

/// A row of panels.
pub(super) struct Group<'a> {
    pub(super) heading: String,
    pub(super) findings: Vec<&'a Finding>,
}

/// The groups of each model by what is called `name`, such as `eta`. A finding without that name, such as one of no edit, belongs
/// to all groups of its model.
pub(super) fn groups<'a>(findings: &[&'a Finding], name: &str) -> Vec<Group<'a>> {
    let mut keys = distinct(findings.iter().copied(), |finding| (finding.model.as_str(), finding.named(name)));
    let named: Vec<&str> = keys.iter().filter(|(_, text)| !text.is_empty()).map(|(model, _)| *model).collect();
    keys.retain(|(model, text)| !text.is_empty() || !named.contains(model));
    let group = |(model, text): (&str, &str)| {
        let shown = if name == "eta" { "η" } else { name };
        let belongs = |finding: &&&Finding| finding.model == model && ["", text].contains(&finding.named(name));
        Group {
            heading: if text.is_empty() { model.to_owned() } else { format!("{model}, {shown} {text}") },
            findings: findings.iter().filter(belongs).copied().collect(),
        }
    };
    keys.into_iter().map(group).collect()
}
