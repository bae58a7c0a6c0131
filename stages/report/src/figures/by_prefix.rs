//! Accuracy against prefix length, a panel for each test set.

use crate::figure::{Chart, Line, Panel, Point, ScaleKind};
use crate::figures::{legend_name, styles};
use crate::number;
use crate::results::Results;
use crate::tables::Accuracy;

/// Every bin of every model; the band is one standard deviation over runs.
pub(crate) fn by_prefix(results: &Results, accuracy: Accuracy) -> Chart {
    let styles = styles(&results.models);
    let panel = |(index, test): (usize, &crate::test_set::TestSet)| {
        let lines = results.models.iter().enumerate().filter_map(|(model, described)| {
            let bins = results.prefix.get(&(model, index))?;
            let name = legend_name(described);
            let points = bins.iter().map(|bin| {
                let spread = accuracy.of(bin);
                let runs = if bin.runs > 1 { format!(", {} runs", bin.runs) } else { String::new() };
                Point {
                    x: (bin.start + bin.end) as f64 / 2.0,
                    y: spread.mean * 100.0,
                    spread: spread.deviation.map(|deviation| deviation * 100.0),
                    note: format!(
                        "{name}, steps {}–{}: {} % ({} positions{runs})",
                        bin.start,
                        bin.end,
                        number::percent(spread.mean),
                        number::count(bin.positions)
                    ),
                }
            });
            Some(Line { points: points.collect(), name: name.clone(), style: styles[model] })
        });
        Panel { title: test.to_string(), lines: lines.collect() }
    };
    let (id, what) = match accuracy {
        Accuracy::Exact => ("exact-by-prefix", "Exact-state accuracy"),
        Accuracy::Labelwise => ("labelwise-by-prefix", "Labelwise accuracy"),
    };
    let width = results.bin_width();
    Chart {
        id: id.into(),
        title: format!("{what} against prefix length"),
        description: format!(
            "{what} in percent for each model, in bins of {width} steps from the start of the game. All numbers are \
             in the tables by prefix length."
        ),
        x_label: format!("Prefix length (steps, bins of {width})"),
        y_label: format!("{what} (%)"),
        scale: ScaleKind::Linear,
        panels: results.tests.iter().enumerate().map(panel).collect(),
    }
}
