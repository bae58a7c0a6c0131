//! What plotters draws on: it keeps shapes, for each format to write in its own way.
//!
//! A sheet's unit is a tenth of a CSS pixel, since plotters counts in whole units.

use std::convert::Infallible;

use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind, FontStyle,
    FontTransform,
};

use super::pen::Pen;
use super::straight::without_needless;
use super::typeface;

/// Units to a CSS pixel.
pub(super) const UNIT: u32 = 10;
/// A reader's fonts may be wider than the one that is measured: DejaVu Sans by about this.
const WIDEST: f64 = 1.16;

type Done = Result<(), DrawingErrorKind<Infallible>>;

/// Everything that was drawn, in order.
pub(super) struct Sheet {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) shapes: Vec<Shape>,
}

/// A thing on the sheet; coordinates go right and down.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    Line {
        points: Vec<BackendCoord>,
        pen: Pen,
        width: u32,
    },
    Area {
        points: Vec<BackendCoord>,
        pen: Pen,
        /// Tooltip; may be empty.
        note: String,
    },
    Mark(Mark),
    Text(Text),
}

/// A marker.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mark {
    pub(super) at: BackendCoord,
    pub(super) outline: Outline,
    pub(super) inside: Pen,
    pub(super) edge: Pen,
    /// Of the edge.
    pub(super) width: u32,
    /// Seen only while the pointer is on it.
    pub(super) faint: bool,
    /// Tooltip; may be empty.
    pub(super) note: String,
}

/// A marker's shape.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outline {
    Circle(i32),
    /// Corners, from the marker's middle.
    Polygon(Vec<BackendCoord>),
}

/// A line of text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Text {
    pub(super) text: String,
    /// On its baseline: its beginning, middle or end.
    pub(super) at: BackendCoord,
    pub(super) anchor: Anchor,
    pub(super) size: u32,
    pub(super) bold: bool,
    /// Reads upwards, not to the right.
    pub(super) upwards: bool,
    pub(super) pen: Pen,
}

/// Which part of a text stands at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Sheet {
    /// An empty one.
    pub(super) fn new(width: u32, height: u32) -> Self {
        Sheet { width, height, shapes: Vec::new() }
    }
}

/// Room that a text takes, in its size's unit, in whatever font a reader has.
pub(super) fn text_width(text: &str, size: f64, bold: bool) -> u32 {
    (typeface::width(text, bold) * size * WIDEST).ceil() as u32
}

/// The text, cut to fit into `room` with an ellipsis.
pub(super) fn fitted(text: &str, size: u32, bold: bool, room: u32) -> String {
    let fits = |text: &str| text_width(text, f64::from(size), bold) <= room;
    if fits(text) {
        return text.to_owned();
    }
    let characters: Vec<char> = text.chars().collect();
    let cut = |length: usize| characters[..length].iter().collect::<String>().trim_end().to_owned() + "…";
    (1..characters.len()).rev().map(cut).find(|text| fits(text)).unwrap_or_default()
}

impl DrawingBackend for Sheet {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        (self.width, self.height)
    }

    fn ensure_prepared(&mut self) -> Done {
        Ok(())
    }

    fn present(&mut self) -> Done {
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, color: BackendColor) -> Done {
        self.draw_rect((x, y), (x + 1, y + 1), &color, true)
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Done {
        self.draw_path([from, to], style)
    }

    fn draw_rect<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S, fill: bool) -> Done {
        let corners = [from, (to.0, from.1), to, (from.0, to.1)];
        if fill { self.fill_polygon(corners, style) } else { self.draw_path(corners.into_iter().chain([from]), style) }
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, path: I, style: &S) -> Done {
        let pen = Pen::from_code(style.color());
        if pen.opacity > 0.0 {
            self.shapes.push(Shape::Line { points: without_needless(path), pen, width: style.stroke_width() });
        }
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, path: I, style: &S) -> Done {
        let points = without_needless(path);
        self.shapes.push(Shape::Area { points, pen: Pen::from_code(style.color()), note: String::new() });
        Ok(())
    }

    fn draw_text<T: BackendTextStyle>(&mut self, text: &str, style: &T, (x, y): BackendCoord) -> Done {
        // From the anchor down to the baseline, by the usual proportions of a sans-serif font.
        let down = style.size()
            * match style.anchor().v_pos {
                VPos::Top => 0.76,
                VPos::Center => 0.35,
                VPos::Bottom => -0.24,
            };
        let upwards = matches!(style.transform(), FontTransform::Rotate270);
        let down = down.round() as i32;
        self.shapes.push(Shape::Text(Text {
            text: text.to_owned(),
            at: if upwards { (x + down, y) } else { (x, y + down) },
            anchor: match style.anchor().h_pos {
                HPos::Left => Anchor::Start,
                HPos::Center => Anchor::Middle,
                HPos::Right => Anchor::End,
            },
            size: style.size() as u32,
            bold: matches!(style.style(), FontStyle::Bold),
            upwards,
            pen: Pen::from_code(style.color()),
        }));
        Ok(())
    }

    fn estimate_text_size<T: BackendTextStyle>(
        &self,
        text: &str,
        style: &T,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        let bold = matches!(style.style(), FontStyle::Bold);
        Ok((text_width(text, style.size(), bold), style.size() as u32))
    }
}
