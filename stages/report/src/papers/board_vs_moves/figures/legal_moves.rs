//! The histogram of legal moves.

use cwm_page::{Axis, Figure, Grid, number};

use crate::papers::board_vs_moves::common::id;
use crate::papers::board_vs_moves::figures::{bar, panel, row};
use crate::papers::board_vs_moves::groups::Group;
use crate::papers::board_vs_moves::tables::histogram;

/// A panel for each group.
pub(crate) fn legal_moves(groups: &[Group]) -> Figure {
    let panels = groups.iter().filter(|group| !group.compared.positions.is_empty()).map(|group| {
        let bins = histogram(group);
        let all = group.compared.positions.len() as f64;
        let bars = bins.iter().enumerate().map(|(place, (name, count))| {
            let share = *count as f64 / all * 100.0;
            let note = format!("{name} legal moves: {} %", number::two_decimals(share));
            bar((place as f64 + 0.08, place as f64 + 0.92), (0.0, share), 0, share, note)
        });
        let shares = bins.iter().map(|(_, count)| *count as f64 / all * 100.0);
        let x = Axis::of_names("Legal moves", bins.iter().map(|(name, _)| name.clone()));
        let title = format!("{}, {}", group.kind.name(), group.test);
        panel(&title, x, Axis::linear("Positions (%)", shares), Grid::Horizontal, bars.collect())
    });
    Figure {
        id: id("legal-moves"),
        title: "Legal moves of the positions".into(),
        paper: Some("Figure of Appendix J"),
        description: "How many positions have how many legal moves.".into(),
        rows: panels.map(|panel| row(String::new(), 200, 1, vec![panel])).collect(),
        legend: Vec::new(),
    }
}
