//! A record: a position and its best move, or a position, a move and its win probability.
//!
//! The length of the FEN as a varint, the FEN, and the move in UCI to the end of the record. With a win probability, the move has
//! its length before it too, and a 64-bit number in big-endian order after it.

use cwm_encoding::{PlainMove, legal};
use cwm_policy::inputs::board::Board;
use shakmaty::Position;
use shakmaty::uci::UciMove;

/// A reason for which a record is faulty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The length is no varint, or longer than the record.
    Length,
    /// A byte that is not UTF-8.
    NotUtf8,
    /// The FEN is not a valid position.
    Fen,
    /// The move is not in UCI.
    Notation,
    /// The move is not legal in the position.
    IllegalMove,
    /// The win probability is not between 0 and 1.
    WinProbability,
    /// An earlier record has a value of this move.
    Repeated,
}

impl Reason {
    /// The reasons that records of best moves can have.
    pub const OF_BEST_MOVES: [Reason; 5] =
        [Reason::Length, Reason::NotUtf8, Reason::Fen, Reason::Notation, Reason::IllegalMove];

    /// Further reasons that records of action values can have.
    pub const OF_VALUES: [Reason; 2] = [Reason::WinProbability, Reason::Repeated];

    /// Its name in `counts` and `faults`.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Length => "length",
            Reason::NotUtf8 => "not_utf8",
            Reason::Fen => "fen",
            Reason::Notation => "notation",
            Reason::IllegalMove => "illegal_move",
            Reason::WinProbability => "win_probability",
            Reason::Repeated => "repeated",
        }
    }
}

/// The error of a record: its reason and its description.
pub type RecordError = (Reason, String);

/// The first bytes of data that are compressed with zstd.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The most characters of a faulty text that are shown. A FEN has fewer than 100.
const MAX_QUOTED_CHARS: usize = 200;

/// The contents of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record<'a> {
    /// The FEN as it is written.
    pub fen: &'a str,
    /// The move, packed.
    pub packed: u16,
    /// Its win probability, if records have one.
    pub win: Option<f64>,
}

/// Reads a record.
///
/// # Errors
/// The first thing that is wrong.
pub fn read(record: &[u8], has_value: bool) -> Result<Record<'_>, RecordError> {
    if record.starts_with(&ZSTD) {
        return Err((Reason::Length, "it is compressed: this is a .bagz file, which cwm does not read".to_owned()));
    }
    let (fen, rest) = with_length(record, "FEN")?;
    let (best, win) = if has_value {
        let (best, win) = with_length(rest, "move")?;
        let wrong = |_| (Reason::Length, format!("its win probability has {} bytes, not 8", win.len()));
        (best, Some(f64::from_be_bytes(win.try_into().map_err(wrong)?)))
    } else {
        (rest, None)
    };
    let text = |bytes, what| {
        str::from_utf8(bytes).map_err(|error| (Reason::NotUtf8, format!("its {what} is not UTF-8: {error}")))
    };
    let (fen, best) = (text(fen, "FEN")?, text(best, "move")?);
    let board = Board::parse(fen).map_err(|error| (Reason::Fen, format!("{}: {error}", quoted(fen))))?;
    // Where king and rooks stand as in chess, `HAha` is read as `KQkq`, and the same position would have two texts.
    let castling = fen.split_whitespace().nth(2).unwrap_or_default();
    if castling.contains(|right: char| !"KQkq-".contains(right)) {
        return Err((Reason::Fen, format!("{}: its castling rights are written as in Chess960", quoted(fen))));
    }
    let not_a_move = || (Reason::Notation, format!("{} is not a move in UCI", quoted(best)));
    let plain = plain_move(best).ok_or_else(not_a_move)?;
    let position = board.position();
    let illegal = || match position.legal_moves().is_empty() {
        true => format!("the game has ended in {fen:?}, so that {best} is not legal"),
        false => format!("{best} is not legal in {fen:?}"),
    };
    legal(position, plain).ok_or_else(|| (Reason::IllegalMove, illegal()))?;
    if let Some(win) = win.filter(|win| !(0.0..=1.0).contains(win)) {
        return Err((Reason::WinProbability, format!("{win} is not a number from 0 to 1")));
    }
    Ok(Record { fen, packed: plain.packed(), win })
}

/// The bytes after a length, and what follows them.
fn with_length<'a>(bytes: &'a [u8], what: &str) -> Result<(&'a [u8], &'a [u8]), RecordError> {
    let (length, rest) =
        varint(bytes).ok_or_else(|| (Reason::Length, format!("its {what} does not begin with a length")))?;
    let parts = usize::try_from(length).ok().and_then(|length| rest.split_at_checked(length));
    parts.ok_or_else(|| (Reason::Length, format!("its {what} would have {length} bytes, and {} are left", rest.len())))
}

/// A text in quotes, not endless.
fn quoted(text: &str) -> String {
    let beginning: String = text.chars().take(MAX_QUOTED_CHARS).collect();
    if beginning.len() < text.len() { format!("{beginning:?} and so on") } else { format!("{text:?}") }
}

fn plain_move(text: &str) -> Option<PlainMove> {
    let plain = match text.parse::<UciMove>().ok()? {
        UciMove::Normal { from, to, promotion } => PlainMove { from, to, promotion },
        UciMove::Put { .. } | UciMove::Null => return None,
    };
    // The parser takes `a7a8Q` as well, which is no UCI.
    (!text.contains(char::is_uppercase)).then_some(plain)
}

/// A number in groups of seven bits, the lowest first, and what follows it.
fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0;
    for (place, &byte) in bytes.iter().enumerate().take(9) {
        value |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Some((value, &bytes[place + 1..]));
        }
    }
    None
}
