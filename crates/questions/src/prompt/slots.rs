//! The parts of a question that differ between the items of a task.

use serde_json::Value;

use crate::Task;
use crate::item::Item;

/// A part: how a template marks it, and its text in the question of an item.
pub type Slot = (&'static str, String);

/// The parts of an item's question, in the order in which they are replaced: texts of others come last, so that nothing is
/// replaced within them.
///
/// # Errors
///
/// The item lacks a part, which the error names.
pub fn slots(item: &Item, task: Task) -> Result<Vec<Slot>, String> {
    let metadata = |name: &str| item.metadata.text(name).ok_or_else(|| format!("its metadata has no `{name}`"));
    let (fen, moves) = match item.input.split_once(" | ") {
        Some((fen, moves)) => (fen, Some(moves)),
        None => (item.input.as_str(), None),
    };
    let mut slots = vec![("{fen}", fen.to_owned())];
    match task {
        Task::StateTrackingShort | Task::StateTrackingMid | Task::StateTrackingLong => {
            slots.push(("{moves}", moves.ok_or("its input has no moves")?.to_owned()));
        }
        Task::LegalMovePiece => slots.push(("{square}", metadata("target_square")?.to_owned())),
        Task::CaptureSquares | Task::ControlSquares | Task::ProtectSquares => {
            slots.push(("{piece}", metadata("piece")?.to_owned()));
            slots.push(("{square}", metadata("target_square")?.to_owned()));
        }
        Task::Judgement(_) => slots.push(("{options}", options(item)?.join(", "))),
        Task::Semantic(_) => {
            slots.push(("{move}", metadata("move_uci")?.to_owned()));
            let lines = options(item)?;
            let lines: Vec<String> = ('A'..).zip(&lines).map(|(letter, text)| format!("{letter}. {text}")).collect();
            slots.push(("{options}", lines.join("\n")));
        }
        _ => {}
    }
    Ok(slots)
}

fn options(item: &Item) -> Result<Vec<String>, String> {
    let options = item.metadata.get("options").and_then(Value::as_array).ok_or("its metadata has no `options`")?;
    Ok(options.iter().map(|option| option.as_str().map_or_else(|| option.to_string(), str::to_owned)).collect())
}
