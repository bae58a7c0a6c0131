//! A claim about graded answers (`grades`), and whether it holds.

use std::fmt;
use std::str::FromStr;

use cwm_contract::Label;
use cwm_measures::{CONFIDENCE, Estimate, GradeMeasure, GradedRuns, Resampling};
use serde_json::json;

use crate::claim::CheckedClaim;

/// The form of such a claim.
const FORM: &str = "STAGE.MEASURE > STAGE.MEASURE on TASK, with `>=`, with a number in place of the right side, with `every task`, \
                    or with STAGE[AXIS=VALUE] for a stage";

/// The text for all tasks.
const EVERY: &str = "every task";

/// The claim that a measure of a stage's runs is larger than that of another stage's runs of the same coordinates, or than
/// a number. Coordinates that a side names select runs on the left, and replace those of the left run on the right.
#[derive(Clone, Debug, PartialEq)]
pub struct GradeClaim {
    text: String,
    left: Side,
    right: Right,
    /// True if it is enough that the interval of the difference is not wholly below 0.
    or_equal: bool,
    /// None for every task.
    task: Option<String>,
}

/// A measure of the runs of a stage, or of those that have some coordinates.
#[derive(Clone, Debug, PartialEq)]
struct Side {
    label: Label,
    measure: GradeMeasure,
}

/// The axes and values of a run.
type Coordinates = [(String, String)];

impl Side {
    /// Returns true if a run of the stage has the coordinates that this side names.
    fn selects(&self, run: &Coordinates) -> bool {
        self.label.coordinates.iter().all(|named| run.contains(named))
    }

    /// Returns the coordinates of the run that is compared with one on the left.
    fn counterpart(&self, left: &Coordinates) -> Vec<(String, String)> {
        let with_named =
            |(axis, value): &(String, String)| (axis.clone(), self.label.coordinate(axis).unwrap_or(value).to_owned());
        left.iter().map(with_named).collect()
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Right {
    Number(f64),
    Side(Side),
}

impl GradeClaim {
    /// Returns true if a claim is about grades: it names a task.
    pub fn is_about_grades(text: &str) -> bool {
        text.contains(" on ")
    }

    /// Checks it with whole intervals for each pair of runs and each task.
    ///
    /// # Errors
    /// There are no such runs, or they have no such number, as a phrase.
    pub fn check(&self, graded: &GradedRuns, resampling: Resampling) -> Result<Vec<CheckedClaim>, String> {
        let mut left = graded.of_stage(&self.left.label.stage);
        left.retain(|(_, coordinates)| self.left.selects(coordinates));
        if left.is_empty() {
            let there: Vec<&str> = graded.names().collect();
            let label = &self.left.label;
            return Err(match there.as_slice() {
                [] => format!("there are no grades of a run `{label}`, and none of another that has rewards"),
                there => format!("there are no grades of a run `{label}`, only of {}", there.join(", ")),
            });
        }
        let mut checked = Vec::new();
        for (run, coordinates) in left {
            let other = match &self.right {
                Right::Number(_) => None,
                Right::Side(side) => {
                    let wanted = side.counterpart(&coordinates);
                    let others = graded.of_stage(&side.label.stage);
                    let other = others.into_iter().find(|(_, theirs)| *theirs == wanted && side.selects(theirs));
                    Some(other.ok_or_else(|| format!("no run `{}` has the coordinates of {run}", side.label))?.0)
                }
            };
            let tasks: Vec<&str> = match &self.task {
                Some(task) => vec![task],
                None => graded.tasks(run).collect(),
            };
            for task in tasks {
                let found = self.find(graded, run, other, task, resampling);
                checked.push(found.ok_or_else(|| {
                    let there: Vec<&str> = graded.tasks(run).collect();
                    format!("{run} has no such number on {task}; its tasks are {}", there.join(", "))
                })?);
            }
        }
        Ok(checked)
    }

    fn find(
        &self,
        graded: &GradedRuns,
        run: &str,
        other: Option<&str>,
        task: &str,
        resampling: Resampling,
    ) -> Option<CheckedClaim> {
        let left = (run, self.left.measure);
        let mean = graded.mean(left, task, resampling)?;
        let (right_mean, difference) = match (&self.right, other) {
            (Right::Side(side), Some(other)) => {
                let right = (other, side.measure);
                (graded.mean(right, task, resampling)?.mean, graded.difference(left, right, task, resampling)?)
            }
            (Right::Number(number), _) => {
                let interval = mean.interval.map(|(low, high)| (low - number, high - number));
                (*number, Estimate { mean: mean.mean - number, interval, ..mean })
            }
            (Right::Side(_), None) => return None,
        };
        let holds = difference.interval.is_some_and(|(low, high)| if self.or_equal { high >= 0.0 } else { low > 0.0 });
        let interval = match difference.interval {
            Some((low, high)) => format!("95 % interval {low:+.4} to {high:+.4}"),
            None => "which so few items give no interval".to_owned(),
        };
        let summary = format!(
            "`{self}`, {run} on {task}: {:.4} and {right_mean:.4} on {} items, a difference of {:+.4}, {interval}",
            mean.mean, difference.positions, difference.mean
        );
        let (low, high) = difference.interval.unzip();
        let json = json!({
            "claim": self.text, "task": task, "left": {"run": run, "measure": self.left.measure.name(), "mean": mean.mean},
            "right": {"run": other, "mean": right_mean}, "difference": difference.mean, "low": low, "high": high,
            "confidence": CONFIDENCE, "items": difference.positions,
        });
        Some((holds, summary, json))
    }
}

impl FromStr for Side {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.trim().rsplit_once('.').filter(|(stage, _)| !stage.is_empty());
        let (stage, name) = parts.ok_or_else(|| format!("`{}` is not of the form STAGE.MEASURE", text.trim()))?;
        let known = || GradeMeasure::ALL.map(GradeMeasure::name).join(", ");
        let measure = GradeMeasure::named(name).ok_or_else(|| format!("has `{name}`, which is none of {}", known()))?;
        Ok(Side { label: stage.parse()?, measure })
    }
}

impl FromStr for GradeClaim {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("has `{text}`, which is not of the form {FORM}");
        let (sides, task) = text.rsplit_once(" on ").ok_or_else(wrong)?;
        let (left, right) = sides.split_once('>').ok_or_else(wrong)?;
        let (right, or_equal) = right.strip_prefix('=').map_or((right, false), |right| (right, true));
        let right = match right.trim().parse::<f64>() {
            Ok(number) if number.is_finite() => Right::Number(number),
            Ok(_) => return Err(wrong()),
            Err(_) => Right::Side(right.parse()?),
        };
        let task = Some(task.trim()).filter(|task| *task != EVERY).map(str::to_owned);
        Ok(GradeClaim { text: text.trim().to_owned(), left: left.parse()?, right, or_equal, task })
    }
}

impl fmt::Display for GradeClaim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
