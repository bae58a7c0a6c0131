//! Games as words, and which words continue a legal move.

use std::collections::BTreeMap;

use cwm_chess::Dataset;
use cwm_contract::Failure;
use cwm_encoding::{PlainMove, START, legal};
use cwm_inside::Model;
use cwm_policy::inputs::words::{BEGIN, Words};
use cwm_policy::origins::LegalWords;
use shakmaty::{Chess, Position};

use crate::config::Config;

/// A game as words.
#[derive(Clone, Debug)]
pub struct Game {
    /// Its place in the dataset.
    pub number: u32,
    /// Its words, perhaps cut.
    pub words: Words,
    /// The word after each of them: behind the last word of a game that was not cut, the word that begins the next one.
    pub next: Vec<u16>,
    moves: Vec<PlainMove>,
}

impl AsRef<[u16]> for Game {
    fn as_ref(&self) -> &[u16] {
        &self.words.ids
    }
}

impl Game {
    /// Calls `at` at each word: its place, the words of a move that has begun, and the legal moves before that move.
    ///
    /// # Errors
    /// A move is not legal; in words, to be put behind the game's name.
    pub fn read(&self, mut at: impl FnMut(usize, &[u16], &LegalWords)) -> Result<(), String> {
        let (mut position, mut ply) = (Chess::default(), 0);
        let (mut words, mut begun) = (LegalWords::of(&position), Vec::new());
        for (token, (&word, &after)) in self.words.ids.iter().zip(&self.words.after).enumerate() {
            if after > ply {
                let plain = self.moves[ply as usize];
                let played = legal(&position, plain)
                    .ok_or_else(|| format!("token {} ({plain}) at ply {after} is not a legal move", plain.token()))?;
                position.play_unchecked(played);
                ply = after;
                words = LegalWords::of(&position);
                begun.clear();
            } else if word != BEGIN {
                begun.push(word);
            }
            at(token, &begun, &words);
        }
        Ok(())
    }
}

/// The games of a dataset that a model can read, in order.
pub struct Games<'a> {
    dataset: &'a Dataset,
    /// Largest number of words that is read; longer games are left out.
    longest: usize,
    /// Number of words after which games are cut.
    most: usize,
    next: usize,
    end: usize,
    left_out: BTreeMap<String, u64>,
}

impl<'a> Games<'a> {
    /// Those of `dataset`.
    ///
    /// # Errors
    /// The parameters do not fit the model, or the games are more than the table can count.
    pub fn new(dataset: &'a Dataset, model: &Model, config: &Config) -> Result<Self, Failure> {
        if u32::try_from(dataset.len()).is_err() {
            let message = format!("{} games are too many: the table counts them in 32 bits", dataset.len());
            return Err(Failure::input(message));
        }
        let number = |given: Option<u64>| given.map_or(usize::MAX, |number| usize::try_from(number).unwrap_or(usize::MAX));
        let (longest, most) = (number(config.longest), number(config.max_tokens));
        let readable = model.longest().unwrap_or(usize::MAX);
        if config.max_tokens.is_some() && most > readable {
            let message = format!("`max_tokens` is {most}, and {} reads {readable} words at most", model.name());
            return Err(Failure::input(message));
        }
        let longest = if config.max_tokens.is_some() { longest } else { longest.min(readable) };
        let end = number(config.games).min(dataset.len());
        let left_out = BTreeMap::from([TOO_LONG, OTHER_RULES].map(|reason| (reason.to_owned(), 0)));
        Ok(Games { dataset, longest, most, next: 0, end, left_out })
    }

    /// Games that were looked at so far, and all.
    pub fn progress(&self) -> (u64, u64) {
        (self.next as u64, self.end as u64)
    }

    /// Games that were left out so far, by the reason.
    pub fn left_out(&self) -> &BTreeMap<String, u64> {
        &self.left_out
    }

    /// The next games, at most so many; none behind the last.
    ///
    /// # Errors
    /// The dataset is damaged, or a token of a game is no move.
    pub fn take(&mut self, most: usize) -> Result<Vec<Game>, Failure> {
        let mut games = Vec::new();
        while games.len() < most && self.next < self.end {
            games.extend(self.game(self.next)?);
            self.next += 1;
        }
        Ok(games)
    }

    /// The error of what is wrong with a game.
    pub fn failure(&self, number: u32, wrong: &str) -> Failure {
        match self.dataset.get(number as usize) {
            Ok(Some(game)) => Failure::input(format!("game {} ({:?}): {wrong}", game.row().index, game.row().id)),
            _ => Failure::input(format!("game {number}: {wrong}")),
        }
    }

    fn game(&mut self, place: usize) -> Result<Option<Game>, Failure> {
        let number = place as u32;
        let Some(game) = self.dataset.get(place)? else { return Ok(None) };
        let row = game.row();
        if row.labels.is_some() {
            self.leave_out(OTHER_RULES);
            return Ok(None);
        }
        let moves = moves(row.tokens).map_err(|wrong| self.failure(number, &wrong))?;
        let mut words = Words::of(moves.iter().copied());
        if words.len() > self.longest {
            self.leave_out(TOO_LONG);
            return Ok(None);
        }
        let mut next = words.ids[1..].to_vec();
        next.push(BEGIN);
        next.truncate(self.most);
        words.truncate(self.most);
        Ok(Some(Game { number, words, next, moves }))
    }

    fn leave_out(&mut self, reason: &str) {
        *self.left_out.entry(reason.to_owned()).or_default() += 1;
    }
}

/// Games of more words than are read.
const TOO_LONG: &str = "too_long";

/// Games that are not standard chess from the initial position, of which no replay gives legal moves.
const OTHER_RULES: &str = "other_rules";

/// The moves of a game's tokens.
fn moves(tokens: &[u16]) -> Result<Vec<PlainMove>, String> {
    let moves = tokens.strip_prefix(&[START]).ok_or("it does not begin with the START token")?;
    let plain = |&token: &u16| PlainMove::from_token(token).ok_or_else(|| format!("token {token} is not a move"));
    moves.iter().map(plain).collect()
}
