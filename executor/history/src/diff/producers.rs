//! Finds the cell of a lock file that made some content. The lock file does not have the readers of a cell: contents show them, and where several cells
//! hold the same, when they ran.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use cwm_core::{Digest, Error};
use cwm_project::lock_file::LockLine;
use cwm_store::{ActionRecord, Store};

/// The source of an input that a pipeline names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedSource {
    /// A cell, by its label.
    Cell(String),
    /// A file from outside, by its path.
    File(String),
}

/// The cells of one lock file, with what they made and read.
pub(super) struct Producers<'l> {
    lines: &'l BTreeMap<&'l str, &'l LockLine>,
    store: &'l Store,
    /// The cells that made each content, those that changed first.
    of: HashMap<Digest, Vec<&'l str>>,
    records: RefCell<HashMap<&'l str, Option<Rc<ActionRecord>>>>,
}

impl<'l> Producers<'l> {
    /// Of the cells of `lines`; `moved` says which of them changed.
    pub(super) fn of(
        lines: &'l BTreeMap<&'l str, &'l LockLine>,
        store: &'l Store,
        moved: &impl Fn(&str) -> bool,
    ) -> Self {
        let mut of: HashMap<Digest, Vec<&str>> = HashMap::new();
        for wanted in [true, false] {
            for (label, line) in lines.iter().filter(|(label, _)| moved(label) == wanted) {
                let digests: BTreeSet<&Digest> = line.outputs.values().collect();
                digests.into_iter().for_each(|digest| of.entry(*digest).or_default().push(*label));
            }
        }
        Producers { lines, store, of, records: RefCell::default() }
    }

    /// The record of a cell, if the store has it.
    pub(super) fn record(&self, label: &str) -> Result<Option<Rc<ActionRecord>>, Error> {
        let Some((&label, line)) = self.lines.get_key_value(label) else { return Ok(None) };
        if let Some(known) = self.records.borrow().get(label) {
            return Ok(known.clone());
        }
        let record = self.store.preferred_record(&line.key, Some(&line.outputs))?.map(Rc::new);
        self.records.borrow_mut().insert(label, record.clone());
        Ok(record)
    }

    /// Returns true if `maker` made `content`.
    pub(super) fn makes(&self, maker: &str, content: &Digest) -> bool {
        self.lines.get(maker).is_some_and(|line| line.outputs.values().any(|made| made == content))
    }

    /// The cell that made what `reader` reads: neither itself, though it may have copied it, nor one that rests on it.
    pub(super) fn source(&self, reader: &str, content: &Digest) -> Result<Option<&'l str>, Error> {
        for maker in self.of.get(content).into_iter().flatten() {
            if *maker != reader && !self.comes_after(maker, reader)? {
                return Ok(Some(*maker));
            }
        }
        Ok(None)
    }

    /// Returns true if `maker` depends on what `reader` made, and ran after it. Of two copies of one content each seems to depend
    /// on the other: then the time decides.
    fn comes_after(&self, maker: &str, reader: &str) -> Result<bool, Error> {
        let (Some(later), Some(earlier)) = (self.record(maker)?, self.record(reader)?) else { return Ok(false) };
        if later.circumstances.started < earlier.circumstances.started {
            return Ok(false);
        }
        let mut seen: BTreeSet<&str> = BTreeSet::from([reader]);
        let mut next = vec![later];
        while let Some(record) = next.pop() {
            for (_, read) in record.components.inputs.values().flatten() {
                if self.makes(reader, read) {
                    return Ok(true);
                }
                for maker in self.of.get(read).into_iter().flatten() {
                    if seen.insert(*maker) {
                        next.extend(self.record(maker)?);
                    }
                }
            }
        }
        Ok(false)
    }
}
