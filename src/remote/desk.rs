//! What a run asks of remotes, and what it is told.

use super::exchange::{Exchange, Job, Told};
use super::fault::Fault;
use crate::digest::Key;
use crate::engine::{Fetcher, Tell, Tidings};
use crate::store::ActionRecord;

impl Fetcher for Exchange {
    fn records(&self, cell: usize, keys: Vec<Key>, tell: Tell) {
        self.start(Job::Records(keys), move |told| {
            if let Told::Records(_, faults) = told {
                let words = |(remote, fault): (String, Fault)| format!("the remote `{remote}`: {}", fault.words());
                tell(Tidings::Records { cell, faults: faults.into_iter().map(words).collect() });
            }
        });
    }

    fn files(&self, cell: usize, candidates: Vec<ActionRecord>, tell: Tell) {
        self.start(Job::Files(candidates), move |told| match told {
            Told::Begun(objects, bytes) => tell(Tidings::Begun { cell, objects, bytes }),
            Told::Progress(done, total) => tell(Tidings::Progress { cell, done, total }),
            Told::Files(objects, bytes, seconds, lacks) => {
                let lacks = lacks.iter().map(ToString::to_string).collect();
                tell(Tidings::Files { cell, objects, bytes, seconds, lacks });
            }
            _ => {}
        });
    }
}
