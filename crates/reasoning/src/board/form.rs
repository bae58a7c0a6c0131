//! The four forms of a position as text.

use std::fmt::Write;

use shakmaty::fen::Fen;
use shakmaty::{CastlingSide, Chess, Color, EnPassantMode, File, Position, Rank, Square};

/// The form in which a position is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BoardForm {
    /// A drawing of ten lines, and a list of what it does not show: as the published items.
    Visual,
    /// The visual form with a `#` or a space more in each line of the drawing, so that a tokenizer cuts all lines alike.
    UniformVisual,
    /// A FEN of six fields.
    Fen,
    /// A FEN with a space between any two characters of its placement, and two spaces behind it.
    SpacedFen,
}

impl BoardForm {
    /// All of them.
    pub const ALL: [BoardForm; 4] = [BoardForm::Visual, BoardForm::UniformVisual, BoardForm::Fen, BoardForm::SpacedFen];

    /// The name in pipelines.
    pub fn name(self) -> &'static str {
        match self {
            BoardForm::Visual => "visual",
            BoardForm::UniformVisual => "uniform_visual",
            BoardForm::Fen => "fen",
            BoardForm::SpacedFen => "spaced_fen",
        }
    }

    /// The form of this name.
    pub fn of_name(name: &str) -> Option<BoardForm> {
        BoardForm::ALL.into_iter().find(|form| form.name() == name)
    }
}

/// The position in a form, without a line end at its end. An en passant square stands there only if a capture is legal.
pub fn board_text(position: &Chess, form: BoardForm) -> String {
    match form {
        BoardForm::Visual => drawing(position, "", " "),
        BoardForm::UniformVisual => drawing(position, " ", "#"),
        BoardForm::Fen => fen(position),
        BoardForm::SpacedFen => {
            let fen = fen(position);
            let (placement, fields) = fen.split_once(' ').unwrap_or((&fen, ""));
            let spaced: String = placement.chars().flat_map(|character| [character, ' ']).collect();
            format!("{spaced} {fields}")
        }
    }
}

fn fen(position: &Chess) -> String {
    Fen::from_position(position, EnPassantMode::Legal).to_string()
}

fn color_name(color: Color) -> &'static str {
    color.fold_wb("White", "Black")
}

/// The drawing with `end` before each of its line ends and `margin` before its last two lines.
fn drawing(position: &Chess, end: &str, margin: &str) -> String {
    let mut text = String::with_capacity(400);
    for rank in Rank::ALL.into_iter().rev() {
        text.extend([rank.char(), '|']);
        for file in File::ALL {
            let piece = position.board().piece_at(Square::from_coords(file, rank));
            text.extend([' ', piece.map_or('.', |piece| piece.char())]);
        }
        text.push_str(end);
        text.push('\n');
    }
    for line in ["_ _ _ _ _ _ _ _", "A B C D E F G H"] {
        text.extend([margin, "  ", line, end, "\n"]);
    }
    // Writing to a text cannot fail.
    let _ = write!(text, "\n- It is {}\u{2019}s turn to move.\n- ", color_name(position.turn()));
    let rights: Vec<String> = Color::ALL
        .into_iter()
        .flat_map(|color| [CastlingSide::KingSide, CastlingSide::QueenSide].map(|side| (color, side)))
        .filter(|&(color, side)| position.castles().has(color, side))
        .map(|(color, side)| {
            format!(
                "{} can castle {}",
                color_name(color),
                if side == CastlingSide::KingSide { "kingside" } else { "queenside" }
            )
        })
        .collect();
    match rights.is_empty() {
        true => text.push_str("No castling rights available."),
        false => text.extend(["Castling rights: ", &rights.join(", "), "."]),
    }
    let _ = match position.ep_square(EnPassantMode::Legal) {
        None => write!(text, "\n- No en passant target square."),
        Some(square) => write!(text, "\n- En passant target square: {square}."),
    };
    let _ = write!(text, "\n- Halfmove clock: {}\n- Fullmove number: {}", position.halfmoves(), position.fullmoves());
    text
}
