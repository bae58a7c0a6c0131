//! Accuracy against prefix length, a panel for each test set.

use crate::figure::{Chart, Line, Panel, Point, ScaleKind};
use crate::figures::{legend_name, styles};
use crate::number;
use crate::results::Results;
use crate::tables::Accuracy;
use crate::test_set::TestSet;

/// Bins that are still drawn after the last one that is not zero.
const ZEROS_SHOWN: u64 = 3;

/// Every bin of every model on the paper's test sets; the band is one standard deviation over runs.
pub(crate) fn by_prefix(results: &Results, accuracy: Accuracy) -> Chart {
    chart(results, accuracy, false)
}

/// The same on all other test sets.
pub(crate) fn by_prefix_under_shifts(results: &Results, accuracy: Accuracy) -> Chart {
    chart(results, accuracy, true)
}

fn chart(results: &Results, accuracy: Accuracy, shifts: bool) -> Chart {
    let styles = styles(&results.models);
    let panel = |(index, test): (usize, &TestSet)| {
        let Extent { end, note } = extent(results, index, accuracy);
        let lines = results.models.iter().enumerate().filter_map(|(model, described)| {
            let bins = results.prefix.get(&(model, index))?;
            let name = legend_name(described);
            let points = bins.iter().filter(|bin| bin.end <= end).map(|bin| {
                let spread = accuracy.of(bin);
                let runs = if bin.runs > 1 { format!(", {} runs", bin.runs) } else { String::new() };
                Point {
                    x: (bin.start + bin.end) as f64 / 2.0,
                    y: spread.mean * 100.0,
                    spread: spread.deviation.map(|deviation| deviation * 100.0),
                    note: format!(
                        "{name}, plies {}–{}: {} % ({} positions{runs})",
                        bin.start,
                        bin.end,
                        number::percent(spread.mean),
                        number::count(bin.positions)
                    ),
                }
            });
            Some(Line { points: points.collect(), name: name.clone(), style: styles[model] })
        });
        Panel { title: test.to_string(), end: end as f64, note, lines: lines.collect() }
    };
    let (id, what) = match accuracy {
        Accuracy::Exact => ("exact-by-prefix", "Exact-state accuracy"),
        Accuracy::Labelwise => ("labelwise-by-prefix", "Labelwise accuracy"),
    };
    let width = results.bin_width();
    let (behind, suffix) = if shifts { ("-shifts", " under further shifts") } else { ("", "") };
    let tests = results.tests.iter().enumerate().filter(|(_, test)| matches!(test, TestSet::Other(_)) == shifts);
    Chart {
        id: format!("{id}{behind}"),
        title: format!("{what} by plies played{suffix}"),
        description: format!(
            "{what} in percent for each model, in bins of {width} plies from the start of the game; each test \
             set has its own horizontal axis. All numbers are in the tables by prefix length."
        ),
        x_label: format!("Plies played (bins of {width})"),
        y_label: format!("{what} (%)"),
        scale: ScaleKind::Linear,
        panels: tests.map(panel).collect(),
    }
}

/// How far the horizontal axis of a panel goes, and what to say of that.
struct Extent {
    end: u64,
    note: String,
}

/// To the longest game; or, where every model is at 0.00 % for the last quarter or more, to a little after the last
/// number above that, since an empty plot would leave no room for the rest.
fn extent(results: &Results, test: usize, accuracy: Accuracy) -> Extent {
    let bins = || results.prefix.iter().filter(|((_, at), _)| *at == test).flat_map(|(_, bins)| bins);
    let last = bins().map(|bin| bin.end).max().unwrap_or(0);
    let shows = |fraction: f64| number::percent(fraction) != number::percent(0.0);
    let zero_from = bins().filter(|bin| shows(accuracy.of(bin).mean)).map(|bin| bin.end).max().unwrap_or(0);
    let end = zero_from + ZEROS_SHOWN * results.bin_width();
    if end.saturating_mul(4) > last.saturating_mul(3) {
        return Extent { end: last, note: String::new() };
    }
    Extent { end, note: format!("{} % from ply {zero_from} to the end, {last}", number::percent(0.0)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::results::{PrefixBin, Spread};

    /// A panel's end and note, for one model with these accuracies in bins of 20.
    fn check(fractions: &[f64], end: u64, note: &str) {
        let spread = |mean| Spread { mean, deviation: None };
        let bin = |(index, fraction): (usize, &f64)| PrefixBin {
            start: index as u64 * 20,
            end: index as u64 * 20 + 20,
            runs: 1,
            positions: 9,
            labelwise: spread(1.0),
            exact: spread(*fraction),
        };
        let results = Results {
            models: vec![Model::new("e", "slice", "d32/l1")],
            tests: vec![TestSet::HeldOut],
            prefix: [((0, 0), fractions.iter().enumerate().map(bin).collect())].into(),
            ..Results::default()
        };
        let panel = &by_prefix(&results, Accuracy::Exact).panels[0];
        assert_eq!((panel.end, panel.note.as_str()), (end as f64, note));
        assert_eq!(panel.lines[0].points.last().map(|point| point.x), Some(end as f64 - 10.0));
        let labelwise = &by_prefix(&results, Accuracy::Labelwise).panels[0];
        assert_eq!(labelwise.lines[0].points.len(), fractions.len());
    }

    #[test]
    fn a_long_tail_of_zeros_is_cut_and_told() {
        let mut fractions = vec![0.0; 30];
        fractions[..2].copy_from_slice(&[0.9, 0.1]);
        check(&fractions, 100, "0.00 % from ply 40 to the end, 600");
        // What prints as zero is zero.
        fractions[20] = 0.00004;
        check(&fractions, 100, "0.00 % from ply 40 to the end, 600");
        fractions[10] = 0.0001;
        check(&fractions, 280, "0.00 % from ply 220 to the end, 600");
        check(&[0.0; 10], 60, "0.00 % from ply 0 to the end, 200");
    }

    #[test]
    fn what_is_not_zero_is_shown_whole() {
        check(&[0.9, 0.5, 0.2, 0.1], 80, "");
        check(&[0.9, 0.5, 0.0, 0.0], 80, "");
        check(&[0.0, 0.0, 0.0, 0.0, 0.1], 100, "");
        check(&[0.0], 20, "");
    }
}
