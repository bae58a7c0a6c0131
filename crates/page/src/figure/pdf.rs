//! A figure as a PDF of one page, in the colours of light mode and the reader's own Helvetica.

use std::collections::BTreeSet;

use pdf_writer::types::LineJoinStyle;
use pdf_writer::{Content, Finish, Name, Pdf, Rect, Ref, Str, TextStr};

use super::Figure;
use super::canvas::{Anchor, Coordinate, Marker, Outline, Shape, Text, VectorCanvas};
use super::paint::Paint;
use super::palette::on_paper;
use super::typeface::{RAISED_BY, RAISED_SIZE, runs, width};

/// Points to a tenth of a CSS pixel: 72 to 96 a pixel.
const POINTS: f32 = 0.075;
/// The fonts' names on the page.
const FONTS: [(&[u8], &[u8]); 2] = [(b"Regular", b"Helvetica"), (b"Bold", b"Helvetica-Bold")];
/// The distance of the control points of a quarter of a circle from its ends.
const ROUND: f32 = 0.5523;

/// Numbers of the file's objects; those of transparency follow.
const CATALOG: i32 = 1;
const PAGES: i32 = 2;
const PAGE: i32 = 3;
const CONTENT: i32 = 4;
const INFORMATION: i32 = 5;
const FIRST_FONT: i32 = 6;
const FIRST_OPACITY: i32 = 8;

impl Figure {
    /// Writes the figure as a PDF file, without tooltips and faint markers.
    pub fn pdf(&self) -> Vec<u8> {
        let VectorCanvas { width, height, shapes } = self.draw();
        let (width, height) = (width as f32 * POINTS, height as f32 * POINTS);
        let opacities: BTreeSet<u32> = shapes.iter().flat_map(paints).map(thousandths).collect();

        let mut content = Content::new();
        // Units and directions of the canvas.
        content.transform([POINTS, 0.0, 0.0, -POINTS, 0.0, height]).set_line_join(LineJoinStyle::RoundJoin);
        for shape in &shapes {
            draw(&mut content, shape);
        }

        let mut pdf = Pdf::new();
        // Enough for transparency; pdflatex takes no version beyond 1.5 without a warning.
        pdf.set_version(1, 4);
        pdf.catalog(Ref::new(CATALOG)).pages(Ref::new(PAGES)).lang(TextStr("en"));
        pdf.pages(Ref::new(PAGES)).kids([Ref::new(PAGE)]).count(1);
        let mut page = pdf.page(Ref::new(PAGE));
        page.parent(Ref::new(PAGES)).media_box(Rect::new(0.0, 0.0, width, height)).contents(Ref::new(CONTENT));
        let mut resources = page.resources();
        let mut fonts = resources.fonts();
        for (number, (name, _)) in (FIRST_FONT..).zip(FONTS) {
            fonts.pair(Name(name), Ref::new(number));
        }
        fonts.finish();
        let mut states = resources.ext_g_states();
        for (number, opacity) in (FIRST_OPACITY..).zip(&opacities) {
            states.pair(Name(state(*opacity).as_bytes()), Ref::new(number));
        }
        states.finish();
        resources.finish();
        page.finish();
        pdf.stream(Ref::new(CONTENT), &content.finish());
        pdf.document_info(Ref::new(INFORMATION)).title(TextStr(&self.title)).subject(TextStr(&self.description));
        for (number, (_, font)) in (FIRST_FONT..).zip(FONTS) {
            pdf.type1_font(Ref::new(number)).base_font(Name(font)).encoding_predefined(Name(b"WinAnsiEncoding"));
        }
        for (number, opacity) in (FIRST_OPACITY..).zip(&opacities) {
            let opacity = *opacity as f32 / 1000.0;
            pdf.ext_graphics(Ref::new(number)).stroking_alpha(opacity).non_stroking_alpha(opacity);
        }
        pdf.finish()
    }
}

fn paints(shape: &Shape) -> Vec<Paint> {
    match shape {
        Shape::Line { paint, .. } | Shape::Area { paint, .. } => vec![*paint],
        Shape::Marker(mark) => vec![mark.inside, mark.edge],
        Shape::Text(text) => vec![text.paint],
    }
}

fn thousandths(paint: Paint) -> u32 {
    (paint.opacity * 1000.0).round() as u32
}

/// Name of the graphics state with this opacity, in thousandths.
fn state(opacity: u32) -> String {
    format!("Opacity{opacity}")
}

fn draw(content: &mut Content, shape: &Shape) {
    match shape {
        Shape::Line { points, paint, width } => {
            stroke_with(content, *paint, *width);
            trace(content, (0, 0), points);
            content.stroke();
        }
        Shape::Area { points, paint, .. } => {
            fill_with(content, *paint);
            trace(content, (0, 0), points);
            content.close_path().fill_nonzero();
        }
        Shape::Marker(mark) if mark.faint => {}
        Shape::Marker(mark) => {
            fill_with(content, mark.inside);
            outline(content, mark);
            content.fill_nonzero();
            stroke_with(content, mark.edge, mark.width);
            outline(content, mark);
            content.stroke();
        }
        Shape::Text(text) => written(content, text),
    }
}

fn stroke_with(content: &mut Content, paint: Paint, width: u32) {
    let [red, green, blue] = on_paper(paint.role);
    // As in chart.css.
    let dashes: &[f32] = match paint.dash {
        0 => &[],
        1 => &[70.0, 40.0],
        2 => &[20.0, 30.0],
        _ => &[100.0, 30.0, 20.0, 30.0],
    };
    content.set_parameters(Name(state(thousandths(paint)).as_bytes()));
    content.set_stroke_rgb(red, green, blue).set_line_width(width as f32);
    content.set_dash_pattern(dashes.iter().copied(), 0.0);
}

fn fill_with(content: &mut Content, paint: Paint) {
    let [red, green, blue] = on_paper(paint.role);
    content.set_parameters(Name(state(thousandths(paint)).as_bytes())).set_fill_rgb(red, green, blue);
}

fn trace(content: &mut Content, origin: Coordinate, points: &[Coordinate]) {
    for (index, (x, y)) in points.iter().enumerate() {
        let (x, y) = ((origin.0 + x) as f32, (origin.1 + y) as f32);
        if index == 0 {
            content.move_to(x, y)
        } else {
            content.line_to(x, y)
        };
    }
}

fn outline(content: &mut Content, mark: &Marker) {
    let (x, y) = (mark.at.0 as f32, mark.at.1 as f32);
    match &mark.outline {
        Outline::Polygon(corners) => trace(content, mark.at, corners),
        Outline::Circle(radius) => {
            let (radius, bend) = (*radius as f32, *radius as f32 * ROUND);
            content.move_to(x + radius, y);
            content.cubic_to(x + radius, y + bend, x + bend, y + radius, x, y + radius);
            content.cubic_to(x - bend, y + radius, x - radius, y + bend, x - radius, y);
            content.cubic_to(x - radius, y - bend, x - bend, y - radius, x, y - radius);
            content.cubic_to(x + bend, y - radius, x + radius, y - bend, x + radius, y);
        }
    }
    content.close_path();
}

fn written(content: &mut Content, text: &Text) {
    if text.text.is_empty() {
        return;
    }
    let size = text.size as f32;
    let room = width(&text.text, text.bold) as f32 * size;
    let back = match text.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => room / 2.0,
        Anchor::End => room,
    };
    let (x, y) = (text.at.0 as f32, text.at.1 as f32);
    // Letters stand upright although the canvas' direction is downwards.
    let matrix = if text.upwards { [0.0, -1.0, -1.0, 0.0, x, y + back] } else { [1.0, 0.0, 0.0, -1.0, x - back, y] };
    fill_with(content, text.paint);
    content.begin_text().set_text_matrix(matrix);
    for run in runs(&text.text) {
        let (scale, rise) = if run.raised { (RAISED_SIZE as f32, RAISED_BY as f32 * size) } else { (1.0, 0.0) };
        content.set_font(Name(FONTS[usize::from(text.bold)].0), size * scale).set_rise(rise).show(Str(&run.bytes));
    }
    content.end_text();
}
