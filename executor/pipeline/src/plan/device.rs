//! `device:`: where a cell computes.

use cwm_contract::{DeviceChoice, Stage};

use cwm_core::{Diagnostic, Diagnostics, Node, SpannedStr, nearest};

/// What is written (names already substituted) for a cell of `stage`; `auto` where nothing is, or nothing that is right.
pub fn device(stage: &dyn Stage, written: Option<(&SpannedStr, Node)>, problems: &mut Diagnostics) -> DeviceChoice {
    let Some((key, node)) = written else { return DeviceChoice::Auto };
    if !stage.uses_devices() {
        let message = format!("`{}` stages compute on the processor alone", stage.kind());
        problems.push(Diagnostic::at(key.place, message).hint("leave `device` out"));
        return DeviceChoice::Auto;
    }
    choice(&node, problems)
}

/// The device that is written; `auto` where it is none, which is reported.
pub fn choice(node: &Node, problems: &mut Diagnostics) -> DeviceChoice {
    let text = node.text().map(str::to_owned);
    match text.as_deref().map(str::parse) {
        Some(Ok(choice)) => choice,
        _ => {
            let meant = text.as_deref().and_then(|text| nearest(text, DeviceChoice::NAMES));
            let hint = meant.map_or_else(
                || "`cuda:0` is the first GPU; which ones there are, `cwm devices` says".to_owned(),
                |meant| format!("did you mean `{meant}`?"),
            );
            let message = format!("`device` must be auto, cpu or a GPU by number such as cuda:0, not {}", node.value());
            problems.push(
                Diagnostic::at(node.place, message).hint(hint).maybe_related(node.origin, "its value comes from here"),
            );
            DeviceChoice::Auto
        }
    }
}
