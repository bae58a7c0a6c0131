//! What was decoded lately.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// How many are kept: some 20 MB.
const MOST: usize = 16;

/// What was made of the blocks that were asked for last.
#[derive(Debug)]
pub struct Kept<T>(Mutex<VecDeque<(usize, Arc<T>)>>);

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Kept(Mutex::default())
    }
}

impl<T> Kept<T> {
    /// What belongs to a block: kept, or made now.
    ///
    /// # Errors
    /// What `make` fails with; nothing is kept then.
    pub fn get<E>(&self, block: usize, make: impl FnOnce() -> Result<T, E>) -> Result<Arc<T>, E> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let find =
            |kept: &VecDeque<(usize, Arc<T>)>| kept.iter().find(|(of, _)| *of == block).map(|(_, found)| found.clone());
        if let Some(found) = find(&lock()) {
            return Ok(found);
        }
        // Without the lock: others make theirs meanwhile, in the worst case the same.
        let made = Arc::new(make()?);
        let mut kept = lock();
        if let Some(found) = find(&kept) {
            // Kept once, however many made it at once: copies would put out what others are reading.
            return Ok(found);
        }
        kept.truncate(MOST - 1);
        kept.push_front((block, made.clone()));
        Ok(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_are_kept_and_errors_are_not() {
        let kept = Kept::default();
        let made = |block| *kept.get(block, || Ok::<_, ()>(block * 10)).unwrap();
        assert_eq!((0..40).map(made).sum::<usize>(), 7_800);
        assert_eq!(kept.get(39, || Err("made again")), Ok(Arc::new(390)));
        assert_eq!(kept.get(0, || Err("made again")), Err("made again"));
        assert_eq!(made(0), 0);
        assert_eq!(kept.0.lock().unwrap().len(), MOST);
    }

    #[test]
    fn what_several_make_at_once_is_kept_once() {
        let kept = Kept::default();
        let meanwhile = || kept.get(5, || Ok::<_, ()>("theirs"));
        let got = kept.get(5, || meanwhile().map(|_| "ours"));
        assert_eq!(got, Ok(Arc::new("theirs")));
        assert_eq!(kept.0.lock().unwrap().len(), 1);
    }
}
