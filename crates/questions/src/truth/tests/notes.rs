//! Notes on published keys that their prompts do not justify, or that are one of several.

use cwm_contract::Failure;
use cwm_encoding::EnPassant;

use crate::truth::{Keys, after_moves, chess_of_fen, fault, key};
use crate::{Item, Task};

/// A remark on an item's published key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The kind of remark: `pinned_beside_its_king`, `promotion_letter_missing`, `battery_not_alphabetical`,
    /// `several_mates`, `textbook_en_passant_differs` or `castling_right_without_king`.
    pub kind: &'static str,
    /// The published key.
    pub published: String,
    /// The sound key, or the textbook's FEN; empty where nothing else is true.
    pub sound: String,
}

/// The remark on an item, if there is one.
///
/// # Errors
///
/// As [`key`].
pub fn note(item: &Item) -> Result<Option<Note>, Failure> {
    let (Some(task), Some(published)) = (item.task(), key(item, Keys::Published)?) else { return Ok(None) };
    let kind = match task {
        Task::StateTrackingShort | Task::StateTrackingMid | Task::StateTrackingLong => {
            let sound = after_moves(item, EnPassant::Always).map_err(|wrong| fault(item, wrong))?;
            let differs = sound != published;
            return Ok(differs.then_some(Note { kind: "textbook_en_passant_differs", published, sound }));
        }
        Task::Judgement(_) => {
            let (_, has_impossible_right) = chess_of_fen(&item.input).map_err(|wrong| fault(item, wrong))?;
            let note = Note { kind: "castling_right_without_king", published, sound: String::new() };
            return Ok(has_impossible_right.then_some(note));
        }
        Task::CaptureSquares | Task::ControlSquares | Task::ProtectSquares => "pinned_beside_its_king",
        Task::DiscoveredCheck | Task::DoubleCheck => "promotion_letter_missing",
        Task::Battery => "battery_not_alphabetical",
        Task::Rating(_) | Task::Theme(_) => "several_mates",
        _ => return Ok(None),
    };
    let sound = key(item, Keys::Sound)?.unwrap_or_default();
    Ok((sound != published).then_some(Note { kind, published, sound }))
}
