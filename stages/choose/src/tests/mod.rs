//! The stage as a whole, on the games of the sample.

use std::path::{Path, PathBuf};

use cwm_chess::sample;
use cwm_choices::{Choice, Choices, Chooser};
use cwm_contract::testing::{Outcome, Trial};
use cwm_contract::{Failure, FailureKind, Stage, Value, Values};
use cwm_encoding::PlainMove;
use cwm_evaluations::Evaluation;
use cwm_player::Form;
use cwm_player::sample::write_checkpoint;
use tempfile::{TempDir, tempdir};

use crate::Choose;
use crate::probe::{evaluations_of, write_evaluations};

mod faults;
mod foreign;
mod models;

/// A folder with inputs, each a file of its name.
struct Bench(TempDir);

impl Bench {
    /// With the evaluations of these games, every so many plies, and the games themselves.
    fn of_games(games: &[Vec<PlainMove>], stride: usize) -> Self {
        let bench = Bench(tempdir().unwrap());
        sample::write_games(&bench.path("games"), games).unwrap();
        let rows = (0..).zip(games).flat_map(|(index, game)| evaluations_of(index, game, stride).unwrap());
        bench.evaluations(&rows.collect::<Vec<_>>());
        bench
    }

    /// With the evaluations of the shorter games of the sample.
    fn new() -> Self {
        Bench::of_games(&short_games(), 7)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn evaluations(&self, rows: &[Evaluation]) {
        write_evaluations(&self.path("evaluations"), rows).unwrap();
    }

    fn model(&self, form: Form) {
        let mask = if form == Form::Board { "none" } else { "causal" };
        let _ = std::fs::remove_dir_all(self.path("checkpoint"));
        write_checkpoint(&self.path("checkpoint"), form, "d32/l2", mask, 3).unwrap();
    }

    fn run_with(&self, cores: usize, values: &[(&str, Value)]) -> Result<Outcome, Failure> {
        let mut trial = Trial::new(self.path("work")).cores(cores);
        for (name, value) in values {
            trial = trial.with(name, value.clone());
        }
        for name in ["checkpoint", "choices", "evaluations", "games", "train"] {
            if self.path(name).exists() {
                trial = trial.input(name, self.path(name));
            }
        }
        trial.run(&Choose)
    }

    fn run(&self) -> Outcome {
        self.run_with(2, &[]).unwrap()
    }

    fn failure(&self, values: &[(&str, Value)]) -> Failure {
        let failure = self.run_with(2, values).err().expect("a failure");
        assert_eq!(failure.kind, FailureKind::Input);
        failure
    }
}

/// Games of at most 60 plies, three of them.
fn short_games() -> Vec<Vec<PlainMove>> {
    let mut games = sample::games();
    games.retain(|game| game.len() <= 60);
    games.truncate(3);
    assert_eq!(games.len(), 3);
    games
}

fn rows(outcome: &Outcome) -> (Chooser, Vec<Choice>) {
    rows_at(&outcome.outputs["choices"])
}

fn rows_at(path: &Path) -> (Chooser, Vec<Choice>) {
    let choices = Choices::open(path).unwrap();
    (choices.description().clone(), choices.collect::<Result<_, _>>().unwrap())
}

fn counts(outcome: &Outcome) -> String {
    std::fs::read_to_string(&outcome.outputs["counts"]).unwrap()
}

fn named(name: &str) -> (&'static str, Value) {
    ("name", Value::Text(name.to_owned()))
}
