//! Compares arms on the positions that all of them have.

use std::collections::BTreeMap;

use cwm_choices::{Choice, Chooser, Correctness};
use cwm_contract::{Failure, Label};

use crate::{Arm, Estimate, Measure, ModelChoices, Resamples};

/// A position that all arms have.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedPosition {
    /// Ordinal of its record.
    pub record: u64,
    /// Plies of the game before it.
    pub t: Option<u32>,
    /// The position.
    pub fen: String,
    /// Number of legal moves.
    pub legal_moves: u16,
    /// The best move, packed (see `PlainMove::packed` of cwm-encoding).
    pub best: u16,
    /// The place of its game among the games.
    game: usize,
}

/// An arm, and its choice in each position.
#[derive(Clone, Debug)]
pub struct ArmChoices {
    /// The arm.
    pub arm: Arm,
    /// The cells that chose, a seed each.
    pub labels: Vec<Label>,
    /// The chooser of the first of these cells.
    pub chooser: Chooser,
    /// The number of their trainings that diverged.
    pub diverged: usize,
    /// The number of its positions, those that other arms lack included.
    pub position_count: u64,
    /// For each position, true if its training had it; none if that is unknown.
    pub seen: Vec<Option<bool>>,
    /// The answer of its first seed, and its correctness.
    pub answers: Vec<(String, Correctness)>,
    /// Each measure of each position: the mean over its seeds, NaN where one has none.
    values: Vec<[f64; Measure::ALL.len()]>,
}

/// Arms on the same positions. The value of an arm in a position is the mean over its seeds. Intervals are over games; they do not
/// show how seeds differ.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The positions that every seed of every arm has, by game and record.
    pub positions: Vec<SharedPosition>,
    /// The arms.
    pub arms: Vec<ArmChoices>,
    resamples: Resamples,
}

impl Comparison {
    /// Compares these arms on one test set, with so many resamples for each interval.
    ///
    /// # Errors
    /// Two runs have different positions under one record.
    pub fn new(arms: &[(Arm, Vec<&ModelChoices>)], resamples: u64, seed: u64) -> Result<Self, Failure> {
        let runs: Vec<&ModelChoices> = arms.iter().flat_map(|(_, runs)| runs).copied().collect();
        let mut records: Vec<&Choice> = Vec::new();
        if let Some((first, others)) = runs.split_first() {
            for choice in &first.choices {
                if is_in_all(first, choice, others)? {
                    records.push(choice);
                }
            }
        }
        // Positions of one game are neighbours, or a mean would count it as several.
        records.sort_by_key(|choice| (choice.game, choice.record));
        let mut games: BTreeMap<(Option<u64>, u64), usize> = BTreeMap::new();
        let mut game = |choice: &Choice| {
            let key = (choice.game, if choice.game.is_some() { 0 } else { choice.record });
            let next = games.len();
            *games.entry(key).or_insert(next)
        };
        let asked = |choice: &&Choice| SharedPosition {
            record: choice.record,
            t: choice.t,
            fen: choice.fen.clone(),
            legal_moves: choice.legal_moves,
            best: choice.best,
            game: game(choice),
        };
        let asked: Vec<SharedPosition> = records.iter().map(asked).collect();
        let arms = arms.iter().map(|(arm, runs)| measured(arm, runs, &asked)).collect();
        Ok(Comparison { positions: asked, arms, resamples: Resamples::draw(games.len(), resamples, seed) })
    }

    /// The value of an arm's measure in a position, both by place.
    pub fn value(&self, arm: usize, measure: Measure, position: usize) -> Option<f64> {
        Some(self.arms[arm].values[position][measure as usize]).filter(|value| !value.is_nan())
    }

    /// The mean of `value` over the positions, by place; `None` if it has none.
    pub fn mean(&self, value: impl Fn(usize) -> Option<f64>) -> Option<Estimate> {
        let values = (0..self.positions.len()).filter_map(|place| Some((self.positions[place].game, value(place)?)));
        self.resamples.estimate(values)
    }

    /// One arm's measure less another's, paired by position, over the positions for which `counts` is true.
    pub fn difference(
        &self,
        (arm, measure): (usize, Measure),
        (other, of_other): (usize, Measure),
        counts: impl Fn(usize) -> bool,
    ) -> Option<Estimate> {
        self.mean(|place| {
            let difference = self.value(arm, measure, place)? - self.value(other, of_other, place)?;
            counts(place).then_some(difference)
        })
    }
}

/// Returns true if all other runs have the position of a choice.
fn is_in_all(run: &ModelChoices, choice: &Choice, others: &[&ModelChoices]) -> Result<bool, Failure> {
    for other in others {
        let Some(theirs) = other.of_record(choice.record) else { return Ok(false) };
        if (&theirs.fen, theirs.best, theirs.game) != (&choice.fen, choice.best, choice.game) {
            let (one, two, record) = (&run.label, &other.label, choice.record);
            let message = format!("{one} and {two} have different positions, or best moves, under record {record}");
            let hint = "choices are compared on the same evaluations; choices on other ones need an axis `test`";
            return Err(Failure::input(message).hint(hint));
        }
    }
    Ok(true)
}

fn measured(arm: &Arm, runs: &[&ModelChoices], asked: &[SharedPosition]) -> ArmChoices {
    let of_first = |asked: &SharedPosition| runs[0].of_record(asked.record);
    let values = |asked: &SharedPosition| {
        Measure::ALL.map(|measure| {
            let of_runs = runs.iter().filter_map(|run| run.of_record(asked.record));
            of_runs.map(|choice| measure.of(choice)).sum::<f64>() / runs.len() as f64
        })
    };
    ArmChoices {
        arm: arm.clone(),
        labels: runs.iter().map(|run| run.label.clone()).collect(),
        chooser: runs[0].chooser.clone(),
        diverged: runs.iter().filter(|run| run.chooser.has_diverged()).count(),
        position_count: runs.iter().map(|run| run.choices.len() as u64).max().unwrap_or(0),
        seen: asked.iter().map(|asked| of_first(asked)?.seen).collect(),
        answers: asked.iter().filter_map(of_first).map(|choice| (choice.text.clone(), choice.free)).collect(),
        values: asked.iter().map(values).collect(),
    }
}
