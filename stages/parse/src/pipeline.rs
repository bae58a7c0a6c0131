//! Reading on all cores with the order of the file.
//!
//! One thread cuts the text into blocks of whole games, as many as there are cores read them, and the caller takes the
//! harvests in order. A fixed number of batches goes round, so that memory stays constant whoever is slow; and since
//! blocks depend on the text alone, nothing depends on the number of threads.

use std::any::Any;
use std::collections::BTreeMap;
use std::io::Read;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crossbeam_channel::{Receiver, Sender, bounded};
use cwm_chess::pgn::{Block, Blocks, PgnError};

use crate::harvest::Harvest;
use crate::rules::Rules;

/// A block and what was read from it; goes round between the threads.
#[derive(Default)]
struct Batch {
    block: Block,
    harvest: Harvest,
}

/// What arrives at the end, for each ordinal once.
enum Done {
    Read(Batch),
    /// The stream failed here.
    Failed(PgnError),
    /// Reading the block panicked.
    Panicked(Box<dyn Any + Send>),
}

/// Gives `take` the harvest of each block in order, until it breaks off or the text ends.
///
/// # Errors
/// The stream fails, after all that came before it was taken.
pub fn read_all<B>(
    text: impl Read + Send,
    rules: &Rules,
    cores: usize,
    mut take: impl FnMut(&Harvest) -> ControlFlow<B>,
) -> Result<ControlFlow<B>, PgnError> {
    let batches = 2 * cores + 2;
    let (give_back, spare) = bounded::<Batch>(batches);
    let (to_read, unread) = bounded::<(u64, Batch)>(batches);
    // One more than batches: the end of the stream may fail.
    let (finish, done) = bounded::<(u64, Done)>(batches + 1);
    for _ in 0..batches {
        let _ = give_back.send(Batch::default());
    }
    std::thread::scope(|scope| {
        let failed = finish.clone();
        scope.spawn(move || cut(text, &spare, &to_read, &failed));
        for _ in 0..cores {
            let (unread, finish) = (unread.clone(), finish.clone());
            scope.spawn(move || read(&unread, rules, &finish));
        }
        drop((unread, finish));
        // Both ends of the ring are dropped when this returns, which ends the threads.
        collect(done, give_back, &mut take)
    })
}

fn cut(text: impl Read, spare: &Receiver<Batch>, to_read: &Sender<(u64, Batch)>, failed: &Sender<(u64, Done)>) {
    let mut blocks = Blocks::new(text);
    for (ordinal, mut batch) in (0..).zip(spare) {
        match blocks.next(&mut batch.block) {
            Ok(true) if to_read.send((ordinal, batch)).is_ok() => {}
            Ok(_) => return,
            Err(error) => {
                let _ = failed.send((ordinal, Done::Failed(error)));
                return;
            }
        }
    }
}

fn read(unread: &Receiver<(u64, Batch)>, rules: &Rules, finish: &Sender<(u64, Done)>) {
    for (ordinal, mut batch) in unread {
        let read = catch_unwind(AssertUnwindSafe(|| batch.harvest.gather(&batch.block, rules)));
        let done = read.map_or_else(Done::Panicked, |()| Done::Read(batch));
        if finish.send((ordinal, done)).is_err() {
            return;
        }
    }
}

fn collect<B>(
    done: Receiver<(u64, Done)>,
    give_back: Sender<Batch>,
    take: &mut impl FnMut(&Harvest) -> ControlFlow<B>,
) -> Result<ControlFlow<B>, PgnError> {
    let mut early = BTreeMap::new();
    let mut next = 0;
    for (ordinal, arrived) in done {
        early.insert(ordinal, arrived);
        while let Some(arrived) = early.remove(&next) {
            let batch = match arrived {
                Done::Read(batch) => batch,
                Done::Failed(error) => return Err(error),
                Done::Panicked(panic) => resume_unwind(panic),
            };
            if let ControlFlow::Break(broken) = take(&batch.harvest) {
                return Ok(ControlFlow::Break(broken));
            }
            let _ = give_back.send(batch);
            next += 1;
        }
    }
    Ok(ControlFlow::Continue(()))
}
