//! Violins: the distributions of masses.

use cwm_findings::{Finding, Kind};
use cwm_page::{Axis, Figure, Grid, Layer, Tile};

use super::colour;
use super::groups::groups;
use crate::papers::drawing::{panel, row};
use crate::papers::inside_models::measured::{MeasuredFinding, of_kind};
use crate::papers::inside_models::table::short;

/// Bins of a density.
const BINS: usize = 64;

/// Controls and linear probes.
pub(crate) fn probes(found: &[MeasuredFinding]) -> Figure {
    let violins = [
        ("none", "original"),
        ("random", "original"),
        ("patch", "original"),
        ("probe", "original"),
        ("probe", "target"),
        ("patch", "future"),
    ];
    Figure {
        id: "figure-inside-5".into(),
        title: "Legal move probability mass after edits".into(),
        paper: Some("Figure 5, Section 4.7"),
        ..violins_of(found, &violins)
    }
}

/// Edits by an autoencoder's latents.
pub(crate) fn latents(found: &[MeasuredFinding]) -> Figure {
    let edits = ["cd_probe", "sae_probe"];
    let violins = ["original", "target"].map(|board| ["none", edits[0], edits[1]].map(|edit| (edit, board))).concat();
    let has = |name: &str| of_kind(found, Kind::Density).any(|finding| finding.named("intervention") == name);
    Figure {
        id: "figure-inside-6".into(),
        title: "Legal move probability mass after edits by latents".into(),
        paper: Some("Figure 6, Section 4.8"),
        ..if edits.into_iter().any(has) { violins_of(found, &violins) } else { Figure::default() }
    }
}

fn violins_of(found: &[MeasuredFinding], violins: &[(&str, &str)]) -> Figure {
    let densities: Vec<&Finding> = of_kind(found, Kind::Density).filter(|finding| finding.layer.is_none()).collect();
    let rows = groups(&densities, "eta").into_iter().filter_map(|group| {
        let find = |(edit, board): &(&str, &str)| {
            let is = |finding: &&&Finding| (finding.named("intervention"), finding.named("board")) == (*edit, *board);
            group.findings.iter().find(is).copied()
        };
        let drawn: Vec<_> = violins.iter().filter_map(|violin| Some((violin, find(violin)?))).collect();
        if drawn.iter().all(|((edit, _), _)| *edit == "none") {
            return None;
        }
        let axis = Axis::of_names("", drawn.iter().map(|((edit, board), _)| format!("{edit}, {board}")));
        let tiles = drawn.iter().enumerate().flat_map(|(place, ((edit, _), density))| violin(place, edit, density));
        let panel = panel("", axis, Axis::up_to("Mass", 1.0), Grid::Horizontal, tiles.collect());
        Some(row(group.heading, 240, 1, vec![panel]))
    });
    Figure {
        description: "How many edits leave how much mass on the origins of legal moves of a board, over the edited layers: as wide as the \
                      share of edits in each of 64 bins, the widest of each alike."
            .into(),
        rows: rows.collect(),
        ..Figure::default()
    }
}

/// A histogram and its mirror image.
fn violin(place: usize, edit: &str, density: &Finding) -> Vec<Layer> {
    let share = |bin: usize| density.get(&format!("{bin:02}")).unwrap_or(0.0);
    let widest = (0..BINS).map(share).fold(f64::MIN_POSITIVE, f64::max);
    let tile = |bin: usize| {
        let (middle, half) = (place as f64 + 0.5, share(bin) / widest * 0.45);
        let y = (bin as f64 / BINS as f64, (bin + 1) as f64 / BINS as f64);
        let note = format!("{edit}, mass {} to {}: {}", short(y.0), short(y.1), short(share(bin)));
        let x = (middle - half, middle + half);
        Layer::Tile(Tile { x, y, colour: Some(colour(edit, 0)), strength: 0.8, value: Some(share(bin)), note })
    };
    (0..BINS).filter(|bin| share(*bin) > 0.0).map(tile).collect()
}
