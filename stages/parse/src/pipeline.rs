//! Reads on all cores, in the order of the files.
//!
//! Threads of their own decompress the text, one cuts it into blocks of whole games, as many as there are cores read
//! them, and the caller takes the parsed blocks in order. A fixed number of batches goes round, so that memory stays
//! constant whichever thread is slow; and since blocks depend on the text alone, nothing depends on the number of
//! threads.

use std::any::Any;
use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, bounded};
use cwm_chess::pgn::{Block, Blocks, Meter, PgnError, PgnSource, Text};

use crate::parsed_block::ParsedBlock;
use crate::rules::Rules;

/// Cores that read games for each that decompresses zstd, which takes a third of the time of reading
/// (docs/design/parse.md).
const CORES_A_DECODER: usize = 3;

/// Decompressing threads, at most: the one that cuts takes in no more than they give, and each has memory of its own.
const DECODERS: usize = 6;

/// A block and what was read from it; goes round between the threads.
#[derive(Default)]
struct Batch {
    /// The ordinal of its file.
    file: usize,
    block: Block,
    parsed: ParsedBlock,
}

/// The result for one ordinal.
enum BlockResult {
    Read(Batch),
    /// A file could not be read from here on.
    Failed(ReadFailure),
    /// Reading the block panicked.
    Panicked(Box<dyn Any + Send>),
}

/// A file that could not be read, or not to its end.
#[derive(Debug)]
pub struct ReadFailure {
    /// Its ordinal.
    pub file: usize,
    /// The reason.
    pub kind: ReadErrorKind,
}

/// The reason why a file was not read to its end.
#[derive(Debug)]
pub enum ReadErrorKind {
    /// It could not be opened.
    Open(io::Error),
    /// Its text ends where it should not.
    Text(PgnError),
}

/// Gives `take` the parsed games of each block in order, with its file's ordinal, until it breaks off or the files end.
///
/// # Errors
/// A file cannot be read, after all that came before was taken.
pub fn read_all<B>(
    files: &[PathBuf],
    meter: &Arc<Meter>,
    rules: &Rules,
    cores: usize,
    mut take: impl FnMut(usize, &ParsedBlock) -> ControlFlow<B>,
) -> Result<ControlFlow<B>, ReadFailure> {
    let batches = 2 * cores + 2;
    let (give_back, spare) = bounded::<Batch>(batches);
    let (to_read, unread) = bounded::<(u64, Batch)>(batches);
    // One more than batches: the end of the stream may fail.
    let (finish, done) = bounded::<(u64, BlockResult)>(batches + 1);
    for _ in 0..batches {
        let _ = give_back.send(Batch::default());
    }
    std::thread::scope(|scope| {
        let failed = finish.clone();
        scope.spawn(move || {
            let decoders = cores.div_ceil(CORES_A_DECODER).min(DECODERS);
            let splitter = BlockSplitter { spare: &spare, to_read: &to_read, decoders, ordinal: 0, idle: None };
            cut(files, meter, splitter, &failed);
        });
        for _ in 0..cores {
            let (unread, finish) = (unread.clone(), finish.clone());
            scope.spawn(move || read(&unread, rules, &finish));
        }
        drop((unread, finish));
        // Both ends of the ring are dropped when this returns, which ends the threads.
        collect(done, give_back, &mut take)
    })
}

/// Cuts the files' text into blocks, one after another.
struct BlockSplitter<'a> {
    spare: &'a Receiver<Batch>,
    to_read: &'a Sender<(u64, Batch)>,
    /// Threads that decompress one file, where its compression lets several.
    decoders: usize,
    /// Blocks handed out.
    ordinal: u64,
    /// Left over from the last file.
    idle: Option<Batch>,
}

/// The reason why there are no more blocks.
enum StopReason {
    Failed(ReadFailure),
    /// The caller takes no more.
    Cancelled,
}

impl BlockSplitter<'_> {
    fn cut(&mut self, file: usize, path: &Path, meter: &Arc<Meter>) -> Result<(), StopReason> {
        let failed = |kind| StopReason::Failed(ReadFailure { file, kind });
        let source = PgnSource::open(path, meter).map_err(|error| failed(ReadErrorKind::Open(error)))?;
        std::thread::scope(|scope| {
            let mut blocks = Blocks::new(Text::spawn(scope, source, self.decoders));
            loop {
                let mut batch = match self.idle.take() {
                    Some(batch) => batch,
                    None => self.spare.recv().map_err(|_| StopReason::Cancelled)?,
                };
                batch.file = file;
                if !blocks.next(&mut batch.block).map_err(|error| failed(ReadErrorKind::Text(error)))? {
                    self.idle = Some(batch);
                    return Ok(());
                }
                self.to_read.send((self.ordinal, batch)).map_err(|_| StopReason::Cancelled)?;
                self.ordinal += 1;
            }
        })
    }
}

fn cut(files: &[PathBuf], meter: &Arc<Meter>, mut splitter: BlockSplitter<'_>, failed: &Sender<(u64, BlockResult)>) {
    let over = files.iter().enumerate().try_for_each(|(file, path)| splitter.cut(file, path, meter));
    if let Err(StopReason::Failed(unread)) = over {
        let _ = failed.send((splitter.ordinal, BlockResult::Failed(unread)));
    }
}

fn read(unread: &Receiver<(u64, Batch)>, rules: &Rules, finish: &Sender<(u64, BlockResult)>) {
    for (ordinal, mut batch) in unread {
        let read = catch_unwind(AssertUnwindSafe(|| batch.parsed.parse(&batch.block, rules)));
        let done = read.map_or_else(BlockResult::Panicked, |()| BlockResult::Read(batch));
        if finish.send((ordinal, done)).is_err() {
            return;
        }
    }
}

fn collect<B>(
    done: Receiver<(u64, BlockResult)>,
    give_back: Sender<Batch>,
    take: &mut impl FnMut(usize, &ParsedBlock) -> ControlFlow<B>,
) -> Result<ControlFlow<B>, ReadFailure> {
    let mut early = BTreeMap::new();
    let mut next = 0;
    for (ordinal, arrived) in done {
        early.insert(ordinal, arrived);
        while let Some(arrived) = early.remove(&next) {
            let batch = match arrived {
                BlockResult::Read(batch) => batch,
                BlockResult::Failed(unread) => return Err(unread),
                BlockResult::Panicked(panic) => resume_unwind(panic),
            };
            if let ControlFlow::Break(broken) = take(batch.file, &batch.parsed) {
                return Ok(ControlFlow::Break(broken));
            }
            let _ = give_back.send(batch);
            next += 1;
        }
    }
    Ok(ControlFlow::Continue(()))
}
