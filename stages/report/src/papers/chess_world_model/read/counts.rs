//! Counts files: numbers of games played, kept, dropped, split and tokenized.

use std::collections::BTreeMap;
use std::path::Path;

use cwm_contract::{Failure, GroupInput};
use cwm_page::escape_controls;
use serde::{Deserialize, Deserializer, de};

/// One counts file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "stage", rename_all = "lowercase")]
pub(crate) enum Counts {
    /// Counts of `play`.
    Play(PlayedGames),
    /// Counts of `parse`, or of `import`, which counts as it does.
    #[serde(alias = "import")]
    Parse {
        /// Games in the file.
        read: u64,
        /// Games kept.
        kept: u64,
        /// Games dropped, by reason.
        dropped: BTreeMap<String, u64>,
    },
    /// Counts of `split`.
    Split {
        /// Buckets in all.
        buckets: u64,
        /// Buckets that are validation.
        validation_buckets: u64,
        /// Games to train on.
        train: Side,
        /// Games to validate with.
        validation: Side,
    },
    /// Counts of `tokenize`.
    Tokenize {
        /// Each set by name.
        sets: BTreeMap<String, TokenSet>,
        /// All sets as one; files of the first versions do not have it.
        all: Option<TokenSet>,
    },
    /// Counts of stages that only another paper has.
    #[serde(
        rename = "bag",
        alias = "analyse",
        alias = "encode",
        alias = "transpositions",
        alias = "choose",
        alias = "match"
    )]
    Other {},
}

/// The events in the games of one `play`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct PlayedGames {
    pub(crate) policy: String,
    pub(crate) games: u64,
    pub(crate) plies: u64,
    /// Captures, en passant ones among them.
    pub(crate) captures: u64,
    pub(crate) en_passant: u64,
    /// By wing.
    pub(crate) castlings: BTreeMap<String, u64>,
    /// By the new piece.
    pub(crate) promotions: BTreeMap<String, u64>,
    pub(crate) mates: u64,
    pub(crate) draws: u64,
    pub(crate) unfinished: u64,
}

/// One side of a split.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Side {
    pub(crate) games: u64,
    pub(crate) plies: u64,
}

/// One tokenized set of games.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct TokenSet {
    pub(crate) games: u64,
    pub(crate) plies: u64,
    pub(crate) positions: u64,
    /// Distinct move tokens, START left out.
    pub(crate) unique_moves: u64,
    /// The moves that occur, a bit a token; empty where the file is of an earlier version, or counts several sets
    /// together.
    #[serde(default, deserialize_with = "hexadecimal")]
    pub(crate) moves: Vec<u8>,
}

impl TokenSet {
    /// Returns the number of its moves that do not occur in any of the `others`, if all have their moves.
    pub(crate) fn moves_not_in<'a>(&self, others: impl IntoIterator<Item = &'a TokenSet>) -> Option<u64> {
        let mut others = others.into_iter().peekable();
        others.peek()?;
        let mut beyond = self.moves.clone();
        for other in others {
            if other.moves.len() != self.moves.len() {
                return None;
            }
            beyond.iter_mut().zip(&other.moves).for_each(|(byte, other)| *byte &= !other);
        }
        (!beyond.is_empty()).then(|| beyond.iter().map(|byte| u64::from(byte.count_ones())).sum())
    }
}

fn hexadecimal<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let digit = |digit: u8| char::from(digit).to_digit(16).map(|digit| digit as u8);
    let byte = |pair: &[u8]| match pair {
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    };
    let bytes: Option<Vec<u8>> = text.as_bytes().chunks(2).map(byte).collect();
    bytes.ok_or_else(|| de::Error::custom("`moves` is not hexadecimal"))
}

/// A counts file and the stage that wrote it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LabelledCounts {
    /// The stage's label, such as `corpus`.
    pub(crate) label: String,
    pub(crate) counts: Counts,
}

/// Reads all of them, in the order of their labels.
///
/// # Errors
/// A file cannot be read, or is not a counts file.
pub(crate) fn read(inputs: &[GroupInput]) -> Result<Vec<LabelledCounts>, Failure> {
    inputs.iter().map(|input| read_one(&input.path, &input.label.to_string())).collect()
}

fn read_one(path: &Path, label: &str) -> Result<LabelledCounts, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::io("read", path, error))?;
    let counts = serde_json::from_str(&text).map_err(|error| {
        Failure::input(format!("the counts of {label} ({}) cannot be understood: {error}", path.display()))
    })?;
    let counts = match counts {
        Counts::Play(played) => Counts::Play(PlayedGames { policy: escape_controls(&played.policy), ..played }),
        Counts::Parse { read, kept, dropped } => {
            let dropped = dropped.into_iter().map(|(reason, games)| (escape_controls(&reason), games)).collect();
            Counts::Parse { read, kept, dropped }
        }
        Counts::Tokenize { sets, all } => {
            Counts::Tokenize { sets: sets.into_iter().map(|(name, set)| (escape_controls(&name), set)).collect(), all }
        }
        split => split,
    };
    Ok(LabelledCounts { label: escape_controls(label), counts })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str) -> Result<Counts, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("counts");
        std::fs::write(&path, json).unwrap();
        read_one(&path, "corpus").map(|labelled| labelled.counts).map_err(|failure| failure.message)
    }

    #[test]
    fn each_kind_is_read() {
        for stage in ["parse", "import"] {
            assert_eq!(
                check(&format!(r#"{{"stage":"{stage}","read":3,"kept":1,"plies":40,"dropped":{{"short":2}}}}"#)),
                Ok(Counts::Parse { read: 3, kept: 1, dropped: BTreeMap::from([("short".into(), 2)]) })
            );
        }
        let split = r#"{"stage":"split","buckets":10,"validation_buckets":1,
            "train":{"games":9,"plies":90},"validation":{"games":1,"plies":10}}"#;
        assert!(matches!(check(split), Ok(Counts::Split { buckets: 10, train: Side { games: 9, .. }, .. })));
        let tokens = r#"{"stage":"tokenize","sets":{"train":{"games":1,"plies":2,"positions":3,"unique_moves":2}}}"#;
        assert!(matches!(check(tokens), Ok(Counts::Tokenize { sets, all: None }) if sets["train"].unique_moves == 2));
        let tokens = r#"{"stage":"tokenize","sets":{},"all":{"games":1,"plies":2,"positions":3,"unique_moves":1}}"#;
        assert!(matches!(check(tokens), Ok(Counts::Tokenize { all: Some(all), .. }) if all.unique_moves == 1));
        let play = r#"{"stage":"play","policy":"long","games":2,"plies":9,"captures":3,"en_passant":1,
            "castlings":{"king_side":1,"queen_side":0},"promotions":{"queen":2},"mates":1,"draws":0,"unfinished":1}"#;
        assert!(matches!(check(play), Ok(Counts::Play(played)) if played.promotions["queen"] == 2));
    }

    #[test]
    fn moves_of_one_set_alone_are_counted() {
        let set = |moves: &str| -> TokenSet {
            let json = format!(r#"{{"games":1,"plies":1,"positions":1,"unique_moves":1,"moves":"{moves}"}}"#);
            serde_json::from_str(&json).unwrap()
        };
        let (one, two) = (set("ff01"), set("0f00"));
        assert_eq!((one.moves_not_in([&two]), two.moves_not_in([&one])), (Some(5), Some(0)));
        assert_eq!(one.moves_not_in([&two, &set("f000")]), Some(1));
        assert_eq!(
            (one.moves_not_in([]), one.moves_not_in([&set("")]), set("").moves_not_in([&set("")])),
            (None, None, None)
        );
    }

    #[test]
    fn what_is_wrong_is_reported() {
        let tokens =
            r#"{"stage":"tokenize","sets":{"a":{"games":1,"plies":1,"positions":1,"unique_moves":1,"moves":"f"}}}"#;
        assert!(check(tokens).unwrap_err().contains("`moves` is not hexadecimal"));
        assert!(check("{").unwrap_err().contains("the counts of corpus"));
        assert!(check(r#"{"stage":"bake"}"#).unwrap_err().contains("unknown variant `bake`"));
        assert!(check(r#"{"stage":"parse","read":-3}"#).unwrap_err().contains("invalid value: integer `-3`"));
    }
}
