//! Positions from FEN, as far as python-chess takes them.

use shakmaty::{Bitboard, Board, ByColor, ByRole, Color, File, Piece, Rank, Role, Square};

use super::{Position, Variant, backrank, bit};
use crate::text::{integer, words};

impl Position {
    /// The position that `fen` describes, or the variant's initial one; `None` where python-chess refuses it.
    ///
    /// The position need not be possible. Fields may be missing from the right.
    pub fn new(variant: Variant, fen: Option<&str>, chess960: bool) -> Option<Position> {
        let fen = fen.unwrap_or(variant.initial_fen());
        let mut position = match variant {
            Variant::Crazyhouse => crazyhouse(fen)?,
            Variant::ThreeCheck => three_check(fen)?,
            _ => plain(variant, &words(fen).collect::<Vec<_>>())?,
        };
        position.chess960 = chess960 || position.has_chess960_castling_rights();
        Some(position)
    }
}

/// Clocks that are larger mean the same: labels end at 65,535.
const LARGEST_CLOCK: i64 = 1 << 30;

fn plain(variant: Variant, fields: &[&str]) -> Option<Position> {
    let mut fields = fields.iter().copied();
    let placement = fields.next()?;
    let turn = match fields.next() {
        None | Some("w") => Color::White,
        Some("b") => Color::Black,
        Some(_) => return None,
    };
    let castling = fields.next().unwrap_or("-");
    if !is_castling(castling) {
        return None;
    }
    let ep_square = match fields.next() {
        None | Some("-") => None,
        Some(name) => Some(Square::from_ascii(name.as_bytes()).ok()?),
    };
    let mut clock = || fields.next().map_or(Some(0), integer).filter(|&clock| clock >= 0);
    let halfmoves = clock()?.min(LARGEST_CLOCK) as u32;
    let fullmoves = clock()?.clamp(1, LARGEST_CLOCK) as u32;
    if fields.next().is_some() {
        return None;
    }
    let (board, promoted) = pieces(placement)?;
    let mut position = Position {
        variant,
        chess960: false,
        board,
        promoted,
        turn,
        castling: Bitboard::EMPTY,
        ep_square,
        halfmoves,
        fullmoves,
        played: false,
        pockets: ByColor::new_with(|_| ByRole::new_with(|_| 0)),
        checks: ByColor::new_with(|_| 3),
    };
    position.castling = position.rooks_named(castling);
    Some(position)
}

/// `[KQABCDEFGH]{0,2}[kqabcdefgh]{0,2}`, or a dash.
fn is_castling(field: &str) -> bool {
    let white = field.bytes().take_while(|byte| matches!(byte, b'K' | b'Q' | b'A'..=b'H')).count();
    let black = field.bytes().skip(white).take_while(|byte| matches!(byte, b'k' | b'q' | b'a'..=b'h')).count();
    field == "-" || (white <= 2 && black <= 2 && white + black == field.len())
}

fn pieces(placement: &str) -> Option<(Board, Bitboard)> {
    let (mut board, mut promoted) = (Board::empty(), Bitboard::EMPTY);
    let ranks: Vec<&str> = placement.split('/').collect();
    if ranks.len() != 8 {
        return None;
    }
    for (row, rank) in ranks.iter().enumerate() {
        let mut file = 0;
        let mut before = ' ';
        for symbol in rank.chars() {
            match symbol {
                '1'..='8' if before.is_ascii_digit() => return None,
                '1'..='8' => file += symbol as u32 - '0' as u32,
                '~' => {
                    piece_of(before)?;
                    promoted.add(Square::from_coords(File::new(file - 1), Rank::new(7 - row as u32)));
                }
                _ => {
                    let piece = piece_of(symbol)?;
                    if file >= 8 {
                        return None;
                    }
                    board.set_piece_at(Square::from_coords(File::new(file), Rank::new(7 - row as u32)), piece);
                    file += 1;
                }
            }
            before = symbol;
        }
        if file != 8 {
            return None;
        }
    }
    Some((board, promoted))
}

/// Returns the piece of a letter of a FEN. The Kelvin sign counts as `k`, as in Python.
fn piece_of(symbol: char) -> Option<Piece> {
    let mut lower = symbol.to_lowercase();
    let role = Role::from_char(lower.next().filter(|_| lower.next().is_none())?)?;
    Some(role.of(Color::from_white(symbol.is_uppercase())))
}

impl Position {
    /// The squares of the rooks that a castling field names, whether or not there are rooks.
    fn rooks_named(&self, field: &str) -> Bitboard {
        let mut rights = Bitboard::EMPTY;
        for flag in field.bytes().filter(|&flag| flag != b'-') {
            let color = Color::from_white(flag.is_ascii_uppercase());
            let backrank = backrank(color);
            let rooks = self.board.by_piece(Role::Rook.of(color)) & backrank;
            let king = self.king(color);
            rights |= match flag.to_ascii_lowercase() {
                // The outermost rook on its side of the king; without a king, or a rook there, the corner.
                b'q' => match (king, rooks.first()) {
                    (Some(king), Some(rook)) if rook < king => bit(rook),
                    (Some(_), None) => Bitboard::EMPTY,
                    _ => Bitboard::from_file(File::A) & backrank,
                },
                b'k' => match (king, rooks.last()) {
                    (Some(king), Some(rook)) if king < rook => bit(rook),
                    _ => Bitboard::from_file(File::H) & backrank,
                },
                file => Bitboard::from_file(File::new(u32::from(file - b'a'))) & backrank,
            };
        }
        rights
    }
}

/// Checks left to give as `3+3` before the clocks, or checks given as `+0+0` behind them.
fn three_check(fen: &str) -> Option<Position> {
    let mut fields: Vec<&str> = words(fen).collect();
    let checks = if fields.get(6).is_some_and(|field| field.starts_with('+')) {
        let (white, black) = fields.remove(6)[1..].split_once('+')?;
        (3i64.saturating_sub(integer(white)?), 3i64.saturating_sub(integer(black)?))
    } else if fields.get(4).is_some_and(|field| field.contains('+')) {
        let (white, black) = fields.remove(4).split_once('+')?;
        (integer(white)?, integer(black)?)
    } else {
        (3, 3)
    };
    let mut position = plain(Variant::ThreeCheck, &fields)?;
    let left = |checks: i64| checks.clamp(-LARGEST_CLOCK, LARGEST_CLOCK) as i32;
    position.checks = ByColor { white: left(checks.0), black: left(checks.1) };
    Some(position)
}

/// Pieces in hand as `[QPp]` behind the ranks, or as a ninth rank.
fn crazyhouse(fen: &str) -> Option<Position> {
    let mut fields: Vec<&str> = words(fen).collect();
    // Whatever follows the placement, python-chess wants something there.
    let bracketed = fields.get(1).map(|_| fields[0])?;
    let mut placement = bracketed.to_owned();
    if let Some(inside) = bracketed.strip_suffix(']') {
        if bracketed.matches('/').count() != 7 {
            return None;
        }
        placement = inside.replacen('[', "/", 1);
    }
    let mut hand = "";
    let mut ranks = &placement[..];
    if placement.matches('/').count() == 8 {
        (ranks, hand) = placement.rsplit_once('/')?;
    }
    let mut pockets = ByColor::new_with(|_| ByRole::new_with(|_| 0u16));
    for symbol in hand.chars() {
        let piece = piece_of(symbol)?;
        let held = pockets.get_mut(piece.color).get_mut(piece.role);
        *held = held.saturating_add(1);
    }
    fields[0] = ranks;
    let mut position = plain(Variant::Crazyhouse, &fields)?;
    position.pockets = pockets;
    Some(position)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fen_is_taken_as_python_takes_it() {
        let accepted = |variant, fen: &str| Position::new(variant, Some(fen), false).is_some();
        let pieces = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
        for tail in ["", " w", " b KQkq", " w -", " w HAha e3 0_1 +7", " w KKqq a1 9999999999999999999999 0"] {
            assert!(accepted(Variant::Standard, &format!("{pieces}{tail}")), "{tail}");
        }
        for tail in [" x", " w KQKq", " w kK", " w - e9", " w - - -1", " w - - 0 1 2", " w - - 0 1_", " w - - 1.5"] {
            assert!(!accepted(Variant::Standard, &format!("{pieces}{tail}")), "{tail}");
        }
        assert!(accepted(Variant::Standard, "8/8/8/8/8/8/8/8"));
        for placement in
            ["8/8/8/8/8/8/8", "8/8/8/8/8/8/8/44", "8/8/8/8/8/8/8/9", "8/8/8/8/8/8/8/~8", "", "8/8/8/8/8/8/8/ppppppppp"]
        {
            assert!(!accepted(Variant::Standard, placement), "{placement}");
        }
        assert!(accepted(Variant::Crazyhouse, "8/8/8/8/8/8/8/Q~7[QPpk] w"));
        assert!(accepted(Variant::Crazyhouse, "8/8/8/8/8/8/8/8/Qq w"));
        assert!(!accepted(Variant::Crazyhouse, "8/8/8/8/8/8/8/8[]"));
        assert!(!accepted(Variant::Crazyhouse, "8/8/8/8/8/8/8/8[1] w"));
        assert!(accepted(Variant::ThreeCheck, &format!("{pieces} w KQkq - 1+-2 0 1")));
        assert!(accepted(Variant::ThreeCheck, &format!("{pieces} w KQkq - 0 1 +1+2")));
        assert!(!accepted(Variant::ThreeCheck, &format!("{pieces} w KQkq - 1+ 0 1")));
    }

    #[test]
    fn a_number_of_checks_of_any_size_is_a_number() {
        let checks = |given: &str| {
            let fen = format!("8/8/8/8/8/8/8/8 w - - 0 1 +{given}+2");
            Position::new(Variant::ThreeCheck, Some(&fen), false).unwrap().checks
        };
        assert_eq!(checks("1"), ByColor { white: 2, black: 1 });
        assert_eq!(checks("9999999999999999999999").white, -(1 << 30));
        assert_eq!(checks("-9999999999999999999999").white, 1 << 30);
    }

    #[test]
    fn rights_of_the_outermost_rooks() {
        let rights = |fen| Position::new(Variant::Standard, Some(fen), true).unwrap().castling;
        assert_eq!(rights("8/8/8/8/8/8/8/1RR1KR1R w KQ"), bit(Square::H1) | bit(Square::B1));
        assert_eq!(rights("8/8/8/8/8/8/8/R3K2R w E"), bit(Square::E1));
        assert_eq!(rights("8/8/8/8/8/8/8/R6R w KQ"), bit(Square::A1) | bit(Square::H1));
        assert_eq!(rights("8/8/8/8/8/8/8/4K3 w KQ"), bit(Square::H1));
    }
}
