//! The canvas that figures are drawn on. It keeps shapes, which SVG and PDF each write in their own way.
//!
//! Its unit is a tenth of a CSS pixel, and all coordinates are whole, so that equal figures have equal bytes.

use super::paint::{ColourRole, Paint};
use super::simplify::simplify_collinear;
use super::typeface;

/// Units to a CSS pixel.
pub(super) const UNIT: u32 = 10;
/// A reader's fonts may be wider than the one that is measured: DejaVu Sans by about this.
const WIDEST: f64 = 1.16;

/// A place on the canvas; coordinates go right and down.
pub(super) type Coordinate = (i32, i32);

/// Everything that was drawn, in order.
pub(super) struct VectorCanvas {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) shapes: Vec<Shape>,
}

/// A shape on the canvas.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    Line {
        points: Vec<Coordinate>,
        paint: Paint,
        width: u32,
    },
    Area {
        points: Vec<Coordinate>,
        paint: Paint,
        /// Tooltip; may be empty.
        note: String,
    },
    Marker(Marker),
    Text(Text),
}

/// A marker.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Marker {
    pub(super) at: Coordinate,
    pub(super) outline: Outline,
    pub(super) inside: Paint,
    pub(super) edge: Paint,
    /// The width of the edge.
    pub(super) width: u32,
    /// True if it is seen only while the pointer is on it.
    pub(super) faint: bool,
    /// Tooltip; may be empty.
    pub(super) note: String,
}

/// A marker's shape.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outline {
    Circle(i32),
    /// Corners, relative to the marker's middle.
    Polygon(Vec<Coordinate>),
}

/// A line of text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Text {
    pub(super) text: String,
    /// The beginning, middle or end of its baseline.
    pub(super) at: Coordinate,
    pub(super) anchor: Anchor,
    pub(super) size: u32,
    pub(super) bold: bool,
    /// True if it reads upwards, not to the right.
    pub(super) upwards: bool,
    pub(super) paint: Paint,
}

/// The part of a text that is at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// The height of a text that is at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VerticalAnchor {
    Top,
    Middle,
    Bottom,
}

/// The setting of a text, and its position around its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextStyle {
    pub(super) size: u32,
    pub(super) role: ColourRole,
    pub(super) bold: bool,
    pub(super) anchor: Anchor,
    pub(super) vertical: VerticalAnchor,
    pub(super) upwards: bool,
}

impl TextStyle {
    /// A text that begins at its place, right and down of it.
    pub(super) fn new(size: u32, role: ColourRole) -> Self {
        TextStyle { size, role, bold: false, anchor: Anchor::Start, vertical: VerticalAnchor::Top, upwards: false }
    }

    /// Returns the text in bold letters.
    pub(super) fn bold(self) -> Self {
        TextStyle { bold: true, ..self }
    }

    /// Returns the text with this part of it at its place.
    pub(super) fn anchored(self, anchor: Anchor, vertical: VerticalAnchor) -> Self {
        TextStyle { anchor, vertical, ..self }
    }
}

impl VectorCanvas {
    /// An empty canvas.
    pub(super) fn new(width: u32, height: u32) -> Self {
        VectorCanvas { width, height, shapes: Vec::new() }
    }

    /// Draws straight lines from point to point.
    pub(super) fn line(&mut self, points: impl IntoIterator<Item = Coordinate>, paint: Paint, width: u32) {
        self.shapes.push(Shape::Line { points: simplify_collinear(points), paint, width });
    }

    /// Fills the area inside a closed line.
    pub(super) fn fill(&mut self, points: impl IntoIterator<Item = Coordinate>, paint: Paint) {
        self.shapes.push(Shape::Area { points: simplify_collinear(points), paint, note: String::new() });
    }

    /// Fills the rectangle between two corners, which has a tooltip unless `note` is empty.
    pub(super) fn fill_rect(&mut self, a: Coordinate, b: Coordinate, paint: Paint, note: &str) {
        let points = vec![a, (b.0, a.1), b, (a.0, b.1)];
        self.shapes.push(Shape::Area { points, paint, note: note.to_owned() });
    }

    /// Writes a line of text.
    pub(super) fn text(&mut self, text: &str, style: TextStyle, (x, y): Coordinate) {
        // From its place down to the baseline, by the usual proportions of a sans-serif font.
        let part = match style.vertical {
            VerticalAnchor::Top => 0.76,
            VerticalAnchor::Middle => 0.35,
            VerticalAnchor::Bottom => -0.24,
        };
        let down = (f64::from(style.size) * part).round() as i32;
        self.shapes.push(Shape::Text(Text {
            text: text.to_owned(),
            at: if style.upwards { (x + down, y) } else { (x, y + down) },
            anchor: style.anchor,
            size: style.size,
            bold: style.bold,
            upwards: style.upwards,
            paint: Paint::of(style.role),
        }));
    }
}

/// Room that a text takes, in its size's unit, in whatever font a reader has.
pub(super) fn text_width(text: &str, size: u32, bold: bool) -> u32 {
    (typeface::width(text, bold) * f64::from(size) * WIDEST).ceil() as u32
}

/// The text, cut to fit into `room` with an ellipsis.
pub(super) fn fitted(text: &str, size: u32, bold: bool, room: u32) -> String {
    let fits = |text: &str| text_width(text, size, bold) <= room;
    if fits(text) {
        return text.to_owned();
    }
    let characters: Vec<char> = text.chars().collect();
    let cut = |length: usize| characters[..length].iter().collect::<String>().trim_end().to_owned() + "…";
    (1..characters.len()).rev().map(cut).find(|text| fits(text)).unwrap_or_default()
}
