//! Made-up bins for the tests.

use std::fs::File;
use std::path::Path;

use polars_core::df;
use polars_core::prelude::{Column, DataFrame};
use polars_io::prelude::ParquetWriter;

/// One scored label and its bins.
#[derive(Clone, Debug)]
pub(crate) struct Scored {
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
    /// Whether its scores tell no loss.
    pub(crate) without_loss: bool,
    /// How its training ended.
    pub(crate) status: Option<String>,
    /// Half the width of every interval, where the bins tell any.
    pub(crate) within: Option<f64>,
    /// `lr`, `warmup`, `beta2`, `weight_decay` and `lr_floor`, where the bins tell them.
    pub(crate) settings: Option<[f64; 5]>,
}

/// A Transformer scored on `test`, with 20-step bins.
pub(crate) fn scored(size: &str, seed: i64, test: &str, metrics: [f64; 4], bins: &[(f64, f64)]) -> Scored {
    Scored {
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
pub(crate) fn write_bins(folder: &Path, scored: &[Scored]) {
    std::fs::create_dir_all(folder).unwrap();
    let rows: Vec<&Scored> = scored.iter().collect();
    let metric = |index: usize| rows.iter().map(|row| row.metrics[index]).collect::<Vec<f64>>();
    let mut overall = naming(&rows);
    overall
        .hstack_mut(
            df!(
                "games" => rows.iter().map(|row| row.games).collect::<Vec<u64>>(),
                "positions" => rows.iter().map(|row| 100 * row.bins.len() as u64).collect::<Vec<u64>>(),
                "status" => rows.iter().map(|row| row.status.clone()).collect::<Vec<Option<String>>>(),
                "trained_games" => vec![Some(3_762u64); rows.len()],
                "epochs" => vec![Some(3.0); rows.len()],
                "loss" => rows.iter().map(|row| (!row.without_loss).then_some(row.metrics[0])).collect::<Vec<_>>(),
                "labelwise" => metric(1), "exact" => metric(2), "trajectory" => metric(3),
            )
            .unwrap()
            .columns(),
        )
        .unwrap();
    for (index, name) in ["loss", "labelwise", "exact", "trajectory"].iter().enumerate() {
        let middle = rows.iter().map(|row| (*row, row.metrics[index])).collect::<Vec<_>>();
        overall.hstack_mut(&intervals(name, &middle)).unwrap();
    }
    if rows.iter().any(|row| row.settings.is_some()) {
        let column =
            |index: usize| rows.iter().map(|row| row.settings.map(|settings| settings[index])).collect::<Vec<_>>();
        let warmup = column(1).into_iter().map(|steps| steps.map(|steps| steps as u64)).collect::<Vec<_>>();
        let settings = df!(
            "lr" => column(0), "warmup" => warmup, "beta2" => column(2), "weight_decay" => column(3),
            "lr_floor" => column(4),
        );
        overall.hstack_mut(settings.unwrap().columns()).unwrap();
    }
    write(&folder.join("overall.parquet"), &mut overall);

    let bins: Vec<(&Scored, usize)> =
        rows.iter().flat_map(|row| (0..row.bins.len()).map(move |bin| (*row, bin))).collect();
    let start = |(row, bin): &(&Scored, usize)| row.bin_width * *bin as u64;
    let mut prefix = naming(&bins.iter().map(|(row, _)| *row).collect::<Vec<_>>());
    prefix
        .hstack_mut(
            df!(
                "bin_start" => bins.iter().map(start).collect::<Vec<u64>>(),
                "bin_end" => bins.iter().map(|bin| start(bin) + bin.0.bin_width).collect::<Vec<u64>>(),
                "positions" => vec![100u64; bins.len()],
                "loss" => bins.iter().map(|(row, _)| (!row.without_loss).then_some(0.5)).collect::<Vec<_>>(),
                "labelwise" => bins.iter().map(|(row, bin)| row.bins[*bin].0).collect::<Vec<f64>>(),
                "exact" => bins.iter().map(|(row, bin)| row.bins[*bin].1).collect::<Vec<f64>>(),
            )
            .unwrap()
            .columns(),
        )
        .unwrap();
    let middles =
        |read: fn(&(f64, f64)) -> f64| bins.iter().map(|(row, bin)| (*row, read(&row.bins[*bin]))).collect::<Vec<_>>();
    prefix.hstack_mut(&intervals("labelwise", &middles(|bin| bin.0))).unwrap();
    prefix.hstack_mut(&intervals("exact", &middles(|bin| bin.1))).unwrap();
    write(&folder.join("prefix.parquet"), &mut prefix);
}

/// The two columns of a metric's interval, if any row has one; bins of earlier versions lack them.
fn intervals(name: &str, middles: &[(&Scored, f64)]) -> Vec<Column> {
    if middles.iter().all(|(row, _)| row.within.is_none()) {
        return Vec::new();
    }
    let edge = |ending: &str, sign: f64| {
        let values = middles.iter().map(|(row, middle)| row.within.map(|within| middle + sign * within));
        Column::new(format!("{name}_{ending}").into(), values.collect::<Vec<Option<f64>>>())
    };
    vec![edge("low", -1.0), edge("high", 1.0)]
}

fn naming(rows: &[&Scored]) -> DataFrame {
    let text = |read: fn(&Scored) -> &str| rows.iter().map(|row| read(row).to_owned()).collect::<Vec<String>>();
    df!(
        "label" => text(|row| &row.label),
        "family" => text(|row| &row.family),
        "size" => text(|row| &row.size),
        "seed" => rows.iter().map(|row| row.seed).collect::<Vec<Option<i64>>>(),
        "parameters" => rows.iter().map(|row| row.parameters).collect::<Vec<Option<u64>>>(),
        "test" => text(|row| &row.test),
    )
    .unwrap()
}

fn write(path: &Path, frame: &mut DataFrame) {
    ParquetWriter::new(File::create(path).unwrap()).finish(frame).unwrap();
}
