//! A board that is kept up to date while a run goes on.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use cwm_contract::Label;

use super::Board;
use cwm_core::digest::Key;
use cwm_core::error::Error;
use cwm_engine::{EventSink, RunEvent};

/// Time between two looks.
const EVERY: Duration = Duration::from_secs(1);

/// A reader of a run's events that writes the curves of what runs.
pub struct Live {
    board: Board,
    running: BTreeMap<Label, Key>,
    looked: Instant,
    /// The first error: it ends the board, not the run.
    fault: Rc<RefCell<Option<Error>>>,
}

impl Live {
    /// Keeps `board`; an error is left in `fault`.
    pub fn new(board: Board, fault: Rc<RefCell<Option<Error>>>) -> Self {
        Live { board, running: BTreeMap::new(), looked: Instant::now(), fault }
    }

    fn look(&mut self, label: &Label, key: &Key) {
        let mut fault = self.fault.borrow_mut();
        if fault.is_none() {
            *fault = self.board.look(label, key).err();
        }
    }

    fn look_at_all(&mut self) {
        if self.looked.elapsed() >= EVERY {
            for (label, key) in self.running.clone() {
                self.look(&label, &key);
            }
            self.looked = Instant::now();
        }
    }
}

impl EventSink for Live {
    fn event(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Started { label, key, .. } if self.board.shows(label) => {
                self.running.insert(label.clone(), *key);
            }
            RunEvent::Cached { label, key, .. } => self.look(label, key),
            RunEvent::Finished { label, key, .. }
            | RunEvent::Retrying { label, key, .. }
            | RunEvent::Failed { label, key: Some(key), .. } => {
                self.running.remove(label);
                self.look(label, key);
            }
            _ => self.look_at_all(),
        }
    }

    fn tick(&mut self) {
        self.look_at_all();
    }
}
