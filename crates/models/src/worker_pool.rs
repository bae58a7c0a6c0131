//! Work on several micro-batches at once.
//!
//! A worker is a thread with a rayon pool of its own of one thread, so that whatever runs inside a micro-batch (matrix
//! products, Burn's own parallel loops) runs in one order. What is cut into micro-batches therefore gives the same bits
//! on any number of workers, and there is nothing to synchronise within one.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::ModelError;

/// A fixed number of workers.
#[derive(Debug)]
pub struct WorkerPool {
    pools: Vec<ThreadPool>,
}

impl WorkerPool {
    /// Starts `count` workers, at least one.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn new(count: usize) -> Result<Self, ModelError> {
        let pool = |_| ThreadPoolBuilder::new().num_threads(1).build();
        let pools = (0..count.max(1)).map(pool).collect::<Result<_, _>>();
        Ok(WorkerPool { pools: pools.map_err(|error| ModelError::Device(format!("cannot start a thread: {error}")))? })
    }

    /// Does `work` for each index below `count`, and returns the results by index.
    pub fn map<T: Send>(&self, count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let next = AtomicUsize::new(0);
        let worker = || {
            let mut done = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= count {
                    return done;
                }
                done.push((index, work(index)));
            }
        };
        let mut results: Vec<Option<T>> = (0..count).map(|_| None).collect();
        std::thread::scope(|scope| {
            let worker = &worker;
            let threads: Vec<_> =
                self.pools.iter().take(count).map(|pool| scope.spawn(move || pool.install(worker))).collect();
            for thread in threads {
                match thread.join() {
                    Ok(done) => done.into_iter().for_each(|(index, result)| results[index] = Some(result)),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        });
        results.into_iter().map(|result| result.expect("each index is done once")).collect()
    }
}

thread_local! {
    /// The pool of [`on_one_thread`].
    static ONE: ThreadPool =
        ThreadPoolBuilder::new().num_threads(1).build().expect("a thread that runs may have another one");
}

/// Does `work` on one thread, so that it gives the same bits on any number of cores, whatever thread it is called from.
pub fn on_one_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    if rayon::current_thread_index().is_some() && rayon::current_num_threads() == 1 {
        return work();
    }
    ONE.with(|pool| pool.install(work))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_by_index_for_any_number_of_lanes() {
        for workers in [1, 2, 5] {
            let workers = WorkerPool::new(workers).unwrap();
            assert_eq!(workers.map(7, |i| i * i), [0, 1, 4, 9, 16, 25, 36]);
            assert!(workers.map(0, |i| i).is_empty());
            assert_eq!(workers.map(2, |_| rayon::current_num_threads()), [1, 1]);
        }
    }

    #[test]
    fn work_on_one_thread_stays_there_wherever_it_is_called_from() {
        assert_eq!(on_one_thread(rayon::current_num_threads), 1);
        let pool = ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        assert_eq!(pool.install(|| on_one_thread(rayon::current_num_threads)), 1);
        let worker = WorkerPool::new(1).unwrap();
        let threads = worker.map(1, |_| (std::thread::current().id(), on_one_thread(|| std::thread::current().id())));
        assert_eq!(threads[0].0, threads[0].1);
    }
}
