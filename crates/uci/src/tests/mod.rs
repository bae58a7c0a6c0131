//! Engines: a real one against golden data, and such as do everything wrong.

mod bad_engines;
mod golden_answers;
mod golden_levels;
mod parser;
mod processes;
mod stockfish;
mod support;
