//! `cwm reward`: the rewards of answers, for programs that train models.

use std::io::{stdin, stdout};
use std::path::{Path, PathBuf};

use cwm_contract::{Format, RewardRequest};

use crate::cli::{PipelineArguments, RewardArguments};
use crate::output::reject_json_with;
use crate::registry::{not_compiled_in, reward_server};
use crate::workspace::Workspace;
use cwm_core::Error;

/// Runs `cwm reward`: answers the lines of standard input on standard output until its end.
///
/// # Errors
/// There are no such items, or they are not graded; or this build cannot do it.
pub fn run(store: Option<&Path>, arguments: &RewardArguments) -> Result<(), Error> {
    reject_json_with("reward")?;
    let rewards = reward_server().ok_or_else(|| not_compiled_in("this build of cwm gives no rewards", "reward"))?;
    let request = RewardRequest {
        items: items(store, &arguments.items, &arguments.pipeline)?,
        reading: arguments.reading.clone(),
        scaling: arguments.scaling.clone(),
        cut: arguments.cut,
    };
    rewards.serve(&request, &mut stdin().lock(), &mut stdout().lock())?;
    Ok(())
}

/// Returns the path of items: the file that is named, or the output of a stage in the store.
fn items(store: Option<&Path>, name: &str, pipeline: &PipelineArguments) -> Result<PathBuf, Error> {
    if Path::new(name).is_file() {
        return Ok(name.into());
    }
    let workspace = Workspace::open_skipping_damaged(store, pipeline)?;
    let outputs = workspace.plan.select_outputs(name, Some(&Format::ITEMS))?;
    let (index, port) = workspace.single_output(name, outputs)?;
    let (output, path) = workspace.stored_output(name, index, &port)?;
    if output.format != Format::ITEMS {
        return Err(Error::usage(format!("{name} is of format {}, and no items", output.format))
            .hint("name the output `items` of a stage `questions`, or a file of items"));
    }
    Ok(path)
}
