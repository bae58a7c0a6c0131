//! Paint of shapes: a colour by its meaning, which each format looks up in the palette.

use super::Style;

/// A colour by its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColourRole {
    /// The background.
    Background,
    Text,
    /// Axes and their labels.
    Quiet,
    /// Lines of the grid.
    Rule,
    /// A series' colour, by its number.
    Series(u8),
}

impl ColourRole {
    /// The role of a series' colour; that of axes for none.
    pub(super) fn of_series(colour: Option<usize>) -> Self {
        colour.map_or(ColourRole::Quiet, |number| ColourRole::Series(number as u8))
    }

    /// Its name in the palette and among the classes of the style sheet.
    pub(super) fn name(self) -> String {
        match self {
            ColourRole::Background => "ground".into(),
            ColourRole::Text => "ink".into(),
            ColourRole::Quiet => "quiet".into(),
            ColourRole::Rule => "line".into(),
            ColourRole::Series(number) => format!("c{number}"),
        }
    }
}

/// A colour, its dashes and its opacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Paint {
    pub(super) role: ColourRole,
    /// The number of the dash pattern; 0 is solid.
    pub(super) dash: u8,
    /// The opacity, from 0 to 1.
    pub(super) opacity: f64,
}

impl Paint {
    /// An opaque, solid paint.
    pub(super) const fn of(role: ColourRole) -> Self {
        Paint { role, dash: 0, opacity: 1.0 }
    }

    /// The paint of a series' lines.
    pub(super) fn line(style: Style) -> Self {
        let opacity = if style.light { 0.6 } else { 1.0 };
        Paint { role: ColourRole::of_series(style.colour), dash: style.dash as u8, opacity }
    }

    /// Returns this paint with another opacity.
    pub(super) fn with_opacity(self, opacity: f64) -> Self {
        Paint { opacity, ..self }
    }
}
