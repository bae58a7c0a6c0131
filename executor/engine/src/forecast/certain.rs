//! Which cells run for certain, of those that may: told by going through the run as far as nothing has run yet, and of what comes
//! after that by what nobody else can have made meanwhile.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use cwm_core::digest::{Digest, Key};

/// What a run finds of a cell when its turn comes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// It runs, whatever it lacks.
    Runs,
    /// It is done.
    Done,
    /// It may run.
    Open,
}

/// A cell of the run.
pub(super) struct Candidate {
    pub turn: Turn,
    /// If that is known: of cells with one key, one runs.
    pub key: Option<Key>,
    /// Whether its files are looked at when its turn comes: nobody reads it, or it is exported.
    pub wanted: bool,
    /// Whether the content that it would make is not known.
    pub is_unknown: bool,
    /// Its sources, each once.
    pub sources: Vec<usize>,
    /// What its result lacks, as far as it may be made again.
    pub lacks: BTreeSet<Digest>,
    /// The log of its result, if it may run: that is content as well, and often the same for many.
    pub log: Option<Digest>,
}

/// Cells of which is looked for what may run before them; of more, anything may.
const LOOKED_AFTER: usize = 200;

/// The cells of a run; sources stand before what reads them.
pub(super) struct Candidates {
    cells: BTreeMap<usize, Candidate>,
    readers: HashMap<usize, Vec<usize>>,
    /// Keys that several have.
    shared: HashSet<Key>,
}

impl Candidates {
    pub fn new(cells: BTreeMap<usize, Candidate>) -> Self {
        let mut readers: HashMap<usize, Vec<usize>> = HashMap::new();
        let (mut keys, mut shared) = (HashSet::new(), HashSet::new());
        for (&index, cell) in &cells {
            cell.sources.iter().for_each(|source| readers.entry(*source).or_default().push(index));
            shared.extend(cell.key.filter(|key| !keys.insert(*key)));
        }
        Candidates { cells, readers, shared }
    }

    /// Those that run for certain.
    pub fn certain(&self) -> BTreeSet<usize> {
        let mut certain = self.at_once();
        self.later(&mut certain);
        certain
    }

    /// Of those that would run and are not `certain` since others do the same, which of these.
    pub fn twins(&self, certain: &BTreeSet<usize>) -> BTreeMap<usize, usize> {
        let has_twin =
            |cell: &Candidate| cell.turn == Turn::Runs && cell.key.is_some_and(|key| self.shared.contains(&key));
        let mut first: HashMap<Option<Key>, usize> = HashMap::new();
        for (&index, cell) in self.cells.iter().filter(|(_, cell)| has_twin(cell)) {
            let one = first.entry(cell.key).or_insert(index);
            if certain.contains(&index) {
                *one = index;
            }
        }
        let uncertain = self.cells.iter().filter(|(index, cell)| has_twin(cell) && !certain.contains(index));
        uncertain.map(|(index, cell)| (*index, first[&cell.key])).filter(|(index, one)| index != one).collect()
    }

    fn readers(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        self.readers.get(&index).into_iter().flatten().copied()
    }

    fn is_alone(&self, index: usize) -> bool {
        self.cells[&index].key.is_none_or(|key| !self.shared.contains(&key))
    }

    /// What a run decides on before anything has run.
    fn at_once(&self) -> BTreeSet<usize> {
        let mut open: HashMap<usize, usize> =
            self.cells.iter().map(|(index, cell)| (*index, cell.sources.len())).collect();
        let mut ready: BTreeSet<usize> = self.cells.keys().copied().filter(|index| open[index] == 0).collect();
        let (mut done, mut certain, mut made_again) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let mut in_making = HashSet::new();
        while let Some(index) = ready.pop_first() {
            let cell = &self.cells[&index];
            let runs = match cell.turn {
                // What it will be is not known yet, nor what reads it.
                Turn::Open => continue,
                Turn::Runs => true,
                Turn::Done => made_again.contains(&index) || cell.wanted && !cell.lacks.is_empty(),
            };
            if !runs {
                done.insert(index);
                for reader in self.readers(index) {
                    let left = open.entry(reader).or_default();
                    *left = left.saturating_sub(1);
                    if *left == 0 {
                        ready.insert(reader);
                    }
                }
                continue;
            }
            if cell.key.is_some_and(|key| in_making.contains(&key)) {
                // It takes what that makes.
                continue;
            }
            let is_lost = |source: &usize| done.contains(source) && !self.cells[source].lacks.is_empty();
            let lost: Vec<usize> = cell.sources.iter().copied().filter(is_lost).collect();
            for &source in &lost {
                done.remove(&source);
                made_again.insert(source);
                for reader in self.readers(source) {
                    *open.entry(reader).or_default() += 1;
                    ready.remove(&reader);
                }
                if open[&source] == 0 {
                    ready.insert(source);
                }
            }
            // One that waits for its sources is looked at once more: what it lacks may be there again by then.
            if lost.is_empty() {
                in_making.extend(cell.key);
                certain.insert(index);
            }
        }
        certain.extend(made_again.into_iter().filter(|index| self.is_alone(*index)));
        certain
    }

    /// What is looked at after others have run: it runs if it lacks what none of these can have made.
    fn later(&self, certain: &mut BTreeSet<usize>) {
        let mut makers: HashMap<Digest, usize> = HashMap::new();
        for cell in self.cells.values() {
            for digest in cell.lacks.iter().copied().chain(cell.log.filter(|log| !cell.lacks.contains(log))) {
                *makers.entry(digest).or_default() += 1;
            }
        }
        let unknown: BTreeSet<usize> =
            self.cells.iter().filter(|(_, cell)| cell.is_unknown).map(|(index, _)| *index).collect();
        let mut looked_after = 0;
        let mut is_quiet = |index: usize| {
            looked_after += 1;
            unknown.is_empty() || looked_after <= LOOKED_AFTER && self.come_after(index, &unknown)
        };
        // Of those that run: whether nothing whose content is not known can have run before.
        let mut quiet: HashMap<usize, bool> = HashMap::new();
        for (&index, cell) in self.cells.iter().rev() {
            let has_own = cell.lacks.iter().any(|digest| makers[digest] == 1);
            let for_readers = self.readers(index).any(|reader| quiet.get(&reader).is_some_and(|quiet| *quiet));
            let runs = match cell.turn {
                _ if certain.contains(&index) => true,
                Turn::Runs => self.is_alone(index),
                Turn::Open => false,
                Turn::Done => has_own && self.is_alone(index) && (for_readers || cell.wanted && is_quiet(index)),
            };
            if runs {
                certain.insert(index);
                quiet.insert(index, for_readers || is_quiet(index));
            }
        }
    }

    /// Whether all of `others` are the cell itself or come after it.
    fn come_after(&self, index: usize, others: &BTreeSet<usize>) -> bool {
        let mut left = others.clone();
        let (mut front, mut seen) = (vec![index], BTreeSet::from([index]));
        while let Some(next) = front.pop() {
            left.remove(&next);
            front.extend(self.readers(next).filter(|reader| seen.insert(*reader)));
        }
        left.is_empty()
    }
}
