//! What a run asks of remotes, and what it is told.

use cwm_core::digest::Key;
use cwm_engine::Direction;
use cwm_engine::{Article, Fetcher, Provided, Provider, Tell, Tidings};
use cwm_remote::{Exchange, Fault, Job, Told};
use cwm_store::ActionRecord;

/// Remotes, as a run uses them.
pub struct Remotes(pub Exchange);

impl Fetcher for Remotes {
    fn records(&self, cell: usize, keys: Vec<Key>, tell: Tell) {
        let is_news = self.0.news();
        self.0.start(Job::Records(keys), move |told| {
            if let Told::Records(_, mut faults) = told {
                faults.retain(|(remote, fault)| is_news(remote, fault));
                let words = |(remote, fault): (String, Fault)| format!("the remote `{remote}`: {}", fault.words());
                tell(Tidings::Records { cell, faults: faults.into_iter().map(words).collect() });
            }
        });
    }

    fn files(&self, cell: usize, candidates: Vec<ActionRecord>, tell: Tell) {
        self.0.start(Job::Files(candidates), move |told| match told {
            Told::Begun(objects, bytes) => {
                tell(Tidings::Begun { cell, direction: Direction::Pull, objects, bytes });
            }
            Told::Progress(done, total) => tell(Tidings::Progress { cell, done, total }),
            Told::Files(objects, bytes, seconds, lacks) => {
                let reached = lacks.iter().all(|lack| lack.reached);
                let lacks = lacks.iter().map(ToString::to_string).collect();
                tell(Tidings::Files { cell, objects, bytes, seconds, lacks, reached });
            }
            _ => {}
        });
    }
}

impl Provider for Remotes {
    fn provide(&self, cell: usize, article: Article, tell: Tell) {
        let id = article.id();
        let remote = self.0.names().first().copied().unwrap_or_default().to_owned();
        let job = match article {
            Article::Result(record) => Job::Offer(record),
            Article::File(file) => Job::Send(file),
        };
        self.0.start(job, move |told| {
            let (outcome, seconds) = match told {
                Told::Begun(objects, bytes) => {
                    return tell(Tidings::Begun { cell, direction: Direction::Push, objects, bytes });
                }
                Told::Progress(done, total) => return tell(Tidings::Progress { cell, done, total }),
                Told::Offered(outcome, seconds) => (outcome, seconds),
                Told::Pushed(outcome, seconds) => (outcome.map(Some), seconds),
                Told::Prepared(Some(words)) => return tell(Tidings::Said(words)),
                Told::Records(..) | Told::Files(..) | Told::Prepared(None) | Told::Looked(_) => return,
            };
            let came = match outcome {
                Ok(Some(sent)) => Provided::There { objects: sent.objects, bytes: sent.bytes, seconds },
                Ok(None) => Provided::Nowhere,
                Err(fault) => Provided::Failed(format!("the remote `{remote}`: {}", fault.words())),
            };
            tell(Tidings::Provided { article: id.clone(), came });
        });
    }
}
