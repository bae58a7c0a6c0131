//! A figure as SVG, on its own or inside the page. Colours are classes, which follow the reader's mode.

use std::fmt::Write;

use super::Figure;
use super::canvas::{Anchor, Coordinate, Marker, Outline, Shape, Text, UNIT, VectorCanvas};
use super::paint::Paint;
use super::palette::PALETTE;
use crate::plain_text::markup;

/// The style sheet of the parts of a figure.
pub const FIGURE_STYLE: &str = include_str!("chart.css");

impl Figure {
    /// The figure as a file of its own, with its style inside.
    pub fn standalone_svg(&self) -> String {
        let style = format!(
            "<style>\n{PALETTE}{FIGURE_STYLE}</style>\n<rect class=\"f ground\" width=\"100%\" height=\"100%\"/>\n"
        );
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}", self.svg(true, &style))
    }

    /// The figure as a part of the page, which has the style.
    pub fn inline_svg(&self) -> String {
        self.svg(false, "")
    }

    fn svg(&self, alone: bool, style: &str) -> String {
        let VectorCanvas { width, height, shapes } = self.draw();
        let (width, height) = (width / UNIT, height / UNIT);
        let id = markup(&self.id);
        // A file of its own has a size: without one it would be as large as the window, with blank strips around it.
        let own = match alone {
            true => format!(" xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\""),
            false => String::new(),
        };
        let mut svg = format!(
            "<svg{own} class=\"chart\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
             aria-labelledby=\"{id}-title {id}-description\">\n<title id=\"{id}-title\">{}</title>\n\
             <desc id=\"{id}-description\">{}</desc>\n{style}",
            markup(&self.title),
            markup(&self.description)
        );
        for shape in &shapes {
            match shape {
                Shape::Line { points, paint, width } => {
                    let (class, width) = (classes("s", *paint), pixels(*width as i32));
                    let _ = writeln!(
                        svg,
                        "<path class=\"{class}\" stroke-width=\"{width}\"{} d=\"{}\"/>",
                        opacity("stroke-opacity", *paint),
                        path((0, 0), points)
                    );
                }
                Shape::Area { points, paint, note } => {
                    let (class, outline) = (classes("f", *paint), area(points));
                    let opacity = opacity("fill-opacity", *paint);
                    let _ = writeln!(svg, "<path class=\"{class}\"{opacity} d=\"{outline}\"{}", end("path", note));
                }
                Shape::Marker(mark) => marker(&mut svg, mark),
                Shape::Text(text) => written(&mut svg, text),
            }
        }
        svg.push_str("</svg>\n");
        svg
    }
}

/// Inside and edge have colours of their own, so these stand in attributes; on hovering the style sheet wins.
fn marker(svg: &mut String, mark: &Marker) {
    let variable = |paint: Paint| format!("var(--{})", paint.role.name());
    let look = format!(
        "class=\"m\" fill=\"{}\"{} stroke=\"{}\"{} stroke-width=\"{}\"",
        variable(mark.inside),
        opacity("fill-opacity", mark.inside),
        variable(mark.edge),
        opacity("stroke-opacity", mark.edge),
        pixels(mark.width as i32)
    );
    // Invisible markers need no style.
    let look = if mark.faint { "class=\"m faint\"" } else { look.as_str() };
    let _ = match &mark.outline {
        Outline::Circle(radius) => {
            let [x, y, radius] = [mark.at.0, mark.at.1, *radius].map(pixels);
            writeln!(svg, "<circle {look} cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"{}", end("circle", &mark.note))
        }
        Outline::Polygon(corners) => {
            writeln!(svg, "<path {look} d=\"{}Z\"{}", path(mark.at, corners), end("path", &mark.note))
        }
    };
}

fn written(svg: &mut String, text: &Text) {
    if text.text.is_empty() {
        return;
    }
    let [x, y] = [text.at.0, text.at.1].map(pixels);
    let anchor = match text.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let turned = if text.upwards { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
    let class = classes(if text.bold { "halo b" } else { "halo" }, text.paint);
    let size = pixels(text.size as i32);
    let _ = writeln!(
        svg,
        "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{anchor}{turned}>{}</text>",
        markup(&text.text)
    );
}

fn classes(kind: &str, paint: Paint) -> String {
    let ink = paint.role.name();
    if paint.dash == 0 { format!("{kind} {ink}") } else { format!("{kind} {ink} d{}", paint.dash) }
}

fn opacity(attribute: &str, paint: Paint) -> String {
    if paint.opacity >= 1.0 {
        String::new()
    } else {
        format!(" {attribute}=\"{}\"", crate::number::plain((paint.opacity * 1000.0).round() / 1000.0))
    }
}

/// The end of a tag, with its tooltip.
fn end(tag: &str, note: &str) -> String {
    if note.is_empty() { "/>".to_owned() } else { format!("><title>{}</title></{tag}>", markup(note)) }
}

/// Points joined by straight lines: the first where it is, each of the others by its way from the one before, which takes
/// fewer characters and, in whole units, loses nothing.
fn path(origin: Coordinate, points: &[Coordinate]) -> String {
    let Some((first, _)) = points.split_first() else { return String::new() };
    let mut text = format!("M{} {}", pixels(origin.0 + first.0), pixels(origin.1 + first.1));
    for (index, pair) in points.windows(2).enumerate() {
        let way = [pair[1].0 - pair[0].0, pair[1].1 - pair[0].1].map(pixels);
        for (place, number) in (index * 2..).zip(way) {
            // A sign divides as well as a space does.
            text += match (place, number.starts_with('-')) {
                (0, _) => "l",
                (_, true) => "",
                (_, false) => " ",
            };
            text += &number;
        }
    }
    text
}

/// A closed path; a rectangle, of which there are many, in few characters.
fn area(points: &[Coordinate]) -> String {
    match points {
        [(left, top), (right, also_top), (also_right, bottom), (also_left, also_bottom)]
            if (left, top, right, bottom) == (also_left, also_top, also_right, also_bottom) =>
        {
            let [left, top, right, bottom] = [*left, *top, *right, *bottom].map(pixels);
            format!("M{left} {top}H{right}V{bottom}H{left}Z")
        }
        points => path((0, 0), points) + "Z",
    }
}

/// Tenths of a pixel as pixels.
fn pixels(tenths: i32) -> String {
    let (sign, size) = (if tenths < 0 { "-" } else { "" }, tenths.unsigned_abs());
    match size % UNIT {
        0 => format!("{sign}{}", size / UNIT),
        rest => format!("{sign}{}.{rest}", size / UNIT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_goes_by_steps_and_arrives_where_it_should() {
        assert_eq!(path((0, 0), &[(10, 20), (40, -25), (40, 30), (35, 30)]), "M1 2l3-4.5 0 5.5-0.5 0");
        assert_eq!(path((100, 100), &[(-5, 0), (5, 0)]), "M9.5 10l1 0");
        assert_eq!((path((0, 0), &[(7, 8)]), path((0, 0), &[])), ("M0.7 0.8".to_owned(), String::new()));
    }
}
