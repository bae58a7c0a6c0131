//! Where each label's logits lie (models.md §1.2).
//!
//! One linear layer gives all 1,878 logits of a position; which label has which, `cwm-encoding` says.

pub use cwm_encoding::{GROUPS, LABELS, LOGITS, LabelGroup};
use cwm_encoding::{classes, first_logit};

/// Where the logits of each label lie: start and number of classes.
pub const SPANS: [(usize, usize); LABELS] = {
    let mut spans = [(0, 0); LABELS];
    let mut label = 0;
    while label < LABELS {
        spans[label] = (first_logit(label), classes(label));
        label += 1;
    }
    spans
};
