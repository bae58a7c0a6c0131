use std::path::PathBuf;

use cwm_chess::sample;
use cwm_contract::testing::{Outcome, Trial};
use cwm_contract::{Failure, Value};
use cwm_encoding::PlainMove;
use cwm_findings::Finding;
use cwm_inside::ModelTask;
use cwm_inside::sample::write_checkpoint;
use cwm_inside_rows::{Legality as Row, LegalityDescription, LegalityReader};
use tempfile::{TempDir, tempdir};

use crate::Legality;

mod faults;
mod golden;
mod laws;

/// A folder with games and a model of words.
struct Bench(TempDir);

impl Bench {
    /// With these games, named as those of the sample.
    fn new(games: &[Vec<PlainMove>]) -> Self {
        let bench = Bench(tempdir().unwrap());
        sample::write_dataset(&bench.path("games"), games).unwrap();
        bench
    }

    /// With fresh weights.
    fn model(self, task: ModelTask, family: &str, size: &str, seed: u64) -> Self {
        write_checkpoint(&self.path("checkpoint"), task, family, size, seed).unwrap();
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run_on(&self, more: &[(&str, Value)], cores: usize) -> Result<Outcome, Failure> {
        let trial = Trial::new(self.path("work")).cores(cores);
        let trial = trial.input("games", self.path("games")).input("checkpoint", self.path("checkpoint"));
        let trial = trial.with("resamples", Value::Int(40));
        more.iter().fold(trial, |trial, (name, value)| trial.with(name, value.clone())).run(&Legality)
    }

    fn run(&self, more: &[(&str, Value)]) -> Outcome {
        self.run_on(more, 2).unwrap()
    }
}

fn read(outcome: &Outcome) -> (LegalityDescription, Vec<Row>) {
    let reader = LegalityReader::open(&outcome.outputs["legality"]).unwrap();
    (reader.description().clone(), reader.map(Result::unwrap).collect())
}

/// The finding about `of`.
fn finding(outcome: &Outcome, of: &str) -> Option<Finding> {
    cwm_findings::read(&outcome.outputs["findings"]).unwrap().into_iter().find(|finding| finding.named("of") == of)
}
