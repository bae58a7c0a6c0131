//! Arms on the same positions, in the groups that tables keep apart.

use std::collections::BTreeMap;

use cwm_contract::Failure;
use cwm_measures::{ArmChoices, Comparison, Estimate, Measure, ModelChoices, by_arm};
use cwm_page::{Column, MeanStd, TableCell, escape_controls, number};

use crate::papers::board_vs_moves::common::{RESAMPLES, SEED};

/// The kind of comparison that the rows of a group allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// The same games and labels, and answers of one kind: only input and mask differ.
    Controlled,
    /// The paper's comparison: corpora, answers or programs differ.
    Papers,
}

/// The arms of one kind on one test set.
pub(crate) struct Group {
    pub(crate) kind: Kind,
    /// The test set.
    pub(crate) test: String,
    pub(crate) compared: Comparison,
}

impl Kind {
    /// Returns `Controlled` for the forms that can learn the same best moves of the same games. Characters learn the
    /// moves that were played; positions without games are ChessBench's, which have no list of moves. The training data
    /// of another program's model, which has no steps, is unknown.
    fn of(run: &ModelChoices) -> Self {
        let form = run.chooser.form.as_deref();
        let learns_labels = matches!(form, Some("board" | "prompt" | "moves"));
        let is_ours = run.chooser.steps.is_some();
        let of_games = run.choices.iter().all(|choice| choice.game.is_some());
        if learns_labels && is_ours && of_games { Kind::Controlled } else { Kind::Papers }
    }

    /// Its name in the column `Rows`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Controlled => "controlled",
            Kind::Papers => "the paper's",
        }
    }
}

/// The groups, controlled ones first.
///
/// # Errors
/// Runs do not belong together.
pub(crate) fn gather(runs: &[ModelChoices]) -> Result<Vec<Group>, Failure> {
    let mut groups: BTreeMap<(Kind, String), Vec<&ModelChoices>> = BTreeMap::new();
    for run in runs {
        groups.entry((Kind::of(run), escape_controls(run.test()))).or_default().push(run);
    }
    let group = |((kind, test), runs): ((Kind, String), Vec<&ModelChoices>)| {
        Ok(Group { kind, test, compared: Comparison::new(&by_arm(runs)?, RESAMPLES, SEED)? })
    };
    groups.into_iter().map(group).collect()
}

/// An arm in its group.
#[derive(Clone, Copy)]
pub(crate) struct Member<'a> {
    pub(crate) group: &'a Group,
    pub(crate) place: usize,
}

/// All arms, group by group.
pub(crate) fn members(groups: &[Group]) -> impl Iterator<Item = Member<'_>> {
    groups.iter().flat_map(Group::members)
}

impl Group {
    /// Its arms.
    pub(crate) fn members(&self) -> impl Iterator<Item = Member<'_>> {
        (0..self.compared.arms.len()).map(|place| Member { group: self, place })
    }

    /// The labels of the cells that chose.
    pub(crate) fn labels(&self) -> impl Iterator<Item = String> {
        self.compared.arms.iter().flat_map(labels)
    }
}

/// The labels of an arm's cells.
fn labels(measured: &ArmChoices) -> Vec<String> {
    measured.labels.iter().map(|label| escape_controls(&label.to_string())).collect()
}

impl<'a> Member<'a> {
    pub(crate) fn measured(self) -> &'a ArmChoices {
        &self.group.compared.arms[self.place]
    }

    /// Its name with the size, for legends.
    pub(crate) fn name(self) -> String {
        escape_controls(&self.measured().arm.full_name())
    }

    /// The cells that name its row.
    pub(crate) fn head(self) -> Vec<TableCell> {
        let arm = &self.measured().arm;
        let variant = if arm.variant.is_empty() { String::new() } else { format!(" ({})", arm.variant) };
        let words = [&escape_controls(&format!("{}{variant}", arm.name)), &escape_controls(&arm.size)];
        let mut head = vec![TableCell::text(self.group.kind.name()), TableCell::text(self.group.test.clone())];
        head.extend(words.map(|word| if word.is_empty() { TableCell::none() } else { TableCell::text(word.clone()) }));
        head
    }

    /// `this run` or the number of seeds, and the number of trainings that diverged.
    pub(crate) fn source(self) -> String {
        match (self.measured().labels.len(), self.measured().diverged) {
            (1, 0) => "this run".to_owned(),
            (1, _) => "this run, diverged".to_owned(),
            (several, 0) => format!("{several} seeds"),
            (several, diverged) => format!("{several} seeds, {diverged} diverged"),
        }
    }

    /// The mean of a measure over the positions for which `counts` is true.
    pub(crate) fn mean(self, measure: Measure, counts: impl Fn(usize) -> bool) -> Option<Estimate> {
        let compared = &self.group.compared;
        compared.mean(|place| compared.value(self.place, measure, place).filter(|_| counts(place)))
    }

    /// Returns the mean as a cell.
    pub(crate) fn cell(self, measure: Measure, counts: impl Fn(usize) -> bool) -> TableCell {
        estimate_cell(self.mean(measure, counts), measure.is_rate(), [self.measured()])
    }
}

/// The columns of [`Member::head`].
pub(crate) fn head_columns() -> Vec<Column> {
    ["Rows", "Test set", "Arm", "Size"].map(|name| Column::text(name).naming_rows()).into()
}

/// A mean in percent or nats, with its interval, made by these arms.
pub(crate) fn estimate_cell<'a>(
    found: Option<Estimate>,
    is_rate: bool,
    arms: impl IntoIterator<Item = &'a ArmChoices>,
) -> TableCell {
    numbers_cell(found, if is_rate { (number::percent, 100.0) } else { (nats, 1.0) }, arms)
}

/// A difference in percent or nats, with its sign and interval, made by these arms.
pub(crate) fn difference_cell<'a>(
    found: Option<Estimate>,
    is_rate: bool,
    arms: impl IntoIterator<Item = &'a ArmChoices>,
) -> TableCell {
    numbers_cell(found, if is_rate { (points, 100.0) } else { (signed_nats, 1.0) }, arms)
}

fn numbers_cell<'a>(
    found: Option<Estimate>,
    (print, unit): (fn(f64) -> String, f64),
    arms: impl IntoIterator<Item = &'a ArmChoices>,
) -> TableCell {
    let Some(found) = found else { return TableCell::none() };
    let over = MeanStd { mean: found.mean, deviation: None, interval: found.interval };
    let sources: Vec<String> = arms.into_iter().flat_map(labels).collect();
    TableCell::mean_std(over, print, unit).with_sources(&sources)
}

/// A loss, with 3 decimals.
pub(crate) fn nats(value: f64) -> String {
    number::decimals(value, 3)
}

fn signed_nats(value: f64) -> String {
    number::signed(value, nats)
}

/// A difference of shares in points.
pub(crate) fn points(value: f64) -> String {
    number::signed(value, number::percent)
}
