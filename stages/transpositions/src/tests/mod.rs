use std::path::{Path, PathBuf};

use cwm_chess::sample;
use cwm_contract::testing::{Outcome, Trial};
use cwm_contract::{Failure, Value};
use cwm_encoding::PlainMove;
use cwm_inside_rows::{Transposition, TranspositionsDescription, TranspositionsReader};
use tempfile::{TempDir, tempdir};

use crate::Transpositions;

mod golden;
mod laws;

/// A folder with games.
struct Bench(TempDir);

impl Bench {
    fn new(games: &[Vec<PlainMove>]) -> Self {
        let bench = Bench(tempdir().unwrap());
        sample::write_dataset(&bench.path("games"), games).unwrap();
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run_on(&self, more: &[(&str, Value)], cores: usize) -> Result<Outcome, Failure> {
        let trial = Trial::new(self.path("work")).cores(cores).input("games", self.path("games"));
        more.iter().fold(trial, |trial, (name, value)| trial.with(name, value.clone())).run(&Transpositions)
    }

    fn run(&self, more: &[(&str, Value)]) -> Outcome {
        self.run_on(more, 2).unwrap()
    }
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn read(outcome: &Outcome) -> (TranspositionsDescription, Vec<Transposition>) {
    let reader = TranspositionsReader::open(&outcome.outputs["transpositions"]).unwrap();
    (reader.description().clone(), reader.map(Result::unwrap).collect())
}

fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

/// The listing of the golden files: a line a class.
fn listing(rows: &[Transposition]) -> String {
    let class = |members: &[Transposition]| {
        let places: Vec<_> = members.iter().map(|row| format!("{}:{}", row.game, row.ply)).collect();
        format!("{}\t{}\n", members[0].key, places.join(","))
    };
    rows.chunk_by(|one, next| one.class == next.class).map(class).collect()
}
