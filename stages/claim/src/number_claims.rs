//! A claim about numbers measured inside models (`findings`), and whether it holds.

use std::fmt;
use std::str::FromStr;

use cwm_findings::{Finding, Kind};
use serde_json::{Value, json};

use crate::claim::CheckedClaim;

/// The form of such a claim.
const FORM: &str =
    "KIND.VALUE[NAME=TEXT, ...] > NUMBER, with `<`, or with KIND.VALUE[...] + NUMBER in place of the number";

/// Names of the parts that findings are divided into. A number of a part counts only for a claim that names the part.
const PARTS: [&str; 3] = ["square", "ply", "piece"];

/// The claim that a number is larger or smaller than another.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberClaim {
    text: String,
    left: Term,
    is_larger: bool,
    right: Option<Term>,
    /// The number that is added to the right side.
    number: f64,
}

/// The numbers that are meant: of several the largest counts, such as that of the best layer.
#[derive(Clone, Debug, PartialEq)]
struct Term {
    kind: Kind,
    value: String,
    names: Vec<(String, String)>,
}

/// A number with its interval, and the finding that it is from.
struct FoundNumber<'a> {
    finding: &'a Finding,
    value: f64,
    interval: Option<(f64, f64)>,
}

impl NumberClaim {
    /// Returns true if a claim begins with a kind of findings, such as `probe.`, and so is none about choices.
    pub fn is_about_findings(text: &str) -> bool {
        text.trim().split_once('.').is_some_and(|(word, _)| kind(word).is_some())
    }

    /// Checks it with whole intervals.
    ///
    /// # Errors
    /// There is no such number, as a phrase.
    pub fn check(&self, findings: &[Finding]) -> Result<CheckedClaim, String> {
        let left = self.left.find(findings)?;
        let right = self.right.as_ref().map(|right| right.find(findings)).transpose()?;
        let bound = right.as_ref().map_or(0.0, |right| right.value) + self.number;
        let sign = if self.is_larger { 1.0 } else { -1.0 };
        // The ends of both intervals that are nearest to each other.
        let nearest = |found: &FoundNumber<'_>, sign: f64| {
            found.interval.map_or(found.value, |(low, high)| if sign > 0.0 { low } else { high })
        };
        let beside = right.as_ref().map_or(self.number, |right| nearest(right, -sign));
        let holds = sign * (left.value - bound) > 0.0 && sign * (nearest(&left, sign) - beside) > 0.0;
        let mut summary = format!("`{self}`: {left}");
        if let Some(right) = &right {
            summary += &format!(" and {right}");
        }
        let json = json!({
            "claim": self.text,
            "left": left.json(),
            "right": right.as_ref().map(FoundNumber::json),
            "number": self.number,
        });
        Ok((holds, summary, json))
    }
}

impl Term {
    fn find<'a>(&self, findings: &'a [Finding]) -> Result<FoundNumber<'a>, String> {
        let numbers = findings.iter().filter(|finding| self.fits(finding)).filter_map(|finding| {
            let value = finding.get(&self.value).filter(|value| !value.is_nan())?;
            Some(FoundNumber { finding, value, interval: finding.interval(&self.value) })
        });
        numbers.max_by(|one, other| one.value.total_cmp(&other.value)).ok_or_else(|| format!("there is no `{self}`"))
    }

    fn fits(&self, finding: &Finding) -> bool {
        let is_named = |part: &str| self.names.iter().any(|(name, _)| name == part);
        finding.kind == self.kind
            && self.names.iter().all(|(name, text)| match name.as_str() {
                "model" => finding.model == *text,
                "network" => finding.network == *text,
                "layer" => finding.layer.map(|layer| layer.to_string()).as_deref() == Some(text),
                _ => finding.named(name) == text,
            })
            && PARTS
                .iter()
                .all(|part| is_named(part) || finding.named(part).is_empty() || self.kind == Kind::Composition)
    }
}

impl FoundNumber<'_> {
    fn json(&self) -> Value {
        let (low, high) = self.interval.unzip();
        let Finding { model, network, layer, names, n, .. } = self.finding;
        json!({
            "value": self.value, "low": low, "high": high, "model": model, "network": network, "layer": layer,
            "names": names, "n": n,
        })
    }
}

fn kind(word: &str) -> Option<Kind> {
    serde_json::from_value(word.into()).ok()
}

impl FromStr for Term {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("has `{}`, which is not of the form KIND.VALUE[NAME=TEXT, ...]", text.trim());
        let (number, names) = match text.trim().split_once('[') {
            Some((number, names)) => (number, names.strip_suffix(']').ok_or_else(wrong)?),
            None => (text.trim(), ""),
        };
        let (word, value) = number.split_once('.').filter(|(_, value)| !value.is_empty()).ok_or_else(wrong)?;
        let names = names.split(',').filter(|name| !name.trim().is_empty()).map(|name| {
            let (name, text) = name.split_once('=').ok_or_else(wrong)?;
            Ok((name.trim().to_owned(), text.trim().to_owned()))
        });
        Ok(Term {
            kind: kind(word).ok_or_else(wrong)?,
            value: value.to_owned(),
            names: names.collect::<Result<_, String>>()?,
        })
    }
}

impl FromStr for NumberClaim {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("has `{text}`, which is not of the form {FORM}");
        let is_larger = text.contains('>');
        let (left, right) = text.split_once(if is_larger { '>' } else { '<' }).ok_or_else(wrong)?;
        let (right, number) = match right.trim().parse::<f64>() {
            Ok(number) => (None, number),
            Err(_) => {
                let (term, number) = right.rsplit_once('+').unwrap_or((right, "0"));
                (Some(term.parse()?), number.trim().parse().map_err(|_| wrong())?)
            }
        };
        if !number.is_finite() {
            return Err(wrong());
        }
        Ok(NumberClaim { text: text.trim().to_owned(), left: left.parse()?, is_larger, right, number })
    }
}

impl fmt::Display for NumberClaim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = serde_json::to_value(self.kind).unwrap_or_default();
        write!(f, "{}.{}", kind.as_str().unwrap_or_default(), self.value)?;
        let names: Vec<String> = self.names.iter().map(|(name, text)| format!("{name}={text}")).collect();
        if names.is_empty() { Ok(()) } else { write!(f, "[{}]", names.join(", ")) }
    }
}

impl fmt::Display for FoundNumber<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.4}", self.value)?;
        if let Some((low, high)) = self.interval {
            write!(f, " (95 % interval {low:.4} to {high:.4})")?;
        }
        self.finding.layer.map_or(Ok(()), |layer| write!(f, " in layer {layer}"))
    }
}
