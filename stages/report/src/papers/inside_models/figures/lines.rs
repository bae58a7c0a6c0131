//! Lines by layer, or by the length of the vector.

use cwm_findings::{Finding, Kind};
use cwm_page::{Axis, Figure, Grid, Layer, Point, Series, Style};

use super::colour;
use super::groups::{Group, groups};
use crate::papers::drawing::{panel, row};
use crate::papers::inside_models::measured::{MeasuredFinding, distinct, is_over_all, of_kind};
use crate::papers::inside_models::table::short;

/// Mass by η.
pub(crate) fn eta(found: &[MeasuredFinding]) -> Figure {
    let edits = of_kind(found, Kind::Edit).filter(|finding| finding.layer.is_none() && is_over_all(finding));
    let edits: Vec<&Finding> = edits.filter(|finding| eta_of(finding).is_some()).collect();
    let several = distinct(edits.iter().copied(), |finding| finding.named("eta")).len() > 1;
    let axis = Axis::logarithmic("η", edits.iter().filter_map(|finding| eta_of(finding)));
    // Edits of other layers are a line of their own.
    let differ = distinct(edits.iter().copied(), |finding| finding.named("layers")).len() > 1;
    let series = |edit: &Finding| match (edit.named("intervention"), edit.named("layers")) {
        (intervention, layers) if differ && !layers.is_empty() => {
            let noun = if layers.parse::<u32>().is_ok() { "layer" } else { "layers" };
            format!("{intervention}, {noun} {layers}")
        }
        (intervention, _) => intervention.to_owned(),
    };
    let groups = if several { groups(&edits, "") } else { Vec::new() };
    Figure {
        id: "figure-inside-2".into(),
        title: "Edits by the length of their vector".into(),
        paper: Some("Figure 2, Section 3.5"),
        description: "Legal move probability mass on the original and the target board, and the share of cases whose likeliest word \
                      stays, by η: the length of the vector in lengths of the normed row. Over the edited layers."
            .into(),
        rows: groups.iter().map(|group| panels(group, &EDITED, &axis, eta_of, series)).collect(),
        legend: Vec::new(),
    }
}

const EDITED: [(&str, &str); 5] = [
    ("original", "Mass, original board"),
    ("target", "Mass, target board"),
    ("same_argmax", "Argmax as before"),
    ("square_empty", "Square read as empty"),
    ("right_others", "Other labels right"),
];

fn eta_of(finding: &Finding) -> Option<f64> {
    finding.named("eta").parse().ok()
}

fn layer_of(finding: &Finding) -> Option<f64> {
    finding.layer.map(f64::from)
}

/// Mass by layer.
pub(crate) fn layers(found: &[MeasuredFinding]) -> Figure {
    let edits = of_kind(found, Kind::Edit).filter(|finding| finding.layer.is_some() && is_over_all(finding));
    by_layer(
        &edits.collect::<Vec<_>>(),
        "eta",
        &EDITED,
        |edit| edit.named("intervention").into(),
        Figure {
            id: "figure-inside-layers".into(),
            title: "Edits by layer".into(),
            description: "The same by the layer that is edited. Bands are 95 % intervals by game.".into(),
            ..Figure::default()
        },
    )
}

/// Accuracy of linear probes by layer.
pub(crate) fn accuracy(found: &[MeasuredFinding]) -> Figure {
    let is_whole = |finding: &&Finding| finding.named("square").is_empty();
    let probes: Vec<&Finding> = of_kind(found, Kind::Probe).filter(is_whole).collect();
    let series = |finding: &Finding| {
        let parts = ["of", "method", "labels"].map(|name| finding.named(name));
        let usual = ["", "stream", "linear", "true"];
        let mut parts: Vec<_> = parts.into_iter().filter(|part| !usual.contains(part)).map(str::to_owned).collect();
        parts.insert(0, finding.network.clone());
        let phase = finding.named("phase");
        if !["", "any"].contains(&phase) {
            parts.push(format!("phase {phase}"));
        }
        parts.join(", ")
    };
    by_layer(&probes, "target", &[("occupied", "Accuracy, occupied squares"), ("accuracy", "Accuracy")], series, Figure {
        id: "figure-inside-accuracy".into(),
        title: "Boards read by linear probes, by layer".into(),
        description: "Accuracy by square on boards of test games. Only what lies above the untrained network is due to training. \
                      Bands are 95 % intervals by game."
            .into(),
        ..Figure::default()
    })
}

/// `figure` with a row for each model and each value of `name`.
fn by_layer(
    findings: &[&Finding],
    name: &str,
    values: &[(&str, &str)],
    series: impl Fn(&Finding) -> String,
    figure: Figure,
) -> Figure {
    let last = findings.iter().filter_map(|finding| layer_of(finding)).fold(1.0, f64::max);
    // There is no layer 1.5, and about seven numbers have room.
    let layers = (0..=last as u32).step_by((last as usize / 7).max(1));
    let ticks = layers.map(|layer| (f64::from(layer), layer.to_string())).collect();
    let axis = Axis { ticks, ..Axis::up_to("Layer", last) };
    let rows = groups(findings, name).iter().map(|group| panels(group, values, &axis, layer_of, &series)).collect();
    Figure { rows, ..figure }
}

/// A panel for each of `values` that the group has, a line for each series.
fn panels(
    group: &Group,
    values: &[(&str, &str)],
    axis: &Axis,
    x: fn(&Finding) -> Option<f64>,
    series: impl Fn(&Finding) -> String,
) -> cwm_page::PanelRow {
    // A line without a point, such as that of majority classes, would take a colour.
    let drawn = group.findings.iter().copied().filter(|finding| x(finding).is_some());
    let names = distinct(drawn, &series);
    let panel = |(value, title): &(&str, &str)| {
        let lines = names.iter().enumerate().map(|(nth, name)| {
            let of_name = group.findings.iter().filter(|finding| series(finding) == *name);
            let mut points: Vec<Point> =
                of_name.filter_map(|finding| point(finding, x(finding)?, value, name)).collect();
            points.sort_by(|one, two| one.x.total_cmp(&two.x));
            let style = Style { dash: nth % cwm_page::DASHES, ..Style::solid(colour(name, nth)) };
            Series { name: name.clone(), style, joined: true, points }
        });
        let layers: Vec<Layer> = lines.filter(|series| !series.points.is_empty()).map(Layer::Series).collect();
        panel(title, axis.clone(), Axis::up_to("", 1.0), Grid::Horizontal, layers)
    };
    let panels: Vec<_> = values.iter().map(panel).filter(|panel| !panel.layers.is_empty()).collect();
    row(group.heading.clone(), 200, panels.len().max(2), panels)
}

fn point(finding: &Finding, x: f64, value: &str, name: &str) -> Option<Point> {
    let y = finding.get(value)?;
    Some(Point { x, y, range: finding.interval(value), note: format!("{name}, {x}: {}", short(y)) })
}
