//! Made-up bins for the tests.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, UInt64Array};
use parquet::arrow::ArrowWriter;

/// One scored label and its bins.
#[derive(Clone, Debug)]
pub(crate) struct ScoredLabel {
    pub(crate) label: String,
    pub(crate) family: String,
    pub(crate) size: String,
    pub(crate) seed: Option<i64>,
    pub(crate) parameters: Option<u64>,
    pub(crate) test: String,
    pub(crate) games: u64,
    /// Loss, labelwise, exact, trajectory.
    pub(crate) metrics: [f64; 4],
    /// Labelwise and exact of each bin from the first on; 100 positions each.
    pub(crate) bins: Vec<(f64, f64)>,
    pub(crate) bin_width: u64,
    /// True if its scores have no loss.
    pub(crate) without_loss: bool,
    /// The end of its training.
    pub(crate) status: Option<String>,
    /// Half the width of every interval, where the bins have any.
    pub(crate) within: Option<f64>,
    /// `lr`, `warmup`, `beta2`, `weight_decay` and `lr_floor`, where the bins have them.
    pub(crate) settings: Option<[f64; 5]>,
}

/// A Transformer scored on `test`, with 20-step bins.
pub(crate) fn scored(size: &str, seed: i64, test: &str, metrics: [f64; 4], bins: &[(f64, f64)]) -> ScoredLabel {
    ScoredLabel {
        label: format!("evaluation[size={size},seed={seed},test={test}]"),
        family: "transformer".into(),
        size: size.into(),
        seed: Some(seed),
        parameters: Some(3_128_150),
        test: test.into(),
        games: 50,
        metrics,
        bins: bins.to_vec(),
        bin_width: 20,
        without_loss: false,
        status: Some("finished".into()),
        within: None,
        settings: None,
    }
}

/// Writes a `bins` folder.
pub(crate) fn write_bins(folder: &Path, scored: &[ScoredLabel]) {
    std::fs::create_dir_all(folder).unwrap();
    let rows: Vec<&ScoredLabel> = scored.iter().collect();
    let metric = |index: usize| numbers(rows.iter().map(|row| row.metrics[index]));
    let mut overall = naming(&rows);
    overall.extend([
        column("games", counts(rows.iter().map(|row| row.games))),
        column("positions", counts(rows.iter().map(|row| 100 * row.bins.len() as u64))),
        column("status", texts(rows.iter().map(|row| row.status.clone()))),
        column("trained_games", counts(rows.iter().map(|_| 3_762))),
        column("epochs", numbers(rows.iter().map(|_| 3.0))),
        column("loss", numbers(rows.iter().map(|row| (!row.without_loss).then_some(row.metrics[0])))),
        column("labelwise", metric(1)),
        column("exact", metric(2)),
        column("trajectory", metric(3)),
    ]);
    for (index, name) in ["loss", "labelwise", "exact", "trajectory"].iter().enumerate() {
        let middles = rows.iter().map(|row| (*row, row.metrics[index])).collect::<Vec<_>>();
        overall.extend(intervals(name, &middles));
    }
    if rows.iter().any(|row| row.settings.is_some()) {
        let setting = |index: usize| rows.iter().map(move |row| row.settings.map(|settings| settings[index]));
        for (index, name) in [(0, "lr"), (2, "beta2"), (3, "weight_decay"), (4, "lr_floor")] {
            overall.push(column(name, numbers(setting(index))));
        }
        overall.push(column("warmup", counts(setting(1).map(|steps| steps.map(|steps| steps as u64)))));
    }
    write(&folder.join("overall.parquet"), overall);

    let bins: Vec<(&ScoredLabel, usize)> =
        rows.iter().flat_map(|row| (0..row.bins.len()).map(move |bin| (*row, bin))).collect();
    let start = |(row, bin): &(&ScoredLabel, usize)| row.bin_width * *bin as u64;
    let mut prefix = naming(&bins.iter().map(|(row, _)| *row).collect::<Vec<_>>());
    prefix.extend([
        column("bin_start", counts(bins.iter().map(start))),
        column("bin_end", counts(bins.iter().map(|bin| start(bin) + bin.0.bin_width))),
        column("positions", counts(bins.iter().map(|_| 100))),
        column("loss", numbers(bins.iter().map(|(row, _)| (!row.without_loss).then_some(0.5)))),
        column("labelwise", numbers(bins.iter().map(|(row, bin)| row.bins[*bin].0))),
        column("exact", numbers(bins.iter().map(|(row, bin)| row.bins[*bin].1))),
    ]);
    let middles =
        |read: fn(&(f64, f64)) -> f64| bins.iter().map(|(row, bin)| (*row, read(&row.bins[*bin]))).collect::<Vec<_>>();
    prefix.extend(intervals("labelwise", &middles(|bin| bin.0)));
    prefix.extend(intervals("exact", &middles(|bin| bin.1)));
    write(&folder.join("prefix.parquet"), prefix);
}

/// The two columns of a metric's interval, if any row has one; bins of earlier versions have none.
fn intervals(name: &str, middles: &[(&ScoredLabel, f64)]) -> Vec<(String, ArrayRef)> {
    if middles.iter().all(|(row, _)| row.within.is_none()) {
        return Vec::new();
    }
    let edge = |ending: &str, sign: f64| {
        let values = middles.iter().map(|(row, middle)| row.within.map(|within| middle + sign * within));
        column(&format!("{name}_{ending}"), numbers(values))
    };
    vec![edge("low", -1.0), edge("high", 1.0)]
}

fn naming(rows: &[&ScoredLabel]) -> Vec<(String, ArrayRef)> {
    let text = |read: fn(&ScoredLabel) -> &str| texts(rows.iter().map(|row| read(row).to_owned()));
    vec![
        column("label", text(|row| &row.label)),
        column("family", text(|row| &row.family)),
        column("size", text(|row| &row.size)),
        column("seed", Arc::new(rows.iter().map(|row| row.seed).collect::<Int64Array>())),
        column("parameters", counts(rows.iter().map(|row| row.parameters))),
        column("test", text(|row| &row.test)),
    ]
}

/// A column with its name.
pub(crate) fn column(name: &str, values: ArrayRef) -> (String, ArrayRef) {
    (name.to_owned(), values)
}

/// Values of a column of texts.
pub(crate) fn texts<T: Into<Option<String>>>(values: impl Iterator<Item = T>) -> ArrayRef {
    Arc::new(values.map(Into::into).collect::<StringArray>())
}

/// Values of a column of counts.
pub(crate) fn counts<T: Into<Option<u64>>>(values: impl Iterator<Item = T>) -> ArrayRef {
    Arc::new(values.map(Into::into).collect::<UInt64Array>())
}

fn numbers<T: Into<Option<f64>>>(values: impl Iterator<Item = T>) -> ArrayRef {
    Arc::new(values.map(Into::into).collect::<Float64Array>())
}

/// Writes columns as a Parquet file.
pub(crate) fn write(path: &Path, columns: Vec<(String, ArrayRef)>) {
    let rows = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), rows.schema(), None).unwrap();
    writer.write(&rows).unwrap();
    writer.close().unwrap();
}
