//! The bins, gathered by model and test set: several seeds of one model become one result.

use std::collections::{BTreeMap, BTreeSet};

use cwm_contract::{Failure, Label};
use cwm_page::{MeanStd, escape_controls};

use crate::papers::chess_world_model::model::Model;
use crate::papers::chess_world_model::read::bins::{Bins, OverallRow, PrefixRow, ScoredCell};
use crate::papers::chess_world_model::settings::Settings;
use crate::papers::chess_world_model::test_set::TestSet;
use crate::papers::chess_world_model::training::{BEST, DIVERGED, Departures, Training, trainings};

/// One training on a whole test set.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TestResult {
    /// The scores that it is from, such as `evaluation[size=d32/l1,seed=0,test=held_out]`.
    pub(crate) label: String,
    pub(crate) seed: Option<i64>,
    /// True if its training diverged.
    pub(crate) diverged: bool,
    /// True if its weights are not the last, but those that did best in a validation.
    pub(crate) best: bool,
    /// True if the test set is the games on which its training was validated.
    pub(crate) validated: bool,
    /// `None` where its scores have none.
    pub(crate) loss: Option<MeanStd>,
    /// Accuracies are fractions, 0 to 1.
    pub(crate) labelwise: MeanStd,
    pub(crate) exact: MeanStd,
    pub(crate) trajectory: MeanStd,
    pub(crate) settings: Settings,
}

/// A model on a whole test set.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Overall {
    /// Each run, by seed.
    pub(crate) each: Vec<TestResult>,
    /// Number of runs (seeds).
    pub(crate) runs: usize,
    /// The number of them that depart from the paper's protocol.
    pub(crate) departures: Departures,
    /// Games in the test set; the largest number where runs differ.
    pub(crate) games: u64,
    /// Positions in it, START included.
    pub(crate) positions: u64,
    /// `None` where no run has one.
    pub(crate) loss: Option<MeanStd>,
    /// Accuracies are fractions, 0 to 1.
    pub(crate) labelwise: MeanStd,
    pub(crate) exact: MeanStd,
    pub(crate) trajectory: MeanStd,
}

impl TestResult {
    fn of(row: &OverallRow) -> Self {
        TestResult {
            label: escape_controls(&row.scored.label),
            seed: row.scored.seed,
            diverged: row.status.as_deref() == Some(DIVERGED),
            best: row.checkpoint.as_deref() == Some(BEST),
            validated: row.validated_on_test == Some(true),
            loss: row.loss,
            labelwise: row.labelwise,
            exact: row.exact,
            trajectory: row.trajectory,
            settings: row.settings,
        }
    }
}

impl Overall {
    /// Summarises the rows of one model and test set.
    fn of(rows: &[&OverallRow]) -> Self {
        let each: Vec<TestResult> = rows.iter().map(|row| TestResult::of(row)).collect();
        let over = |read: fn(&TestResult) -> MeanStd| MeanStd::over(&each.iter().map(read).collect::<Vec<_>>());
        let losses: Vec<MeanStd> = each.iter().filter_map(|run| run.loss).collect();
        Overall {
            runs: each.len(),
            departures: Departures {
                diverged: each.iter().filter(|run| run.diverged).count(),
                best: each.iter().filter(|run| run.best).count(),
            },
            games: rows.iter().map(|row| row.games).max().unwrap_or(0),
            positions: rows.iter().map(|row| row.positions).max().unwrap_or(0),
            // Predictions of another program may have no loss.
            loss: (!losses.is_empty()).then(|| MeanStd::over(&losses)),
            labelwise: over(|run| run.labelwise),
            exact: over(|run| run.exact),
            trajectory: over(|run| run.trajectory),
            each,
        }
    }

    /// Labels of the scores that it is from.
    pub(crate) fn labels(&self) -> impl Iterator<Item = &String> {
        self.each.iter().map(|run| &run.label)
    }
}

/// A model on the positions with t in start..end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PrefixBin {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Number of runs (seeds).
    pub(crate) runs: usize,
    /// Labels of the scores that it is from.
    pub(crate) labels: Vec<String>,
    pub(crate) positions: u64,
    pub(crate) labelwise: MeanStd,
    pub(crate) exact: MeanStd,
}

impl PrefixBin {
    /// Summarises the rows of one model, test set and bin; there is at least one.
    fn of(rows: &[&PrefixRow]) -> Self {
        let over =
            |read: fn(&PrefixRow) -> MeanStd| MeanStd::over(&rows.iter().map(|row| read(row)).collect::<Vec<_>>());
        PrefixBin {
            start: rows[0].start,
            end: rows[0].end,
            runs: rows.len(),
            labels: rows.iter().map(|row| escape_controls(&row.scored.label)).collect(),
            positions: rows.iter().map(|row| row.positions).max().unwrap_or(0),
            labelwise: over(|row| row.labelwise),
            exact: over(|row| row.exact),
        }
    }
}

/// Everything that was scored. Models and test sets are in the order of the tables, and stand by index in the maps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Results {
    /// The scored labels, sorted.
    pub(crate) labels: Vec<String>,
    pub(crate) models: Vec<Model>,
    /// Parameter count of each model, where it is known.
    pub(crate) parameters: Vec<Option<u64>>,
    pub(crate) tests: Vec<TestSet>,
    pub(crate) trainings: Vec<Training>,
    pub(crate) overall: BTreeMap<(usize, usize), Overall>,
    /// In order of their start.
    pub(crate) prefix: BTreeMap<(usize, usize), Vec<PrefixBin>>,
}

impl Results {
    /// Gathers the two tables.
    ///
    /// # Errors
    /// `prefix.parquet` has a label that `overall.parquet` does not have.
    pub(crate) fn gather(bins: &Bins) -> Result<Self, Failure> {
        let keys = keys(&bins.overall);
        let models: BTreeSet<&Model> = keys.values().map(|(model, _)| model).collect();
        let tests: BTreeSet<&TestSet> = keys.values().map(|(_, test)| test).collect();
        let mut results = Results {
            labels: keys.keys().map(|label| escape_controls(label)).collect(),
            parameters: vec![None; models.len()],
            models: models.into_iter().cloned().collect(),
            trainings: trainings(&bins.overall),
            tests: tests.into_iter().cloned().collect(),
            ..Results::default()
        };

        for (key, group) in results.groups(&keys, &bins.overall, |row| (&row.scored, ()))? {
            let parameters = &mut results.parameters[key.0];
            *parameters = parameters.or(group.iter().find_map(|row| row.scored.parameters));
            results.overall.insert(key, Overall::of(&group));
        }
        for (key, group) in results.groups(&keys, &bins.prefix, |row| (&row.scored, (row.start, row.end)))? {
            results.prefix.entry(key).or_default().push(PrefixBin::of(&group));
        }
        Ok(results)
    }

    /// The rows of each model and test set, and of each further key that `read` takes from a row, in the order of
    /// these; within a group in the order of seed and label, in which means are taken.
    fn groups<'a, Row, Rest: Ord>(
        &self,
        keys: &Keys,
        rows: &'a [Row],
        read: impl Fn(&'a Row) -> (&'a ScoredCell, Rest),
    ) -> Result<Vec<((usize, usize), Vec<&'a Row>)>, Failure> {
        let mut groups: BTreeMap<_, Vec<&Row>> = BTreeMap::new();
        for row in rows {
            let (ScoredCell { label, .. }, rest) = read(row);
            let place = keys.get(label).and_then(|(model, test)| {
                Some((self.models.iter().position(|known| known == model)?, self.test(test)?))
            });
            let place = place
                .ok_or_else(|| Failure::input(format!("`{label}` is in prefix.parquet, not in overall.parquet")))?;
            groups.entry((place, rest)).or_default().push(row);
        }
        for group in groups.values_mut() {
            group.sort_by_key(|row| {
                let (scored, _) = read(row);
                (scored.seed, &scored.label)
            });
        }
        Ok(groups.into_iter().map(|((place, _), group)| (place, group)).collect())
    }

    /// Index of a test set, if any model was scored on it.
    pub(crate) fn test(&self, wanted: &TestSet) -> Option<usize> {
        self.tests.iter().position(|test| test == wanted)
    }

    /// Width of the bins; all have the same.
    pub(crate) fn bin_width(&self) -> u64 {
        self.prefix.values().flatten().next().map_or(0, |bin| bin.end - bin.start)
    }
}

/// Model and test set of each label.
type Keys = BTreeMap<String, (Model, TestSet)>;

/// Returns the keys of rows. If two stages scored one model, seed and test set, the stage is a part of the model.
fn keys(overall: &[OverallRow]) -> Keys {
    let mut keys = Keys::new();
    let mut seen = Vec::new();
    let mut clash = false;
    for OverallRow { scored, .. } in overall {
        let (model, test) = (Model::of(scored), TestSet::from_name(&escape_controls(&scored.test)));
        let run = (model.clone(), test.clone(), scored.seed);
        clash |= seen.contains(&run);
        seen.push(run);
        keys.insert(scored.label.clone(), (model, test));
    }
    if clash {
        for (label, (model, _)) in &mut keys {
            let stage = label.parse::<Label>().map_or_else(|_| label.clone(), |label| label.stage);
            model.coordinates.insert(0, ("stage".to_owned(), escape_controls(&stage)));
        }
    }
    keys
}
