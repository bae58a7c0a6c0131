//! The few positions of each group that are shown one by one.

use cwm_choices::Correctness;
use cwm_encoding::PlainMove;
use cwm_measures::SharedPosition;
use cwm_page::escape_controls;

use super::groups::Group;

/// Positions of a group.
const SHOWN: usize = 12;

/// A position, and what the arms of its group chose.
#[derive(Clone, Copy)]
pub(crate) struct ShownPosition<'a> {
    group: &'a Group,
    place: usize,
}

/// The answer of one arm.
pub(crate) struct ArmAnswer<'a> {
    /// The arm with its size.
    pub(crate) arm: String,
    /// The text that the arm wrote.
    pub(crate) text: &'a str,
    pub(crate) correctness: Correctness,
}

/// Returns positions of a group at equal distances when sorted by ply: a choice by rule, not by hand.
pub(crate) fn shown(group: &Group) -> impl Iterator<Item = ShownPosition<'_>> {
    let asked = &group.compared.positions;
    let mut places: Vec<usize> = (0..asked.len()).collect();
    places.sort_by_key(|place| (asked[*place].t, asked[*place].record));
    let shown = SHOWN.min(places.len());
    (0..shown).map(move |nth| ShownPosition { group, place: places[(2 * nth + 1) * places.len() / (2 * shown)] })
}

impl<'a> ShownPosition<'a> {
    /// The position.
    pub(crate) fn position(self) -> &'a SharedPosition {
        &self.group.compared.positions[self.place]
    }

    /// The best move; nothing where its number is none.
    pub(crate) fn best(self) -> Option<String> {
        PlainMove::from_packed(self.position().best).map(|best| best.to_string())
    }

    /// The answers of the first seed of each arm, in the order of tables.
    pub(crate) fn answers(self) -> impl Iterator<Item = ArmAnswer<'a>> {
        self.group.members().map(move |member| {
            let (text, correctness) = &member.measured().answers[self.place];
            ArmAnswer { arm: escape_controls(&member.name()), text, correctness: *correctness }
        })
    }
}

impl ArmAnswer<'_> {
    /// Its class in a word.
    pub(crate) fn class(&self) -> &'static str {
        match self.correctness {
            Correctness { best: true, .. } => "best",
            Correctness { legal: true, .. } => "legal",
            Correctness { valid: true, .. } => "illegal",
            Correctness { .. } => "no move",
        }
    }
}
