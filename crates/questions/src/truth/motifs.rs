//! The Motifs that a board shows: pins, skewers, forks and batteries of both sides.

use std::sync::LazyLock;

use shakmaty::attacks::{between, bishop_attacks, rook_attacks};
use shakmaty::{Bitboard, Board, Color, File, Rank, Role, Square};

use crate::truth::Keys;
use crate::truth::uci::{push_square, push_squares, separate};

/// The pins, each as `pinning>pinned>king`.
pub(crate) fn pins(board: &Board) -> String {
    let mut text = String::new();
    for pin in Color::ALL.into_iter().flat_map(|color| pins_of(board, color)) {
        push_line(&mut text, &pin);
    }
    text
}

/// The pins of pieces of `color`: of each the pinning piece, the pinned one and its king.
pub(crate) fn pins_of(board: &Board, color: Color) -> impl Iterator<Item = [Square; 3]> {
    let pins = move |king| {
        let straight = rook_attacks(king, Bitboard::EMPTY) & board.rooks_and_queens();
        let diagonal = bishop_attacks(king, Bitboard::EMPTY) & board.bishops_and_queens();
        let sliders = (straight | diagonal) & board.by_color(!color);
        sliders.into_iter().filter_map(move |slider| {
            let pinned = (between(slider, king) & board.occupied()).single_square()?;
            board.by_color(color).contains(pinned).then_some([slider, pinned, king])
        })
    };
    board.king_of(color).into_iter().flat_map(pins)
}

/// Pieces that move along lines of a kind, and the squares that one of them attacks with these squares occupied.
type Attacks = (Bitboard, fn(Square, Bitboard) -> Bitboard);

/// The skewers, each as `attacker>front>back`; of a queen, straight lines before diagonals.
pub(crate) fn skewers(board: &Board) -> String {
    let mut text = String::new();
    let occupied = board.occupied();
    for color in Color::ALL {
        let theirs = board.by_color(!color);
        for slider in board.sliders() & board.by_color(color) {
            let straight: Attacks = (board.rooks_and_queens(), rook_attacks);
            let diagonal: Attacks = (board.bishops_and_queens(), bishop_attacks);
            for (_, attacks) in [straight, diagonal].into_iter().filter(|(movers, _)| movers.contains(slider)) {
                let reached = attacks(slider, occupied);
                for front in reached & theirs {
                    let back = (attacks(slider, occupied.without(front)) & !reached & theirs).first();
                    if let Some(back) = back.filter(|back| worth(board, front) > worth(board, *back)) {
                        push_line(&mut text, &[slider, front, back]);
                    }
                }
            }
        }
    }
    text
}

fn worth(board: &Board, square: Square) -> u8 {
    match board.role_at(square) {
        Some(Role::King) => 100,
        Some(Role::Queen) => 9,
        Some(Role::Rook) => 5,
        Some(Role::Bishop | Role::Knight) => 3,
        Some(Role::Pawn) => 1,
        None => 0,
    }
}

/// The forks, each as `forking>square-square`.
pub(crate) fn forks(board: &Board) -> String {
    let mut text = String::new();
    for color in Color::ALL {
        for square in board.by_color(color) {
            let forked = board.attacks_from(square) & board.by_color(!color);
            if forked.more_than_one() {
                separate(&mut text, ", ");
                push_square(&mut text, square);
                text.push('>');
                push_squares(&mut text, forked, "-");
            }
        }
    }
    text
}

/// Squares of a rank, file or diagonal, in the order in which they are gone through.
struct Line {
    squares: Vec<Square>,
    mask: Bitboard,
    is_straight: bool,
}

/// Ranks from a to h, files from 1 to 8, diagonals that rise to the right, then those that fall: from their lower right end.
static LINES: LazyLock<Vec<Line>> = LazyLock::new(|| {
    let first = |file| Square::from_coords(file, Rank::First);
    let higher = |file| Rank::ALL.into_iter().skip(1).map(move |rank| Square::from_coords(file, rank));
    let from_below = |file| File::ALL.into_iter().map(first).chain(higher(file));
    let ranks = Rank::ALL.into_iter().map(|rank| (Square::from_coords(File::A, rank), (1, 0)));
    let files = File::ALL.into_iter().map(|file| (first(file), (0, 1)));
    let rising = from_below(File::A).map(|square| (square, (1, 1)));
    let falling = from_below(File::H).map(|square| (square, (-1, 1)));
    ranks.chain(files).chain(rising).chain(falling).map(|(start, step)| line(start, step)).collect()
});

fn line(start: Square, step: (i32, i32)) -> Line {
    let next =
        |square: &Square| Some(Square::from_coords(square.file().offset(step.0)?, square.rank().offset(step.1)?));
    let squares: Vec<Square> = std::iter::successors(Some(start), next).collect();
    Line { mask: squares.iter().copied().collect(), squares, is_straight: step.0 == 0 || step.1 == 0 }
}

/// The batteries, each as `square>square`: every longest run of sliders of one side along a line on which all of them
/// move.
pub(crate) fn batteries(board: &Board, keys: Keys) -> String {
    let mut text = String::new();
    let mut run: Vec<Square> = Vec::with_capacity(8);
    for line in LINES.iter() {
        let movers = if line.is_straight { board.rooks_and_queens() } else { board.bishops_and_queens() };
        if !(line.mask & movers).more_than_one() {
            continue;
        }
        let mut color = None;
        for &square in line.squares.iter().filter(|square| board.occupied().contains(**square)) {
            let mover = board.color_at(square).filter(|_| movers.contains(square));
            if mover != color {
                push_battery(&mut text, &mut run, keys);
                color = mover;
            }
            if mover.is_some() {
                run.push(square);
            }
        }
        push_battery(&mut text, &mut run, keys);
    }
    text
}

/// Appends `run` if it is a battery, and empties it.
fn push_battery(text: &mut String, run: &mut Vec<Square>, keys: Keys) {
    if run.len() > 1 {
        if keys == Keys::Sound {
            run.sort_unstable_by_key(|square| (square.file(), square.rank()));
        }
        push_line(text, run);
    }
    run.clear();
}

fn push_line(text: &mut String, squares: &[Square]) {
    separate(text, ", ");
    for (at, &square) in squares.iter().enumerate() {
        if at > 0 {
            text.push('>');
        }
        push_square(text, square);
    }
}
