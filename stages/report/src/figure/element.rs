//! Elements that plotters lacks: markers with tooltips, tiles with tooltips, arrows.

use std::iter::{Once, once};

use plotters::element::{Drawable, PointCollection};
use plotters_backend::{BackendCoord, DrawingErrorKind};

use super::pen::{Ink, Pen, ink};
use super::sheet::{Mark, Outline, Shape, Sheet};
use super::{COLOURS, Style};

type Done = Result<(), DrawingErrorKind<std::convert::Infallible>>;

/// A marker whose shape differs from colour to colour, so that series can be told apart without seeing colours.
pub(super) struct Marker<'a, Coordinate> {
    pub(super) at: Coordinate,
    pub(super) style: Style,
    /// Seen only while the pointer is on it.
    pub(super) faint: bool,
    pub(super) note: &'a str,
}

/// Half a marker, in tenths of a pixel.
pub(super) const RADIUS: i32 = 36;
const LIGHT_RADIUS: i32 = 30;

impl<'a, Coordinate: 'a> PointCollection<'a, Coordinate> for &'a Marker<'_, Coordinate> {
    type Point = &'a Coordinate;
    type IntoIter = Once<&'a Coordinate>;

    fn point_iter(self) -> Self::IntoIter {
        once(&self.at)
    }
}

impl<Coordinate> Drawable<Sheet> for Marker<'_, Coordinate> {
    fn draw<I: Iterator<Item = BackendCoord>>(&self, mut places: I, sheet: &mut Sheet, _: (u32, u32)) -> Done {
        let Some(at) = places.next() else { return Ok(()) };
        let Style { colour, filled, light, .. } = self.style;
        let pen = Pen::of(ink(colour));
        let ground = Pen::of(Ink::Ground);
        let (inside, edge, width) = match (filled, light) {
            (true, false) => (pen, ground, 6),
            (false, false) => (ground, pen, 15),
            (true, true) => (pen.at(0.3), pen.at(0.8), 9),
            (false, true) => (ground, pen.at(0.8), 9),
        };
        let outline = outline(colour, if light { LIGHT_RADIUS } else { RADIUS });
        let note = self.note.to_owned();
        sheet.shapes.push(Shape::Mark(Mark { at, outline, inside, edge, width, faint: self.faint, note }));
        Ok(())
    }
}

/// The shape for a colour, all of about the same area.
fn outline(colour: Option<usize>, radius: i32) -> Outline {
    let corners: &[(f64, f64)] = match colour.map(|number| number % COLOURS) {
        None | Some(0) => return Outline::Circle(radius),
        Some(1) => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
        Some(2) => &[(0.0, -1.25), (1.15, 0.85), (-1.15, 0.85)],
        Some(3) => &[(0.0, -1.3), (1.1, 0.0), (0.0, 1.3), (-1.1, 0.0)],
        Some(4) => &[(0.0, 1.25), (1.15, -0.85), (-1.15, -0.85)],
        Some(5) => &PLUS,
        Some(6) => &CROSS,
        Some(_) => &[(0.0, -1.2), (1.15, -0.35), (0.7, 1.0), (-0.7, 1.0), (-1.15, -0.35)],
    };
    let scaled = |value: f64| (value * f64::from(radius)).round() as i32;
    Outline::Polygon(corners.iter().map(|(x, y)| (scaled(*x), scaled(*y))).collect())
}

const PLUS: [(f64, f64); 12] = [
    (-0.4, -1.2),
    (0.4, -1.2),
    (0.4, -0.4),
    (1.2, -0.4),
    (1.2, 0.4),
    (0.4, 0.4),
    (0.4, 1.2),
    (-0.4, 1.2),
    (-0.4, 0.4),
    (-1.2, 0.4),
    (-1.2, -0.4),
    (-0.4, -0.4),
];
/// The plus, turned by an eighth.
const CROSS: [(f64, f64); 12] = [
    (0.57, -1.13),
    (1.13, -0.57),
    (0.57, 0.0),
    (1.13, 0.57),
    (0.57, 1.13),
    (0.0, 0.57),
    (-0.57, 1.13),
    (-1.13, 0.57),
    (-0.57, 0.0),
    (-1.13, -0.57),
    (-0.57, -1.13),
    (0.0, -0.57),
];

/// A filled rectangle between two corners.
pub(super) struct Plate<'a, Coordinate> {
    pub(super) corners: [Coordinate; 2],
    pub(super) pen: Pen,
    pub(super) note: &'a str,
}

impl<'a, Coordinate: 'a> PointCollection<'a, Coordinate> for &'a Plate<'_, Coordinate> {
    type Point = &'a Coordinate;
    type IntoIter = &'a [Coordinate];

    fn point_iter(self) -> Self::IntoIter {
        &self.corners
    }
}

impl<Coordinate> Drawable<Sheet> for Plate<'_, Coordinate> {
    fn draw<I: Iterator<Item = BackendCoord>>(&self, mut places: I, sheet: &mut Sheet, _: (u32, u32)) -> Done {
        if let (Some(a), Some(b)) = (places.next(), places.next()) {
            let points = vec![a, (b.0, a.1), b, (a.0, b.1)];
            sheet.shapes.push(Shape::Area { points, pen: self.pen, note: self.note.to_owned() });
        }
        Ok(())
    }
}

/// An arrow between two markers, a line alone where there is no room for its head; nothing where they touch.
pub(super) struct Arrow {
    pub(super) ends: [(f64, f64); 2],
    pub(super) style: Style,
}

/// Space between an arrow and a marker's middle, and the size of its head.
const CLEARANCE: f64 = 46.0;
const HEAD: f64 = 38.0;

impl<'a> PointCollection<'a, (f64, f64)> for &'a Arrow {
    type Point = &'a (f64, f64);
    type IntoIter = &'a [(f64, f64)];

    fn point_iter(self) -> Self::IntoIter {
        &self.ends
    }
}

impl Drawable<Sheet> for Arrow {
    fn draw<I: Iterator<Item = BackendCoord>>(&self, mut places: I, sheet: &mut Sheet, _: (u32, u32)) -> Done {
        let (Some(from), Some(to)) = (places.next(), places.next()) else { return Ok(()) };
        let (dx, dy) = (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
        let length = dx.hypot(dy);
        let headed = length >= 2.0 * CLEARANCE + HEAD;
        let (begin, tip) = match headed {
            true => (CLEARANCE, length - CLEARANCE),
            false => (f64::from(RADIUS), length - f64::from(RADIUS)),
        };
        if tip - begin < 1.0 {
            return Ok(());
        }
        // A point so far along the arrow and so far beside it.
        let at = |along: f64, beside: f64| {
            let x = f64::from(from.0) + (dx * along - dy * beside) / length;
            let y = f64::from(from.1) + (dy * along + dx * beside) / length;
            (x.round() as i32, y.round() as i32)
        };
        let pen = Pen { dash: 0, ..Pen::line(self.style) };
        let width = if self.style.light { 9 } else { 14 };
        let end = if headed { tip - HEAD } else { tip };
        sheet.shapes.push(Shape::Line { points: vec![at(begin, 0.0), at(end, 0.0)], pen, width });
        if headed {
            let head = vec![at(tip, 0.0), at(tip - HEAD, HEAD * 0.45), at(tip - HEAD, -HEAD * 0.45)];
            sheet.shapes.push(Shape::Area { points: head, pen, note: String::new() });
        }
        Ok(())
    }
}
