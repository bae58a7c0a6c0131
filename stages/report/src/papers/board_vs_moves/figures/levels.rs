//! Results by level as stacked bars.

use cwm_page::{Axis, Figure, Grid, Layer, LegendEntry, Panel, PanelRow, Style, number};

use crate::papers::board_vs_moves::common::id;
use crate::papers::board_vs_moves::facts::Facts;
use crate::papers::board_vs_moves::figures::{bar, panel, row};
use crate::papers::board_vs_moves::play::{Played, Results};
use crate::papers::board_vs_moves::tables::SWEEPS;

/// Panels side by side, and pixels of a bar with the space beside it.
const ABREAST: usize = 2;
const BAR: u32 = 18;

/// Parts of a bar: words and colour.
const PARTS: [(&str, usize); 3] = [("won", 2), ("drawn", 7), ("lost", 1)];

/// A panel for each arm and its rules, a bar for each opponent; the repository's sweeps last.
pub(crate) fn levels(played: &[Played], facts: &Facts) -> Figure {
    let ours = played.iter().map(|played| {
        let bars = played.against.iter().map(|(opponent, games)| (opponent.name(), Results::of(games)));
        (played.name(), bars.collect::<Vec<_>>())
    });
    let mut charts: Vec<(String, Vec<(String, Results)>)> = ours.collect();
    if !charts.is_empty() {
        charts.extend(SWEEPS.map(|(sweep, words)| {
            let bars = facts.sweep(sweep).into_iter().enumerate();
            let bars =
                bars.map(|(level, [wins, draws, losses])| (format!("level {level}"), Results { wins, draws, losses }));
            (format!("authors' repository, {words}"), bars.collect())
        }));
    }
    let rows = charts.chunks(ABREAST).map(|charts| {
        let most = charts.iter().map(|(_, bars)| bars.len()).max().unwrap_or(0);
        let panels = charts.iter().map(|(title, bars)| stacked(title, bars)).collect();
        row(String::new(), BAR * most as u32 + BAR, ABREAST, panels)
    });
    let rows: Vec<PanelRow> = rows.collect();
    let legend = PARTS.map(|(name, colour)| LegendEntry { name: name.to_owned(), style: Style::solid(colour) });
    Figure {
        id: id("levels"),
        title: "Results by opponent".into(),
        paper: Some("Figures of Appendix I"),
        description: "Games won, drawn and lost against each opponent, in percent. The paper draws such bars for five models, and its text has \
                      no numbers for them; the last two panels are the counts of its authors' repository, 100 games a level."
            .into(),
        legend: if rows.is_empty() { Vec::new() } else { legend.into() },
        rows,
    }
}

fn stacked(title: &str, bars: &[(String, Results)]) -> Panel {
    let layers = bars.iter().rev().enumerate().flat_map(|(place, (opponent, results))| {
        let counts = [results.wins, results.draws, results.losses];
        let all = f64::from(results.games().max(1));
        let mut from = 0.0;
        let part = |((words, colour), count): ((&str, usize), u32)| {
            let share = f64::from(count) / all;
            let x = (from, from + share * 100.0);
            from = x.1;
            let note = format!("{opponent}: {} % {words}, {count} of {}", number::percent(share), results.games());
            bar(x, (place as f64 + 0.12, place as f64 + 0.88), colour, share * 100.0, note)
        };
        PARTS.into_iter().zip(counts).map(part).collect::<Vec<Layer>>()
    });
    let names = Axis::of_names("", bars.iter().rev().map(|(opponent, _)| opponent.clone()));
    panel(title, Axis::up_to("Games (%)", 100.0), names, Grid::Vertical, layers.collect())
}
