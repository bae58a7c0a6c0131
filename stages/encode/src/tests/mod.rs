use std::path::{Path, PathBuf};

use cwm_chess::sample;
use cwm_contract::testing::{Outcome, Trial};
use cwm_contract::{Failure, Stage, Value, Values};
use cwm_encoding::PlainMove;
use cwm_evaluations::{Evaluation, EvaluationsWriter, Source};
use cwm_sequences::{Sequences, Vocabulary};
use tempfile::{TempDir, tempdir};

use crate::Encode;
use crate::forms::FORMS;

mod faults;
mod golden;
mod laws;
mod speech;
mod words;

/// A folder with inputs.
struct Bench(TempDir);

/// An id, tokens, targets.
type Row = (String, Vec<u16>, Vec<u16>);

impl Bench {
    fn new() -> Self {
        Bench(tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// With these games, named as those of the sample.
    fn games(self, games: &[Vec<PlainMove>]) -> Self {
        sample::write_games(&self.path("games"), games).unwrap();
        self
    }

    /// With these evaluations, numbered from 0.
    fn evaluations(self, rows: impl IntoIterator<Item = Evaluation>) -> Self {
        let source = Source { made_by: "test".to_owned(), ..Source::default() };
        let mut writer = EvaluationsWriter::create(&self.path("evaluations"), &source).unwrap();
        for (record, row) in (0..).zip(rows) {
            writer.push(Evaluation { record, ..row }).unwrap();
        }
        writer.finish().unwrap();
        self
    }

    fn run_on(&self, form: &str, cores: usize) -> Result<Outcome, Failure> {
        self.run_with(values(form), cores)
    }

    fn run_with(&self, values: Values, cores: usize) -> Result<Outcome, Failure> {
        let trial = Trial::new(self.path("work")).cores(cores);
        let mut trial = values.into_iter().fold(trial, |trial, (name, value)| trial.with(&name, value));
        for name in ["evaluations", "games", "examples"] {
            if self.path(name).exists() {
                trial = trial.input(name, self.path(name));
            }
        }
        trial.run(&Encode)
    }

    fn run(&self, form: &str) -> Outcome {
        self.run_on(form, 2).unwrap()
    }

    fn refused(&self, form: &str) -> String {
        self.run_on(form, 2).err().expect("a failure").message
    }
}

fn values(form: &str) -> Values {
    let defaults = Encode.parameters().into_iter().filter_map(|spec| Some((spec.name.to_owned(), spec.default?)));
    defaults.chain([("form".to_owned(), Value::Text(form.to_owned()))]).collect()
}

fn vocabulary(outcome: &Outcome) -> Vocabulary {
    Sequences::open(&outcome.outputs["sequences"]).unwrap().vocabulary().clone()
}

fn rows(outcome: &Outcome) -> Vec<Row> {
    let sequences = Sequences::open(&outcome.outputs["sequences"]).unwrap();
    let row = |row: Result<cwm_sequences::Sequence<'_>, Failure>| {
        let row = row.unwrap();
        (row.id.to_owned(), row.tokens.to_vec(), row.targets.to_vec())
    };
    sequences.iter().map(row).collect()
}

fn counts(outcome: &Outcome) -> String {
    std::fs::read_to_string(&outcome.outputs["counts"]).unwrap()
}

fn bytes(folder: &Path) -> Vec<u8> {
    std::fs::read(folder.join("sequences-00000.arrow")).unwrap()
}
