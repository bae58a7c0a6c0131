//! The errors by square, and by the other labels of a position.

use cwm_page::{
    Axis, Figure, Grid, Height, Layer, Panel, PanelRow, Point, Series, Style, TILE_COLOUR, Tile, file_name, number,
};

use crate::papers::chess_world_model::errors::{Errors, GROUPS};
use crate::papers::chess_world_model::figures::{family_colour, largest, legend_name, short_name};
use crate::papers::chess_world_model::read::errors::LABELS;
use crate::papers::chess_world_model::results::Results;

/// Boards side by side at most.
const BOARDS_ABREAST: usize = 4;
/// Pixels for each bar of a group, and between groups.
const BAR: u32 = 7;
const BETWEEN: u32 = 8;

/// The errors that are shown.
#[derive(Clone, Copy)]
enum ErrorKind {
    /// The errors in all positions.
    All,
    /// The errors in the first wrong position of each game.
    First,
}

impl ErrorKind {
    fn counts(self, errors: &Errors) -> &[u64; LABELS] {
        match self {
            ErrorKind::All => &errors.wrong,
            ErrorKind::First => &errors.first,
        }
    }

    /// Returns the total of which a label's count is a part, and its name.
    fn out_of(self, errors: &Errors) -> (u64, &'static str) {
        match self {
            ErrorKind::All => (errors.positions, "of positions"),
            ErrorKind::First => (errors.games, "of the games that go wrong"),
        }
    }
}

/// One figure for each test set: boards and bars of each family at its largest size.
pub(crate) fn errors(errors: &[Errors], results: &Results) -> Vec<Figure> {
    let tests = results.tests.iter().enumerate();
    let charts = tests.map(|(index, test)| {
        let shown = shown(errors, results, index);
        let mut rows = boards(&shown, results, ErrorKind::All, "Squares that are wrong, in % of positions");
        rows.extend(boards(
            &shown,
            results,
            ErrorKind::First,
            "Squares that go wrong first, in % of the games that go wrong",
        ));
        rows.extend(bars(&shown, results));
        Figure {
            id: format!("errors-{}", file_name(test.name())),
            title: format!("What goes wrong: {test}"),
            paper: None,
            description: "Each family at its largest size. The boards show how often each square is wrong, in all \
                          positions and in the first wrong position of each game; the bars show which labels the wrong \
                          ones are, in percent of all that are wrong there."
                .into(),
            rows,
            legend: Vec::new(),
        }
    });
    let mut taken = std::collections::BTreeSet::new();
    // Test sets whose names differ in odd characters alone would share a file: the second gets a number.
    let charts = charts.map(|mut chart| {
        let base = chart.id.clone();
        let mut number = 2;
        while !taken.insert(chart.id.clone()) {
            chart.id = format!("{base}-{number}");
            number += 1;
        }
        chart
    });
    charts.collect()
}

/// Returns the largest model of each family of which something is known.
fn shown<'a>(errors: &'a [Errors], results: &Results, test: usize) -> Vec<&'a Errors> {
    let of = |model: usize| errors.iter().find(|one| (one.model, one.test) == (model, test) && one.positions > 0);
    largest(&results.models, |model| of(model).is_some()).into_iter().filter_map(of).collect()
}

/// Boards, coloured by how often each square is wrong; one scale for all.
fn boards(shown: &[&Errors], results: &Results, which: ErrorKind, heading: &str) -> Vec<PanelRow> {
    let share = |errors: &Errors, square: usize| {
        let (whole, _) = which.out_of(errors);
        if whole == 0 { 0.0 } else { which.counts(errors)[square] as f64 / whole as f64 }
    };
    let most = shown.iter().flat_map(|errors| (0..64).map(move |square| share(errors, square))).fold(0.0, f64::max);
    let panel = |errors: &&Errors| {
        let model = &results.models[errors.model];
        let (_, of) = which.out_of(errors);
        let tiles = (0..64).map(|square| {
            let (file, row) = (square % 8, square / 8);
            let (left, top) = (file as f64, 8.0 - row as f64);
            let share = share(errors, square);
            let name = format!("{}{}", char::from(b'a' + file as u8), 8 - row);
            Layer::Tile(Tile {
                x: (left, left + 1.0),
                y: (top - 1.0, top),
                colour: Some(TILE_COLOUR),
                strength: if most > 0.0 { share / most } else { 0.0 },
                value: Some(share * 100.0),
                note: format!("{}, {name}: {} % {of}", legend_name(model), number::percent(share)),
            })
        });
        let board =
            Tile { x: (0.0, 8.0), y: (0.0, 8.0), colour: None, strength: 0.35, value: None, note: String::new() };
        Panel {
            title: short_name(model),
            marker: Some(Style::solid(family_colour(&results.models, &model.family))),
            note: String::new(),
            x: Axis::of_names("", ('a'..='h').map(String::from)),
            y: Axis::of_names("", (1..=8).map(|rank| rank.to_string())),
            grid: Grid::Bare,
            layers: std::iter::once(Layer::Tile(board)).chain(tiles).collect(),
        }
    };
    let columns = shown.len().clamp(1, BOARDS_ABREAST);
    let row = |(index, part): (usize, &[&Errors])| {
        let panels = part.iter().map(panel).enumerate();
        PanelRow {
            heading: if index == 0 { heading.to_owned() } else { String::new() },
            key: (index == 0).then(|| format!("{} %", number::percent(most))),
            height: Height::Square,
            columns,
            panels: panels.map(|(at, panel)| Panel { y: panel.y.shown(at == 0), ..panel }).collect(),
        }
    };
    shown.chunks(columns).enumerate().map(row).collect()
}

/// Draws the wrong labels: a bar for each family in each group.
fn bars(shown: &[&Errors], results: &Results) -> Option<PanelRow> {
    let groups = GROUPS.len() as f64;
    let panel = |title: &str, which: ErrorKind, y_shown: bool| {
        let series = shown.iter().enumerate().map(|(place, errors)| {
            let model = &results.models[errors.model];
            let counts = which.counts(errors);
            let all: u64 = counts.iter().sum();
            let style = Style::solid(family_colour(&results.models, &model.family));
            let bars = GROUPS.iter().enumerate().filter(|_| all > 0).map(|(group, (name, labels))| {
                let share = counts[labels.clone()].iter().sum::<u64>() as f64 / all as f64;
                let step = f64::from(BAR) / f64::from(BAR * shown.len() as u32 + BETWEEN);
                let middle = (shown.len() as f64 - 1.0) / 2.0;
                let y = groups - group as f64 - 0.5 - (place as f64 - middle) * step;
                let note = format!("{}, {name}: {} % of what is wrong", legend_name(model), number::percent(share));
                let point = Point { x: share * 100.0, y, range: None, note };
                let tile = Tile {
                    x: (0.0, share * 100.0),
                    y: (y - step * 0.28, y + step * 0.28),
                    colour: style.colour,
                    strength: 0.45,
                    value: None,
                    note: String::new(),
                };
                (tile, point)
            });
            let (tiles, points): (Vec<Tile>, Vec<Point>) = bars.unzip();
            (tiles, Series { name: legend_name(model), style, joined: false, points })
        });
        let (tiles, series): (Vec<Vec<Tile>>, Vec<Series>) = series.unzip();
        // Every other group stands on a shade, so that the bars of one are seen together.
        let shades = (0..GROUPS.len()).step_by(2).map(|group| Tile {
            x: (0.0, 100.0),
            y: (groups - group as f64 - 1.0, groups - group as f64),
            colour: None,
            strength: 0.3,
            value: None,
            note: String::new(),
        });
        let names: Vec<String> = GROUPS.iter().rev().map(|(name, _)| (*name).to_owned()).collect();
        Panel {
            title: title.to_owned(),
            marker: None,
            note: String::new(),
            x: Axis::up_to("Share of wrong labels (%)", 100.0),
            y: Axis::of_names("", names.into_iter()).shown(y_shown),
            grid: Grid::Vertical,
            layers: shades
                .chain(tiles.into_iter().flatten())
                .map(Layer::Tile)
                .chain(series.into_iter().map(Layer::Series))
                .collect(),
        }
    };
    let height = GROUPS.len() as u32 * (BAR * shown.len() as u32 + BETWEEN);
    (!shown.is_empty()).then(|| PanelRow {
        heading: "What the wrong labels are".to_owned(),
        key: None,
        height: Height::Pixels(height),
        columns: 2,
        panels: vec![
            panel("All positions", ErrorKind::All, true),
            panel("First wrong position of a game", ErrorKind::First, false),
        ],
    })
}
