//! The meaning of the logits of a [`Head`](crate::head::Head), their loss and their metrics: one module for each kind.

pub mod choice;
pub mod labels;
