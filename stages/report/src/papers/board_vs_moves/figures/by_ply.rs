//! Legal and best moves by ply.

use cwm_measures::Measure;
use cwm_page::{Axis, Figure, Grid, Layer, PanelRow, Point, Series, number};

use crate::papers::board_vs_moves::common::id;
use crate::papers::board_vs_moves::figures::{panel, row, styles};
use crate::papers::board_vs_moves::groups::{Group, Member};
use crate::papers::board_vs_moves::tables::{PLY_BINS, ply_bin_name};

const MEASURES: [(Measure, &str); 3] =
    [(Measure::Legal, "Legal (%)"), (Measure::Best, "Best (%)"), (Measure::MaskBest, "Best by mask (%)")];

/// A row of panels for each group, a line for each arm.
pub(crate) fn by_ply(groups: &[Group]) -> Figure {
    let has_plies = |group: &&Group| group.compared.positions.iter().any(|asked| asked.t.is_some());
    Figure {
        id: id("by-ply"),
        title: "Legal and best moves by ply".into(),
        paper: None,
        description: "Shares of legal and of best answers by the plies before the position. Bands are 95 % intervals over games. What a list \
                      of moves loses of the board along the game shows in the legal answers."
            .into(),
        rows: groups.iter().filter(has_plies).map(panels).collect(),
        legend: Vec::new(),
    }
}

fn panels(group: &Group) -> PanelRow {
    let members: Vec<Member> = group.members().collect();
    let styles = styles(members.iter().map(|member| member.measured().arm.name.as_str()));
    let series = |measure: Measure| -> Vec<Layer> {
        let of = members.iter().zip(&styles).map(|(member, style)| Series {
            name: member.name(),
            style: *style,
            joined: true,
            points: points(*member, measure),
        });
        of.filter(|series| !series.points.is_empty()).map(Layer::Series).collect()
    };
    let names = || (0..PLY_BINS.len()).map(ply_bin_name);
    let panels = MEASURES.into_iter().enumerate().map(|(place, (measure, title))| {
        panel(
            title,
            Axis::of_names("Ply", names()),
            Axis::up_to("", 100.0).shown(place == 0),
            Grid::Horizontal,
            series(measure),
        )
    });
    let panels = panels.filter(|panel| !panel.layers.is_empty()).collect();
    row(format!("{}, {}", group.kind.name(), group.test), 200, MEASURES.len(), panels)
}

fn points(member: Member, measure: Measure) -> Vec<Point> {
    let point = |bin: usize| {
        let found = member.mean(measure, |place| member.is_in_ply_bin(place, bin))?;
        let note = format!("{}, plies {}: {} %", member.name(), ply_bin_name(bin), number::percent(found.mean));
        let range = found.interval.map(|(low, high)| (low * 100.0, high * 100.0));
        Some(Point { x: bin as f64 + 0.5, y: found.mean * 100.0, range, note })
    };
    (0..PLY_BINS.len()).filter_map(point).collect()
}
