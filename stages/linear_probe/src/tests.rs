//! The stage's own tests: golden values of an independent program, planted rows, whole runs, refusals.

mod golden;
mod latents;
mod planted;
mod refusals;
mod stage;
