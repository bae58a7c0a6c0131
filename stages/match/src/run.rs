//! The run of `match`.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use cwm_contract::{Context, Failure};
use cwm_journal::Journal;
use cwm_matches::Game;

use crate::config::Config;
use crate::output;
use crate::side::Side;
use crate::table::MatchSetup;

/// Plays the games that are not finished and writes `games`, `matches` and `counts`.
pub fn run(context: &Context) -> Result<(), Failure> {
    let config: Config = context.parameters()?;
    context.activity("reading players and openings");
    let table = MatchSetup::new(context, &config)?;
    // The engine's name stands in the output; and if it cannot be used, no other is started.
    let sides = table.sides()?;
    let players = output::players(&config, &table, &sides)?;
    let identity = output::identity(&config, &table, &players);
    let games = usize::try_from(config.games).map_err(|error| Failure::input(error.to_string()))?;
    let path = context.checkpoint_dir().join("games.jsonl");
    let journal = Journal::open(path, games, |game: &Game| usize::try_from(game.game).ok())?;
    context.activity("playing");
    play(context, &table, &journal, config.games, sides)?;
    context.activity("writing");
    output::write(context, &config, &players, &identity, &journal)
}

/// Plays the games that are not finished, on all cores.
fn play<'t>(
    context: &Context,
    table: &'t MatchSetup<'_>,
    journal: &Journal<Game>,
    games: u64,
    sides: [Side<'t>; 2],
) -> Result<(), Failure> {
    let unfinished = journal.missing();
    let (next, done, failed) = (AtomicUsize::new(0), AtomicU64::new(games - unfinished.len() as u64), Mutex::new(None));
    let first = Mutex::new(Some(sides));
    let work = || {
        let ready = first.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut sides = ready.map_or_else(|| table.sides(), Ok)?;
        while let Some(&game) = unfinished.get(next.fetch_add(1, Ordering::Relaxed)) {
            journal.push(game, &table.play(game as u64, &mut sides)?)?;
            context.progress(done.fetch_add(1, Ordering::Relaxed) + 1, Some(games), "games");
        }
        Ok(())
    };
    let workers = context.cores().min(unfinished.len());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                if let Err(failure) = work() {
                    // The others finish their games.
                    next.store(unfinished.len(), Ordering::Relaxed);
                    failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
                }
            });
        }
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}
