//! What others would write with the same libraries, and games for them.

use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;

use cwm_chess::{GameRow, Games};
use cwm_encoding::{LABELS, PlainMove};
use pgn_reader::{Reader, Visitor};
use shakmaty::san::SanPlus;
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Color, Move, Position, Role, Square};

struct Replay;

impl Visitor for Replay {
    type Tags = ();
    type Movetext = Chess;
    type Output = usize;

    fn begin_tags(&mut self) -> ControlFlow<usize, ()> {
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, (): ()) -> ControlFlow<usize, Chess> {
        ControlFlow::Continue(Chess::default())
    }

    fn san(&mut self, position: &mut Chess, word: SanPlus) -> ControlFlow<usize> {
        match word.san.to_move(position) {
            Ok(played) => {
                position.play_unchecked(played);
                ControlFlow::Continue(())
            }
            Err(_) => ControlFlow::Break(0),
        }
    }

    fn end_game(&mut self, _: Chess) -> usize {
        1
    }
}

/// Replays all games of zstd data with pgn-reader and shakmaty; how many there are.
pub fn replay(compressed: impl Read) -> usize {
    let text = zstd::Decoder::new(compressed).expect("a decoder");
    let mut reader = Reader::new(text);
    let mut games = 0;
    while let Some(played) = reader.read_game(&mut Replay).expect("text") {
        games += played;
    }
    games
}

/// Labels of a game's positions, each from scratch; every move is looked for among the legal ones.
pub fn labels_checking(tokens: &[u16], rows: &mut [u8]) {
    labels(tokens, rows, |position, PlainMove { from, to, promotion }| {
        UciMove::Normal { from, to, promotion }.to_move(position).expect("a legal move")
    });
}

/// The same; moves are taken for legal.
pub fn labels_trusting(tokens: &[u16], rows: &mut [u8]) {
    labels(tokens, rows, |position, PlainMove { from, to, promotion }| {
        let board = position.board();
        let role = board.role_at(from).expect("a piece");
        let capture = board.role_at(to);
        match role {
            Role::King if from.distance(to) == 2 => {
                let file = if to > from { shakmaty::File::H } else { shakmaty::File::A };
                Move::Castle { king: from, rook: Square::from_coords(file, from.rank()) }
            }
            Role::Pawn if capture.is_none() && from.file() != to.file() => Move::EnPassant { from, to },
            _ => Move::Normal { role, from, capture, to, promotion },
        }
    });
}

#[inline(always)]
fn labels(tokens: &[u16], rows: &mut [u8], find: impl Fn(&Chess, PlainMove) -> Move) {
    let mut position = Chess::default();
    for (token, row) in tokens.iter().zip(rows.as_chunks_mut::<LABELS>().0) {
        if let Some(plain) = PlainMove::from_token(*token) {
            position.play_unchecked(find(&position, plain));
        }
        *row = labels_of(&position);
    }
}

#[inline(always)]
fn labels_of(position: &Chess) -> [u8; LABELS] {
    let mut row = [0; LABELS];
    let board = position.board();
    for (color, first) in [(Color::White, 0), (Color::Black, 6)] {
        for role in Role::ALL {
            for square in board.by_piece(role.of(color)) {
                row[square.to_usize() ^ 56] = first + role as u8;
            }
        }
    }
    row[64] = u8::from(position.turn() == Color::Black);
    let rights = position.castles().castling_rights();
    for (label, corner) in (65..).zip([Square::H1, Square::A1, Square::H8, Square::A8]) {
        row[label] = u8::from(rights.contains(corner));
    }
    if let Some(square) = position.maybe_ep_square() {
        row[69] = square.file() as u8 + 1;
        row[70] = if square.rank() == shakmaty::Rank::Third { 1 } else { 2 };
    }
    row[71..73].copy_from_slice(&(position.halfmoves() as u16).to_be_bytes());
    row[73..75].copy_from_slice(&(position.fullmoves().get() as u16).to_be_bytes());
    row
}

/// A game out of its file.
pub struct Owned {
    index: u64,
    id: String,
    site: String,
    result: String,
    moves: Vec<u16>,
}

impl Owned {
    /// As it is written.
    pub fn row(&self) -> GameRow<'_> {
        let Owned { index, id, site, result, moves } = self;
        GameRow { index: *index, id, site, result, moves, labels: None }
    }
}

/// All games of a folder in memory.
pub fn owned(folder: &Path) -> Vec<Owned> {
    let games = Games::open(folder).expect("games");
    let owned = |game: GameRow<'_>| Owned {
        index: game.index,
        id: game.id.to_owned(),
        site: game.site.to_owned(),
        result: game.result.to_owned(),
        moves: game.moves.to_vec(),
    };
    games.iter().map(|game| owned(game.expect("a game").row())).collect()
}
