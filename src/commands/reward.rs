//! `cwm reward`: the rewards of answers, for programs that train models.

use std::io::{stdin, stdout};
use std::path::Path;

use cwm_contract::RewardRequest;

use crate::cli::RewardArguments;
use crate::commands::model::checkpoint::{self, ITEMS};
use crate::output::reject_json_with;
use crate::registry::{not_compiled_in, reward_server};
use cwm_core::Error;

/// Runs `cwm reward`: answers the lines of standard input on standard output until its end.
///
/// # Errors
/// There are no such items, or they are not graded; or this build cannot do it.
pub fn run(store: Option<&Path>, arguments: &RewardArguments) -> Result<(), Error> {
    reject_json_with("reward")?;
    let rewards = reward_server().ok_or_else(|| not_compiled_in("this build of cwm has no rewards", "reward"))?;
    let request = RewardRequest {
        items: checkpoint::find(store, &arguments.items, &arguments.pipeline, &ITEMS)?,
        reading: arguments.reading.clone(),
        scaling: arguments.scaling.clone(),
        cut: arguments.cut,
    };
    rewards.serve(&request, &mut stdin().lock(), &mut stdout().lock())?;
    Ok(())
}
