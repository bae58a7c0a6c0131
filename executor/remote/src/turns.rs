//! Equal content of several results: one sends it, the others wait and find it there.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OwnedMutexGuard;

use cwm_core::digest::Digest;

type Sent = Arc<tokio::sync::Mutex<bool>>;

/// Content that is being sent, or was where that is remembered.
#[derive(Default)]
pub struct Turns {
    of: Mutex<BTreeMap<Digest, Sent>>,
}

/// The turn to send content; it ends when this is dropped.
pub struct Turn<'t> {
    turns: &'t Turns,
    digest: Digest,
    /// Whether it was sent here before.
    pub is_sent: OwnedMutexGuard<bool>,
    remembers: bool,
}

impl Turns {
    /// Waits until nobody else here sends this content. Whether it was sent is remembered for later only if that is asked for:
    /// there may be a million of them.
    pub async fn wait(&self, digest: &Digest, remembers: bool) -> Turn<'_> {
        let sent = self.of.lock().unwrap_or_else(PoisonError::into_inner).entry(*digest).or_default().clone();
        Turn { turns: self, digest: *digest, is_sent: sent.lock_owned().await, remembers }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut of = self.turns.of.lock().unwrap_or_else(PoisonError::into_inner);
        // One is there, one is here: nobody waits.
        if !self.remembers && of.get(&self.digest).is_some_and(|sent| Arc::strong_count(sent) <= 2) {
            of.remove(&self.digest);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn nothing_is_kept_of_what_was_sent_unless_that_is_asked_for() {
        let turns = Turns::default();
        let digest = Digest::of(b"x");
        let both = async |remembers| {
            let mut first = turns.wait(&digest, remembers).await;
            let mut second = Box::pin(turns.wait(&digest, remembers));
            assert!(second.as_mut().now_or_never().is_none(), "it is another one's turn");
            *first.is_sent = true;
            drop(first);
            assert!(*second.await.is_sent);
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        for remembers in [false, true] {
            runtime.block_on(both(remembers));
            assert_eq!(turns.of.lock().expect("it").len(), usize::from(remembers));
        }
    }
}
