//! Numbers on the squares of a board.

use cwm_findings::{Finding, Kind};
use cwm_page::{Axis, Figure, Grid, Layer, Panel, TILE_COLOUR, Tile};

use super::groups::groups;
use crate::papers::drawing::{bar, panel, row};
use crate::papers::inside_models::measured::{MeasuredFinding, distinct, of_kind};
use crate::papers::inside_models::table::short;

/// Boards side by side.
const ABREAST: usize = 3;
const HEIGHT: u32 = 230;

/// Accuracy of linear probes by square, at the layer of each network where they read occupied squares best.
pub(crate) fn accuracy_squares(found: &[MeasuredFinding]) -> Figure {
    let is_plain = |finding: &&Finding| {
        [("of", "stream"), ("method", "linear"), ("labels", "true"), ("phase", "any")]
            .iter()
            .all(|(name, usual)| ["", *usual].contains(&finding.named(name)))
    };
    let plain: Vec<&Finding> = of_kind(found, Kind::Probe).filter(is_plain).collect();
    let rows = groups(&plain, "target").into_iter().map(|group| {
        let networks = distinct(group.findings.iter().copied(), |finding| finding.network.as_str());
        let panels = networks.into_iter().filter_map(|network| {
            let of_network = || group.findings.iter().filter(move |finding| finding.network == network);
            let wholes = of_network().filter(|finding| finding.named("square").is_empty());
            let score = |finding: &Finding| finding.get("occupied").or(finding.get("accuracy")).unwrap_or(0.0);
            let best = wholes.max_by(|one, two| score(one).total_cmp(&score(two)))?.layer?;
            let value = |square: &str| {
                let is = |finding: &&&Finding| finding.layer == Some(best) && finding.named("square") == square;
                of_network().find(is).and_then(|finding| finding.get("accuracy"))
            };
            Some(board(&format!("{network}, layer {best}"), value))
        });
        let panels: Vec<Panel> = panels.filter(|panel| !panel.layers.is_empty()).collect();
        row(group.heading.clone(), HEIGHT, ABREAST, panels)
    });
    Figure {
        id: "figure-inside-accuracy-squares".into(),
        title: "Boards read by linear probes, by square".into(),
        description: "Accuracy on each square, at the layer where occupied squares are read best: the darker, the more often right.".into(),
        rows: rows.collect(),
        ..Figure::default()
    }
}

/// The effect of edits by square and by piece.
pub(crate) fn squares(found: &[MeasuredFinding]) -> Figure {
    let is_part = |finding: &&Finding| {
        let is_probe = finding.named("intervention") == "probe" && finding.layer.is_none();
        is_probe && ["square", "piece"].iter().any(|part| !finding.named(part).is_empty())
    };
    let parts: Vec<&Finding> = of_kind(found, Kind::Edit).filter(is_part).collect();
    let value = |finding: &Finding| finding.get("target").or(finding.get("square_empty"));
    let rows = groups(&parts, "eta").into_iter().map(|group| {
        let of = |square: &str| {
            group.findings.iter().find(|finding| finding.named("square") == square).and_then(|it| value(it))
        };
        let pieces: Vec<(&str, f64)> = group
            .findings
            .iter()
            .filter(|finding| !finding.named("piece").is_empty())
            .filter_map(|finding| Some((finding.named("piece"), value(finding)?)))
            .collect();
        let bars = pieces.iter().enumerate().map(|(place, (piece, value))| {
            bar(
                (place as f64 + 0.1, place as f64 + 0.9),
                (0.0, *value),
                3,
                *value,
                format!("{piece}: {}", short(*value)),
            )
        });
        let names = Axis::of_names("", pieces.iter().map(|(piece, _)| (*piece).to_owned()));
        let by_piece = panel("By piece", names, Axis::up_to("", 1.0), Grid::Horizontal, bars.collect());
        let panels = [board("By square", of), by_piece].into_iter().filter(|panel| !panel.layers.is_empty());
        row(group.heading.clone(), HEIGHT, 2, panels.collect())
    });
    Figure {
        id: "figure-inside-squares".into(),
        title: "Edits by linear probes, by square and piece".into(),
        description: "Mass on the target board by the square and by the piece that the edit takes away, over the edited layers; of models \
                      of positions, how often the square is read as empty."
            .into(),
        rows: rows.collect(),
        ..Figure::default()
    }
}

/// Origins before and after single edits, and the boards that linear probes read.
pub(crate) fn cases(found: &[MeasuredFinding]) -> Figure {
    let rows = of_kind(found, Kind::Case).map(|case| {
        let boards = [("before", case.named("original")), ("after", case.named("edited"))];
        let origins = boards.map(|(when, placement)| {
            let value = |square: &str| case.get(&format!("{when}_{square}"));
            pieces_on(&format!("Origins {when}"), placement, value)
        });
        let predicted = boards.into_iter().filter_map(|(when, placement)| {
            let read = case.named(&format!("predicted_{when}"));
            // Squares on which the linear probe reads something else than stands there.
            let differs = |square: &str| Some(f64::from(piece_on(read, square) != piece_on(placement, square)));
            (!read.is_empty()).then(|| pieces_on(&format!("Read {when}"), read, differs))
        });
        let panels = origins.into_iter().chain(predicted).collect();
        let layer = case.layer.map(|layer| format!(", layer {layer}")).unwrap_or_default();
        let heading = [case.model.as_str(), case.named("case"), case.named("intervention")].join(", ") + &layer;
        row(format!("{heading}, η {}", case.named("eta")), HEIGHT, 4, panels)
    });
    Figure {
        id: "figure-inside-4".into(),
        title: "Single edits".into(),
        paper: Some("Figure 4, Section 4.6"),
        description: "Probability of each square as the origin of the next move, before and after the board was edited, with the pieces of \
                      the board before and after; and the boards that the linear probe reads there, with what is not as on that board marked. \
                      Letters are pieces as in FEN: capitals are White's."
            .into(),
        rows: rows.collect(),
        ..Figure::default()
    }
}

/// A board with a tile for each square that has a value, and with the letters of the pieces of a placement.
fn pieces_on(title: &str, placement: &str, value: impl Fn(&str) -> Option<f64>) -> Panel {
    let mut board = board(title, value);
    let squares = (0..64).map(|square| (square % 8, square / 8));
    let letters = squares.filter_map(|(file, rank): (u8, u8)| {
        let letter = piece_on(placement, &format!("{}{}", char::from(b'a' + file), rank + 1))?;
        Some(Layer::Text { at: (f64::from(file) + 0.5, f64::from(rank) + 0.5), text: letter.to_string() })
    });
    board.layers.extend(letters);
    board
}

/// Returns the piece on a square of a placement, as in FEN; `None` if the square is empty, or the text is no placement.
fn piece_on(placement: &str, square: &str) -> Option<char> {
    let mut letters = square.bytes();
    let (file, rank) = (letters.next()?.checked_sub(b'a')?, letters.next()?.checked_sub(b'1')?);
    let row = placement.split('/').nth(7usize.checked_sub(usize::from(rank))?)?;
    let mut place = 0;
    for letter in row.chars() {
        match letter.to_digit(10) {
            Some(empty) => place += empty as usize,
            None if place == usize::from(file) => return Some(letter),
            None => place += 1,
        }
    }
    None
}

/// A board with a tile for each square that has a value from 0 to 1.
fn board(title: &str, value: impl Fn(&str) -> Option<f64>) -> Panel {
    let squares = (0..64).map(|square| (square % 8, square / 8));
    let tile = |(file, rank): (u8, u8)| {
        let name = format!("{}{}", char::from(b'a' + file), rank + 1);
        let value = value(&name)?;
        let (left, low) = (f64::from(file), f64::from(rank));
        let note = format!("{name}: {}", short(value));
        let colour = Some(TILE_COLOUR);
        Some(Layer::Tile(Tile {
            x: (left, left + 1.0),
            y: (low, low + 1.0),
            colour,
            strength: value,
            value: Some(value),
            note,
        }))
    };
    let files = Axis::of_names("", ('a'..='h').map(String::from));
    let ranks = Axis::of_names("", ('1'..='8').map(String::from));
    panel(title, files, ranks, Grid::Bare, squares.filter_map(tile).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placement_tells_what_stands_on_each_square() {
        let placement = "rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR";
        let found = ["a8", "h8", "d7", "e7", "d5", "e4", "e2", "f2", "a1"].map(|square| piece_on(placement, square));
        let expected = ['r', 'r', '.', 'p', 'p', 'P', '.', 'P', 'R'].map(|piece| Some(piece).filter(|it| *it != '.'));
        assert_eq!(found, expected);
        for (wrong, square) in
            [("", "a1"), ("no placement", "e4"), ("9/99/8", "h7"), (placement, "i9"), (placement, "")]
        {
            assert_eq!(piece_on(wrong, square), None, "{wrong} {square}");
        }
    }
}
