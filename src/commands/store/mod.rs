//! `cwm store`: inspects, verifies and cleans the store.

pub mod du;
pub mod gc;
pub mod ls;
pub mod tag;
pub mod verify;
