//! Games as words, and the words that continue a legal move.

use std::collections::{BTreeMap, HashMap};

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
    /// Calls `at` for each word with its place, the words so far of its move, and the legal moves before that move.
    ///
    /// # Errors
    /// A move is not legal. The message is to follow the game's name.
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
    /// The places of those that are read.
    places: Vec<u32>,
    /// Number of words after which they are cut.
    most: usize,
    /// Number of games that were taken.
    taken: usize,
    /// Games that are dropped, by the reason.
    pub dropped: BTreeMap<String, u64>,
}

impl<'a> Games<'a> {
    /// Selects the games of `dataset` that `model` can read and `config` allows.
    ///
    /// # Errors
    /// The parameters do not fit the model, the dataset is damaged, or no game of it can be read.
    pub fn new(dataset: &'a Dataset, model: &Model, config: &Config) -> Result<Self, Failure> {
        if u32::try_from(dataset.len()).is_err() {
            let message = format!("{} games are too many: the table counts them in 32 bits", dataset.len());
            return Err(Failure::input(message));
        }
        let number =
            |limit: Option<u64>| limit.map_or(usize::MAX, |number| usize::try_from(number).unwrap_or(usize::MAX));
        let (longest, most) = (number(config.max_game_tokens), number(config.max_tokens));
        let readable = model.longest().unwrap_or(usize::MAX);
        if config.max_tokens.is_some() && most > readable {
            let message = format!("`max_tokens` is {most}, and {} reads {readable} words at most", model.name());
            return Err(Failure::input(message));
        }
        let longest = if config.max_tokens.is_some() { longest } else { longest.min(readable) };
        let (mut places, mut too_long, mut of_other_rules) = (Vec::new(), 0, 0);
        for place in 0..number(config.games).min(dataset.len()) {
            let Some(game) = dataset.get(place)? else { break };
            match game.row() {
                row if row.labels.is_some() => of_other_rules += 1,
                row if length(row.tokens) > longest => too_long += 1,
                _ => places.push(place as u32),
            }
        }
        if places.is_empty() {
            let message = format!("no game can be read: {too_long} are too long, {of_other_rules} are of other rules");
            let hint = match (too_long, of_other_rules) {
                (0, 0) => "the input `games` has no game",
                (0, _) => "give it games of standard chess from the initial position",
                _ => "`max_tokens` cuts games in place of dropping them",
            };
            return Err(Failure::input(message).hint(hint));
        }
        let dropped = [("too_long", too_long), ("other_rules", of_other_rules)];
        let dropped = dropped.map(|(reason, count)| (reason.to_owned(), count)).into();
        Ok(Games { dataset, places, most, taken: 0, dropped })
    }

    /// Returns the number of games that were taken so far, and that of all.
    pub fn progress(&self) -> (u64, u64) {
        (self.taken as u64, self.places.len() as u64)
    }

    /// Returns the note about games that are dropped; `None` if there is none.
    pub fn dropped_note(&self) -> Option<String> {
        let count = |reason: &str| self.dropped.get(reason).copied().unwrap_or_default();
        let (too_long, other_rules) = (count("too_long"), count("other_rules"));
        let note = format!("input `games`: {too_long} games too long and {other_rules} of other rules are dropped");
        (too_long + other_rules > 0).then_some(note)
    }

    /// Number of games whose moves are those of a game of `train`.
    ///
    /// # Errors
    /// A dataset is damaged.
    pub fn seen_in(&self, train: &Dataset) -> Result<u64, Failure> {
        let mut unseen: HashMap<&[u16], u64> = HashMap::new();
        for &place in &self.places {
            *unseen.entry(self.dataset.tokens(place as usize)?.unwrap_or_default()).or_default() += 1;
        }
        let mut seen = 0;
        for game in 0..train.len() {
            seen += train.tokens(game)?.and_then(|tokens| unseen.remove(tokens)).unwrap_or_default();
        }
        Ok(seen)
    }

    /// Returns the next games, at most `most`; none after the last.
    ///
    /// # Errors
    /// The dataset is damaged, or a token of a game is no move.
    pub fn take(&mut self, most: usize) -> Result<Vec<Game>, Failure> {
        let next = self.taken..self.places.len().min(self.taken + most);
        self.taken = next.end;
        let game = |&place: &u32| self.game(place).map_err(|wrong| self.failure(place, &wrong));
        self.places[next].iter().map(game).collect()
    }

    /// Returns the error of a game, with its index and id.
    pub fn failure(&self, number: u32, wrong: &str) -> Failure {
        match self.dataset.get(number as usize) {
            Ok(Some(game)) => Failure::input(format!("game {} ({:?}): {wrong}", game.row().index, game.row().id)),
            _ => Failure::input(format!("game {number}: {wrong}")),
        }
    }

    fn game(&self, number: u32) -> Result<Game, String> {
        let tokens = self.dataset.tokens(number as usize).map_err(|error| error.to_string())?;
        let moves = moves(tokens.unwrap_or_default())?;
        let mut words = Words::of(moves.iter().copied());
        let mut next = words.ids[1..].to_vec();
        next.push(BEGIN);
        next.truncate(self.most);
        words.truncate(self.most);
        Ok(Game { number, words, next, moves })
    }
}

/// Number of words of a game's tokens, the one that begins it included.
fn length(tokens: &[u16]) -> usize {
    let promotes = |token: &&u16| PlainMove::from_token(**token).is_some_and(|plain| plain.promotion.is_some());
    (2 * tokens.len()).saturating_sub(1) + tokens.iter().filter(promotes).count()
}

/// The moves of a game's tokens.
fn moves(tokens: &[u16]) -> Result<Vec<PlainMove>, String> {
    let moves = tokens.strip_prefix(&[START]).ok_or("it does not begin with the START token")?;
    let plain = |&token: &u16| PlainMove::from_token(token).ok_or_else(|| format!("token {token} is not a move"));
    moves.iter().map(plain).collect()
}
