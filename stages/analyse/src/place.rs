//! Positions placed by chance: kings anywhere, and a few more pieces.

use std::collections::{BTreeMap, HashSet};

use cwm_contract::{Context, Failure};
use cwm_game::StreamRng;
use cwm_random::Random;
use shakmaty::zobrist::Zobrist128;
use shakmaty::{Board, CastlingMode, Chess, Color, EnPassantMode, FromSetup, Piece, Position, Role, Setup, Square};

use crate::config::Config;

/// Streams of a seed: each gives one position, and some streams the same. Those of a seed to keep apart from are all
/// dropped, however many of them another stage has used.
const STREAMS: u64 = 1 << 17;

/// Positions that are tried for one with enough legal moves.
const TRIES: u32 = 10_000;

/// The kinds of pieces beside the kings; pawns are twice as frequent as others.
const KINDS: [Role; 6] = [Role::Pawn, Role::Pawn, Role::Knight, Role::Bishop, Role::Rook, Role::Queen];

/// Positions of a stage's parameters.
pub struct PlacedPositions {
    /// No two are the same.
    pub positions: Vec<Chess>,
    /// Positions that were tried and dropped: `game_over`, without a legal move; `few_moves`; `repeated`; `apart`.
    pub dropped: BTreeMap<&'static str, u64>,
}

/// Places so many positions.
///
/// # Errors
/// The seed has fewer, or the stage was cancelled.
pub fn place(context: &Context, config: &Config, number: u64) -> Result<PlacedPositions, Failure> {
    let mut placed = PlacedPositions {
        positions: Vec::new(),
        dropped: ["game_over", "few_moves", "repeated", "apart"].map(|name| (name, 0)).into(),
    };
    let mut apart = HashSet::new();
    for &seed in &config.apart_from {
        for stream in 0..STREAMS {
            context.check_cancelled()?;
            apart.insert(board(&position(config, seed, stream, &mut BTreeMap::new())?));
        }
    }
    let mut own = HashSet::new();
    for stream in 0..STREAMS {
        if placed.positions.len() as u64 == number {
            return Ok(placed);
        }
        context.check_cancelled()?;
        let position = position(config, config.seed, stream, &mut placed.dropped)?;
        let board = board(&position);
        if apart.contains(&board) {
            *placed.dropped.entry("apart").or_default() += 1;
        } else if own.insert(board) {
            placed.positions.push(position);
        } else {
            *placed.dropped.entry("repeated").or_default() += 1;
        }
    }
    Err(Failure::input(format!("only {} different positions could be placed, not {number}", placed.positions.len()))
        .hint("lower `place`, or raise `max_pieces`"))
}

/// A hash of a position: equal if the first four fields of the FEN are.
pub fn board(position: &Chess) -> u128 {
    position.zobrist_hash::<Zobrist128>(EnPassantMode::Legal).0
}

/// The position of one stream: the first that is tried with enough legal moves.
fn position(
    config: &Config,
    seed: u64,
    stream: u64,
    dropped: &mut BTreeMap<&'static str, u64>,
) -> Result<Chess, Failure> {
    let mut draws = StreamRng::new("analyse place", &seed.to_string(), stream);
    for _ in 0..TRIES {
        let setup = setup(config.max_pieces, &mut draws);
        let Ok(position) = Chess::from_setup(setup, CastlingMode::Standard) else { continue };
        let moves = position.legal_moves().len() as u64;
        let reason = match moves {
            0 => "game_over",
            _ if moves < config.min_legal => "few_moves",
            _ => return Ok(position),
        };
        *dropped.entry(reason).or_default() += 1;
    }
    let message = format!("of {TRIES} positions placed by chance none had {} legal moves", config.min_legal);
    Err(Failure::input(message).hint("lower `min_legal`, or change `max_pieces`"))
}

/// Pieces on squares, which may be no position: kings, and one to `max_pieces` - 2 more, of any colour and of a kind of [`KINDS`].
fn setup(max_pieces: u32, draws: &mut StreamRng) -> Setup {
    let mut board = Board::empty();
    let mut put = |piece: Piece, draws: &mut StreamRng| {
        let is_free = |board: &Board, square: Square| {
            let outer = piece.role == Role::Pawn && matches!(u32::from(square) / 8, 0 | 7);
            board.piece_at(square).is_none() && !outer
        };
        let mut square = Square::new(draws.below(64));
        while !is_free(&board, square) {
            square = Square::new(draws.below(64));
        }
        board.set_piece_at(square, piece);
    };
    for color in Color::ALL {
        put(color.king(), draws);
    }
    for _ in 0..=draws.below(max_pieces - 2) {
        let role = KINDS[draws.below(KINDS.len() as u32) as usize];
        put(Piece { color: coin(draws), role }, draws);
    }
    Setup { board, turn: coin(draws), ..Setup::empty() }
}

fn coin(draws: &mut StreamRng) -> Color {
    Color::from_white(draws.below(2) == 0)
}
