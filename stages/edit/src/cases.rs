//! Prefixes of games that are edited, and why others are dropped.

use std::collections::BTreeMap;
use std::ops::Range;

use cwm_chess::Dataset;
use cwm_contract::Failure;
use cwm_encoding::{PlainMove, legal};
use cwm_inside::edit::RecordedGame;
use cwm_inside::{Model, TokenizedGame};
use shakmaty::{Chess, Position, Square};

/// Plies from a case to its future: even, so that the same side is to move.
const FUTURE_PLIES: usize = 6;

/// A reason for which a case, a game or an edit is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The game ends before the case's future.
    TooFewPlies,
    /// The model does not read as many tokens.
    TooManyTokens,
    /// The likeliest word is no square.
    NoSquare,
    /// Nothing stands on the square.
    EmptySquare,
    /// A king stands there.
    King,
    /// The game is of other rules, so that it has labels of its own.
    OtherRules,
    /// A linear probe has no direction for the piece there.
    NoDirection,
}

impl Reason {
    /// All of them.
    pub const ALL: [Reason; 7] = [
        Reason::TooFewPlies,
        Reason::TooManyTokens,
        Reason::NoSquare,
        Reason::EmptySquare,
        Reason::King,
        Reason::OtherRules,
        Reason::NoDirection,
    ];

    /// Its name in the metadata of `edits`.
    pub fn name(self) -> &'static str {
        match self {
            Reason::TooFewPlies => "too_few_plies",
            Reason::TooManyTokens => "too_many_tokens",
            Reason::NoSquare => "no_square",
            Reason::EmptySquare => "empty_square",
            Reason::King => "king",
            Reason::OtherRules => "games_of_other_rules",
            Reason::NoDirection => "edits_without_direction",
        }
    }
}

/// The number of cases, games and edits that were dropped, by reason.
pub type DropCounts = BTreeMap<Reason, u64>;

/// A prefix of a game.
#[derive(Clone, Debug)]
pub struct Case {
    /// The game, by its place among the games.
    pub game: usize,
    /// Length of the prefix.
    pub ply: u32,
    /// The position at its end.
    pub position: Chess,
    /// The position six plies on.
    pub future: Chess,
    /// Origin of the move that was played there.
    pub played: Square,
    /// The place of the prefix's last token.
    pub last: usize,
    /// The place of the token at which the future is complete.
    pub future_token: usize,
}

/// A game and its cases.
#[derive(Clone, Debug)]
pub struct Game {
    /// The tokens that the model reads of it, up to the last one that its cases need.
    pub tokens: Vec<u16>,
    /// Its cases by ply.
    pub cases: Vec<Case>,
}

impl Game {
    /// The tokens to record: the last one of each case, then the future one of each.
    pub fn recorded(&self) -> RecordedGame<'_> {
        let last = self.cases.iter().map(|case| case.last);
        RecordedGame { tokens: &self.tokens, at: last.chain(self.cases.iter().map(|case| case.future_token)).collect() }
    }
}

/// Reads the games at these places with their cases at these plies, and counts what is dropped.
///
/// # Errors
/// The input is damaged, or one of its games has an illegal move.
pub fn read(
    dataset: &Dataset,
    places: Range<usize>,
    model: &Model,
    plies: &[u64],
    dropped: &mut DropCounts,
) -> Result<Vec<Game>, Failure> {
    let mut games = Vec::new();
    for place in places {
        let Some(game) = dataset.get(place)? else { break };
        let row = game.row();
        let mut count = |reason| *dropped.entry(reason).or_default() += 1;
        if row.labels.is_some() {
            count(Reason::OtherRules);
            continue;
        }
        let wrong = |what: String| Failure::input(format!("input `games`, game {place} ({}): {what}", row.id));
        let reading = TokenizedGame::of(model.task(), row.tokens).map_err(wrong)?;
        let positions = positions(row.tokens).map_err(wrong)?;
        let mut game = Game { tokens: reading.tokens, cases: Vec::new() };
        for &ply in plies {
            let (now, then) = (ply as usize, ply as usize + FUTURE_PLIES);
            let (Some((position, Some(played))), Some((future, _))) = (positions.get(now), positions.get(then)) else {
                count(Reason::TooFewPlies);
                continue;
            };
            // The first token at which so many plies are complete.
            let token = |ply: usize| reading.after.partition_point(|&after| (after as usize) < ply);
            let (last, future_token) = (token(now), token(then));
            if model.longest().is_some_and(|longest| future_token >= longest) {
                count(Reason::TooManyTokens);
                continue;
            }
            let (position, future) = (position.clone(), future.clone());
            game.cases.push(Case {
                game: place,
                ply: ply as u32,
                position,
                future,
                played: *played,
                last,
                future_token,
            });
        }
        if let Some(end) = game.cases.iter().map(|case| case.future_token).max() {
            game.tokens.truncate(end + 1);
            games.push(game);
        }
    }
    Ok(games)
}

/// The position after each ply, and the origin of the move that is played there.
fn positions(tokens: &[u16]) -> Result<Vec<(Chess, Option<Square>)>, String> {
    let mut position = Chess::default();
    let mut positions = Vec::with_capacity(tokens.len());
    for (ply, &token) in tokens.iter().skip(1).enumerate() {
        let played = PlainMove::from_token(token).and_then(|plain| Some((plain, legal(&position, plain)?)));
        let (plain, played) = played.ok_or_else(|| format!("move {} is not legal", ply + 1))?;
        positions.push((position.clone(), Some(plain.from)));
        position.play_unchecked(played);
    }
    positions.push((position, None));
    Ok(positions)
}
