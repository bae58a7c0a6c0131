//! Accuracy against prefix length, a panel for each test set.

use crate::figure::{Axis, Chart, Grid, Layer, Panel, Point, Series, Style};
use crate::figures::{BANDS, Group, Member, SIZES_ABREAST, around, groups, legend_name, paper_legend, rows};
use crate::model::{Model, family_name};
use crate::number;
use crate::paper::Paper;
use crate::results::Results;
use crate::tables::Accuracy;
use crate::test_set::TestSet;

/// Bins that are still drawn after the last one that is not zero.
const ZEROS_SHOWN: u64 = 3;

/// Every bin of every model on the paper's test sets.
pub(crate) fn by_prefix(results: &Results, paper: &Paper, accuracy: Accuracy) -> Chart {
    chart(results, paper, accuracy, false)
}

/// The same on all other test sets.
pub(crate) fn by_prefix_under_shifts(results: &Results, paper: &Paper, accuracy: Accuracy) -> Chart {
    chart(results, paper, accuracy, true)
}

fn chart(results: &Results, paper: &Paper, accuracy: Accuracy, shifts: bool) -> Chart {
    let (id, what) = match accuracy {
        Accuracy::Exact => ("exact-by-prefix", "Exact-state accuracy"),
        Accuracy::Labelwise => ("labelwise-by-prefix", "Labelwise accuracy"),
    };
    let width = results.bin_width();
    let (behind, suffix) = if shifts { ("-shifts", " under further shifts") } else { ("", "") };
    let groups = groups(&results.models);
    let tests = results.tests.iter().enumerate().filter(|(_, test)| matches!(test, TestSet::Other(_)) == shifts);
    let mut panels: Vec<(String, Vec<Panel>)> = Vec::new();
    for (test, set) in tests {
        let extent = extent(results, test, accuracy);
        let of_test = groups.iter().map(|group| Panel {
            title: if groups.len() > 1 { group.title.clone() } else { set.to_string() },
            about: None,
            note: extent.note.clone(),
            x: Axis::up_to("", extent.end as f64),
            y: Axis::linear("", std::iter::empty()),
            grid: Grid::Horizontal,
            layers: of_paper(results, paper, set, &extent, accuracy, group)
                .chain(series(results, test, &extent, accuracy, group))
                .map(Layer::Series)
                .collect(),
        });
        let of_test = of_test.filter(|panel| panel.series().any(|series| !series.style.light)).collect();
        panels.push((if groups.len() > 1 { set.to_string() } else { String::new() }, of_test));
    }
    if groups.len() == 1 {
        // No size tells the panels apart: test sets stand side by side.
        panels = vec![(String::new(), panels.into_iter().flat_map(|(_, panels)| panels).collect())];
    }
    // One vertical axis for all, for lines and bands; what lies below zero or above 100 % is cut.
    let points =
        panels.iter().flat_map(|(_, panels)| panels).flat_map(|panel| panel.series()).flat_map(|series| &series.points);
    let ends = |point: &Point| {
        let (low, high) = point.range.unwrap_or((point.y, point.y));
        [point.y, low.max(0.0), high.min(100.0)]
    };
    let y = Axis::linear(&format!("{what} (%)"), points.flat_map(ends));
    let legend = paper_legend(panels.iter().flat_map(|(_, panels)| panels));
    let x_label = format!("Plies played (bins of {width})");
    Chart {
        id: format!("{id}{behind}"),
        title: format!("{what} by plies played{suffix}"),
        paper: None,
        description: format!(
            "{what} in percent for each model, in bins of {width} plies from the start of the game; each test \
             set has its own horizontal axis. {BANDS} All numbers are in the tables by prefix length."
        ),
        rows: rows(panels, if groups.len() > 1 { SIZES_ABREAST } else { 2 }, &y, &x_label),
        legend,
    }
}

/// The paper's own numbers for the models of one panel, where its tables have them.
fn of_paper(
    results: &Results,
    paper: &Paper,
    test: &TestSet,
    extent: &Extent,
    accuracy: Accuracy,
    group: &Group,
) -> impl Iterator<Item = Series> {
    // Bins of another width are not set beside them.
    let selected = if results.bin_width() == Paper::BIN_WIDTH { &Paper::SELECTED_BINS[..] } else { &[] };
    group.members.iter().filter_map(move |Member { model, style, .. }| {
        let Model { family, size, .. } = &results.models[*model];
        let points = selected.iter().filter(|start| **start < extent.end).filter_map(|start| {
            let printed = paper.bin(family, size, test, *start, &accuracy.metric())?;
            let end = start + Paper::BIN_WIDTH;
            let note = format!("Paper: {} {size}, plies {start}–{end}: {} %", family_name(family), printed.text);
            Some(Point { x: (start + end) as f64 / 2.0, y: printed.value, range: None, note })
        });
        let points: Vec<Point> = points.collect();
        let style = Style { light: true, ..*style };
        (!points.is_empty()).then(|| Series { name: String::new(), style, joined: false, points })
    })
}

/// The lines of one panel.
fn series(
    results: &Results,
    test: usize,
    extent: &Extent,
    accuracy: Accuracy,
    group: &Group,
) -> impl Iterator<Item = Series> {
    group.members.iter().filter_map(move |Member { model, name, style }| {
        let bins = results.prefix.get(&(*model, test))?;
        let points = bins.iter().filter(|bin| bin.end <= extent.end).map(|bin| {
            let spread = accuracy.of(bin);
            let runs = if bin.runs > 1 { format!(", {} runs", bin.runs) } else { String::new() };
            Point {
                x: (bin.start + bin.end) as f64 / 2.0,
                y: spread.mean * 100.0,
                range: around(spread, 100.0),
                note: format!(
                    "{}, plies {}–{}: {} % ({} positions{runs})",
                    legend_name(&results.models[*model]),
                    bin.start,
                    bin.end,
                    number::percent(spread.mean),
                    number::count(bin.positions)
                ),
            }
        });
        Some(Series { name: name.clone(), style: *style, joined: true, points: points.collect() })
    })
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
    Extent { end, note: format!("{} % from ply {zero_from} on", number::percent(0.0)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::PrefixBin;
    use crate::spread::Spread;

    /// A panel's end and note, for one model with these accuracies in bins of 20.
    fn check(fractions: &[f64], end: u64, note: &str) {
        let bin = |(index, fraction): (usize, &f64)| PrefixBin {
            start: index as u64 * 20,
            end: index as u64 * 20 + 20,
            runs: 1,
            labels: Vec::new(),
            positions: 9,
            labelwise: Spread::of(&[1.0]),
            exact: Spread::of(&[*fraction]),
        };
        let results = Results {
            models: vec![Model::new("e", "slice", "d32/l1")],
            tests: vec![TestSet::HeldOut],
            prefix: [((0, 0), fractions.iter().enumerate().map(bin).collect())].into(),
            ..Results::default()
        };
        let chart = by_prefix(&results, &Paper::load().unwrap(), Accuracy::Exact);
        let panel = &chart.rows[0].panels[0];
        assert_eq!((panel.x.high, panel.note.as_str()), (end as f64, note));
        let points = |panel: &Panel| panel.series().next().unwrap().points.clone();
        assert_eq!(points(panel).last().map(|point| point.x), Some(end as f64 - 10.0));
        let labelwise = by_prefix(&results, &Paper::load().unwrap(), Accuracy::Labelwise);
        assert_eq!(points(&labelwise.rows[0].panels[0]).len(), fractions.len());
    }

    #[test]
    fn a_long_tail_of_zeros_is_cut_and_told() {
        let mut fractions = vec![0.0; 30];
        fractions[..2].copy_from_slice(&[0.9, 0.1]);
        check(&fractions, 100, "0.00 % from ply 40 on");
        // What prints as zero is zero.
        fractions[20] = 0.00004;
        check(&fractions, 100, "0.00 % from ply 40 on");
        fractions[10] = 0.0001;
        check(&fractions, 280, "0.00 % from ply 220 on");
        check(&[0.0; 10], 60, "0.00 % from ply 0 on");
    }

    #[test]
    fn bands_have_room_up_to_100() {
        let top = |mean: f64, high: f64| {
            let exact = Spread { mean, deviation: None, interval: Some((0.1, high)) };
            let bin = PrefixBin {
                start: 0,
                end: 20,
                runs: 1,
                labels: Vec::new(),
                positions: 9,
                labelwise: Spread::of(&[1.0]),
                exact,
            };
            let results = Results {
                models: vec![Model::new("e", "slice", "d32/l1")],
                tests: vec![TestSet::HeldOut],
                prefix: [((0, 0), vec![bin])].into(),
                ..Results::default()
            };
            by_prefix(&results, &Paper::load().unwrap(), Accuracy::Exact).rows[0].panels[0].y.high
        };
        assert!((80.0..90.0).contains(&top(0.5, 0.8)), "{}", top(0.5, 0.8));
        assert!((100.0..106.0).contains(&top(0.5, 1.5)), "{}", top(0.5, 1.5));
    }

    #[test]
    fn what_is_not_zero_is_shown_whole() {
        check(&[0.9, 0.5, 0.2, 0.1], 80, "");
        check(&[0.9, 0.5, 0.0, 0.0], 80, "");
        check(&[0.0, 0.0, 0.0, 0.0, 0.1], 100, "");
        check(&[0.0], 20, "");
    }
}
