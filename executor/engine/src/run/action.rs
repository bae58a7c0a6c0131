//! The action file of a cell, and the options of an attempt at it.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use cwm_contract::{DeviceChoice, Needs, Resources, Shape};

use crate::components::{Resolved, output_of};
use crate::machine::needs_on;
use cwm_action::{ACTION_FILE_FORMAT, ActionBody, ActionFile, ActionInput, ActionOutput, Artifact};
use cwm_core::Error;
use cwm_pipeline::plan::{Body, Cell, Origin, Plan};
use cwm_store::ActionRecord;

/// Returns the needs of a cell and its device: the one of the run, else the one of the pipeline.
pub fn needs_of(cell: &Cell, device: Option<DeviceChoice>) -> (Needs, DeviceChoice) {
    let device = match &cell.body {
        Body::Stage(stage) if stage.uses_devices() => device.unwrap_or(cell.device),
        Body::Stage(_) | Body::Command(_) => DeviceChoice::Auto,
    };
    (needs_on(device, &cell.needs), device)
}

/// Returns the action file of a cell with this key, without resources. `record` returns the results of its sources.
///
/// # Errors
/// A source has no such result.
pub fn action_file<'r>(
    plan: &Plan,
    index: usize,
    resolved: Resolved,
    cause: Vec<String>,
    record: impl Fn(usize) -> Option<&'r ActionRecord>,
) -> Result<ActionFile, Error> {
    let cell = &plan.cells[index];
    let mut inputs = BTreeMap::new();
    for input in &cell.inputs {
        let mut group = Vec::with_capacity(input.sources.len());
        for source in &input.sources {
            let artifact = match &source.from {
                Origin::Cell { index, port } => {
                    let record = record(*index);
                    let record = record.ok_or_else(|| Error::internal("a source of a starting cell is not done"))?;
                    Artifact::Output(output_of(record, port)?.clone())
                }
                Origin::File(path) => {
                    let snapshot = resolved.outside.get(path).cloned();
                    Artifact::Outside(snapshot.ok_or_else(|| Error::internal("an outside input was not hashed"))?)
                }
            };
            group.push(ActionInput { label: source.label.clone(), artifact });
        }
        inputs.insert(input.name.clone(), group);
    }
    let body = match &cell.body {
        Body::Stage(_) => {
            ActionBody::Stage { values: cell.values.clone(), files: resolved.files, expected: resolved.expected }
        }
        Body::Command(command) => {
            let environment = command.environment.iter().map(|(name, value)| (name.clone(), value.to_string()));
            ActionBody::Command {
                run: command.run.clone(),
                environment: environment.collect(),
                inherited: resolved.inherited,
                deps: resolved.deps,
            }
        }
    };
    let outputs = cell.outputs.iter().map(|output| {
        let declared = ActionOutput {
            format: output.format.clone(),
            shape: output.shape.into(),
            or_folder: matches!(output.shape, Shape::FileOrFolder(_)),
        };
        (output.name.clone(), declared)
    });
    Ok(ActionFile {
        format: ACTION_FILE_FORMAT,
        key: resolved.components.key(),
        label: cell.label.clone(),
        pipeline: plan.file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        components: resolved.components,
        body,
        inputs,
        groups: cell.inputs.iter().filter(|input| input.group).map(|input| input.name.clone()).collect(),
        outputs: outputs.collect(),
        resources: Resources::default(),
        cause,
        force: false,
        executable: Vec::new(),
        recorded: None,
    })
}

/// Returns the external files of a cell that may be executed. A job that fetches them by digest does not see their permissions.
pub fn executable_files(resolved: &Resolved) -> Vec<std::path::PathBuf> {
    let files = resolved.outside.values().chain(&resolved.files).chain(resolved.deps.values());
    files.map(|file| &file.path).filter(|path| is_executable(path)).cloned().collect()
}

fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}
