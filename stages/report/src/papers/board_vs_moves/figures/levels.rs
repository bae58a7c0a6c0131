//! Results by level as stacked bars.

use cwm_page::{Figure, LegendEntry, PanelRow, Style};

use crate::papers::board_vs_moves::common::id;
use crate::papers::board_vs_moves::facts::Facts;
use crate::papers::board_vs_moves::play::{ArmGames, Results};
use crate::papers::board_vs_moves::tables::SWEEPS;
use crate::papers::drawing::{row, stacked};

/// Panels side by side, and pixels of a bar with the space beside it.
const ABREAST: usize = 2;
const BAR: u32 = 18;

/// Parts of a bar: words and colour.
const PARTS: [(&str, usize); 3] = [("won", 2), ("drawn", 7), ("lost", 1)];

/// A panel for each arm and its rules, a bar for each opponent; the repository's sweeps last.
pub(crate) fn levels(played: &[ArmGames], facts: &Facts) -> Figure {
    let ours = played.iter().map(|played| {
        let bars = played.games_by_opponent.iter().map(|(opponent, games)| (opponent.name(), Results::of(games)));
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
        let panels = charts.iter().map(|(title, bars)| {
            let counts = |results: &Results| [results.wins, results.draws, results.losses].map(u64::from).to_vec();
            let bars: Vec<_> = bars.iter().map(|(opponent, results)| (opponent.clone(), counts(results))).collect();
            stacked(title, "Games (%)", &PARTS, &bars)
        });
        row(String::new(), BAR * most as u32 + BAR, ABREAST, panels.collect())
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
