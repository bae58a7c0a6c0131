//! A claim and its notation.

use std::fmt;
use std::str::FromStr;

use cwm_measures::{GradeMeasure, Measure};

/// The form of a claim.
const FORM: &str = "ARM.MEASURE > ARM.MEASURE, or the same with `from ply N` behind it";

/// The result of a claim: whether it holds, its numbers in a sentence without a full stop, and the same as JSON.
pub type CheckedClaim = (bool, String, serde_json::Value);

/// The claim that a measure of one arm is larger than one of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The side that is claimed to be larger.
    pub left: Side,
    /// The side that is claimed to be smaller.
    pub right: Side,
    /// Positions from this ply on; none of those without a game.
    pub from_ply: Option<u32>,
}

/// A measure of an arm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// The arm's name, such as `board/none`.
    pub arm: String,
    /// The measure.
    pub measure: Measure,
}

impl FromStr for Side {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // The name of another program's model may have a dot, a measure has none.
        let parts = text.trim().rsplit_once('.').filter(|(arm, _)| !arm.is_empty());
        let (arm, name) = parts.ok_or_else(|| format!("`{}` is not of the form ARM.MEASURE", text.trim()))?;
        let known = || Measure::ALL.map(Measure::name).join(", ");
        let wrong = || match GradeMeasure::named(name) {
            Some(_) => format!("has `{name}` of grades: such a claim ends with `on TASK` or `on every task`"),
            None => format!("has `{name}`, which is none of {}", known()),
        };
        Ok(Side { arm: arm.to_owned(), measure: Measure::named(name).ok_or_else(wrong)? })
    }
}

impl FromStr for Claim {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (sides, ply) = match text.split_once(" from ply ") {
            Some((sides, ply)) => (sides, Some(ply.trim())),
            None => (text, None),
        };
        let (left, right) =
            sides.split_once('>').ok_or_else(|| format!("has `{text}`, which is not of the form {FORM}"))?;
        // The right side may be a number, or have one added.
        let ends_in_number = right.split_whitespace().next_back().is_some_and(|word| word.parse::<f64>().is_ok());
        if right.starts_with('=') || ends_in_number {
            return Err(format!(
                "has `{text}`, which is not of the form {FORM}: claims about choices have no `>=` and no number, and those \
                 about findings begin with `legality`, `probe`, `composition`, `reconstruction`, `alignment` or `edit`"
            ));
        }
        let number = |ply: &str| ply.parse().map_err(|_| format!("has `from ply {ply}`, which is not a number"));
        let (left, right): (Side, Side) = (left.parse()?, right.parse()?);
        if left.measure.is_rate() != right.measure.is_rate() {
            return Err(format!("has `{text}`, which compares a share of positions with a loss"));
        }
        Ok(Claim { left, right, from_ply: ply.map(number).transpose()? })
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.arm, self.measure.name())
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} > {}", self.left, self.right)?;
        self.from_ply.map_or(Ok(()), |ply| write!(f, " from ply {ply}"))
    }
}
