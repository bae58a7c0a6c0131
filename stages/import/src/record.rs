//! One line: a game as the authors' program writes it.
//!
//! A JSON object with `example_id` (the game's id), `moves` (START, then a token a move), `states` (for each of them
//! the 75 labels of the position after it), `steps` (their number), `plies` (one less), `fullmoves` (half of that,
//! rounded up), `result` and `spec` (the meaning of all that, on every line). Other keys are passed over.

use std::borrow::Cow;
use std::fmt;

use cwm_encoding::LABELS;
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, SeqAccess, Visitor};

/// The fields of a line that are read.
#[derive(Debug, Deserialize)]
pub struct Record<'line> {
    /// The game's id.
    #[serde(borrow)]
    pub example_id: Cow<'line, str>,
    /// START, then a token a move.
    pub moves: Vec<u16>,
    /// `[moves, 75]`.
    pub states: States,
    /// Number of `moves`.
    pub steps: Option<u64>,
    /// Plies.
    pub plies: Option<u64>,
    /// Full moves.
    pub fullmoves: Option<u64>,
    /// The result.
    #[serde(borrow)]
    pub result: Cow<'line, str>,
    /// The place of the game, which the authors' program does not write.
    #[serde(borrow, default)]
    pub site: Option<Cow<'line, str>>,
}

/// A record without the labels, which are passed over unread.
#[derive(Debug, Deserialize)]
pub struct RecordWithoutStates<'line> {
    #[serde(borrow)]
    example_id: Cow<'line, str>,
    moves: Vec<u16>,
    #[serde(borrow)]
    result: Cow<'line, str>,
    #[serde(borrow, default)]
    site: Option<Cow<'line, str>>,
}

/// The labels of a game's positions, one after another.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct States(pub Vec<u8>);

impl<'line> Record<'line> {
    /// Reads a line; without `with_states`, passes over the labels and the numbers of them.
    ///
    /// # Errors
    /// It is no JSON, or is incomplete, or has something of another type; as a phrase, with the byte of the line.
    pub fn read(line: &'line [u8], with_states: bool) -> Result<Self, String> {
        // A list with the right things in it would be read as well.
        if line.trim_ascii_start().first() != Some(&b'{') {
            return Err("it is not a JSON object".to_owned());
        }
        let read = if with_states {
            serde_json::from_slice(line)
        } else {
            serde_json::from_slice(line).map(|record: RecordWithoutStates<'line>| Record {
                example_id: record.example_id,
                moves: record.moves,
                states: States::default(),
                steps: None,
                plies: None,
                fullmoves: None,
                result: record.result,
                site: record.site,
            })
        };
        read.map_err(|error: serde_json::Error| {
            let (what, column) = (error.to_string(), error.column());
            // A line has one line.
            let what = what.strip_suffix(&format!(" at line 1 column {column}")).unwrap_or(&what);
            format!("{what}, at byte {column} of the line")
        })
    }
}

impl<'de> Deserialize<'de> for States {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(StatesVisitor)
    }
}

struct StatesVisitor;

impl<'de> Visitor<'de> for StatesVisitor {
    type Value = States;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of states")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut states: A) -> Result<States, A::Error> {
        let mut labels = Vec::with_capacity(80 * LABELS);
        while let Some(State(state)) = states.next_element()? {
            labels.extend_from_slice(&state);
        }
        Ok(States(labels))
    }
}

/// The labels of one position.
struct State([u8; LABELS]);

impl<'de> Deserialize<'de> for State {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(StateVisitor)
    }
}

struct StateVisitor;

impl<'de> Visitor<'de> for StateVisitor {
    type Value = State;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a state of {LABELS} labels from 0 to 255")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut labels: A) -> Result<State, A::Error> {
        let mut state = [0; LABELS];
        for (at, label) in state.iter_mut().enumerate() {
            *label = labels.next_element()?.ok_or_else(|| A::Error::invalid_length(at, &self))?;
        }
        match labels.next_element::<IgnoredAny>()? {
            None => Ok(State(state)),
            Some(_) => Err(A::Error::invalid_length(LABELS + 1, &self)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(states: &str) -> String {
        format!(
            r#"{{"example_id": "a\u0041", "moves": [20480], "states": {states}, "result": "*", "spec": {{"x": [1]}}}}"#
        )
    }

    #[test]
    fn a_line_is_read_and_what_is_not_known_is_passed_over() {
        let state = format!("[[{}]]", vec!["7"; 75].join(", "));
        let text = line(&state);
        let record = Record::read(text.as_bytes(), true).unwrap();
        assert_eq!((&*record.example_id, &*record.result, record.site), ("aA", "*", None));
        assert_eq!((record.moves, record.states), (vec![20480], States(vec![7; 75])));
        let text = line(r#""whatever""#);
        assert_eq!(Record::read(text.as_bytes(), false).unwrap().states, States::default());
    }

    #[test]
    fn what_is_wrong_is_reported_with_its_byte() {
        let error = |text: &str| Record::read(text.as_bytes(), true).unwrap_err();
        assert_eq!(
            error(r#"{"example_id": 3}"#),
            "invalid type: integer `3`, expected a string, at byte 16 of the line"
        );
        assert_eq!(error("[]"), "it is not a JSON object");
        assert!(error("{").starts_with("EOF while parsing an object"));
        assert!(error(r#"{"example_id": "a", "moves": [1]}"#).starts_with("missing field `states`"));
        assert!(error(&line("[[1, 2]]")).starts_with("invalid length 2, expected a state of 75 labels from 0 to 255"));
        assert!(
            error(&line(&format!("[[{}]]", vec!["7"; 76].join(","))))
                .starts_with("invalid length 76, expected a state")
        );
        assert!(
            error(&line(&format!("[[{}]]", vec!["256"; 75].join(","))))
                .starts_with("invalid value: integer `256`, expected u8")
        );
        assert!(error(&line("[[-1]]")).starts_with("invalid value: integer `-1`, expected u8"));
        assert!(error(r#"{"moves": [70000]}"#).starts_with("invalid value: integer `70000`, expected u16"));
        assert!(error(r#"{"moves": [1.5]}"#).starts_with("invalid type: floating point `1.5`, expected u16"));
    }
}
