//! Properties of the scheduler, for random graphs and random orders of events.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use cwm_contract::{DeviceChoice, Needs};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

use super::*;
use crate::local::place;
use crate::machine::{Allocation, Machine, ResourcePool};

/// A cell of a simulated run.
#[derive(Clone, Debug)]
struct Model {
    /// The cells that it reads, by number. Numbers of later cells are ignored.
    reads: Vec<usize>,
    /// Cells with the same number have the same key.
    key: u8,
    retries: u32,
    is_batch: bool,
    /// Its inputs are uploaded before it is queued.
    needs_upload: bool,
    cores: u32,
    is_selected: bool,
}

fn models() -> impl Strategy<Value = Vec<Model>> {
    let reads = prop::collection::vec(0..12usize, 0..3);
    let model = (reads, any::<u8>(), 0..3u32, [0..4u8, 0..3, 0..8], 1..4u32).prop_map(
        |(reads, key, retries, [batch, upload, selected], cores)| Model {
            reads,
            key: key % 12,
            retries,
            is_batch: batch == 0,
            needs_upload: batch == 0 && upload == 0,
            cores,
            is_selected: selected > 0,
        },
    );
    prop::collection::vec(model, 1..12)
}

const CORES: u32 = 3;

/// Stands in for the engine: it carries out the effects of the scheduler, with outcomes drawn from random numbers.
struct Simulation<'m> {
    models: &'m [Model],
    scheduler: Scheduler,
    now: Duration,
    pool: ResourcePool,
    /// Cells that were submitted and have not started.
    queued: BTreeMap<usize, ()>,
    /// Running cells, each with its share of the machine if it runs here.
    running: BTreeMap<usize, Option<Allocation>>,
    fetching: Vec<usize>,
    /// Cells that were submitted and wait for the upload of their inputs.
    uploading: Vec<usize>,
    /// Keys that were fetched.
    requested: HashSet<Key>,
    /// Cells that have a result, if their key is decided upon.
    recorded: HashSet<Key>,
    /// The number of times that files of a cell may still be lost.
    losses: u32,
    before: Vec<CellState>,
    skipped: HashSet<usize>,
}

fn key(number: u8) -> Key {
    Key([number; 32])
}

impl<'m> Simulation<'m> {
    fn new(models: &'m [Model]) -> Self {
        let mut selected: Vec<bool> = models.iter().map(|model| model.is_selected).collect();
        for index in (0..models.len()).rev().filter(|index| models[*index].is_selected) {
            inputs(models, index).into_iter().for_each(|input| selected[input] = true);
        }
        for index in (0..models.len()).rev() {
            if selected[index] {
                inputs(models, index).into_iter().for_each(|input| selected[input] = true);
            }
        }
        let spec = |(index, model): (usize, &Model)| {
            let retry =
                RetryOptions { retries: model.retries, wait: Duration::from_secs(1), ..RetryOptions::default() };
            selected[index].then(|| CellSpec {
                inputs: inputs(models, index),
                retry,
                outlives_run: model.is_batch,
                ..CellSpec::default()
            })
        };
        let scheduler = Scheduler::new(models.iter().enumerate().map(spec).collect());
        Simulation {
            models,
            before: scheduler.states().collect(),
            scheduler,
            now: Duration::ZERO,
            pool: ResourcePool::new(Machine { cores: CORES, memory: 0, devices: Vec::new() }),
            queued: BTreeMap::new(),
            running: BTreeMap::new(),
            fetching: Vec::new(),
            uploading: Vec::new(),
            requested: HashSet::new(),
            recorded: HashSet::new(),
            losses: 3,
            skipped: HashSet::new(),
        }
    }

    /// Sends an event to the scheduler, carries out the effects, and checks the properties after each event.
    fn on(&mut self, event: Event, random: &mut impl FnMut(u32) -> u32) -> TestCaseResult {
        let mut events = vec![event];
        while let Some(event) = events.pop() {
            let may_invalidate = matches!(
                event,
                Event::Decided(_, Decision::Miss { .. }) | Event::FilesLost(_) | Event::Finished { .. }
            );
            let effects = self.scheduler.on(event, self.now);
            self.check_properties(may_invalidate)?;
            for effect in effects {
                events.extend(self.carry_out(effect, random)?);
            }
        }
        Ok(())
    }

    fn check_properties(&mut self, may_invalidate: bool) -> TestCaseResult {
        let mut owners: HashMap<Key, usize> = HashMap::new();
        for (cell, model) in self.models.iter().enumerate() {
            let (before, now) = (self.before[cell], self.scheduler.state(cell));
            if before == CellState::Done && now != CellState::Done {
                prop_assert!(may_invalidate, "{} left Done by itself", cell);
            }
            if matches!(before, CellState::Failed | CellState::Stopped | CellState::NotSelected) {
                prop_assert_eq!(before, now, "{} went on after its end", cell);
            }
            // The inputs of a cell exist when it is decided upon or submitted. Those of a running cell may have been lost since.
            if matches!(now, CellState::Ready | CellState::Deciding | CellState::Queued(_)) {
                for input in inputs(self.models, cell) {
                    prop_assert_eq!(self.scheduler.state(input), CellState::Done, "{} without {}", cell, input);
                }
            }
            let is_open = |input: &&usize| self.scheduler.state(**input) != CellState::Done;
            let open = self.scheduler.spec(cell).inputs.iter().filter(is_open).count();
            prop_assert_eq!(self.scheduler.cells[cell].open_inputs, open, "open inputs of {}", cell);
            use CellState::{Backoff, Fetching, Queued, Running};
            if let Fetching(key) | Queued(key) | Running { key, .. } | Backoff { key, .. } = now {
                let other = owners.insert(key, cell);
                prop_assert_eq!(other, None, "two cells have key {}", model.key);
            }
        }
        self.before = self.scheduler.states().collect();
        Ok(())
    }

    fn carry_out(
        &mut self,
        effect: Effect,
        random: &mut impl FnMut(u32) -> u32,
    ) -> Result<Option<Event>, TestCaseError> {
        Ok(match effect {
            Effect::Decide(cell) => {
                prop_assert_eq!(self.scheduler.state(cell), CellState::Deciding);
                prop_assert_eq!(
                    self.scheduler.run_state(),
                    RunState::Running,
                    "{} was decided in a run that ends",
                    cell
                );
                Some(Event::Decided(cell, self.decide(cell, random)))
            }
            Effect::Submit(cell) if self.models[cell].needs_upload => {
                prop_assert!(!self.uploading.contains(&cell), "{} was submitted twice", cell);
                self.uploading.push(cell);
                None
            }
            Effect::Submit(cell) => {
                prop_assert!(self.queued.insert(cell, ()).is_none(), "{} was submitted twice", cell);
                None
            }
            Effect::Withdraw(cell) if self.uploading.contains(&cell) => {
                self.uploading.retain(|other| *other != cell);
                None
            }
            Effect::Withdraw(cell) => {
                prop_assert!(self.queued.remove(&cell).is_some(), "{} was withdrawn and not queued", cell);
                None
            }
            Effect::Skipped { cell, blocked_by } => {
                let depends_on = self.depends_on(cell, blocked_by);
                prop_assert!(depends_on, "{} was skipped because of {}", cell, blocked_by);
                self.skipped.insert(cell);
                None
            }
            Effect::Done(cell) => {
                let is_done = self.scheduler.state(cell) == CellState::Done;
                prop_assert!(is_done || self.losses < 3);
                None
            }
            Effect::Retrying { attempt, .. } => {
                prop_assert!(attempt <= 3);
                prop_assert!(self.scheduler.run_state() < RunState::Stopping, "a retry after the request to stop");
                None
            }
            Effect::Failed(_) | Effect::Stopped(_) => None,
        })
    }

    fn depends_on(&self, cell: usize, other: usize) -> bool {
        inputs(self.models, cell).into_iter().any(|input| input == other || self.depends_on(input, other))
    }

    fn decide(&mut self, cell: usize, random: &mut impl FnMut(u32) -> u32) -> Decision {
        let model = &self.models[cell];
        let key = key(model.key);
        if self.scheduler.is_in_flight(&key) {
            return Decision::SharesKey(key);
        }
        let known = self.scheduler.key(&key).cloned().unwrap_or_default();
        if known.failed.is_some() || random(30) == 0 {
            return Decision::Failed;
        }
        if (self.recorded.contains(&key) || random(4) == 0) && random(6) > 0 {
            return Decision::Hit;
        }
        if random(2) == 0 && self.requested.insert(key) {
            self.fetching.push(cell);
            return Decision::Fetch(key);
        }
        let mut lost_inputs = Vec::new();
        for input in self.scheduler.spec(cell).inputs.clone() {
            if self.losses > 0 && random(5) == 0 {
                self.losses -= 1;
                self.recorded.remove(&self::key(self.models[input].key));
                lost_inputs.push(input);
            }
        }
        Decision::Miss { key, lost_inputs }
    }

    /// Starts the queued cells that fit into the free resources.
    fn start(&mut self, random: &mut impl FnMut(u32) -> u32) -> TestCaseResult {
        let models = self.models;
        let needs = |cell: usize| Needs { cpu: Some(models[cell].cores), gpu: 0.0, memory: 0 };
        let local = self.queued.keys().filter(|cell| !models[**cell].is_batch);
        let placed = place(&mut self.pool, local.map(|cell| (*cell, needs(*cell), DeviceChoice::Auto, true)));
        let mut started: Vec<usize> = self.queued.keys().copied().filter(|cell| models[*cell].is_batch).collect();
        started.iter().for_each(|cell| drop(self.running.insert(*cell, None)));
        for one in placed {
            started.push(one.cell);
            self.running.insert(one.cell, Some(one.allocation));
        }
        let used: usize = self.running.values().flatten().map(|allocation| allocation.resources.cores).sum();
        prop_assert!(used <= CORES as usize, "{} cores are in use", used);
        for cell in started {
            self.queued.remove(&cell);
            match random(20) {
                0 => {
                    self.release(cell);
                    self.on(Event::Failed { cell, is_transient: false, was_stopped: false }, random)?;
                }
                _ => self.on(Event::Launched(cell), random)?,
            }
        }
        Ok(())
    }

    fn release(&mut self, cell: usize) {
        if let Some(Some(allocation)) = self.running.remove(&cell) {
            self.pool.release(allocation);
        }
    }

    /// Sends the scheduler one random event: of a transfer, of the clock or of a running cell.
    fn step(&mut self, random: &mut impl FnMut(u32) -> u32) -> TestCaseResult {
        let pick = |count: usize, random: &mut dyn FnMut(u32) -> u32| random(count as u32) as usize;
        match random(8) {
            0 if !self.fetching.is_empty() => {
                let cell = self.fetching.swap_remove(pick(self.fetching.len(), random));
                self.on(Event::Fetched(cell), random)
            }
            1 if !self.uploading.is_empty() => {
                let cell = self.uploading.swap_remove(pick(self.uploading.len(), random));
                let input = self.scheduler.spec(cell).inputs.first().copied();
                match random(6) {
                    0 => self.on(Event::Failed { cell, is_transient: false, was_stopped: false }, random),
                    1 if self.losses > 0 => {
                        self.losses -= 1;
                        self.uploading.push(cell);
                        self.on(Event::FilesLost(input.unwrap_or(cell)), random)
                    }
                    _ => {
                        self.queued.insert(cell, ());
                        Ok(())
                    }
                }
            }
            2 => {
                self.now += Duration::from_secs(1);
                self.on(Event::Timer, random)
            }
            _ if !self.running.is_empty() => {
                let cells: Vec<usize> = self.running.keys().copied().collect();
                let cell = cells[pick(cells.len(), random)];
                let CellState::Running { key, has_begun } = self.scheduler.state(cell) else {
                    self.release(cell);
                    return Ok(());
                };
                if !has_begun && random(5) > 0 {
                    return self.on(Event::WorkStarted(cell), random);
                }
                self.release(cell);
                let event = match random(3) {
                    0 => Event::Failed { cell, is_transient: random(2) == 0, was_stopped: false },
                    _ => {
                        self.recorded.insert(key);
                        let is_built = random(4) > 0;
                        Event::Finished { cell, is_built, has_changed: random(4) == 0, needs_fetch: false }
                    }
                };
                self.on(event, random)
            }
            _ => self.on(Event::Timer, random),
        }
    }
}

fn inputs(models: &[Model], index: usize) -> Vec<usize> {
    let mut inputs: Vec<usize> = models[index].reads.iter().copied().filter(|read| *read < index).collect();
    inputs.sort_unstable();
    inputs.dedup();
    inputs
}

/// Simulates a run; after the steps of `stop_after` a stop is requested, or a drain if its flag is true. Returns the final
/// states.
fn simulate(models: &[Model], seed: u64, stop_after: Option<(usize, bool)>) -> Result<Vec<CellState>, TestCaseError> {
    let mut state = seed;
    // SplitMix64.
    let mut random = |below: u32| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) >> 32) as u32 % below.max(1)
    };
    let mut simulation = Simulation::new(models);
    simulation.on(Event::RunStarted, &mut random)?;
    for step in 0..4000 {
        if let Some((_, drains)) = stop_after.filter(|(after, _)| *after == step) {
            simulation.on(if drains { Event::DrainRequested } else { Event::StopRequested }, &mut random)?;
        }
        if simulation.scheduler.run_state() == RunState::Running {
            simulation.start(&mut random)?;
        }
        if simulation.scheduler.is_over() {
            break;
        }
        simulation.step(&mut random)?;
    }
    prop_assert!(
        simulation.scheduler.is_over(),
        "the run does not end: {:?}",
        simulation.scheduler.states().collect::<Vec<_>>()
    );
    if stop_after.is_none() {
        let open: Vec<CellState> = simulation.scheduler.states().filter(|state| !state.is_final()).collect();
        prop_assert!(open.is_empty(), "the run is over, and there is {:?}", open);
    }
    simulation.on(Event::End, &mut random)?;
    let states: Vec<CellState> = simulation.scheduler.states().collect();
    prop_assert!(states.iter().all(|state| state.is_final()), "{:?}", states);
    for (cell, state) in states.iter().enumerate().filter(|_| stop_after.is_none()) {
        prop_assert_eq!(*state == CellState::Skipped, simulation.skipped.contains(&cell), "{} is {:?}", cell, state);
    }
    Ok(states)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    /// A cell leaves `Done` only by invalidation, every cell ends, one cell at a time owns a key, allocations never exceed
    /// the machine, and a run with a requested stop decides and retries nothing.
    #[test]
    fn properties_hold_in_any_order(models in models(), seed in any::<u64>()) {
        simulate(&models, seed, None)?;
    }

    #[test]
    fn properties_hold_where_a_run_is_stopped(
        models in models(),
        seed in any::<u64>(),
        after in 0..30usize,
        drains in any::<bool>(),
    ) {
        simulate(&models, seed, Some((after, drains)))?;
    }
}

fn spec(inputs: &[usize]) -> Option<CellSpec> {
    let retry = RetryOptions { retries: 1, wait: Duration::from_secs(5), ..RetryOptions::default() };
    Some(CellSpec { inputs: inputs.to_vec(), retry, ..CellSpec::default() })
}

fn miss(number: u8, lost: &[usize]) -> Decision {
    Decision::Miss { key: key(number), lost_inputs: lost.to_vec() }
}

#[test]
fn a_failure_is_tried_again_after_a_while_and_skips_what_reads_it() {
    let mut scheduler = Scheduler::new(vec![spec(&[]), spec(&[0]), spec(&[])]);
    let at = Duration::from_secs;
    assert_eq!(scheduler.on(Event::RunStarted, at(0)), [Effect::Decide(0)]);
    assert_eq!(scheduler.on(Event::Decided(0, miss(0, &[])), at(0)), [Effect::Submit(0), Effect::Decide(2)]);
    assert_eq!(scheduler.on(Event::Decided(2, Decision::Hit), at(0)), [Effect::Done(2)]);
    let failed = || Event::Failed { cell: 0, is_transient: true, was_stopped: false };
    scheduler.on(Event::Launched(0), at(0));
    scheduler.on(Event::WorkStarted(0), at(0));
    assert_eq!(scheduler.on(failed(), at(10)), [Effect::Retrying { cell: 0, attempt: 1, wait: at(5) }]);
    assert_eq!(scheduler.next_timer(), Some(at(15)));
    assert_eq!(scheduler.on(Event::Timer, at(14)), []);
    assert_eq!(scheduler.on(Event::Timer, at(15)), [Effect::Decide(0)]);
    scheduler.on(Event::Decided(0, miss(0, &[])), at(15));
    scheduler.on(Event::Launched(0), at(15));
    scheduler.on(Event::WorkStarted(0), at(15));
    assert!(!scheduler.is_over());
    assert_eq!(scheduler.on(failed(), at(16)), [Effect::Failed(0), Effect::Skipped { cell: 1, blocked_by: 0 }]);
    assert!(scheduler.is_over());
}

#[test]
fn a_lost_input_is_built_first_and_readers_of_another_result_are_decided_again() {
    // 1 and 2 read 0; 1 is done with what was recorded before 2 finds that its files are lost.
    let mut scheduler = Scheduler::new(vec![spec(&[]), spec(&[0]), spec(&[0])]);
    let now = Duration::ZERO;
    scheduler.on(Event::RunStarted, now);
    scheduler.on(Event::Decided(0, Decision::Hit), now);
    assert_eq!(scheduler.on(Event::Decided(1, Decision::Hit), now), [Effect::Done(1), Effect::Decide(2)]);
    assert_eq!(scheduler.on(Event::Decided(2, miss(2, &[0])), now), [Effect::Decide(0)]);
    assert_eq!(scheduler.state(2), CellState::Blocked);
    assert_eq!(scheduler.on(Event::Decided(0, miss(0, &[])), now), [Effect::Submit(0)]);
    scheduler.on(Event::Launched(0), now);
    let finished = Event::Finished { cell: 0, is_built: true, has_changed: true, needs_fetch: false };
    assert_eq!(scheduler.on(finished, now), [Effect::Done(0), Effect::Decide(1)]);
    assert_eq!(scheduler.state(2), CellState::Ready);
}

#[test]
fn cells_of_one_key_are_built_once() {
    let mut scheduler = Scheduler::new(vec![spec(&[]), spec(&[])]);
    let now = Duration::ZERO;
    scheduler.on(Event::RunStarted, now);
    scheduler.on(Event::Decided(0, miss(7, &[])), now);
    assert!(scheduler.is_in_flight(&key(7)));
    assert_eq!(scheduler.on(Event::Decided(1, Decision::SharesKey(key(7))), now), []);
    scheduler.on(Event::Launched(0), now);
    let finished = Event::Finished { cell: 0, is_built: true, has_changed: false, needs_fetch: false };
    assert_eq!(scheduler.on(finished, now), [Effect::Done(0), Effect::Decide(1)]);
}
