//! Linear probes of colour and piece, added, against those of both.

use cwm_findings::{Finding, Kind};
use cwm_page::{Axis, Figure, Grid, Layer, PanelRow, TILE_COLOUR, Tile};

use super::groups::groups;
use crate::papers::drawing::{panel, row};
use crate::papers::inside_models::measured::{MeasuredFinding, distinct, of_kind};
use crate::papers::inside_models::table::short;

/// Classes of both, as columns.
const CLASSES: [&str; 12] = ["P", "N", "B", "R", "Q", "K", "p", "n", "b", "r", "q", "k"];

/// A heat map for each layer.
pub(crate) fn composition(found: &[MeasuredFinding]) -> Figure {
    let all: Vec<&Finding> = of_kind(found, Kind::Composition).collect();
    Figure {
        id: "figure-inside-composition".into(),
        title: "Do colour and piece add up?".into(),
        description: "Cosine of the sum of a linear probe of colour and one of piece (rows) with the linear probe of both (columns), averaged \
                      over squares; the darker, the more alike. If they add up, each row is darkest at its own class."
            .into(),
        rows: groups(&all, "").into_iter().map(|group| heat_maps(group.heading, &group.findings)).collect(),
        ..Figure::default()
    }
}

fn heat_maps(heading: String, findings: &[&Finding]) -> PanelRow {
    let maps = distinct(findings.iter().copied(), |finding| (finding.network.as_str(), finding.layer));
    let panels = maps.into_iter().map(|(network, layer)| {
        let of_map = |finding: &&&Finding| (finding.network.as_str(), finding.layer) == (network, layer);
        let sums: Vec<&Finding> = findings.iter().filter(of_map).copied().collect();
        let name = |sum: &Finding| format!("{} {}", sum.named("colour"), sum.named("piece"));
        let tiles = sums.iter().rev().enumerate().flat_map(|(low, sum)| {
            CLASSES.iter().enumerate().filter_map(move |(left, class)| {
                let cosine = sum.get(class)?;
                Some(Layer::Tile(Tile {
                    x: (left as f64, left as f64 + 1.0),
                    y: (low as f64, low as f64 + 1.0),
                    colour: Some(TILE_COLOUR),
                    strength: cosine.clamp(0.0, 1.0),
                    value: Some(cosine),
                    note: format!("{} with {class}: {}", name(sum), short(cosine)),
                }))
            })
        });
        let classes = Axis::of_names("", CLASSES.map(str::to_owned).into_iter());
        let names = Axis::of_names("", sums.iter().rev().map(|sum| name(sum)));
        let layer = layer.map(|layer| format!(", layer {layer}")).unwrap_or_default();
        panel(&format!("{network}{layer}"), classes, names, Grid::Bare, tiles.collect())
    });
    row(heading, 230, 2, panels.collect())
}
