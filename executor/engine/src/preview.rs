//! Descriptions of runs that have not run yet.

use cwm_action::{ActionBody, ActionInput, Artifact};
use cwm_contract::{Cancellation, Context, Event, GroupInput, Invocation, Reporter};
use cwm_core::Result;

use crate::lookup::{RunContext, sources};
use crate::status::CacheStatus;

/// Discards the events of a preview.
struct DiscardingReporter;

impl Reporter for DiscardingReporter {
    fn report(&self, _event: Event) {}
}

/// Returns the stage's description of the run of a cell (`Stage::preview`); none if an input is missing, or is a
/// folder, which may have to be made first.
///
/// # Errors
/// An input cannot be read, or the run would fail.
pub fn preview(context: &RunContext<'_>, status: &CacheStatus, index: usize) -> Result<Option<String>> {
    let Some(stage) = context.cell(index).stage() else { return Ok(None) };
    if sources(context.cell(index)).any(|source| status.record(source).is_none()) {
        return Ok(None);
    }
    let action = context.resolve(index, |source| status.record(source))?;
    let ActionBody::Stage { values, .. } = &action.body else { return Ok(None) };
    let checkpoint_dir = context.store.work_folder(&action.key).checkpoint_folder();
    let mut invocation = Invocation { values: values.clone(), checkpoint_dir, ..Invocation::default() };
    for (name, group) in &action.inputs {
        let mut found = Vec::with_capacity(group.len());
        for ActionInput { label, artifact } in group {
            let path = match artifact {
                Artifact::External(file) => file.path.clone(),
                Artifact::Output(output) if output.shape.is_folder() => return Ok(None),
                Artifact::Output(output) => match context.store.path_of(output, context.digests) {
                    Ok(path) => path,
                    // The run computes or fetches it first.
                    Err(_) => return Ok(None),
                },
            };
            found.push(GroupInput { label: label.clone(), path });
        }
        invocation.inputs.insert(name.clone(), found);
    }
    Ok(stage.preview(&Context::new(stage, invocation, Box::new(DiscardingReporter), Cancellation::default()))?)
}
