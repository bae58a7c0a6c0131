//! A check of a figure's texts, for tests of figures.

use super::Figure;
use super::canvas::{Anchor, Shape, Text, VectorCanvas, text_width};

impl Figure {
    /// Returns the texts that lie over each other or leave the canvas, a line each.
    pub fn text_overlaps(&self) -> Vec<String> {
        let VectorCanvas { width, height, shapes } = self.draw();
        let texts: Vec<(&Text, [i32; 4])> = shapes
            .iter()
            .filter_map(|shape| match shape {
                Shape::Text(text) if !text.text.is_empty() => Some((text, room(text))),
                _ => None,
            })
            .collect();
        let mut found = Vec::new();
        for (index, (text, [left, top, right, bottom])) in texts.iter().enumerate() {
            if *left < 0 || *top < 0 || *right > width as i32 || *bottom > height as i32 {
                found.push(format!("{}: `{}` leaves the canvas", self.id, text.text));
            }
            for (other, [left_too, top_too, right_too, bottom_too]) in &texts[index + 1..] {
                if left < right_too && left_too < right && top < bottom_too && top_too < bottom {
                    found.push(format!("{}: `{}` lies over `{}`", self.id, text.text, other.text));
                }
            }
        }
        found
    }
}

/// Room that a text takes on the canvas: left, top, right, bottom.
fn room(text: &Text) -> [i32; 4] {
    let long = text_width(&text.text, text.size, text.bold) as i32;
    let (ascent, descent) = (text.size as i32 * 72 / 100, text.size as i32 / 5);
    let back = match text.anchor {
        Anchor::Start => 0,
        Anchor::Middle => long / 2,
        Anchor::End => long,
    };
    let (x, y) = text.at;
    match text.upwards {
        true => [x - ascent, y + back - long, x + descent, y + back],
        false => [x - back, y - ascent, x - back + long, y + descent],
    }
}
