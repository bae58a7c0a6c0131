//! Decides which games belong to the corpus, with the reason for the others.

use cwm_chess::IdKey;
use cwm_chess::pgn::{GameText, MalformedText, SanError, Tags, read_moves};

use crate::parsed_block::ParsedBlock;

/// The reason why a game is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// Fewer plies than wanted.
    Short,
    /// A game by other rules than those of standard chess.
    Variant,
    /// A game from another position than the initial one.
    SetUpPosition,
    /// A move of the main line is illegal.
    IllegalMove,
    /// A move of the main line can be read as several.
    AmbiguousMove,
    /// A word of the main line is not notation of a move.
    UnreadableMove,
    /// A player passes.
    NullMove,
    /// The text is not UTF-8.
    NotUtf8,
    /// The Site tag, which names the game, is empty (or absent, where it is the id).
    NoSite,
    /// A comment does not end.
    UnterminatedComment,
    /// The text is longer than any game's.
    TooLong,
    /// The authors' rules allow no board for it, or its moves cannot be played there.
    Unplayable,
    /// The authors' program stops at this game, by their rules.
    Exception,
}

impl cwm_chess::DropReason for Reason {
    const ALL: &'static [Reason] = &[
        Reason::Short,
        Reason::Variant,
        Reason::SetUpPosition,
        Reason::IllegalMove,
        Reason::AmbiguousMove,
        Reason::UnreadableMove,
        Reason::NullMove,
        Reason::NotUtf8,
        Reason::NoSite,
        Reason::UnterminatedComment,
        Reason::TooLong,
        Reason::Unplayable,
        Reason::Exception,
    ];

    fn name(self) -> &'static str {
        match self {
            Reason::Short => "short",
            Reason::Variant => "variant",
            Reason::SetUpPosition => "setup_position",
            Reason::IllegalMove => "illegal_move",
            Reason::AmbiguousMove => "ambiguous_move",
            Reason::UnreadableMove => "unreadable_move",
            Reason::NullMove => "null_move",
            Reason::NotUtf8 => "not_utf8",
            Reason::NoSite => "no_site",
            Reason::UnterminatedComment => "unterminated_comment",
            Reason::TooLong => "too_long",
            Reason::Unplayable => "unplayable",
            Reason::Exception => "exception",
        }
    }
}

impl Reason {
    /// Returns true if the game is faulty, rather than sound and not wanted.
    pub fn is_fault(self) -> bool {
        !matches!(self, Reason::Short | Reason::Variant | Reason::SetUpPosition | Reason::Unplayable)
    }
}

/// A game that is not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DroppedGame {
    /// The reason.
    pub reason: Reason,
    /// Byte of the text where that is seen.
    pub offset: u64,
    /// The text at that place, where it helps.
    pub detail: Option<Box<str>>,
}

/// The way in which ids are made.
pub enum IdScheme {
    /// Names made with a key from the site.
    Hmac(IdKey),
    /// The site itself.
    Site,
}

impl IdScheme {
    /// Appends the id of the game played at `site` to `out`.
    pub fn write(&self, site: &str, out: &mut String) {
        match self {
            IdScheme::Hmac(key) => key.write_id(site, out),
            IdScheme::Site => out.push_str(site),
        }
    }
}

/// The rules that are followed.
pub struct Rules {
    /// Fewest plies of a kept game.
    pub min_plies: usize,
    /// The way in which ids are made.
    pub ids: IdScheme,
}

const INITIAL_FEN: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

impl Rules {
    /// Reads one game; adds it to `parsed` if it is kept.
    pub fn read_game(&self, game: GameText<'_>, parsed: &mut ParsedBlock) -> Result<(), DroppedGame> {
        let drop = |reason, at: usize| DroppedGame { reason, offset: game.offset + at as u64, detail: None };
        match game.malformed {
            Some(MalformedText::UnterminatedComment) => return Err(drop(Reason::UnterminatedComment, game.text.len())),
            Some(MalformedText::TooLong) => return Err(drop(Reason::TooLong, 0)),
            None => {}
        }
        let text = std::str::from_utf8(game.text).map_err(|error| drop(Reason::NotUtf8, error.valid_up_to()))?;
        let (tags, movetext) = Tags::read(text);
        if let Some(reason) = unwanted(&tags) {
            return Err(drop(reason, 0));
        }
        let (named, plies) = self.read_moves(&game, text, movetext, parsed)?;
        if plies < self.min_plies {
            return Err(drop(Reason::Short, 0));
        }
        let site = match (tags.site.map(str::trim), &self.ids) {
            (Some(""), _) | (None, IdScheme::Site) => return Err(drop(Reason::NoSite, 0)),
            // The paper's code takes a missing Site for the standard's `?`.
            (site, _) => site.unwrap_or("?"),
        };
        let result = tags.result.filter(|&result| result != "*").or(named).unwrap_or("*");
        parsed.keep(site, result, |id| self.ids.write(site, id));
        Ok(())
    }

    /// Reads the movetext, which begins at byte `movetext` of the game's text; returns the result that it names and how
    /// many plies it has.
    fn read_moves(
        &self,
        game: &GameText<'_>,
        text: &str,
        movetext: usize,
        parsed: &mut ParsedBlock,
    ) -> Result<(Option<&'static str>, usize), DroppedGame> {
        let moves = parsed.moves();
        let before = moves.len();
        match read_moves(&game.text[movetext..], moves) {
            Ok(named) => Ok((named, moves.len() - before)),
            Err(fault) => {
                let reason = match fault.fault {
                    SanError::Illegal => Reason::IllegalMove,
                    SanError::Ambiguous => Reason::AmbiguousMove,
                    SanError::Unreadable => Reason::UnreadableMove,
                    SanError::Null => Reason::NullMove,
                };
                let word = text.get(movetext + fault.start..movetext + fault.end).unwrap_or_default();
                let word: String = word.chars().take(20).collect();
                let detail = format!("`{}` at ply {}", word.escape_debug(), fault.plies + 1);
                let offset = game.offset + (movetext + fault.start) as u64;
                Err(DroppedGame { reason, offset, detail: Some(detail.into()) })
            }
        }
    }
}

fn unwanted(tags: &Tags<'_>) -> Option<Reason> {
    let from_position = match tags.variant.map(|variant| variant.trim().to_ascii_lowercase()).as_deref() {
        None | Some("standard" | "chess" | "classical" | "normal") => false,
        Some("from position") => true,
        Some(_) => return Some(Reason::Variant),
    };
    let set_up = match tags.fen {
        Some(fen) => fen.trim() != INITIAL_FEN,
        None => from_position || tags.set_up.is_some_and(|set_up| set_up.trim() == "1"),
    };
    set_up.then_some(Reason::SetUpPosition)
}
