//! Deduplicates concurrent uploads: if several results contain the same object, one task uploads it and the others wait.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OwnedMutexGuard;

use cwm_core::Digest;

type Sent = Arc<tokio::sync::Mutex<bool>>;

/// Objects that are being uploaded, and those that were, where that is kept.
#[derive(Default)]
pub struct UploadDedup {
    of: Mutex<BTreeMap<Digest, Sent>>,
}

/// The exclusive right to upload an object, until it is dropped.
pub struct DedupGuard<'t> {
    dedup: &'t UploadDedup,
    digest: Digest,
    /// Whether it was uploaded here before.
    pub is_uploaded: OwnedMutexGuard<bool>,
    keep_history: bool,
}

impl UploadDedup {
    /// Waits until no other task uploads this object. With `keep_history` it is remembered that it was uploaded; there may be a
    /// million of them.
    pub async fn wait(&self, digest: &Digest, keep_history: bool) -> DedupGuard<'_> {
        let sent = self.of.lock().unwrap_or_else(PoisonError::into_inner).entry(*digest).or_default().clone();
        DedupGuard { dedup: self, digest: *digest, is_uploaded: sent.lock_owned().await, keep_history }
    }
}

impl Drop for DedupGuard<'_> {
    fn drop(&mut self) {
        let mut of = self.dedup.of.lock().unwrap_or_else(PoisonError::into_inner);
        // One is there, one is here: nobody waits.
        if !self.keep_history && of.get(&self.digest).is_some_and(|sent| Arc::strong_count(sent) <= 2) {
            of.remove(&self.digest);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn the_history_is_kept_only_if_that_is_asked_for() {
        let turns = UploadDedup::default();
        let digest = Digest::of(b"x");
        let both = async |keep_history| {
            let mut first = turns.wait(&digest, keep_history).await;
            let mut second = Box::pin(turns.wait(&digest, keep_history));
            assert!(second.as_mut().now_or_never().is_none(), "it is another one's turn");
            *first.is_uploaded = true;
            drop(first);
            assert!(*second.await.is_uploaded);
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        for keep_history in [false, true] {
            runtime.block_on(both(keep_history));
            assert_eq!(turns.of.lock().expect("it").len(), usize::from(keep_history));
        }
    }
}
