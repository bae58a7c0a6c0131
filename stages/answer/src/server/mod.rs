//! A model behind a server of the OpenAI kind.

mod attempt;
mod dispatch;
mod key;
mod lines;
mod models;
mod rate_limit;
mod refusal;
mod reply;
mod request;
mod sample;
mod server_error;
pub mod spending;
mod worker;

#[cfg(test)]
mod tests;

pub use dispatch::send_questions;
pub use request::Requests;
pub use sample::probe;
