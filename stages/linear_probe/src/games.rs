//! The games that are read, and their rows.

use std::collections::HashSet;

use cwm_chess::Dataset;
use cwm_contract::{Context, Failure};
use cwm_encoding::{EnPassant, LABELS};
use cwm_inside::{Model, ModelTask, TokenizedGame, WantedGame, overlapping_game};

use crate::boards::Boards;
use crate::config::{Config, SHORTEST_CUT};

/// The games of an input, and the boards of their rows so far.
pub struct Games<'a> {
    context: &'a Context,
    config: &'a Config,
    model: &'a Model,
    input: &'static str,
    dataset: Dataset,
    /// The places of the games that are read.
    places: Vec<usize>,
    /// Rows that are read of them.
    pub rows: u64,
    ids: HashSet<String>,
    /// Games that are dropped, being longer than the model reads.
    pub too_long: u64,
    /// Games that are dropped since their boards do not follow from their moves.
    pub of_other_rules: u64,
    /// The board of each row.
    pub boards: Boards,
}

impl<'a> Games<'a> {
    /// Opens an input, and finds the games whose rows are read.
    ///
    /// # Errors
    /// It cannot be read, has no row that is read, or the parameters do not fit the model.
    pub fn open(
        context: &'a Context,
        config: &'a Config,
        model: &'a Model,
        input: &'static str,
    ) -> Result<Self, Failure> {
        if let (Some(most), Some(longest)) = (config.max_tokens, model.longest())
            && most > longest as u64
        {
            let message = format!("`max_tokens` is {most}, and {} reads {longest} tokens at most", model.name());
            return Err(Failure::input(message));
        }
        if config.phase != "any" && model.task() == ModelTask::State {
            let message =
                format!("`phase` is {}, and {} reads whole moves, which have no phase", config.phase, model.name());
            return Err(Failure::input(message));
        }
        let dataset = Dataset::open(context.input(input)?)?;
        let (ids, boards) = (HashSet::new(), Boards::empty());
        let limit = config.games.map_or(usize::MAX, |games| usize::try_from(games).unwrap_or(usize::MAX));
        let (all, places) = (dataset.len().min(limit), Vec::new());
        let (rows, too_long, of_other_rules) = (0, 0, 0);
        let mut games =
            Games { context, config, model, input, dataset, places, rows, ids, too_long, of_other_rules, boards };
        for place in 0..all {
            context.check_cancelled()?;
            if games.dataset.get(place)?.is_some_and(|game| game.row().labels.is_some()) {
                games.of_other_rules += 1;
                continue;
            }
            match games.read(place)? {
                None => games.too_long += 1,
                Some(WantedGame { tokens, .. }) if tokens.is_empty() => {}
                Some(WantedGame { tokens, .. }) => {
                    games.places.push(place);
                    games.rows += tokens.len() as u64;
                }
            }
        }
        if all == 0 {
            return Err(Failure::input(format!("the input `{input}` has no game")));
        }
        if games.places.is_empty() {
            let message = format!("no token of the games of input `{input}` is read (`last`, `phase`, `max_tokens`)");
            let dropped = format!("{} games are too long, {} are of other rules", games.too_long, games.of_other_rules);
            let failure = Failure::input(format!("{message}: {dropped}"));
            let are_read = all as u64 > games.too_long + games.of_other_rules;
            return Err(if are_read {
                failure.hint("`last: 0` looks at all tokens of each game, `phase: any` at tokens of all phases")
            } else if games.too_long > 0 {
                failure.hint("`max_tokens` cuts long games in place of dropping them")
            } else {
                failure
            });
        }
        Ok(games)
    }

    /// Number of games that are read.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns the games whose rows are read, in order, and adds their boards to `boards`.
    pub fn wanted(&mut self, others: Option<&HashSet<String>>) -> impl Iterator<Item = Result<WantedGame, Failure>> {
        let games = self.len();
        (0..games).map(move |number| {
            self.context.progress(number as u64, Some(games as u64), "games");
            self.game(self.places[number], others)
        })
    }

    /// The names of the games that are read.
    pub fn ids(&self) -> &HashSet<String> {
        &self.ids
    }

    /// Returns the game at a place with its tokens that are read; `None` if it is longer than the model reads.
    fn read(&self, game: usize) -> Result<Option<WantedGame>, Failure> {
        let id = self.dataset.get(game)?.map(|game| game.row().id.to_owned()).unwrap_or_default();
        let tokens = self.dataset.tokens(game)?.unwrap_or_default();
        let mut reading = TokenizedGame::of(self.model.task(), tokens)
            .map_err(|wrong| Failure::input(format!("input `{}`, game {game} ({id}): {wrong}", self.input)))?;
        let too_long = self.model.longest().is_some_and(|longest| reading.len() > longest);
        if too_long && self.config.max_tokens.is_none() {
            return Ok(None);
        }
        reading.truncate(self.cut(&id, reading.len()));
        let last = if self.config.last == 0 { usize::MAX } else { self.config.last as usize };
        let phase = self.config.phase.parse::<u8>().ok();
        let is_wanted = |token: &usize| phase.is_none() || reading.phases[*token].map(|phase| phase.number()) == phase;
        let tokens = (reading.len().saturating_sub(last)..reading.len()).filter(is_wanted).collect();
        Ok(Some(WantedGame { id, reading, tokens }))
    }

    /// Returns the game at a place, one of those that are read, and adds its boards and id.
    fn game(&mut self, game: usize, others: Option<&HashSet<String>>) -> Result<WantedGame, Failure> {
        let wanted = self.read(game)?.ok_or_else(|| Failure::internal("a game is longer than it was"))?;
        let WantedGame { id, reading, tokens: kept } = &wanted;
        if others.is_some_and(|others| others.contains(id)) {
            return Err(overlapping_game(id));
        }
        let plies = self.dataset.tokens(game)?.unwrap_or_default().len();
        let mut labels = vec![0; plies * LABELS];
        let labelled = self.dataset.labels_into(game, EnPassant::Always, &mut labels);
        labelled.map_err(|error| error.failure(self.input))?;
        let plies = if self.config.board == "before" { &reading.before } else { &reading.after };
        for &token in kept {
            let ply = plies[token];
            self.boards.push(&labels[ply as usize * LABELS..][..LABELS], ply);
        }
        self.boards.end_game();
        self.ids.insert(id.clone());
        Ok(wanted)
    }

    /// Number of tokens that are read of a game.
    fn cut(&self, id: &str, length: usize) -> usize {
        let most = self.config.max_tokens.or(self.model.longest().map(|longest| longest as u64));
        let most = most.unwrap_or(length as u64).min(length as u64);
        if self.config.cut != "random" {
            return most as usize;
        }
        let largest = self.config.max_tokens.unwrap_or(most).max(SHORTEST_CUT);
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.config.seed.to_le_bytes()).update(id.as_bytes());
        let drawn = u64::from_le_bytes(std::array::from_fn(|byte| hasher.finalize().as_bytes()[byte]));
        // The high bits of a product: no number is favoured by more than one in 2^64 over their count.
        let choices = largest - SHORTEST_CUT + 1;
        let drawn = SHORTEST_CUT + ((u128::from(drawn) * u128::from(choices)) >> 64) as u64;
        drawn.min(most) as usize
    }
}
