//! The words of movetext, as python-chess finds them: leftmost first, all else passed over byte by byte.

use shakmaty::{CastlingSide, File, Rank, Role, Square};

use crate::position::{San, SanMove};

/// A word, or the beginning of a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// A move.
    San(San),
    /// `{`.
    Comment,
    /// `;`: the rest of the line means nothing.
    LineComment,
    /// `$12`, with its number of digits, or `!?` with none.
    Glyph(usize),
    /// `(`.
    Open,
    /// `)`.
    Close,
    /// `1-0`, `*`.
    Result(&'static str),
}

/// The first word of `line` at or after `at`, with its first byte and the one after its last.
pub fn next(line: &[u8], at: usize) -> Option<(Word, usize, usize)> {
    (at..line.len()).find_map(|start| {
        let (word, length) = word(&line[start..])?;
        Some((word, start, start + length))
    })
}

/// The word that `text` begins with. The order of the cases decides.
fn word(text: &[u8]) -> Option<(Word, usize)> {
    let first = *text.first()?;
    if matches!(first, b'a'..=b'h' | b'1'..=b'8' | b'N' | b'B' | b'K' | b'R' | b'Q' | b'x' | b'-')
        && let Some((san, length)) = san_move(text)
    {
        return Some((Word::San(San::Move(san)), length));
    }
    let san = |san, length| Some((Word::San(san), length));
    match (first, text) {
        (b'P' | b'N' | b'B' | b'R' | b'Q' | b'K' | b'@', _) => match drop(text) {
            Some((role, square, length)) => san(San::Drop(role, square), length),
            None if text.starts_with(b"@@@@") => san(San::NullDrop, 4),
            None => None,
        },
        (b'-', [_, b'-', ..]) | (b'Z', [_, b'0', ..]) => san(San::Null, 2),
        (b'0', [_, b'0', b'0', b'0', ..]) => san(San::Null, 4),
        (b'O', [_, b'-', b'O', b'-', b'O', ..]) | (b'0', [_, b'-', b'0', b'-', b'0', ..]) => {
            san(San::Castling(CastlingSide::QueenSide), 5)
        }
        (b'O', [_, b'-', b'O', ..]) | (b'0', [_, b'-', b'0', ..]) => san(San::Castling(CastlingSide::KingSide), 3),
        (b'{', _) => Some((Word::Comment, 1)),
        (b';', _) => Some((Word::LineComment, 1)),
        (b'$', [_, b'0'..=b'9', ..]) => {
            let digits = text[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            Some((Word::Glyph(digits), 1 + digits))
        }
        (b'(', _) => Some((Word::Open, 1)),
        (b')', _) => Some((Word::Close, 1)),
        (b'*', _) => Some((Word::Result("*"), 1)),
        (b'?' | b'!', [_, b'?' | b'!', ..]) => Some((Word::Glyph(0), 2)),
        (b'?' | b'!', _) => Some((Word::Glyph(0), 1)),
        _ => ["1-0", "0-1", "1/2-1/2"]
            .into_iter()
            .find(|result| text.starts_with(result.as_bytes()))
            .map(|result| (Word::Result(result), result.len())),
    }
}

/// `[NBKRQ]?[a-h]?[1-8]?[\-x]?[a-h][1-8](=?[nbrqkNBRQK])?`: what may be there is, if the rest can then be read.
fn san_move(text: &[u8]) -> Option<(SanMove, usize)> {
    let role = match text[0] {
        b'N' | b'B' | b'K' | b'R' | b'Q' => Role::from_char(char::from(text[0])),
        _ => None,
    };
    let start = usize::from(role.is_some());
    let byte = |at: usize| text.get(at).copied();
    for with_file in [true, false] {
        let file = if with_file { file_of(byte(start)) } else { None };
        if with_file && file.is_none() {
            continue;
        }
        let rank_at = start + usize::from(with_file);
        // Without its rank what follows the rank's digit would have to begin with it.
        let rank = rank_of(byte(rank_at));
        let mark_at = rank_at + usize::from(rank.is_some());
        let to_at = mark_at + usize::from(matches!(byte(mark_at), Some(b'-' | b'x')));
        if let (Some(to_file), Some(to_rank)) = (file_of(byte(to_at)), rank_of(byte(to_at + 1))) {
            let (promotion, end) = promotion(text, to_at + 2);
            let to = Square::from_coords(to_file, to_rank);
            return Some((SanMove { role, file, rank, to, promotion }, end));
        }
    }
    None
}

/// `=Q`, `q`, or nothing at `at`, and where it ends.
fn promotion(text: &[u8], at: usize) -> (Option<Role>, usize) {
    let letter_at = at + usize::from(text.get(at) == Some(&b'='));
    match text.get(letter_at) {
        Some(&letter @ (b'n' | b'b' | b'r' | b'q' | b'k' | b'N' | b'B' | b'R' | b'Q' | b'K')) => {
            (Role::from_char(char::from(letter)), letter_at + 1)
        }
        _ => (None, at),
    }
}

/// `N@f3`, `@f3`.
fn drop(text: &[u8]) -> Option<(Role, Square, usize)> {
    let (role, rest) = match text {
        [b'@', rest @ ..] => (Role::Pawn, rest),
        [letter, b'@', rest @ ..] => (Role::from_char(char::from(*letter))?, rest),
        _ => return None,
    };
    let (file, rank) = (file_of(rest.first().copied())?, rank_of(rest.get(1).copied())?);
    Some((role, Square::from_coords(file, rank), text.len() - rest.len() + 2))
}

fn file_of(byte: Option<u8>) -> Option<File> {
    byte.filter(|byte| matches!(byte, b'a'..=b'h')).map(|byte| File::new(u32::from(byte - b'a')))
}

fn rank_of(byte: Option<u8>) -> Option<Rank> {
    byte.filter(|byte| matches!(byte, b'1'..=b'8')).map(|byte| Rank::new(u32::from(byte - b'1')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<&str> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some((_, start, end)) = next(line.as_bytes(), at) {
            found.push(&line[start..end]);
            at = end;
        }
        found
    }

    #[test]
    fn words_are_those_of_the_regular_expression() {
        for (line, expected) in [
            ("1. e4 e5 2. Nf3", "e4 e5 Nf3"),
            ("1.e4e5 12...Nbd7+ 13.Ng1-f3#", "e4e5 Nbd7 Ng1-f3"),
            ("e4b e4b5 exd8=Q exd8Qx e8= bxc3", "e4b e4b5 exd8=Q exd8Q e8 bxc3"),
            ("R1a3 R1xa3 Raxa3 Ra1a3 Rxa Kx R1", "R1a3 R1xa3 Raxa3 Ra1a3"),
            ("-e4 xe4 --e4 e4--", "-e4 xe4 -- e4 e4 --"),
            ("1-0 0-1 1/2-1/2 * 10-0 0-0-0 O-O O-O-O-O 0-0-1", "1-0 0-1 1/2-1/2 * 0-0 0-0-0 O-O O-O-O 0-0"),
            ("00000 Z0 Z00 @@@@ @@@@@ 0-0000", "0000 Z0 Z0 @@@@ @@@@ 0-0"),
            ("N@f3 @f3 P@e9 @@f3 QN@f3 Pe4", "N@f3 @f3 @f3 N@f3 e4"),
            ("!!! ?! $12$ $ $x (a) e.p.", "!! ! ?! $12 ( )"),
            ("1½-½ Ñf3 ♘f3 z", "f3 f3"),
        ] {
            assert_eq!(words(line).join(" "), expected, "{line}");
        }
        let long = next(b"e2-e4", 0).unwrap().0;
        let Word::San(San::Move(san)) = long else { panic!("{long:?}") };
        assert_eq!((san.file, san.rank, san.to), (Some(File::E), Some(Rank::Second), Square::E4));
    }
}
