//! Turns a game's tokens into the labels of each of its positions.

use shakmaty::{CastlingSide, Chess, Color, Move, Position, Role, Square};
use thiserror::Error;

use crate::labels::{class_of, label_of, labels_of, set_state};
use crate::{EnPassant, LABELS, PlainMove, START, legal};

/// Tokens that are not a game.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ReplayError {
    /// The first token is not [`START`].
    #[error("the game does not begin with the START token {START} but with {}", describe(*.0))]
    NoStart(Option<u16>),
    /// A token inside the game that stands for no move.
    #[error("token {token} at ply {ply} is not a move")]
    NotAMove {
        /// Plies played before it, plus one.
        ply: usize,
        /// The token.
        token: u16,
    },
    /// A move that the position does not allow.
    #[error("token {token} ({plain}) at ply {ply} is not a legal move")]
    Illegal {
        /// Plies played before it, plus one.
        ply: usize,
        /// The token.
        token: u16,
        /// The move it stands for.
        plain: PlainMove,
    },
    /// The buffer for the labels does not fit the game.
    #[error("{tokens} tokens need {} bytes of labels, not {bytes}", tokens * LABELS)]
    BufferSize {
        /// Tokens of the game.
        tokens: usize,
        /// The bytes of the buffer.
        bytes: usize,
    },
}

fn describe(token: Option<u16>) -> String {
    token.map_or("nothing".into(), |token| token.to_string())
}

/// Plays a game from its tokens and keeps the labels of the position that it has reached.
///
/// Allocates nothing. Every move is checked; after an error the replay is over.
#[derive(Clone, Debug)]
pub struct Replay<'tokens> {
    tokens: &'tokens [u16],
    /// Index of the next token.
    next: usize,
    position: Chess,
    row: [u8; LABELS],
    en_passant: EnPassant,
}

impl<'tokens> Replay<'tokens> {
    /// A replay of `tokens`, START first, that has not begun.
    pub fn new(tokens: &'tokens [u16], en_passant: EnPassant) -> Self {
        let position = Chess::default();
        let row = labels_of(&position, en_passant);
        Replay { tokens, next: 0, position, row, en_passant }
    }

    /// Reads one token and returns the labels of the position after it; `None` at the end.
    ///
    /// # Errors
    /// The token is not what must stand there.
    #[inline]
    pub fn advance(&mut self) -> Result<Option<&[u8; LABELS]>, ReplayError> {
        let Some(&token) = self.tokens.get(self.next) else {
            return Ok(None);
        };
        let ply = self.next;
        if ply == 0 {
            if token != START {
                return Err(ReplayError::NoStart(Some(token)));
            }
        } else {
            let plain = PlainMove::from_token(token).ok_or(ReplayError::NotAMove { ply, token })?;
            let played = legal(&self.position, plain).ok_or(ReplayError::Illegal { ply, token, plain })?;
            self.place(played, plain);
            self.position.play_unchecked(played);
            set_state(&mut self.row, &self.position, self.en_passant);
        }
        self.next += 1;
        Ok(Some(&self.row))
    }

    /// The position that the replay has reached.
    pub fn position(&self) -> &Chess {
        &self.position
    }

    /// Updates the 64 square labels for a move.
    #[inline]
    fn place(&mut self, played: Move, plain: PlainMove) {
        let color = self.position.turn();
        self.row[label_of(plain.from)] = 0;
        let role = played.promotion().unwrap_or(played.role());
        self.row[label_of(plain.to)] = class_of(role.of(color));
        match played {
            Move::Castle { king, rook } => self.place_rook(color, king, rook),
            Move::EnPassant { from, to } => self.row[label_of(Square::from_coords(to.file(), from.rank()))] = 0,
            Move::Normal { .. } | Move::Put { .. } => {}
        }
    }

    fn place_rook(&mut self, color: Color, king: Square, rook: Square) {
        let side = CastlingSide::from_king_side(king < rook);
        self.row[label_of(rook)] = 0;
        self.row[label_of(side.rook_to(color))] = class_of(Role::Rook.of(color));
    }
}

/// Writes the labels of every position of a game: `rows` is `[tokens.len(), 75]`, row `t` the position after `t` plies.
///
/// # Errors
/// The tokens are not a game, or `rows` has another size; what `rows` holds then is unspecified.
pub fn replay_into(tokens: &[u16], en_passant: EnPassant, rows: &mut [u8]) -> Result<(), ReplayError> {
    if rows.len() != tokens.len() * LABELS {
        return Err(ReplayError::BufferSize { tokens: tokens.len(), bytes: rows.len() });
    }
    if tokens.is_empty() {
        return Err(ReplayError::NoStart(None));
    }
    let mut replay = Replay::new(tokens, en_passant);
    for out in rows.as_chunks_mut::<LABELS>().0 {
        if let Some(row) = replay.advance()? {
            *out = *row;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use shakmaty::EnPassantMode;

    use super::*;
    use crate::random_games::{choices, labels_from_fen, play};
    use crate::{PAD, golden};

    fn rows(tokens: &[u16], en_passant: EnPassant) -> Result<Vec<u8>, ReplayError> {
        let mut rows = vec![0; tokens.len() * LABELS];
        replay_into(tokens, en_passant, &mut rows).map(|()| rows)
    }

    #[test]
    fn golden_games_give_golden_labels_on_every_ply() {
        let Some(games) = golden::games() else { return };
        assert_eq!(games.len(), 500);
        for game in games {
            let found = rows(&game.tokens, EnPassant::Always).unwrap();
            for (ply, (found, expected)) in found.chunks(LABELS).zip(game.labels.chunks(LABELS)).enumerate() {
                assert_eq!(found, expected, "game {} ply {ply}", game.site);
            }
            assert_eq!(found.len(), game.labels.len());
        }
    }

    #[test]
    fn what_is_not_a_game_is_an_error_with_its_place() {
        let e2e4 = PlainMove { from: Square::E2, to: Square::E4, promotion: None };
        assert_eq!(rows(&[], EnPassant::Always), Err(ReplayError::NoStart(None)));
        assert_eq!(rows(&[e2e4.token()], EnPassant::Always), Err(ReplayError::NoStart(Some(e2e4.token()))));
        assert_eq!(
            rows(&[START, e2e4.token(), PAD], EnPassant::Always),
            Err(ReplayError::NotAMove { ply: 2, token: PAD })
        );
        let error = rows(&[START, e2e4.token(), e2e4.token()], EnPassant::Always).unwrap_err();
        assert_eq!(error.to_string(), "token 3980 (e2e4) at ply 2 is not a legal move");
        assert!(replay_into(&[START], EnPassant::Always, &mut [0; 74]).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn random_games_give_the_labels_that_their_fens_say(choices in choices(300)) {
            let (tokens, positions) = play(&choices);
            for (option, mode) in
                [(EnPassant::Always, EnPassantMode::Always), (EnPassant::Legal, EnPassantMode::Legal)]
            {
                let found = rows(&tokens, option).unwrap();
                for (row, position) in found.chunks(LABELS).zip(&positions) {
                    let expected = labels_from_fen(position, mode);
                    prop_assert_eq!(row, &expected[..]);
                    prop_assert_eq!(row, &labels_of(position, option)[..]);
                }
                prop_assert_eq!(found.len(), positions.len() * LABELS);
            }
        }

        #[test]
        fn any_tokens_never_panic(tokens in proptest::collection::vec(any::<u16>(), 0..40)) {
            let _ = rows(&tokens, EnPassant::Always);
            let mut begun = vec![START];
            begun.extend(tokens);
            let _ = rows(&begun, EnPassant::Legal);
        }
    }
}
