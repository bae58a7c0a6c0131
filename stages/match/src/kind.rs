//! Kinds of players, as parameters have them.

use std::fmt;

use cwm_contract::{Parameter, Type, Value};
use cwm_uci::Level;

/// A kind of player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The model of the input `model`.
    Model,
    /// The model of the input `other`.
    Other,
    /// Any legal move, each equally likely.
    Random,
    /// An engine at a level from the first to the second, drawn for each game.
    Level(u8, u8),
    /// An engine that searches so many nodes.
    Nodes(u64),
    /// Our own engine, that of `play`, which looks so many plies ahead before it follows captures.
    Depth(u32),
}

/// The largest depth of our own engine.
const DEEPEST: u32 = 4;

impl Kind {
    /// True if a program plays.
    pub fn needs_engine(&self) -> bool {
        matches!(self, Kind::Level(..) | Kind::Nodes(_))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let unknown = || {
            format!(
                "must be `model`, `other`, `random`, `level:L` (L from 0 to {}), `level:A-B`, `nodes:N` or `depth:D` (D from 1 \
                 to {DEEPEST}), not `{text}`",
                Level::STRONGEST
            )
        };
        match (text, text.split_once(':')) {
            ("model", _) => Ok(Kind::Model),
            ("other", _) => Ok(Kind::Other),
            ("random", _) => Ok(Kind::Random),
            (_, Some(("level", levels))) => {
                let (weakest, strongest) = levels.split_once('-').unwrap_or((levels, levels));
                let level = |digits: &str| number::<u8>(digits).ok_or_else(unknown);
                let (weakest, strongest) = (level(weakest)?, level(strongest)?);
                if weakest > strongest {
                    return Err(format!(
                        "must have its lower level first: `level:{strongest}-{weakest}`, not `{text}`"
                    ));
                }
                if strongest > Level::STRONGEST {
                    return Err(format!("has no level {strongest}: levels are 0 to {}", Level::STRONGEST));
                }
                Ok(Kind::Level(weakest, strongest))
            }
            (_, Some(("nodes", nodes))) => match number(nodes).ok_or_else(unknown)? {
                0 => Err("must have at least one node, not `nodes:0`".to_owned()),
                nodes => Ok(Kind::Nodes(nodes)),
            },
            (_, Some(("depth", depth))) => match number(depth).ok_or_else(unknown)? {
                depth @ 1..=DEEPEST => Ok(Kind::Depth(depth)),
                depth => Err(format!("has no depth {depth}: our own engine looks 1 to {DEEPEST} plies ahead")),
            },
            _ => Err(unknown()),
        }
    }
}

/// A number in its only spelling.
fn number<T: std::str::FromStr + fmt::Display>(digits: &str) -> Option<T> {
    digits.parse().ok().filter(|number: &T| number.to_string() == digits)
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Model => f.write_str("model"),
            Kind::Other => f.write_str("other"),
            Kind::Random => f.write_str("random"),
            Kind::Level(weakest, strongest) if weakest == strongest => write!(f, "level:{weakest}"),
            Kind::Level(weakest, strongest) => write!(f, "level:{weakest}-{strongest}"),
            Kind::Nodes(nodes) => write!(f, "nodes:{nodes}"),
            Kind::Depth(depth) => write!(f, "depth:{depth}"),
        }
    }
}

impl Parameter for Kind {
    fn kind() -> Type {
        Type::Text
    }

    fn read(value: &Value) -> Result<Self, String> {
        Kind::parse(&String::read(value)?)
    }

    fn write(&self) -> Value {
        Value::Text(self.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_one_spelling() {
        for text in ["model", "other", "random", "level:0", "level:19", "level:0-19", "level:3-4", "nodes:1", "depth:2"]
        {
            assert_eq!(Kind::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Kind::parse("level:3-3"), Ok(Kind::Level(3, 3)));
    }

    #[test]
    fn others_are_faults_in_words() {
        for (text, fault) in [
            ("level:20", "has no level 20: levels are 0 to 19"),
            ("level:5-2", "must have its lower level first: `level:2-5`, not `level:5-2`"),
            ("nodes:0", "must have at least one node, not `nodes:0`"),
            ("depth:5", "has no depth 5: our own engine looks 1 to 4 plies ahead"),
        ] {
            assert_eq!(Kind::parse(text).unwrap_err(), fault);
        }
        let expected = "must be `model`, `other`, `random`, `level:L` (L from 0 to 19), `level:A-B`, `nodes:N` or `depth:D` \
                        (D from 1 to 4), not ";
        for text in [
            "stockfish",
            "",
            "level",
            "level:",
            "level:x",
            "level:-1",
            "level:1-",
            "level:01",
            "nodes:",
            "nodes:1k",
            "depth:",
        ] {
            assert_eq!(Kind::parse(text).unwrap_err(), format!("{expected}`{text}`"));
        }
    }
}
