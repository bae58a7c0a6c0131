//! The run of `import`.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use cwm_chess::pgn::Meter;
use cwm_chess::{CorpusStats, GameRow, GamesWriter};
use cwm_contract::{Context, Failure};
use md5::{Digest, Md5};
use rayon::prelude::*;
use serde_json::json;

use crate::block_stream::{BlockStream, Window};
use crate::config::Config;
use crate::parsed_record::{Game, ParsedRecord, parse_block};
use crate::validate::{Reason, RecordError};

/// Blocks of a window for each core: enough that none waits long for the last one.
const BLOCKS: usize = 4;

/// Reads the records and writes `games`, `counts` and `faults`. While one window of lines is read on all cores, the next is taken
/// from the files; what is written goes by the lines alone.
pub fn run(context: &Context) -> Result<(), Failure> {
    let config: Config = context.parameters()?;
    let mut files = Vec::new();
    for source in config.source.as_slice() {
        files.extend(source.list(crate::config::ENDINGS)?);
    }
    let size = files.iter().map(|path| path.metadata().map_or(0, |metadata| metadata.len())).sum();
    let threads = rayon::ThreadPoolBuilder::new().num_threads(context.cores()).build();
    let threads = threads.map_err(|error| Failure::system(format!("cannot start threads: {error}")))?;
    let meter = Arc::new(Meter::default());
    let mut stream = BlockStream::new(&files, meter.clone());
    let mut writer = OutputWriter {
        context,
        files: &files,
        fail: config.on_error == "fail",
        games: GamesWriter::create(context.output("games")?, config.shard_games)?,
        ids: HashSet::new(),
        stats: CorpusStats::create(context.output("faults")?)?,
    };
    context.activity("reading records");
    let blocks = BLOCKS * context.cores();
    let mut window = stream.window(blocks);
    loop {
        context.check_cancelled()?;
        context.progress(meter.consumed(), Some(size), "bytes");
        let Window { blocks: here, failure } = window;
        let last = here.is_empty() || failure.is_some();
        let (next, read) = threads.install(|| {
            rayon::join(
                || if last { Window::default() } else { stream.window(blocks) },
                || here.par_iter().map(|(file, block)| (*file, parse_block(block, config.check))).collect::<Vec<_>>(),
            )
        });
        for (file, records) in read {
            records.into_iter().try_for_each(|record| writer.write_record(file, record))?;
        }
        if let Some(failure) = failure {
            return Err(failure);
        }
        if last {
            break;
        }
        window = next;
    }
    meter.ignored().into_iter().for_each(|ignored| context.log(ignored));
    writer.finish()
}

/// Writes what was read, in its order.
struct OutputWriter<'a> {
    context: &'a Context,
    files: &'a [PathBuf],
    fail: bool,
    games: GamesWriter,
    /// The first 96 bits of the MD5 of every id so far: of ten million ids, two that differ would be taken for one with a
    /// probability below 10^-14.
    ids: HashSet<[u8; 12]>,
    stats: CorpusStats<Reason>,
}

impl OutputWriter<'_> {
    fn write_record(&mut self, file: usize, record: ParsedRecord) -> Result<(), Failure> {
        let id = record.id.as_deref().unwrap_or_default();
        let game = record.game.and_then(|game| match self.ids.insert(short(id)) {
            true => Ok(game),
            false => Err(RecordError::new(Reason::DuplicateId, "an earlier record has the same id")),
        });
        match game {
            Ok(Game { site, result, moves }) => {
                let index = self.stats.kept;
                self.games.push(GameRow { index, id, site: &site, result: &result, moves: &moves, labels: None })?;
                self.stats.count_kept(moves.len());
            }
            Err(fault) => {
                let named = if id.is_empty() { String::new() } else { format!(" ({id:?})") };
                let words = format!("{}, line {}{named}: {}", self.files[file].display(), record.line, fault.what);
                if self.fail {
                    return Err(Failure::input(words).hint(hint(fault.reason)));
                }
                let place = [("file", json!(file + 1)), ("line", json!(record.line)), ("detail", json!(fault.what))];
                self.stats.record_fault(fault.reason, place, &words, self.context)?;
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<(), Failure> {
        if self.stats.read == 0 {
            let files = self.files.len();
            return Err(Failure::input(format!("there is no record in the {files} files of `source`"))
                .hint("give JSON lines as the paper's own `process.py` writes them"));
        }
        self.games.finish()?;
        self.stats.finish("import", self.context.output("counts")?, self.context)
    }
}

fn short(id: &str) -> [u8; 12] {
    let digest: [u8; 16] = Md5::digest(id.as_bytes()).into();
    let mut short = [0; 12];
    short.copy_from_slice(&digest[..12]);
    short
}

fn hint(reason: Reason) -> &'static str {
    match reason {
        Reason::Differs => "set `check: false` to trust the moves alone, or `on_error: drop` to drop such records",
        _ => "correct the file, or set `on_error: drop` to drop such records",
    }
}
