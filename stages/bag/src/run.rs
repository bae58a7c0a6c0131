//! The run of `bag`.

use std::ops::ControlFlow;

use cwm_contract::{Context, Failure};
use cwm_evaluations::{Evaluation, EvaluationsWriter, Line, Source};
use rayon::prelude::*;

use crate::bag_file::BagFile;
use crate::config::Config;
use crate::counts::Counts;
use crate::record::{self, Fault, Reason};

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
                Some(record) => record::read(record),
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
    output.writer.finish()?;
    output.counts.finish()
}

/// Where a record is; numbers from 1.
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
}

impl Output<'_> {
    /// Writes a record, or counts it as faulty; breaks when the limit is reached.
    fn push(&mut self, place: &Place<'_>, record: Result<(&str, u16), Fault>) -> Result<ControlFlow<()>, Failure> {
        match record {
            Ok((fen, best)) => {
                self.writer.push(Evaluation {
                    record: self.read,
                    game: None,
                    id: String::new(),
                    t: None,
                    fen: fen.to_owned(),
                    lines: vec![Line { score: None, depth: None, moves: vec![best] }],
                })?;
                self.counts.kept += 1;
            }
            Err(fault) => {
                let words = format!("{}, record {}: {}", place.path, place.record, fault.1);
                if self.fail {
                    let hint = "get the file again, or set `on_error: drop` to leave such records out";
                    return Err(Failure::input(words).hint(hint));
                }
                self.counts.drop(place.file, place.record, fault, &words)?;
            }
        }
        self.read += 1;
        Ok(if self.counts.kept < self.limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    }
}
