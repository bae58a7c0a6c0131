//! Accuracy against prefix length, a panel for each test set.

use cwm_page::{Axis, Figure, Grid, Layer, Panel, Point, Series, Style, number};

use crate::papers::chess_world_model::facts::PaperFacts;
use crate::papers::chess_world_model::figures::{
    BANDS, Group, Member, SIZES_ABREAST, around, groups, legend_name, paper_legend, rows,
};
use crate::papers::chess_world_model::model::{Model, family_name};
use crate::papers::chess_world_model::results::Results;
use crate::papers::chess_world_model::tables::Accuracy;
use crate::papers::chess_world_model::test_set::TestSet;

/// Every bin of every model on the paper's test sets.
pub(crate) fn by_prefix(results: &Results, paper: &PaperFacts, accuracy: Accuracy) -> Figure {
    chart(results, paper, accuracy, false)
}

/// Every bin of every model on all other test sets.
pub(crate) fn by_prefix_under_shifts(results: &Results, paper: &PaperFacts, accuracy: Accuracy) -> Figure {
    chart(results, paper, accuracy, true)
}

fn chart(results: &Results, paper: &PaperFacts, accuracy: Accuracy, shifts: bool) -> Figure {
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
        let ends = ends(results, test);
        let of_test = groups.iter().map(|group| Panel {
            title: if groups.len() > 1 { group.title.clone() } else { set.to_string() },
            marker: None,
            note: String::new(),
            x: Axis { high: ends[1], ..Axis::logarithmic("", ends.into_iter()) },
            y: Axis::linear("", std::iter::empty()),
            grid: Grid::Horizontal,
            layers: of_paper(results, paper, set, ends[1], accuracy, group)
                .chain(series(results, test, accuracy, group))
                .map(Layer::Series)
                .collect(),
        });
        let of_test = of_test.filter(|panel| panel.series().any(|series| !series.style.light)).collect();
        panels.push((if groups.len() > 1 { set.to_string() } else { String::new() }, of_test));
    }
    if groups.len() == 1 {
        // No size distinguishes the panels: test sets stand side by side.
        panels = vec![(String::new(), panels.into_iter().flat_map(|(_, panels)| panels).collect())];
    }
    // One vertical axis for all, for lines and bands; what lies below zero or above 100 % is cut.
    let points =
        panels.iter().flat_map(|(_, panels)| panels).flat_map(|panel| panel.series()).flat_map(|series| &series.points);
    let heights = |point: &Point| {
        let (low, high) = point.range.unwrap_or((point.y, point.y));
        [point.y, low.max(0.0), high.min(100.0)]
    };
    let y = Axis::linear(&format!("{what} (%)"), points.flat_map(heights));
    let legend = paper_legend(panels.iter().flat_map(|(_, panels)| panels));
    let x_label = format!("Plies played (bins of {width})");
    Figure {
        id: format!("{id}{behind}"),
        title: format!("{what} by plies played{suffix}"),
        paper: None,
        description: format!(
            "{what} in percent for each model, in every bin of {width} plies from the start of the game, each at its \
             middle. The horizontal axis grows by factors, since most is lost in the first moves; each test set has its \
             own. {BANDS} All numbers are in the tables by prefix length."
        ),
        rows: rows(panels, if groups.len() > 1 { SIZES_ABREAST } else { 2 }, &y, &x_label),
        legend,
    }
}

/// The paper's own numbers for the models of one panel, where its tables have them.
fn of_paper(
    results: &Results,
    paper: &PaperFacts,
    test: &TestSet,
    end: f64,
    accuracy: Accuracy,
    group: &Group,
) -> impl Iterator<Item = Series> {
    // Bins of another width are not set beside them.
    let selected = if results.bin_width() == PaperFacts::BIN_WIDTH { &PaperFacts::SELECTED_BINS[..] } else { &[] };
    group.members.iter().filter_map(move |Member { model, style, .. }| {
        let Model { family, size, .. } = &results.models[*model];
        let points = selected.iter().filter(|start| (**start as f64) < end).filter_map(|start| {
            let printed = paper.bin(family, size, test, *start, &accuracy.metric())?;
            let end = start + PaperFacts::BIN_WIDTH;
            let note = format!("Paper: {} {size}, plies {start}–{end}: {} %", family_name(family), printed.text);
            Some(Point { x: (start + end) as f64 / 2.0, y: printed.value, range: None, note })
        });
        let points: Vec<Point> = points.collect();
        let style = Style { light: true, ..*style };
        let name = format!("The paper: {} {size}", family_name(family));
        (!points.is_empty()).then_some(Series { name, style, joined: false, points })
    })
}

/// The lines of one panel.
fn series(results: &Results, test: usize, accuracy: Accuracy, group: &Group) -> impl Iterator<Item = Series> {
    group.members.iter().filter_map(move |Member { model, name, style }| {
        let bins = results.prefix.get(&(*model, test))?;
        let points = bins.iter().map(|bin| {
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

/// The middle of the first bin and the end of the last one that any model reaches.
fn ends(results: &Results, test: usize) -> [f64; 2] {
    let bins = || results.prefix.iter().filter(|((_, at), _)| *at == test).flat_map(|(_, bins)| bins);
    let first = bins().map(|bin| (bin.start + bin.end) as f64 / 2.0).fold(f64::INFINITY, f64::min);
    [first, bins().map(|bin| bin.end as f64).fold(0.0, f64::max)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::chess_world_model::results::PrefixBin;
    use cwm_page::MeanStd;

    #[test]
    fn every_bin_is_drawn_also_where_all_are_at_zero() {
        let mut fractions = vec![0.0; 30];
        fractions[..2].copy_from_slice(&[0.9, 0.1]);
        let bin = |(index, fraction): (usize, &f64)| PrefixBin {
            start: index as u64 * 20,
            end: index as u64 * 20 + 20,
            runs: 1,
            labels: Vec::new(),
            positions: 9,
            labelwise: MeanStd::of(&[1.0]),
            exact: MeanStd::of(&[*fraction]),
        };
        let results = Results {
            models: vec![Model::new("e", "slice", "d32/l1")],
            tests: vec![TestSet::HeldOut],
            prefix: [((0, 0), fractions.iter().enumerate().map(bin).collect())].into(),
            ..Results::default()
        };
        for accuracy in [Accuracy::Exact, Accuracy::Labelwise] {
            let chart = by_prefix(&results, &PaperFacts::load().unwrap(), accuracy);
            let panel = &chart.rows[0].panels[0];
            let places: Vec<f64> = panel.series().next().unwrap().points.iter().map(|point| point.x).collect();
            assert_eq!(places, (0..30).map(|bin| f64::from(bin) * 20.0 + 10.0).collect::<Vec<_>>());
            assert!((5.0..10.0).contains(&panel.x.low) && panel.x.high == 600.0, "{:?}", panel.x);
        }
    }

    #[test]
    fn bands_have_room_up_to_100() {
        let top = |mean: f64, high: f64| {
            let exact = MeanStd { mean, deviation: None, interval: Some((0.1, high)) };
            let bin = PrefixBin {
                start: 0,
                end: 20,
                runs: 1,
                labels: Vec::new(),
                positions: 9,
                labelwise: MeanStd::of(&[1.0]),
                exact,
            };
            let results = Results {
                models: vec![Model::new("e", "slice", "d32/l1")],
                tests: vec![TestSet::HeldOut],
                prefix: [((0, 0), vec![bin])].into(),
                ..Results::default()
            };
            by_prefix(&results, &PaperFacts::load().unwrap(), Accuracy::Exact).rows[0].panels[0].y.high
        };
        assert!((80.0..90.0).contains(&top(0.5, 0.8)), "{}", top(0.5, 0.8));
        assert!((100.0..106.0).contains(&top(0.5, 1.5)), "{}", top(0.5, 1.5));
    }
}
