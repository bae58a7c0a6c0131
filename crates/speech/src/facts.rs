//! Questions about facts of a position, as words. Examples have them as prose alone.

use shakmaty::{Chess, Color, Piece, Position, Role, Square};

use crate::answer::move_words;
use crate::words::{self, named};

/// The words of the questions of a message of the builder `factual`: the lines behind the first one of its last paragraph.
pub(crate) fn questions(user: &str, position: &Chess) -> Result<Vec<u16>, String> {
    let paragraph = user.rsplit("\n\n").next().unwrap_or_default();
    let mut all = Vec::new();
    for line in paragraph.lines().skip(1) {
        let (kind, belongs) =
            question(line, position).ok_or_else(|| format!("the small language has no question {line:?}"))?;
        all.extend(named(kind));
        all.extend(belongs);
    }
    Ok(all)
}

/// The kind of a question, and the words of its subject.
fn question(line: &str, position: &Chess) -> Option<(&'static str, Vec<u16>)> {
    if let Some([color]) = slots(line, ["Is the ", " king in check"]) {
        return Some(("check", vec![words::side(color_of(color)?)]));
    }
    if let Some([uci]) = slots(line, ["Can you legally play ", " (Yes or No)?"]) {
        let mut all = Vec::new();
        move_words(uci, &mut all)?;
        return Some(("legal", all));
    }
    if let Some([own, other]) = slots(line, ["Can your ", " take their ", " (Yes or No)?"]) {
        let (own, other) = (role_of(own)?.of(position.turn()), role_of(other)?.of(!position.turn()));
        return Some(("capture", vec![words::piece(Some(own)), words::piece(Some(other))]));
    }
    if let Some([color]) = slots(line, ["What is ", "'s material less "]) {
        return Some(("material", vec![words::side(color_of(color)?)]));
    }
    if let Some([piece, square]) = slots(line, ["How many legal moves has your ", " at ", "?"]) {
        return Some(("mobility", piece_at(piece, square, position.turn())?));
    }
    let [piece, square] =
        slots(line, ["Which of your squares holds the only piece that can take their ", " on ", "?"])?;
    Some(("only_capture", piece_at(piece, square, !position.turn())?))
}

/// The texts between each two of these parts of a line, which begins with the first.
fn slots<'a, const PARTS: usize, const SLOTS: usize>(line: &'a str, parts: [&str; PARTS]) -> Option<[&'a str; SLOTS]> {
    let mut rest = line.strip_prefix(parts[0])?;
    let mut found = [""; SLOTS];
    for (slot, part) in found.iter_mut().zip(&parts[1..]) {
        (*slot, rest) = rest.split_once(part)?;
    }
    Some(found)
}

fn piece_at(role: &str, square: &str, color: Color) -> Option<Vec<u16>> {
    let piece: Piece = role_of(role)?.of(color);
    Some(vec![words::piece(Some(piece)), words::square(square.parse::<Square>().ok()?)])
}

fn color_of(name: &str) -> Option<Color> {
    Color::ALL.into_iter().find(|color| color.fold_wb("white", "black") == name)
}

fn role_of(name: &str) -> Option<Role> {
    Role::ALL.into_iter().find(|role| cwm_questions::truth::role_name(*role) == name)
}
