//! The games of an input as the model reads them.

use std::collections::HashSet;

use cwm_chess::Dataset;
use cwm_contract::{Context, Failure};
use cwm_inside::{Model, ModelTask, TokenizedGame, dropped, overlapping_game};

/// The games of an input.
pub struct Games {
    /// The games, uncut.
    pub dataset: Dataset,
    input: &'static str,
    task: ModelTask,
    /// Tokens after which a game is cut.
    cut: Option<usize>,
    /// Tokens that the model reads at most.
    longest: Option<usize>,
}

/// Games and rows of one pass over an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Rows: tokens but for each game's first.
    pub rows: u64,
    /// Games that are dropped, being longer than the model reads.
    pub too_long: u64,
    /// Games that are dropped since they are of other rules.
    pub other_rules: u64,
}

impl Games {
    /// Opens an input, whose games are cut after `max_tokens`.
    ///
    /// # Errors
    /// It cannot be read, or the model reads fewer tokens than `max_tokens`.
    pub fn open(
        context: &Context,
        input: &'static str,
        model: &Model,
        max_tokens: Option<u64>,
    ) -> Result<Self, Failure> {
        let (cut, longest) = (max_tokens.map(|most| most as usize), model.longest());
        if let (Some(cut), Some(longest)) = (cut, longest)
            && cut > longest
        {
            let message = format!("`max_tokens` is {cut}, and {} reads {longest} tokens at most", model.name());
            return Err(Failure::input(message));
        }
        let dataset = Dataset::open(context.input(input)?)?;
        Ok(Games { dataset, input, task: model.task(), cut, longest })
    }

    /// Refuses games to train on that are among the first `count` of these, which are measured on.
    ///
    /// # Errors
    /// There is one; or an input is damaged.
    pub fn check_apart(&self, train: &Games, count: u64) -> Result<(), Failure> {
        let measured = (0..self.len()).take(count as usize).map(|game| self.id(game));
        let measured: HashSet<String> = measured.collect::<Result<_, _>>()?;
        (0..train.len()).try_for_each(|game| match train.id(game)? {
            id if measured.contains(&id) => Err(overlapping_game(&id)),
            _ => Ok(()),
        })
    }

    /// Refuses games to measure on of which the first `count` have no row.
    ///
    /// # Errors
    /// It is so; or an input is damaged.
    pub fn check_measured(&self, count: u64) -> Result<(), Failure> {
        for game in (0..self.len()).take(count as usize) {
            if self.reading(game)?.is_some_and(|reading| reading.len() > 1) {
                return Ok(());
            }
        }
        Err(Failure::input(format!("the first games of `{}` have no move that the model reads", self.input))
            .hint("`max_tokens` cuts long games in place of dropping them"))
    }

    /// Number of games.
    pub fn len(&self) -> usize {
        self.dataset.len()
    }

    /// The id of a game, for errors.
    ///
    /// # Errors
    /// The input is damaged.
    pub fn id(&self, game: usize) -> Result<String, Failure> {
        Ok(self.dataset.get(game)?.map(|game| game.row().id.to_owned()).unwrap_or_default())
    }

    /// A game as the model reads it; `None` if it is longer than the model reads, or the game is of other rules.
    ///
    /// # Errors
    /// The input is damaged, or the game is none.
    pub fn reading(&self, game: usize) -> Result<Option<TokenizedGame>, Failure> {
        if self.is_of_other_rules(game)? {
            return Ok(None);
        }
        let tokens = self.dataset.tokens(game)?.unwrap_or_default();
        let reading = TokenizedGame::of(self.task, tokens);
        let mut reading = match reading {
            Ok(reading) => reading,
            Err(wrong) => {
                let id = self.id(game)?;
                return Err(Failure::input(format!("input `{}`, game {game} ({id}): {wrong}", self.input)));
            }
        };
        self.cut.into_iter().for_each(|cut| reading.truncate(cut));
        Ok(Some(reading).filter(|reading| self.longest.is_none_or(|longest| reading.len() <= longest)))
    }

    fn is_of_other_rules(&self, game: usize) -> Result<bool, Failure> {
        Ok(self.dataset.get(game)?.is_some_and(|game| game.row().labels.is_some()))
    }

    /// Counts a game that is dropped.
    ///
    /// # Errors
    /// The input is damaged.
    pub fn count_dropped(&self, game: usize, count: &mut Count) -> Result<(), Failure> {
        *(if self.is_of_other_rules(game)? { &mut count.other_rules } else { &mut count.too_long }) += 1;
        Ok(())
    }

    /// Shows how many games are dropped, if any.
    pub fn note(&self, context: &Context, Count { too_long, other_rules, .. }: &Count) {
        dropped(self.input, *too_long, *other_rules).into_iter().for_each(|note| context.note(note));
    }

    /// Counts rows.
    ///
    /// # Errors
    /// A game is none, the input is damaged, or the stage was cancelled.
    pub fn count(&self, context: &Context) -> Result<Count, Failure> {
        let mut count = Count::default();
        for game in 0..self.len() {
            context.check_cancelled()?;
            match self.reading(game)? {
                Some(reading) => count.rows += reading.len().saturating_sub(1) as u64,
                None => self.count_dropped(game, &mut count)?,
            }
        }
        self.note(context, &count);
        if count.rows == 0 {
            let message = format!(
                "the games of `{}` have no tokens to look at: none has a move that the model reads",
                self.input
            );
            return Err(Failure::input(message).hint("`max_tokens` cuts long games in place of dropping them"));
        }
        Ok(count)
    }
}
