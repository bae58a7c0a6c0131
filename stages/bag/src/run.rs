//! The run of `bag`.

use std::ops::ControlFlow;

use cwm_contract::{Context, Failure};
use cwm_evaluations::{Evaluation, EvaluationsWriter, Line, Source};
use rayon::prelude::*;

use crate::bag_file::BagFile;
use crate::config::Config;
use crate::counts::Counts;
use crate::record::{self, Reason, Record, RecordError};
use crate::values::Values;

/// Records that are checked at once, on all cores.
const WINDOW: usize = 1 << 16;

/// Reads `bag` and writes `evaluations`, `counts` and `faults`.
pub fn run(context: &Context) -> Result<(), Failure> {
    let config: Config = context.parameters()?;
    let threads = rayon::ThreadPoolBuilder::new().num_threads(context.cores()).build();
    let threads = threads.map_err(|error| Failure::system(format!("cannot start threads: {error}")))?;
    let source = Source { made_by: "chessbench".to_owned(), ..Source::default() };
    let mut output = Output {
        limit: config.limit.unwrap_or(u64::MAX),
        fail: config.on_error == "fail",
        read: 0,
        writer: EvaluationsWriter::create(context.output("evaluations")?, &source)?,
        counts: Counts::create(context)?,
        values: config.has_values().then(Values::default),
    };
    let inputs = context.group("bag");
    let files = inputs.iter().map(|input| BagFile::open(&input.path)).collect::<Result<Vec<_>, _>>()?;
    let total = files.iter().map(|file| file.count() as u64).sum::<u64>().min(output.limit);
    context.activity("reading records");
    for (number, (file, input)) in files.iter().zip(inputs).enumerate() {
        let mut first = 0;
        while first < file.count() && output.counts.kept < output.limit {
            context.check_cancelled()?;
            let window = first..file.count().min(first + WINDOW);
            let check = |index| match file.record(index) {
                Some(record) => record::read(record, config.has_values()),
                None => Err((Reason::Length, "it is not in the file".to_owned())),
            };
            let read: Vec<_> = threads.install(|| window.clone().into_par_iter().map(check).collect());
            for (index, record) in window.clone().zip(read) {
                let place = Place { file: number + 1, record: index + 1, path: &input.path.display() };
                if output.push(&place, record)?.is_break() {
                    break;
                }
            }
            first = window.end;
            context.progress(output.read, Some(total), "records");
        }
    }
    let Output { mut writer, mut counts, values, .. } = output;
    if let Some(values) = values {
        context.activity("writing");
        values.write(&mut writer, &mut counts)?;
    }
    writer.finish()?;
    counts.finish(config.has_values())
}

/// The place of a record; numbers are from 1.
struct Place<'a> {
    file: usize,
    record: usize,
    path: &'a dyn std::fmt::Display,
}

struct Output<'a> {
    limit: u64,
    fail: bool,
    /// Records of all files so far.
    read: u64,
    writer: EvaluationsWriter,
    counts: Counts<'a>,
    /// Action values, if records hold them.
    values: Option<Values>,
}

impl Output<'_> {
    /// Writes or collects a record, or counts it as faulty; breaks when the limit is reached.
    fn push(&mut self, place: &Place<'_>, record: Result<Record<'_>, RecordError>) -> Result<ControlFlow<()>, Failure> {
        let error = match record {
            Ok(record) => self.keep(&record)?,
            Err(error) => Some(error),
        };
        match error {
            None => self.counts.kept += 1,
            Some(error) => {
                let words = format!("{}, record {}: {}", place.path, place.record, error.1);
                if self.fail {
                    let (other, what) = match self.values {
                        Some(_) => ("best_move", "has no win probabilities"),
                        None => ("action_value", "has win probabilities"),
                    };
                    let hint = format!(
                        "get the file again, set `records: {other}` if it {what}, or set `on_error: drop` to drop \
                         such records"
                    );
                    return Err(Failure::input(words).hint(hint));
                }
                self.counts.drop(place.file, place.record, error, &words)?;
            }
        }
        self.read += 1;
        Ok(if self.counts.kept < self.limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    }

    /// Writes or collects a sound record; an error if its move has come before.
    fn keep(&mut self, record: &Record<'_>) -> Result<Option<RecordError>, Failure> {
        if let (Some(values), Some(win)) = (&mut self.values, record.win) {
            let is_new = values.push(self.read, record, win);
            let words = || format!("an earlier record has a value of this move in {:?}", record.fen);
            return Ok((!is_new).then(|| (Reason::Repeated, words())));
        }
        self.writer.push(Evaluation {
            record: self.read,
            game: None,
            id: String::new(),
            t: None,
            fen: record.fen.to_owned(),
            lines: vec![Line { score: None, depth: None, moves: vec![record.packed] }],
        })?;
        Ok(None)
    }
}
