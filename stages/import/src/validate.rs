//! Checks that a record is a game.

use cwm_encoding::{EnPassant, GROUPS, LABELS, PlainMove, Replay};

use crate::record::Record;

/// A reason for which a record is not imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The line is not JSON, or has not all that a record has, or has it in another type.
    Unreadable,
    /// The line is longer than any game's.
    TooLong,
    /// The id is empty.
    NoId,
    /// An earlier record has the same id.
    DuplicateId,
    /// The moves are no game of standard chess from the initial position.
    IllegalMove,
    /// A number of the record, or a state, differs from what its moves give.
    Differs,
}

impl cwm_chess::DropReason for Reason {
    const ALL: &'static [Reason] =
        &[Reason::Unreadable, Reason::TooLong, Reason::NoId, Reason::DuplicateId, Reason::IllegalMove, Reason::Differs];

    fn name(self) -> &'static str {
        match self {
            Reason::Unreadable => "unreadable",
            Reason::TooLong => "too_long",
            Reason::NoId => "no_id",
            Reason::DuplicateId => "duplicate_id",
            Reason::IllegalMove => "illegal_move",
            Reason::Differs => "differs",
        }
    }
}

/// The reason why a record is not imported. The caller adds its place in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordError {
    /// The cause.
    pub reason: Reason,
    /// The problem, and its place in the game.
    pub what: String,
}

impl RecordError {
    /// An error with this message.
    pub fn new(reason: Reason, what: impl Into<String>) -> Self {
        RecordError { reason, what: what.into() }
    }
}

/// Appends the record's moves, packed, to `moves`. Every move must be legal; with `check`, every number and every label
/// that the record holds must be what the moves give.
///
/// # Errors
/// The first thing that is wrong. `moves` may then hold some of the moves.
pub fn validate(record: &Record<'_>, check: bool, moves: &mut Vec<u16>) -> Result<(), RecordError> {
    if record.example_id.is_empty() {
        return Err(RecordError::new(Reason::NoId, "`example_id` is empty"));
    }
    if check {
        numbers(record)?;
    }
    let mut states = record.states.0.as_chunks::<LABELS>().0.iter();
    let mut replay = Replay::new(&record.moves, EnPassant::Always);
    let mut ply = 0;
    while let Some(row) = replay.advance().map_err(|error| RecordError::new(Reason::IllegalMove, error.to_string()))? {
        if let Some(state) = states.next().filter(|state| check && *state != row) {
            return Err(RecordError::new(Reason::Differs, difference(ply, state, row)));
        }
        ply += 1;
    }
    if ply == 0 {
        return Err(RecordError::new(Reason::IllegalMove, "`moves` is empty, and every game begins with START"));
    }
    moves.extend(record.moves.iter().skip(1).filter_map(|&token| PlainMove::from_token(token)).map(PlainMove::packed));
    Ok(())
}

/// Compares the numbers of a record with its moves.
fn numbers(record: &Record<'_>) -> Result<(), RecordError> {
    let steps = record.moves.len() as u64;
    let plies = steps.saturating_sub(1);
    let states = (record.states.0.len() / LABELS) as u64;
    let stated = [
        ("steps", record.steps, steps),
        ("plies", record.plies, plies),
        ("fullmoves", record.fullmoves, plies.div_ceil(2)),
    ];
    for (name, stated, found) in stated {
        if let Some(stated) = stated.filter(|stated| *stated != found) {
            return Err(RecordError::new(Reason::Differs, format!("`{name}` is {stated}, and its moves give {found}")));
        }
    }
    if states != steps {
        return Err(RecordError::new(
            Reason::Differs,
            format!("it has {steps} moves (START included) and {states} states"),
        ));
    }
    Ok(())
}

/// The message about the first label that differs.
fn difference(ply: usize, state: &[u8; LABELS], row: &[u8; LABELS]) -> String {
    let Some(label) = (0..LABELS).find(|&label| state[label] != row[label]) else { return String::new() };
    let group = GROUPS.iter().rev().find(|group| group.first <= label).map_or("", |group| group.name);
    let name = match (group, label) {
        ("pieces", label) => {
            let (file, rank) = (b'a' + (label % 8) as u8, 8 - label / 8);
            format!("the piece on {}{rank}", char::from(file))
        }
        (group, _) => group.to_owned(),
    };
    format!("at ply {ply} label {label} ({name}) is {}, and its moves give {}", state[label], row[label])
}

#[cfg(test)]
mod tests {
    use cwm_encoding::{START, replay_into};
    use proptest::prelude::*;

    use super::*;
    use crate::record::States;

    const E2E4: u16 = (12 * 64 + 28) * 5;
    const E7E5: u16 = (52 * 64 + 36) * 5;

    fn record(moves: &[u16]) -> Record<'static> {
        let mut states = vec![0; moves.len() * LABELS];
        let _ = replay_into(moves, EnPassant::Always, &mut states);
        Record {
            example_id: "cwm_a".into(),
            moves: moves.to_vec(),
            states: States(states),
            steps: None,
            plies: Some(moves.len() as u64 - 1),
            fullmoves: Some(moves.len() as u64 / 2),
            result: "*".into(),
            site: None,
        }
    }

    fn fault(record: &Record<'_>) -> (Reason, String) {
        let fault = validate(record, true, &mut Vec::new()).unwrap_err();
        (fault.reason, fault.what)
    }

    #[test]
    fn a_game_gives_its_moves() {
        let mut moves = vec![7];
        validate(&record(&[START, E2E4, E7E5]), true, &mut moves).unwrap();
        assert_eq!(moves, [7, 12 | 28 << 6, 52 | 36 << 6]);
    }

    proptest! {
        #[test]
        fn any_label_that_differs_is_found_and_named(at in 0..3 * LABELS, by in 1..=255u8) {
            let mut changed = record(&[START, E2E4, E7E5]);
            changed.states.0[at] = changed.states.0[at].wrapping_add(by);
            let (reason, what) = fault(&changed);
            prop_assert_eq!(reason, Reason::Differs);
            let place = format!("at ply {} label {} (", at / LABELS, at % LABELS);
            prop_assert!(what.starts_with(&place), "{}", what);
            validate(&changed, false, &mut Vec::new()).unwrap();
        }
    }

    #[test]
    fn labels_are_named_in_words() {
        let stated = |label: usize| {
            let mut changed = record(&[START, E2E4]);
            changed.states.0[LABELS + label] = 99;
            fault(&changed).1
        };
        assert_eq!(stated(36), "at ply 1 label 36 (the piece on e4) is 99, and its moves give 1");
        assert_eq!(stated(0), "at ply 1 label 0 (the piece on a8) is 99, and its moves give 10");
        assert_eq!(stated(69), "at ply 1 label 69 (ep_file) is 99, and its moves give 5");
        assert_eq!(stated(74), "at ply 1 label 74 (fullmove) is 99, and its moves give 1");
    }

    #[test]
    fn what_is_no_game_is_reported() {
        let illegal = |moves: &[u16]| fault(&record(moves));
        assert_eq!(
            illegal(&[START, E7E5]),
            (Reason::IllegalMove, "token 16820 (e7e5) at ply 1 is not a legal move".into())
        );
        assert_eq!(illegal(&[E2E4]).0, Reason::IllegalMove);
        assert_eq!(illegal(&[START, 20481]), (Reason::IllegalMove, "token 20481 at ply 1 is not a move".into()));
        let mut empty = record(&[START]);
        (empty.moves, empty.states, empty.plies, empty.fullmoves) = (Vec::new(), States::default(), None, None);
        assert_eq!(fault(&empty), (Reason::IllegalMove, "`moves` is empty, and every game begins with START".into()));
        let mut nameless = record(&[START]);
        nameless.example_id = "".into();
        assert_eq!(fault(&nameless).0, Reason::NoId);
    }

    #[test]
    fn numbers_that_do_not_fit_the_moves_are_reported() {
        let mut record = record(&[START, E2E4, E7E5]);
        record.steps = Some(9);
        assert_eq!(fault(&record), (Reason::Differs, "`steps` is 9, and its moves give 3".into()));
        record.steps = None;
        record.fullmoves = Some(2);
        assert_eq!(fault(&record).1, "`fullmoves` is 2, and its moves give 1");
        record.fullmoves = Some(1);
        record.states.0.truncate(LABELS);
        assert_eq!(fault(&record).1, "it has 3 moves (START included) and 1 states");
    }
}
