//! The comments of the main line of an annotated game.

use std::ops::ControlFlow;

use cwm_chess::pgn::{self, GameText, MalformedText, read_moves_from};
use cwm_questions::truth::chess_of_fen;
use pgn_reader::{RawComment, RawTag, Reader, SanPlus, Skip, Visitor};
use shakmaty::san::SanError;
use shakmaty::{Chess, Move, Position};

use crate::written::WrittenComment;

/// Reasons for which games are dropped.
pub const REASONS: [&str; 8] = [
    "unterminated_comment",
    "too_long",
    "not_utf8",
    "variant",
    "setup_position",
    "ambiguous_move",
    "illegal_move",
    "unreadable_move",
];

/// An annotated game: the players, and the comments of its main line.
#[derive(Debug, Default)]
pub struct AnnotatedGame {
    /// The player of White.
    pub white: String,
    /// The player of Black.
    pub black: String,
    /// The author of the comments.
    pub annotator: String,
    /// The comments, each with its move.
    pub comments: Vec<WrittenComment>,
}

/// Reads a game.
///
/// # Errors
///
/// The name of the reason for which it is dropped.
pub fn read_game(game: &GameText<'_>) -> Result<AnnotatedGame, &'static str> {
    match game.malformed {
        Some(MalformedText::UnterminatedComment) => return Err("unterminated_comment"),
        Some(MalformedText::TooLong) => return Err("too_long"),
        None => {}
    }
    let text = std::str::from_utf8(game.text).map_err(|_| "not_utf8")?;
    let read = Reader::new(game.text).read_game(&mut GameVisitor);
    // The text is in memory: what cannot be read of it is a comment without an end, which is known by now.
    let read = read.map_err(|_| "unterminated_comment")?.unwrap_or_else(|| Ok(AnnotatedGame::default()))?;
    if has_unreadable_moves(text) { Err("unreadable_move") } else { Ok(read) }
}

/// True if the main line has words that are no moves, such as those in another language. The reader passes over them,
/// and would take comments on them for comments on the move before.
fn has_unreadable_moves(text: &str) -> bool {
    let (tags, movetext) = pgn::Tags::read(text);
    let start = tags.fen.and_then(|fen| chess_of_fen(fen.trim()).ok()).map(|(position, _)| position);
    let fault = read_moves_from(start.unwrap_or_default(), &text.as_bytes()[movetext..], &mut Vec::new()).err();
    fault.is_some_and(|fault| matches!(fault.fault, pgn::SanError::Unreadable | pgn::SanError::Null))
}

struct GameVisitor;

#[derive(Default)]
struct Tags {
    game: AnnotatedGame,
    fen: Option<String>,
    variant: Option<String>,
}

/// A game under way.
struct GameReplay {
    game: AnnotatedGame,
    position: Chess,
    /// The last move, and the position before it.
    last: Option<(Chess, Move)>,
    /// The part of a comment that was read.
    open: Vec<u8>,
}

type Outcome = Result<AnnotatedGame, &'static str>;

impl Visitor for GameVisitor {
    type Tags = Tags;
    type Movetext = GameReplay;
    type Output = Outcome;

    fn begin_tags(&mut self) -> ControlFlow<Outcome, Tags> {
        ControlFlow::Continue(Tags::default())
    }

    fn tag(&mut self, tags: &mut Tags, name: &[u8], value: RawTag<'_>) -> ControlFlow<Outcome> {
        let value = value.decode_utf8_lossy().trim().to_owned();
        match name {
            b"White" => tags.game.white = value,
            b"Black" => tags.game.black = value,
            b"Annotator" => tags.game.annotator = value,
            b"FEN" => tags.fen = Some(value),
            b"Variant" => tags.variant = Some(value.to_ascii_lowercase()),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Tags) -> ControlFlow<Outcome, GameReplay> {
        let standard = ["", "standard", "chess", "classical", "normal", "from position"];
        if tags.variant.is_some_and(|variant| !standard.contains(&variant.as_str())) {
            return ControlFlow::Break(Err("variant"));
        }
        match tags
            .fen
            .map_or_else(|| Some(Chess::default()), |fen| chess_of_fen(&fen).ok().map(|(position, _)| position))
        {
            Some(position) => {
                ControlFlow::Continue(GameReplay { game: tags.game, position, last: None, open: Vec::new() })
            }
            None => ControlFlow::Break(Err("setup_position")),
        }
    }

    fn san(&mut self, playing: &mut GameReplay, san: SanPlus) -> ControlFlow<Outcome> {
        match san.san.to_move(&playing.position) {
            Ok(played) => {
                playing.last = Some((playing.position.clone(), played));
                playing.position.play_unchecked(played);
                ControlFlow::Continue(())
            }
            Err(SanError::AmbiguousSan) => ControlFlow::Break(Err("ambiguous_move")),
            Err(SanError::IllegalSan) => ControlFlow::Break(Err("illegal_move")),
        }
    }

    fn begin_variation(&mut self, _: &mut GameReplay) -> ControlFlow<Outcome, Skip> {
        ControlFlow::Continue(Skip(true))
    }

    fn partial_comment(&mut self, playing: &mut GameReplay, part: RawComment<'_>) -> ControlFlow<Outcome> {
        playing.open.extend_from_slice(part.as_bytes());
        ControlFlow::Continue(())
    }

    fn comment(&mut self, playing: &mut GameReplay, comment: RawComment<'_>) -> ControlFlow<Outcome> {
        playing.open.extend_from_slice(comment.as_bytes());
        let text = String::from_utf8_lossy(&playing.open).trim().to_owned();
        playing.open.clear();
        // Before the first move it is about no move.
        let Some((before, played)) = playing.last.as_ref().filter(|_| !text.is_empty()) else {
            return ControlFlow::Continue(());
        };
        let written = WrittenComment::new(before, *played, text);
        match playing.game.comments.last_mut() {
            Some(last) if last.ply == written.ply => {
                last.comment.push(' ');
                last.comment.push_str(&written.comment);
            }
            _ => playing.game.comments.push(written),
        }
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, playing: GameReplay) -> Outcome {
        Ok(playing.game)
    }
}
