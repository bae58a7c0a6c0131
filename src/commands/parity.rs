//! `cwm parity`: do our models compute what the authors' did?

use std::collections::BTreeMap;
use std::fmt;

use cwm_contract::{Comparison, Difference, ParityRequest, Quantity};
use serde_json::{Value, json};

use crate::cli::ParityArguments;
use crate::output::{is_json, print};
use crate::registry::require_model_tools;
use cwm_core::{Error, ExitCode, plural};

/// Runs `cwm parity`: a line for each file, then, on standard error, how many there were.
///
/// # Errors
/// There is nothing to compare, or no such family, option or device; or this build cannot do it.
pub fn run(arguments: &ParityArguments) -> Result<ExitCode, Error> {
    let model_tools = require_model_tools()?;
    let request = ParityRequest {
        paths: arguments.files.clone(),
        family: arguments.family.clone(),
        options: arguments.options.iter().cloned().collect::<BTreeMap<_, _>>(),
        device: arguments.device.clone(),
    };
    let mut counts = Counts::default();
    let mut printed = Ok(());
    model_tools.parity(&request, &mut |comparison| {
        counts.add(&comparison);
        for note in &comparison.notes {
            eprintln!("note: {}: {note}", comparison.name);
        }
        let text = if is_json() { as_json(&comparison).to_string() } else { line(&comparison) };
        if printed.is_ok() {
            printed = print(&text);
        }
    })?;
    printed?;
    eprintln!("{counts}");
    Ok(if counts.is_sound() { ExitCode::OK } else { ExitCode::DISPARITY })
}

/// How the comparisons ended.
#[derive(Default)]
struct Counts {
    within: u64,
    beyond: u64,
    failed: u64,
}

impl Counts {
    fn add(&mut self, comparison: &Comparison) {
        match outcome(comparison) {
            "within" => self.within += 1,
            "beyond" => self.beyond += 1,
            _ => self.failed += 1,
        }
    }

    /// Returns true if something was compared, and all of it is as it should be.
    fn is_sound(&self) -> bool {
        self.within > 0 && self.beyond == 0 && self.failed == 0
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = plural(self.within + self.beyond + self.failed, "file", "files");
        write!(f, "{files}: {} within the tolerances", self.within)?;
        for (count, what) in [(self.beyond, "beyond"), (self.failed, "could not be compared")] {
            if count > 0 {
                write!(f, ", {count} {what}")?;
            }
        }
        Ok(())
    }
}

/// `within`, `beyond` or `failed`.
fn outcome(comparison: &Comparison) -> &'static str {
    match &comparison.result {
        // To compare nothing is no success.
        Ok(quantities) if quantities.is_empty() => "failed",
        Ok(quantities) if quantities.iter().any(|quantity| quantity.worst.exceeds_tolerance()) => "beyond",
        Ok(_) => "within",
        Err(_) => "failed",
    }
}

/// The quantity that is furthest from what it should be, measured by its tolerance.
fn worst(quantities: &[Quantity]) -> Option<&Quantity> {
    let worse = |a: &&Quantity, b: &&Quantity| a.worst.of_tolerance.total_cmp(&b.worst.of_tolerance);
    quantities.iter().max_by(worse)
}

/// The quantity with the largest relative difference: the worst one, unless another's is larger.
fn largest<'a>(quantities: &'a [Quantity], worst: &'a Quantity) -> (&'a Quantity, &'a Difference) {
    let all = quantities.iter().map(|quantity| (quantity, &quantity.largest));
    all.fold((worst, &worst.worst), |largest, next| if next.1.relative > largest.1.relative { next } else { largest })
}

fn line(comparison: &Comparison) -> String {
    let name = format!("{:<20}", comparison.name);
    let quantities = match &comparison.result {
        Ok(quantities) => quantities,
        Err(failure) => {
            let hint = failure.hint.as_ref().map(|hint| format!(" ({hint})"));
            return format!("{name} FAILED  {}{}", failure.message, hint.unwrap_or_default());
        }
    };
    let Some(by_tolerance) = worst(quantities) else {
        return format!("{name} FAILED  nothing was compared");
    };
    let beyond: Vec<_> = quantities.iter().filter(|quantity| quantity.worst.exceeds_tolerance()).collect();
    let verdict = if beyond.is_empty() { "within" } else { "BEYOND" };
    let Quantity { name: tensor, worst, .. } = by_tolerance;
    let (of, difference) = largest(quantities, by_tolerance);
    let share = times(worst.of_tolerance);
    let mut text = format!("{name} {verdict}  worst relative difference {:.1e}", difference.relative);
    text += &if std::ptr::eq(difference, worst) {
        format!(", {share} what is allowed, in {tensor}{}", worst.place)
    } else {
        let (other, place) = (&of.name, &difference.place);
        format!(
            " in {other}{place}; by what is allowed, {share} that ({:.1e}) in {tensor}{}",
            worst.relative, worst.place
        )
    };
    text += &format!(": {} where {} is expected", worst.found, worst.expected);
    if beyond.len() > 1 {
        text +=
            &format!("; beyond are {} of {}", beyond.len(), plural(quantities.len() as u64, "quantity", "quantities"));
    }
    if !comparison.left_out.is_empty() {
        text += &format!("; not compared: {}", comparison.left_out.join("; "));
    }
    text
}

/// `3 % of`, `12.0 times`.
fn times(share: f64) -> String {
    match share {
        share if share < 0.1 => format!("{:.1} % of", share * 100.0),
        share if share <= 1.0 => format!("{:.0} % of", share * 100.0),
        share if share < 100.0 => format!("{share:.1} times"),
        share if share.is_finite() => format!("{share:.1e} times"),
        _ => "infinitely more than".to_owned(),
    }
}

fn as_json(comparison: &Comparison) -> Value {
    let difference = |Difference { place, found, expected, relative, of_tolerance }: &Difference| {
        json!({
            "place": place, "found": found, "expected": expected, "relative": relative, "of_tolerance": of_tolerance,
        })
    };
    let quantity = |quantity: &Quantity| {
        json!({
            "name": quantity.name, "compared": quantity.compared, "beyond": quantity.worst.exceeds_tolerance(),
            "worst": difference(&quantity.worst), "largest": difference(&quantity.largest),
        })
    };
    let mut object = json!({
        "name": comparison.name,
        "path": comparison.path.to_string_lossy(),
        "outcome": outcome(comparison),
        "subject": comparison.subject,
        "left_out": comparison.left_out,
        "notes": comparison.notes,
    });
    match &comparison.result {
        Ok(quantities) => {
            object["worst"] = worst(quantities).map(quantity).unwrap_or(Value::Null);
            object["quantities"] = quantities.iter().map(quantity).collect();
        }
        Err(failure) => object["error"] = failure.message.clone().into(),
    }
    object
}

#[cfg(test)]
mod tests {
    use cwm_contract::Failure;

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
            left_out: Vec::new(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn the_line_names_the_file_and_the_worst_tensor() {
        assert_eq!(
            line(&comparison(&[0.02, 0.5, 0.1])),
            "mamba2-tiny          within  worst relative difference 5.0e-5, 50 % of what is allowed, in mid.1[0, 3]: \
             1.5 where 1 is expected"
        );
        assert_eq!(
            line(&comparison(&[0.02, 5.0, 1.5])),
            "mamba2-tiny          BEYOND  worst relative difference 5.0e-4, 5.0 times what is allowed, in mid.1[0, 3]: \
             1.5 where 1 is expected; beyond are 2 of 3 quantities"
        );
    }

    #[test]
    fn the_line_names_the_largest_relative_difference_where_it_is_another_and_what_was_not_compared() {
        let mut comparison = comparison(&[0.02, 0.5, 0.1]);
        comparison.left_out = vec!["mid., grad. (not in the file)".into(), "fp64_loss (not in its manifest)".into()];
        let quantities = comparison.result.as_mut().unwrap();
        quantities[2].largest = Difference { relative: 3e-2, place: "[7]".into(), ..quantities[2].largest.clone() };
        assert_eq!(
            line(&comparison),
            "mamba2-tiny          within  worst relative difference 3.0e-2 in mid.2[7]; by what is allowed, 50 % of that \
             (5.0e-5) in mid.1[0, 3]: 1.5 where 1 is expected; not compared: mid., grad. (not in the file); fp64_loss \
             (not in its manifest)"
        );
        let object = as_json(&comparison);
        assert_eq!(object["left_out"][1], "fp64_loss (not in its manifest)");
        assert_eq!(object["quantities"][2]["largest"]["relative"], 3e-2);
    }

    #[test]
    fn only_what_is_compared_and_within_is_sound() {
        let counted = |comparisons: &[Comparison]| {
            let mut counts = Counts::default();
            comparisons.iter().for_each(|comparison| counts.add(comparison));
            (counts.is_sound(), counts.to_string())
        };
        let failed = Comparison { result: Err(Failure::input("is empty")), ..comparison(&[]) };
        assert_eq!(line(&failed), "mamba2-tiny          FAILED  is empty");
        assert_eq!(counted(&[comparison(&[1.0])]), (true, "1 file: 1 within the tolerances".to_owned()));
        assert!(!counted(&[]).0 && !counted(&[comparison(&[])]).0);
        assert!(!counted(&[comparison(&[0.0, f64::NAN])]).0 && !counted(&[comparison(&[f64::INFINITY])]).0);
        assert_eq!(
            counted(&[comparison(&[0.1]), comparison(&[1.1]), failed]),
            (false, "3 files: 1 within the tolerances, 1 beyond, 1 could not be compared".to_owned())
        );
    }

    #[test]
    fn json_has_every_quantity() {
        let object = as_json(&comparison(&[0.02, 5.0]));
        assert_eq!(object["outcome"], "beyond");
        assert_eq!(object["worst"]["name"], "mid.1");
        assert_eq!(object["quantities"][0]["worst"]["found"], 1.5);
    }
}
