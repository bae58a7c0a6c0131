//! Rewards of answers for programs that train models: the command `cwm reward`.
//!
//! - `items`: the graded items of a file. `line`: grades a line. `serve`: answers the input, block by block.
//!
//! The executor reaches it through a trait of the contract; no stage uses it. It must not depend on pipelines, the store, or
//! who trains.

mod items;
mod line;
mod serve;

use std::io::{Read, Write};

use cwm_contract::{Failure, RewardRequest, RewardServer};

/// Implements `RewardServer` for the tasks of `cwm-reasoning`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ItemRewards;

impl RewardServer for ItemRewards {
    fn serve(&self, request: &RewardRequest, input: &mut dyn Read, output: &mut dyn Write) -> Result<(), Failure> {
        let items = items::Items::read(request)?;
        serve::serve(&items, input, output)
    }
}

#[cfg(test)]
mod tests;
