//! Exposure bias as bars.

use cwm_page::{Axis, Figure, Grid, Layer, Point, Series, Style};

use crate::papers::board_vs_moves::common::id;
use crate::papers::board_vs_moves::figures::{bar, panel, row, styles};
use crate::papers::board_vs_moves::groups::{Group, Member, points};
use crate::papers::board_vs_moves::tables::{FORCED_AND_FREE, answers_in_several_tokens};

/// A panel for each kind of answer, a bar for each arm.
pub(crate) fn exposure(groups: &[Group]) -> Figure {
    let members: Vec<Member> = answers_in_several_tokens(groups).collect();
    let styles = styles(members.iter().map(|member| member.measured().arm.name.as_str()));
    let panels = FORCED_AND_FREE.map(|(title, forced, free)| {
        let bars = members.iter().zip(&styles).enumerate().filter_map(|(place, (member, style))| {
            let found = member.group.compared.difference((member.place, forced), (member.place, free), |_| true)?;
            let (middle, y) = (place as f64 + 0.5, found.mean * 100.0);
            let range = found.interval.map(|(low, high)| (low * 100.0, high * 100.0));
            let note = format!("{}: {} points", member.name(), points(found.mean));
            let filled = bar(
                (middle - 0.3, middle + 0.3),
                (y.min(0.0), y.max(0.0)),
                style.colour.unwrap_or(0),
                y,
                String::new(),
            );
            let mark = Point { x: middle, y, range, note };
            Some((
                filled,
                Series { name: member.name(), style: Style { dash: 0, ..*style }, joined: false, points: vec![mark] },
            ))
        });
        let (bars, marks): (Vec<Layer>, Vec<Series>) = bars.unzip();
        (title, bars.into_iter().chain(marks.into_iter().map(Layer::Series)).collect::<Vec<Layer>>())
    });
    let marks = panels.iter().flat_map(|(_, layers)| layers).filter_map(|layer| match layer {
        Layer::Series(series) => Some(&series.points),
        Layer::Tile(_) | Layer::Arrow { .. } | Layer::Text { .. } => None,
    });
    let heights = marks.flatten().flat_map(Point::heights).chain([0.0, 1.0]).collect::<Vec<_>>();
    let y = Axis::linear("Forced less free (points)", heights.into_iter());
    let panels = panels.into_iter().enumerate().map(|(place, (title, layers))| {
        let names = Axis::of_names("", members.iter().map(|_| String::new())).shown(false);
        panel(title, names, y.clone().shown(place == 0), Grid::Horizontal, layers)
    });
    Figure {
        id: id("exposure"),
        title: "Exposure bias".into(),
        paper: Some("Figures of Appendices C and D.6"),
        description: "How much more often an answer is valid, legal or best if each token is chosen behind the right ones than if it is chosen \
                      behind the model's own. Bars through the marks are 95 % intervals, paired by position."
            .into(),
        rows: vec![row(String::new(), 220, FORCED_AND_FREE.len(), panels.collect())],
        legend: Vec::new(),
    }
}
