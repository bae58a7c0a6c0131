//! Rewards of answers, for programs that train models.

use std::io::{Read, Write};
use std::path::PathBuf;

use crate::Failure;

/// Gives the rewards of answers to graded items outside of pipelines. The executor uses this trait, since it must not depend
/// on what an item is. No stage uses it, and it is in no fingerprint.
pub trait RewardServer: Send + Sync {
    /// Answers each line of `input`, a JSON object with a `task_id` and a `text`, with a line of `output`, in their order, until
    /// the end of the input: an object with `reward`, `verdict` and `score`, or with `error`. It reads no more than is there, and
    /// writes the answers to all lines that were read before it reads on, so that the other side may wait for each answer.
    ///
    /// # Errors
    /// The items cannot be read, one of them is not graded or not what its task needs, or a parameter cannot be;
    /// `input` cannot be read or `output` written.
    fn serve(&self, request: &RewardRequest, input: &mut dyn Read, output: &mut dyn Write) -> Result<(), Failure>;
}

/// The items and parameters of the rewards.
#[derive(Clone, Debug)]
pub struct RewardRequest {
    /// A file of graded items.
    pub items: PathBuf,
    /// The rule that finds the answer in a text, by its name in pipelines.
    pub reading: String,
    /// The scale for the value of a legal move, by its name in pipelines.
    pub scaling: String,
    /// A legal move whose scaled value is below this has the reward 0.
    pub cut: f64,
}
