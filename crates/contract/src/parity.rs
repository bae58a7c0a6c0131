//! Comparisons of our models with fixtures of the authors' code.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::json;

use crate::Failure;

/// A request to compare fixtures, with facts about them that their files do not hold.
#[derive(Clone, Debug, Default)]
pub struct ParityRequest {
    /// Files and folders of files.
    pub paths: Vec<PathBuf>,
    /// The family of all fixtures, in place of the one found from their manifest, names and shapes.
    pub family: Option<String>,
    /// Options of the family by name, in place of those found from manifest and shapes.
    pub options: BTreeMap<String, String>,
    /// The device to compute on; the CPU if empty.
    pub device: String,
}

/// The comparison of one file.
#[derive(Debug)]
pub struct Comparison {
    /// The file's name without its ending.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// Description of the model that the file was compared with.
    pub subject: Option<String>,
    /// All quantities that were compared, at least one; or the failure.
    pub result: Result<Vec<Quantity>, Failure>,
    /// Parts that such a file may hold and this one does not, so that they were not compared; each with the reason.
    pub not_compared: Vec<String>,
    /// Assumptions, and parts of the file that are not understood.
    pub notes: Vec<String>,
}

/// Numbers of one kind and their largest difference: a tensor, a loss, the rates of a schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// `output.pieces`, `grad_norm.layers.0.norm1.weight`, …
    pub name: String,
    /// Number of values that were compared.
    pub compared: u64,
    /// The value with the largest difference in units of its tolerance.
    pub worst: Difference,
    /// The value with the largest relative difference.
    pub largest: Difference,
}

/// A value and the one that it should be.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The index of the value in its quantity, `[0, 12, 45, 3]`; empty if it is the only one.
    pub place: String,
    /// Our value.
    pub found: f64,
    /// The value that it should have.
    pub expected: f64,
    /// The difference relative to the magnitude that the tolerance is relative to. Infinite if either is no
    /// number.
    pub relative: f64,
    /// The difference in units of the tolerance: above 1 is too far.
    pub of_tolerance: f64,
}

impl Difference {
    /// Returns true if the difference exceeds the tolerance.
    pub fn exceeds_tolerance(&self) -> bool {
        // NaN is never within the tolerance.
        self.of_tolerance.is_nan() || self.of_tolerance > 1.0
    }
}

/// The outcome of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ParityOutcome {
    /// All quantities are within their tolerances.
    Within,
    /// A quantity is beyond its tolerance.
    Beyond,
    /// The file could not be compared, or holds nothing to compare.
    Failed,
}

impl Comparison {
    /// Returns the outcome.
    pub fn outcome(&self) -> ParityOutcome {
        match &self.result {
            Ok(quantities) if quantities.iter().any(|quantity| quantity.worst.exceeds_tolerance()) => {
                ParityOutcome::Beyond
            }
            Ok(quantities) if !quantities.is_empty() => ParityOutcome::Within,
            _ => ParityOutcome::Failed,
        }
    }

    /// Returns the comparison as `cwm model parity --json` prints it.
    pub fn to_json(&self) -> serde_json::Value {
        let quantity = |quantity: &Quantity| {
            let Quantity { name, compared, worst, largest } = quantity;
            json!({
                "name": name, "compared": compared, "beyond": worst.exceeds_tolerance(), "worst": worst,
                "largest": largest,
            })
        };
        let mut object = json!({
            "name": self.name,
            "path": self.path.to_string_lossy(),
            "outcome": self.outcome(),
            "subject": self.subject,
            "not_compared": self.not_compared,
            "notes": self.notes,
        });
        match &self.result {
            Ok(quantities) => {
                object["worst"] = json!(worst(quantities).map(quantity));
                object["quantities"] = quantities.iter().map(quantity).collect();
            }
            Err(failure) => object["error"] = json!(failure.message),
        }
        object
    }
}

/// One line: the outcome and the quantities that are furthest from what they should be, by tolerance and relatively.
impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<20} ", self.name)?;
        let quantities = match &self.result {
            Ok(quantities) => quantities,
            Err(Failure { message, hint: Some(hint), .. }) => return write!(f, "FAILED  {message} ({hint})"),
            Err(failure) => return write!(f, "FAILED  {}", failure.message),
        };
        let Some(by_tolerance) = worst(quantities) else { return f.write_str("FAILED  nothing was compared") };
        let Quantity { name, worst, .. } = by_tolerance;
        let (other, largest) = quantities
            .iter()
            .map(|quantity| (quantity, &quantity.largest))
            .fold((by_tolerance, worst), |most, next| if next.1.relative > most.1.relative { next } else { most });
        let beyond = quantities.iter().filter(|quantity| quantity.worst.exceeds_tolerance()).count();
        let outcome = if beyond == 0 { "within" } else { "BEYOND" };
        write!(f, "{outcome}  worst relative difference {:.1e}", largest.relative)?;
        let share = OfTolerance(worst.of_tolerance);
        if std::ptr::eq(largest, worst) {
            write!(f, ", {share} what is allowed, in {name}{}", worst.place)?;
        } else {
            write!(f, " in {}{}; by what is allowed, {share} that ", other.name, largest.place)?;
            write!(f, "({:.1e}) in {name}{}", worst.relative, worst.place)?;
        }
        write!(f, ": {} where {} is expected", worst.found, worst.expected)?;
        if beyond > 1 {
            write!(f, "; beyond are {beyond} of {} quantities", quantities.len())?;
        }
        if !self.not_compared.is_empty() {
            write!(f, "; not compared: {}", self.not_compared.join("; "))?;
        }
        Ok(())
    }
}

/// Returns the quantity that is furthest from what it should be, in units of its tolerance.
fn worst(quantities: &[Quantity]) -> Option<&Quantity> {
    quantities.iter().max_by(|a, b| a.worst.of_tolerance.total_cmp(&b.worst.of_tolerance))
}

/// A fraction of a tolerance: `3 % of`, `12.0 times`.
struct OfTolerance(f64);

impl fmt::Display for OfTolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            share if share < 0.1 => write!(f, "{:.1} % of", share * 100.0),
            share if share <= 1.0 => write!(f, "{:.0} % of", share * 100.0),
            share if share < 100.0 => write!(f, "{share:.1} times"),
            share if share.is_finite() => write!(f, "{share:.1e} times"),
            _ => f.write_str("infinitely more than"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(of_tolerance: &[f64]) -> Comparison {
        let quantity = |(index, &of_tolerance): (usize, &f64)| {
            let worst = Difference {
                place: "[0, 3]".into(),
                found: 1.5,
                expected: 1.0,
                relative: of_tolerance * 1e-4,
                of_tolerance,
            };
            Quantity { name: format!("mid.{index}"), compared: 4, largest: worst.clone(), worst }
        };
        Comparison {
            name: "mamba2-tiny".into(),
            path: "x/mamba2-tiny.safetensors".into(),
            subject: None,
            result: Ok(of_tolerance.iter().enumerate().map(quantity).collect()),
            not_compared: Vec::new(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn the_line_names_the_file_and_the_worst_tensor() {
        assert_eq!(
            comparison(&[0.02, 0.5, 0.1]).to_string(),
            "mamba2-tiny          within  worst relative difference 5.0e-5, 50 % of what is allowed, in mid.1[0, 3]: \
             1.5 where 1 is expected"
        );
        assert_eq!(
            comparison(&[0.02, 5.0, 1.5]).to_string(),
            "mamba2-tiny          BEYOND  worst relative difference 5.0e-4, 5.0 times what is allowed, in mid.1[0, 3]: \
             1.5 where 1 is expected; beyond are 2 of 3 quantities"
        );
    }

    #[test]
    fn the_line_names_the_largest_relative_difference_where_it_is_another_and_what_was_not_compared() {
        let mut comparison = comparison(&[0.02, 0.5, 0.1]);
        comparison.not_compared =
            vec!["mid., grad. (not in the file)".into(), "fp64_loss (not in its manifest)".into()];
        let quantities = comparison.result.as_mut().unwrap();
        quantities[2].largest = Difference { relative: 3e-2, place: "[7]".into(), ..quantities[2].largest.clone() };
        assert_eq!(
            comparison.to_string(),
            "mamba2-tiny          within  worst relative difference 3.0e-2 in mid.2[7]; by what is allowed, 50 % of that \
             (5.0e-5) in mid.1[0, 3]: 1.5 where 1 is expected; not compared: mid., grad. (not in the file); fp64_loss \
             (not in its manifest)"
        );
        let object = comparison.to_json();
        assert_eq!(object["not_compared"][1], "fp64_loss (not in its manifest)");
        assert_eq!(object["quantities"][2]["largest"]["relative"], 3e-2);
    }

    #[test]
    fn json_has_every_quantity() {
        let object = comparison(&[0.02, 5.0]).to_json();
        assert_eq!(object["outcome"], "beyond");
        assert_eq!(object["worst"]["name"], "mid.1");
        assert_eq!(object["quantities"][0]["worst"]["found"], 1.5);
    }

    #[test]
    fn to_compare_nothing_is_no_success() {
        let failed = Comparison { result: Err(Failure::input("is empty")), ..comparison(&[]) };
        assert_eq!(failed.to_string(), "mamba2-tiny          FAILED  is empty");
        for (comparison, outcome) in [
            (comparison(&[1.0]), ParityOutcome::Within),
            (comparison(&[1.0, 1.1]), ParityOutcome::Beyond),
            (comparison(&[0.0, f64::NAN]), ParityOutcome::Beyond),
            (comparison(&[f64::INFINITY]), ParityOutcome::Beyond),
            (comparison(&[]), ParityOutcome::Failed),
            (failed, ParityOutcome::Failed),
        ] {
            assert_eq!(comparison.outcome(), outcome, "{comparison}");
        }
    }
}
