//! Builds examples on all cores.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cwm_contract::{Context, Failure};
use cwm_journal::Journal;
use serde::{Deserialize, Serialize};

use crate::build_result::BuildResult;
use crate::builders::{build, lines_at_first};
use crate::config::Config;
use crate::engine::Searcher;
use crate::positions::Place;

/// The result of a place in the journal, which survives an interruption.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct JournalEntry {
    place: usize,
    built: BuildResult,
}

/// Workers, one a core, each with a searcher of its own.
pub struct Workers<'a> {
    context: &'a Context,
    config: &'a Config,
    places: &'a [Place],
    searchers: Mutex<Vec<Searcher>>,
    /// Results of a program, which may take hours.
    journal: Option<Journal<JournalEntry>>,
    /// The results of an earlier run that was interrupted, by place.
    kept: HashMap<usize, BuildResult>,
    done: AtomicU64,
}

impl<'a> Workers<'a> {
    /// Starts the first searcher: if it cannot be used, no other is started.
    ///
    /// # Errors
    /// The program cannot be used, or an operation on the disk fails.
    pub fn start(context: &'a Context, config: &'a Config, places: &'a [Place]) -> Result<Self, Failure> {
        let first = Searcher::start(context, config, lines_at_first(config))?;
        let mut kept = HashMap::new();
        let mut journal = None;
        if matches!(first, Searcher::Program(_)) {
            let path = context.checkpoint_dir().join("built.jsonl");
            let opened = Journal::open(path, places.len(), |kept: &JournalEntry| Some(kept.place))?;
            opened.for_each(|place, found| {
                kept.extend(found.map(|found| (place, found.built)));
                Ok(())
            })?;
            journal = Some(opened);
        }
        let searchers = Mutex::new(vec![first]);
        Ok(Workers { context, config, places, searchers, journal, kept, done: AtomicU64::new(0) })
    }

    /// The name of the engine, if the builder searches.
    pub fn engine(&self) -> Option<String> {
        self.config.searches().then(|| lock(&self.searchers).first().map(Searcher::name))?
    }

    /// Builds examples of these places, and returns the results in their order.
    ///
    /// # Errors
    /// The engine fails, an operation on the disk fails, or the stage was cancelled.
    pub fn build(&self, places: &[usize]) -> Result<Vec<BuildResult>, Failure> {
        let total = self.done.load(Ordering::Relaxed) + places.len() as u64;
        let (next, failed) = (AtomicUsize::new(0), Mutex::new(None));
        let all = Mutex::new(Vec::with_capacity(places.len()));
        let work = || -> Result<(), Failure> {
            let mut searcher = self.searcher()?;
            let mut own = Vec::new();
            while let Some((at, &place)) = next_of(&next, places) {
                self.context.check_cancelled()?;
                own.push((at, self.build_one(place, &mut searcher)?));
                let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
                self.context.progress(done, Some(total), "positions");
            }
            lock(&self.searchers).push(searcher);
            lock(&all).extend(own);
            Ok(())
        };
        let workers = self.context.cores().min(places.len());
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    if let Err(failure) = work() {
                        // The others end with their positions.
                        next.store(places.len(), Ordering::Relaxed);
                        lock(&failed).get_or_insert(failure);
                    }
                });
            }
        });
        if let Some(failure) = lock(&failed).take() {
            return Err(failure);
        }
        let mut all = std::mem::take(&mut *lock(&all));
        all.sort_unstable_by_key(|(at, _)| *at);
        Ok(all.into_iter().map(|(_, built)| built).collect())
    }

    fn build_one(&self, place: usize, searcher: &mut Searcher) -> Result<BuildResult, Failure> {
        if let Some(built) = self.kept.get(&place) {
            return Ok(built.clone());
        }
        let built = build(self.config, &self.places[place], searcher)?;
        match &self.journal {
            None => Ok(built),
            Some(journal) => {
                let kept = JournalEntry { place, built };
                journal.push(place, &kept)?;
                Ok(kept.built)
            }
        }
    }

    /// A searcher that is idle, or a new one.
    fn searcher(&self) -> Result<Searcher, Failure> {
        let searcher = lock(&self.searchers).pop();
        searcher.map_or_else(|| Searcher::start(self.context, self.config, lines_at_first(self.config)), Ok)
    }
}

fn next_of<'p>(next: &AtomicUsize, places: &'p [usize]) -> Option<(usize, &'p usize)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    places.get(at).map(|place| (at, place))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
