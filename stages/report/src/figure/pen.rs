//! What things are drawn with. Plotters passes colours through as red, green and blue; ours are names, which each
//! format looks up, so they travel as codes.

use plotters::style::{Color, ShapeStyle};
use plotters_backend::BackendColor;

use super::Style;

/// A colour by its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    /// What lies behind everything.
    Ground,
    Text,
    /// Axes and their labels.
    Quiet,
    /// Lines of the grid.
    Rule,
    /// A series' colour, by its number.
    Colour(u8),
}

impl Ink {
    /// As the palette and the classes of the style sheet call it.
    pub(super) fn name(self) -> String {
        match self {
            Ink::Ground => "ground".into(),
            Ink::Text => "ink".into(),
            Ink::Quiet => "quiet".into(),
            Ink::Rule => "line".into(),
            Ink::Colour(number) => format!("c{number}"),
        }
    }
}

/// An ink, how it is broken into dashes, and how much of it there is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pen {
    pub(super) ink: Ink,
    /// 0 is solid.
    pub(super) dash: u8,
    /// 0 to 1.
    pub(super) opacity: f64,
}

/// Where the codes of the series' colours begin.
const FIRST_COLOUR: u8 = 4;

impl Pen {
    pub(super) const fn of(ink: Ink) -> Self {
        Pen { ink, dash: 0, opacity: 1.0 }
    }

    /// For the lines of a series.
    pub(super) fn line(style: Style) -> Self {
        let opacity = if style.light { 0.6 } else { 1.0 };
        Pen { ink: ink(style.colour), dash: style.dash as u8, opacity }
    }

    /// The same, seen less.
    pub(super) fn at(self, opacity: f64) -> Self {
        Pen { opacity, ..self }
    }

    /// A line of it, `width` tenths of a pixel wide.
    pub(super) fn stroke(self, width: u32) -> ShapeStyle {
        ShapeStyle { color: self.to_rgba(), filled: false, stroke_width: width }
    }

    /// What a plotter's colour stands for; other colours than ours never come.
    pub(super) fn from_code(color: BackendColor) -> Self {
        let (ink, dash, _) = color.rgb;
        let ink = match ink {
            0 => Ink::Ground,
            1 => Ink::Text,
            2 => Ink::Quiet,
            3 => Ink::Rule,
            colour => Ink::Colour(colour - FIRST_COLOUR),
        };
        Pen { ink, dash, opacity: color.alpha }
    }
}

/// The ink of a series; that of axes for none.
pub(super) fn ink(colour: Option<usize>) -> Ink {
    colour.map_or(Ink::Quiet, |number| Ink::Colour(number as u8))
}

impl Color for Pen {
    fn to_backend_color(&self) -> BackendColor {
        let ink = match self.ink {
            Ink::Ground => 0,
            Ink::Text => 1,
            Ink::Quiet => 2,
            Ink::Rule => 3,
            Ink::Colour(number) => FIRST_COLOUR + number,
        };
        BackendColor { alpha: self.opacity, rgb: (ink, self.dash, 0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pens_come_through_as_they_went_in() {
        let inks = [Ink::Ground, Ink::Text, Ink::Quiet, Ink::Rule, Ink::Colour(0), Ink::Colour(7)];
        for (ink, dash) in inks.into_iter().zip([0, 1, 2, 3, 0, 3]) {
            let pen = Pen { ink, dash, opacity: 0.25 };
            assert_eq!(Pen::from_code(pen.to_rgba().to_backend_color()), pen);
        }
    }
}
