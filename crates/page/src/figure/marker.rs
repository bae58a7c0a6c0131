//! Markers and arrows.

use super::canvas::{Coordinate, Marker, Outline, Shape, VectorCanvas};
use super::paint::{ColourRole, Paint};
use super::{COLOURS, Style};

/// Half a marker, in tenths of a pixel.
pub(super) const RADIUS: i32 = 36;
const LIGHT_RADIUS: i32 = 30;

impl VectorCanvas {
    /// Draws a marker, whose shape differs from colour to colour, so that series can be distinguished without seeing
    /// colours. A faint one is seen only while the pointer is on it.
    pub(super) fn marker(&mut self, at: Coordinate, style: Style, faint: bool, note: &str) {
        let Style { colour, filled, light, .. } = style;
        let paint = Paint::of(ColourRole::of_series(colour));
        let ground = Paint::of(ColourRole::Background);
        let (inside, edge, width) = match (filled, light) {
            (true, false) => (paint, ground, 6),
            (false, false) => (ground, paint, 15),
            (true, true) => (paint.with_opacity(0.3), paint.with_opacity(0.8), 9),
            (false, true) => (ground, paint.with_opacity(0.8), 9),
        };
        let outline = outline(colour, if light { LIGHT_RADIUS } else { RADIUS });
        self.shapes.push(Shape::Marker(Marker { at, outline, inside, edge, width, faint, note: note.to_owned() }));
    }

    /// Draws an arrow between two markers: a line alone where there is no room for its head, nothing where they touch.
    pub(super) fn arrow(&mut self, from: Coordinate, to: Coordinate, style: Style) {
        let (dx, dy) = (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
        let length = dx.hypot(dy);
        let headed = length >= 2.0 * CLEARANCE + HEAD;
        let (begin, tip) = match headed {
            true => (CLEARANCE, length - CLEARANCE),
            false => (f64::from(RADIUS), length - f64::from(RADIUS)),
        };
        if tip - begin < 1.0 {
            return;
        }
        // A point so far along the arrow and so far beside it.
        let at = |along: f64, beside: f64| {
            let x = f64::from(from.0) + (dx * along - dy * beside) / length;
            let y = f64::from(from.1) + (dy * along + dx * beside) / length;
            (x.round() as i32, y.round() as i32)
        };
        let paint = Paint { dash: 0, ..Paint::line(style) };
        let end = if headed { tip - HEAD } else { tip };
        self.line([at(begin, 0.0), at(end, 0.0)], paint, if style.light { 9 } else { 14 });
        if headed {
            self.fill([at(tip, 0.0), at(tip - HEAD, HEAD * 0.45), at(tip - HEAD, -HEAD * 0.45)], paint);
        }
    }
}

/// Space between an arrow and a marker's middle, and the size of its head.
const CLEARANCE: f64 = 46.0;
const HEAD: f64 = 38.0;

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
/// The corners of a cross: those of the plus, rotated by 45°.
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
