//! A model behind a server of the OpenAI kind.

mod ask;
mod attempt;
mod fault;
mod key;
mod lines;
mod models;
mod rate_limit;
mod refusal;
mod reply;
mod request;
mod sample;
pub mod spending;
mod worker;

#[cfg(test)]
mod tests;

pub use ask::ask;
pub use request::Requests;
pub use sample::probe;
