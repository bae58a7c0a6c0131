//! Damaged records that a command passed over which only tells what there is.

use cwm_core::text::visible_lines;
use cwm_store::{Finding, Store};

/// Tells, when it goes, which records its store passed over.
pub struct PassedOver(Store);

impl PassedOver {
    /// By this store, which does so from here on.
    pub fn by(store: Store) -> (Store, PassedOver) {
        let store = store.passing_over_damaged_records();
        (store.clone(), PassedOver(store))
    }

    /// A record that was passed over, in words.
    pub fn words(finding: &Finding) -> String {
        format!("{finding}; it is passed over, and `cwm run` or `cwm verify` sets it aside")
    }
}

impl Drop for PassedOver {
    fn drop(&mut self) {
        for finding in self.0.take_damaged_records() {
            eprintln!("warning: {}", visible_lines(&PassedOver::words(&finding)));
        }
    }
}
