//! The `bins` folder, read and checked.

use std::path::Path;

use cwm_contract::Failure;
use cwm_page::MeanStd;

use crate::papers::chess_world_model::read::table::Table;
use crate::papers::chess_world_model::settings::Settings;

/// The scored cell that a row is about: its label, and what identifies its model, seed and test set.
#[derive(Clone, Debug)]
pub(crate) struct ScoredCell {
    pub(crate) label: String,
    pub(crate) family: String,
    pub(crate) size: String,
    pub(crate) seed: Option<i64>,
    pub(crate) parameters: Option<u64>,
    pub(crate) test: String,
}

/// A row of `overall.parquet`: one scored cell on its whole test set. Accuracies are fractions, 0 to 1.
#[derive(Clone, Debug)]
pub(crate) struct OverallRow {
    pub(crate) scored: ScoredCell,
    pub(crate) games: u64,
    pub(crate) positions: u64,
    /// `None` where the scores have no loss.
    pub(crate) loss: Option<MeanStd>,
    pub(crate) labelwise: MeanStd,
    pub(crate) exact: MeanStd,
    pub(crate) trajectory: MeanStd,
    /// The end of the training.
    pub(crate) status: Option<String>,
    pub(crate) trained_games: Option<u64>,
    pub(crate) epochs: Option<f64>,
    /// The weights of the training that were scored.
    pub(crate) checkpoint: Option<String>,
    /// True where the training was validated on the games of the test set.
    pub(crate) validated_on_test: Option<bool>,
    pub(crate) settings: Settings,
}

/// A row of `prefix.parquet`: one scored cell on the positions with t in start..end.
#[derive(Clone, Debug)]
pub(crate) struct PrefixRow {
    pub(crate) scored: ScoredCell,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) positions: u64,
    pub(crate) labelwise: MeanStd,
    pub(crate) exact: MeanStd,
}

/// The two tables of a `bins` folder, with the columns of docs/formats.md that a report shows.
pub(crate) struct Bins {
    /// One row per label.
    pub(crate) overall: Vec<OverallRow>,
    /// One row per label and prefix bin.
    pub(crate) prefix: Vec<PrefixRow>,
}

/// Reads the folder. Bins of earlier versions have fewer columns; the values of the others are then unknown.
///
/// # Errors
/// A file is missing, is not Parquet, has no rows, or a column or a value is missing.
pub(crate) fn read(folder: &Path) -> Result<Bins, Failure> {
    Ok(Bins { overall: overall(&folder.join("overall.parquet"))?, prefix: prefix(&folder.join("prefix.parquet"))? })
}

fn overall(path: &Path) -> Result<Vec<OverallRow>, Failure> {
    let table = table(path)?;
    let (games, positions) = (table.column("games")?, table.column("positions")?);
    let losses = metric(&table, "loss", table.nullable("loss")?)?;
    let [labelwise, exact, trajectory] = ["labelwise", "exact", "trajectory"].map(|name| known_metric(&table, name));
    let (labelwise, exact, trajectory) = (labelwise?, exact?, trajectory?);
    let mut statuses = table.nullable("status")?.into_iter();
    let (trained_games, epochs) = (table.nullable("trained_games")?, table.nullable("epochs")?);
    let mut checkpoints = table.optional("checkpoint")?.into_iter();
    let validated_on_test = table.optional("validated_on_test")?;
    let settings: Vec<Vec<Option<f64>>> =
        Settings::NAMES.into_iter().map(|name| table.optional(name)).collect::<Result<_, _>>()?;
    let row = |(at, scored)| OverallRow {
        scored,
        games: games[at],
        positions: positions[at],
        loss: losses[at],
        labelwise: labelwise[at],
        exact: exact[at],
        trajectory: trajectory[at],
        status: statuses.next().flatten(),
        trained_games: trained_games[at],
        epochs: epochs[at],
        checkpoint: checkpoints.next().flatten(),
        validated_on_test: validated_on_test[at],
        settings: Settings::of(settings.iter().map(|values| values[at])),
    };
    Ok(scored(&table)?.into_iter().enumerate().map(row).collect())
}

fn prefix(path: &Path) -> Result<Vec<PrefixRow>, Failure> {
    let table = table(path)?;
    let (starts, ends) = (table.column("bin_start")?, table.column("bin_end")?);
    let positions = table.column("positions")?;
    let (labelwise, exact) = (known_metric(&table, "labelwise")?, known_metric(&table, "exact")?);
    let row = |(at, scored)| PrefixRow {
        scored,
        start: starts[at],
        end: ends[at],
        positions: positions[at],
        labelwise: labelwise[at],
        exact: exact[at],
    };
    Ok(scored(&table)?.into_iter().enumerate().map(row).collect())
}

fn table(path: &Path) -> Result<Table, Failure> {
    let table = Table::read(path)?;
    if table.height() == 0 {
        return Err(Failure::input(format!("{} has no rows: nothing was scored", table.path()))
            .hint("a report needs the bins of at least one evaluation"));
    }
    Ok(table)
}

fn scored(table: &Table) -> Result<Vec<ScoredCell>, Failure> {
    let [labels, families, sizes, tests] = ["label", "family", "size", "test"].map(|name| table.column(name));
    let (mut families, mut sizes, mut tests) = (families?.into_iter(), sizes?.into_iter(), tests?.into_iter());
    let mut seeds = table.nullable("seed")?.into_iter();
    let mut parameters = table.nullable("parameters")?.into_iter();
    let row = |label| {
        Some(ScoredCell {
            label,
            family: families.next()?,
            size: sizes.next()?,
            seed: seeds.next()?,
            parameters: parameters.next()?,
            test: tests.next()?,
        })
    };
    Ok(labels?.into_iter().map_while(row).collect())
}

/// Values of a metric with their intervals, where both ends are known: those that hold 95 % of what other games of the same
/// kind would give. Games drawn anew do not show how runs differ, so several runs have none.
fn metric(table: &Table, name: &str, means: Vec<Option<f64>>) -> Result<Vec<Option<MeanStd>>, Failure> {
    let low = table.optional::<f64>(&format!("{name}_low"))?.into_iter();
    let intervals = low.zip(table.optional(&format!("{name}_high"))?).map(|(low, high)| low.zip(high));
    let with_interval =
        |(mean, interval): (Option<f64>, _)| mean.map(|mean| MeanStd { mean, deviation: None, interval });
    Ok(means.into_iter().zip(intervals).map(with_interval).collect())
}

/// Returns [`metric`] of one that every row must have.
fn known_metric(table: &Table, name: &str) -> Result<Vec<MeanStd>, Failure> {
    let means = table.column(name)?.into_iter().map(Some).collect();
    Ok(metric(table, name, means)?.into_iter().flatten().collect())
}
