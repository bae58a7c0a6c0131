//! A game's moves, as they come: a line at a time, or a whole game of PGN.

use std::io::{BufRead, Read};

use cwm_chess::pgn::{Block, Blocks, SanError, Tags, read_moves, read_san};
use cwm_contract::Failure;
use cwm_encoding::{PlainMove, legal};
use shakmaty::san::San;
use shakmaty::{Chess, Move, Position};

use super::word_reader::{Line, WordReader};

/// No line of moves is longer: that of a whole game is a hundred times shorter.
const LONGEST_LINE: u64 = 1 << 20;

/// Names of the rules that models support, as `parse` takes them; a game from another position records that itself.
const STANDARD: [&str; 6] = ["", "standard", "chess", "classical", "normal", "from position"];

/// Moves that became known together, and what ends the game.
#[derive(Debug, Default)]
pub struct Group {
    /// Legal, one after the other.
    pub played: Vec<Move>,
    /// The failure if the word after them was no legal move.
    pub failure: Option<Failure>,
}

/// A source of moves.
pub struct Moves<'t> {
    text: Source<'t>,
    plies: usize,
}

enum Source<'t> {
    /// Lines, from the first on, which is known already.
    Lines { text: &'t mut dyn BufRead, first: Option<String>, words: WordReader },
    /// All moves of one game of PGN: what is read of them, then what is wrong with the next.
    Game { moves: Vec<u16>, fault: Option<(String, SanError)> },
    /// There are no more.
    End,
}

impl<'t> Moves<'t> {
    /// The moves in `text`. PGN is known by its first letter, a bracket; of that, the game `game`, from 1.
    ///
    /// # Errors
    /// It cannot be read, or has no such game, or that game did not begin from the initial position.
    pub fn new(text: &'t mut dyn BufRead, game: u64) -> Result<Self, Failure> {
        let mut first = String::new();
        while first.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']).is_empty() {
            first.clear();
            if line(text, &mut first)? == 0 {
                return Ok(Moves { text: Source::End, plies: 0 });
            }
        }
        let text = if first.trim_start_matches(['\u{feff}', ' ', '\t']).starts_with('[') {
            pgn(first.as_bytes().chain(text), game)?
        } else if game == 1 {
            let first = first.trim_start_matches('\u{feff}').to_owned();
            Source::Lines { text, first: Some(first), words: WordReader::default() }
        } else {
            return Err(Failure::input("moves without PGN headers are one game; there is no other to choose"));
        };
        Ok(Moves { text, plies: 0 })
    }

    /// The next moves, from `position` on; none at the end.
    ///
    /// # Errors
    /// The text cannot be read.
    pub fn next_group(&mut self, position: &Chess) -> Result<Option<Group>, Failure> {
        let mut group = match &mut self.text {
            Source::End => return Ok(None),
            Source::Lines { text, first, words } => {
                let mut read = first.take().unwrap_or_default();
                if read.is_empty() && line(*text, &mut read)? == 0 {
                    return Ok(None);
                }
                played(position, self.plies, &words.of(&read))
            }
            Source::Game { moves, fault } => {
                let group = replayed(position, moves, fault.take());
                self.text = Source::End;
                group
            }
        };
        self.plies += group.played.len();
        if group.failure.is_some() {
            self.text = Source::End;
        }
        group.played.shrink_to_fit();
        Ok(Some(group))
    }
}

/// Reads a line; 0 at the end of the text.
fn line(text: &mut dyn BufRead, line: &mut String) -> Result<usize, Failure> {
    let mut bytes = Vec::new();
    let read = text.take(LONGEST_LINE).read_until(b'\n', &mut bytes);
    let read = read.map_err(|error| Failure::system(format!("cannot read the moves: {error}")))?;
    if read as u64 == LONGEST_LINE {
        return Err(Failure::input(format!("a line of the moves has more than {LONGEST_LINE} bytes")));
    }
    line.push_str(&String::from_utf8_lossy(&bytes));
    Ok(read)
}

fn pgn<'t>(text: impl Read, game: u64) -> Result<Source<'t>, Failure> {
    let unread = |error: String| Failure::input(format!("the PGN cannot be read: {error}"));
    let mut blocks = Blocks::new(std::io::BufReader::new(text));
    let mut block = Block::default();
    let mut games = 0;
    while blocks.next(&mut block).map_err(|error| unread(error.to_string()))? {
        for found in block.games() {
            games += 1;
            if games == game {
                return only(&String::from_utf8_lossy(found.text));
            }
        }
    }
    Err(Failure::input(format!("the PGN has {games} games, and no game {game}")))
}

/// The moves of a game.
fn only<'t>(text: &str) -> Result<Source<'t>, Failure> {
    let (tags, movetext) = Tags::read(text);
    let variant =
        tags.variant.map(str::trim).filter(|variant| !STANDARD.iter().any(|it| variant.eq_ignore_ascii_case(it)));
    if let Some(variant) = variant {
        let what = format!(
            "this game was played by the rules of {}, but models are trained on those of chess",
            shown(variant)
        );
        return Err(Failure::input(what));
    }
    if tags.fen.is_some() || tags.set_up == Some("1") {
        return Err(Failure::input("this game does not begin from the initial position, but models do"));
    }
    let movetext = &text.as_bytes()[movetext..];
    let mut moves = Vec::new();
    let fault = read_moves(movetext, &mut moves).err();
    let fault = fault.map(|fault| {
        let word = movetext.get(fault.start..fault.end).unwrap_or_default();
        (String::from_utf8_lossy(word).into_owned(), fault.fault)
    });
    Ok(Source::Game { moves, fault })
}

fn replayed(position: &Chess, packed: &[u16], fault: Option<(String, SanError)>) -> Group {
    let mut position = position.clone();
    let mut group = Group::default();
    for &packed in packed {
        let played = PlainMove::from_packed(packed).and_then(|plain| legal(&position, plain));
        let Some(played) = played else {
            group.failure = Some(Failure::internal("a move that was read is not legal"));
            return group;
        };
        position.play_unchecked(played);
        group.played.push(played);
    }
    group.failure = fault.map(|(word, fault)| refused(&position, group.played.len(), &word, fault));
    group
}

/// Plays the words of a line from `position`, which is reached after `plies`.
fn played(position: &Chess, plies: usize, line: &Line) -> Group {
    let mut position = position.clone();
    let mut group = Group::default();
    for word in &line.words {
        match read_san(&position, word.as_bytes()) {
            Ok(played) => {
                position.play_unchecked(played);
                group.played.push(played);
            }
            Err(fault) => {
                group.failure = Some(refused(&position, plies + group.played.len(), word, fault));
                return group;
            }
        }
    }
    group.failure = line.after.as_ref().map(|(word, result)| {
        Failure::input(format!("{} follows `{result}`, which ends the game", shown(word)))
            .hint("moves without PGN headers are one game; with headers `--game` chooses one of several")
    });
    group
}

/// Quotes a word of the input for messages.
fn shown(word: &str) -> String {
    format!("`{}`", word.chars().take(40).flat_map(char::escape_debug).collect::<String>())
}

/// Returns the failure for `word`, which is no move after `plies`, with the moves that are legal.
fn refused(position: &Chess, plies: usize, word: &str, fault: SanError) -> Failure {
    let what = match fault {
        SanError::Unreadable => "is no move",
        SanError::Null => "passes, which chess does not allow",
        SanError::Illegal => "is not legal",
        SanError::Ambiguous => "may be several moves",
    };
    let mut legal: Vec<String> =
        position.legal_moves().iter().map(|&played| San::from_move(position, played).to_string()).collect();
    legal.sort();
    let failure = Failure::input(format!("{} at ply {} {what}", shown(word), plies + 1));
    failure.hint(if legal.is_empty() {
        "the game is over: there is no legal move".to_owned()
    } else {
        format!("legal are {}", legal.join(", "))
    })
}
