//! A position that items are about: a board, the side to move, and the legal moves.

use std::convert::identity;
use std::num::NonZeroU32;

use shakmaty::fen::Fen;
use shakmaty::{
    Bitboard, Board, Castles, CastlingMode, Chess, Color, FromSetup, Move, Position as _, PositionError, Setup,
};

use crate::truth::legal;

/// A position with its legal moves. Each side has one king; what a model believes may have any other faults.
#[derive(Clone, Debug)]
pub struct Position {
    board: Board,
    turn: Color,
    moves: Vec<Move>,
    castling_rights: Bitboard,
    halfmoves: u32,
    fullmoves: NonZeroU32,
}

impl Position {
    /// The position of a FEN, of four or six fields. Castling rights and en passant squares that cannot be are dropped.
    ///
    /// # Errors
    ///
    /// It is no FEN, or no position of a game.
    pub fn of_fen(fen: &str) -> Result<Position, String> {
        chess_of_fen(fen).map(|(chess, _)| Position::of_chess(&chess))
    }

    /// A position of a game.
    pub fn of_chess(chess: &Chess) -> Position {
        Position {
            board: chess.board().clone(),
            turn: chess.turn(),
            moves: chess.legal_moves().into_iter().collect(),
            castling_rights: chess.castles().castling_rights(),
            halfmoves: chess.halfmoves(),
            fullmoves: chess.fullmoves(),
        }
    }

    /// The position of a board that may break the rules in any way but one: none if a side does not have exactly one king.
    pub fn of_setup(setup: Setup) -> Option<Position> {
        Color::ALL.into_iter().all(|color| setup.board.king_of(color).is_some()).then_some(())?;
        if let Ok(chess) = chess_of(setup.clone()) {
            return Some(Position::of_chess(&chess));
        }
        let castles = Castles::from_setup(&setup, CastlingMode::Standard).unwrap_or_else(identity);
        Some(Position {
            moves: legal::legal_moves(&setup.board, setup.turn, &castles, setup.ep_square),
            board: setup.board,
            turn: setup.turn,
            castling_rights: castles.castling_rights(),
            halfmoves: setup.halfmoves,
            fullmoves: setup.fullmoves,
        })
    }

    /// The board.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The side to move.
    pub fn turn(&self) -> Color {
        self.turn
    }

    /// The legal moves.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// The FEN, with an en passant square only where a capture is legal.
    pub fn fen(&self) -> String {
        let en_passant = self.moves.iter().find(|played| played.is_en_passant()).map(|played| played.to());
        let setup = Setup {
            board: self.board.clone(),
            turn: self.turn,
            castling_rights: self.castling_rights,
            ep_square: en_passant,
            halfmoves: self.halfmoves,
            fullmoves: self.fullmoves,
            ..Setup::empty()
        };
        Fen::try_from(setup).unwrap_or_else(|error| error.ignore()).to_string()
    }

    /// The pieces that give check after each legal move.
    pub(crate) fn checks(&self) -> impl Iterator<Item = (Move, Board, Bitboard)> {
        self.moves.iter().filter_map(|&played| {
            let after = legal::after(&self.board, self.turn, played);
            // On a board that breaks the rules a move may take the king.
            let king = after.king_of(!self.turn)?;
            let checkers = after.attacks_to(king, self.turn, after.occupied());
            Some((played, after, checkers))
        })
    }
}

/// The position of a FEN, without impossible castling rights and en passant squares, and true if it had such a right.
///
/// # Errors
///
/// It is no FEN, or no position of a game.
pub fn chess_of_fen(fen: &str) -> Result<(Chess, bool), String> {
    let setup = Fen::from_ascii(fen.as_bytes()).map_err(|error| format!("{fen:?} is no FEN: {error}"))?.into_setup();
    let rights = setup.castling_rights;
    let chess = chess_of(setup).map_err(|error| format!("{fen:?} is no position of a game: {error}"))?;
    let has_impossible_right = chess.castles().castling_rights() != rights;
    Ok((chess, has_impossible_right))
}

fn chess_of(setup: Setup) -> Result<Chess, String> {
    Chess::from_setup(setup, CastlingMode::Standard)
        .or_else(PositionError::ignore_invalid_castling_rights)
        .or_else(PositionError::ignore_invalid_ep_square)
        .map_err(|error| error.to_string())
}
