//! A cache of the blocks that were decoded last.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Number of cached blocks: some 20 MB.
const MAX_CACHED: usize = 16;

/// Caches the decoded values of the blocks that were requested last.
#[derive(Debug)]
pub struct BlockCache<T>(Mutex<VecDeque<(usize, Arc<T>)>>);

impl<T> Default for BlockCache<T> {
    fn default() -> Self {
        BlockCache(Mutex::default())
    }
}

impl<T> BlockCache<T> {
    /// Returns the value of a block, from the cache or made now.
    ///
    /// # Errors
    /// `make` failed; nothing is cached then.
    pub fn get<E>(&self, block: usize, make: impl FnOnce() -> Result<T, E>) -> Result<Arc<T>, E> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let find = |cached: &VecDeque<(usize, Arc<T>)>| {
            cached.iter().find(|(of, _)| *of == block).map(|(_, found)| found.clone())
        };
        if let Some(found) = find(&lock()) {
            return Ok(found);
        }
        // Without the lock: others make theirs meanwhile, in the worst case the same.
        let made = Arc::new(make()?);
        let mut cached = lock();
        if let Some(found) = find(&cached) {
            // It is cached once, however many made it at once: copies would evict blocks that others are reading.
            return Ok(found);
        }
        cached.truncate(MAX_CACHED - 1);
        cached.push_front((block, made.clone()));
        Ok(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_are_kept_and_errors_are_not() {
        let cache = BlockCache::default();
        let made = |block| *cache.get(block, || Ok::<_, ()>(block * 10)).unwrap();
        assert_eq!((0..40).map(made).sum::<usize>(), 7_800);
        assert_eq!(cache.get(39, || Err("made again")), Ok(Arc::new(390)));
        assert_eq!(cache.get(0, || Err("made again")), Err("made again"));
        assert_eq!(made(0), 0);
        assert_eq!(cache.0.lock().unwrap().len(), MAX_CACHED);
    }

    #[test]
    fn what_several_make_at_once_is_kept_once() {
        let cache = BlockCache::default();
        let meanwhile = || cache.get(5, || Ok::<_, ()>("theirs"));
        let got = cache.get(5, || meanwhile().map(|_| "ours"));
        assert_eq!(got, Ok(Arc::new("theirs")));
        assert_eq!(cache.0.lock().unwrap().len(), 1);
    }
}
