//! Starting a cell: its share of the machine, its action file, its process.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use cwm_contract::{DeviceChoice, Needs, Shape};

use super::attempts::Fault;
use super::{Engine, Place, Running};
use crate::cause::Cause;
use crate::child::ActionProcess;
use crate::components::{Resolved, output_of};
use crate::event::{EventSink, RunEvent};
use crate::machine::needs_on;
use crate::schedule::Stand;
use cwm_action::{ACTION_FILE_FORMAT, ActionBody, ActionFile, ActionInput, ActionOutput, Artifact};
use cwm_core::digest::Key;
use cwm_core::error::{Error, ErrorKind};
use cwm_pipeline::plan::{Body, Origin, Plan};
use cwm_store::WorkFolder;

impl Engine<'_> {
    /// What a cell asks of the machine, and where it computes.
    pub(super) fn asks(&self, index: usize) -> (Needs, DeviceChoice) {
        let device = self.device(index);
        (needs_on(device, &self.plan.cells[index].needs), device)
    }

    /// Starts a cell if there is room for what it `asks`; whether there was.
    pub(super) fn start_if_room(&mut self, index: usize, (asked, device): (Needs, DeviceChoice)) -> bool {
        let (needs, clamped) = self.pool.clamp(&asked);
        let Some((share, mut resources)) = self.pool.take(&needs, device) else { return false };
        resources.in_vain = asked.gpu > 0.0 && resources.devices.is_empty();
        let Some((resolved, causes)) = self.for_room.remove(&index) else {
            self.pool.give_back(share);
            return true;
        };
        let label = self.plan.cells[index].label.clone();
        if let Some(words) = clamped {
            self.sinks.event(&RunEvent::Warning { message: format!("{label} {words}") });
        }
        let key = resolved.components.key();
        let cause: Vec<String> = causes.iter().map(Cause::to_string).collect();
        let terms = self.terms(index, &key);
        let started = self.action_file(index, resolved, cause.clone(), resources.clone()).and_then(|action| {
            if !self.check {
                self.store.create()?;
            }
            // So that its process need not hash files from outside again.
            self.files.save_if_possible();
            self.folder(&key).write_action(&action)?;
            let (root, visible) = (self.store.root(), share.visible.as_deref());
            ActionProcess::start(index, &key, root, (&resources, &terms), visible, self.messages.clone())
        });
        match started {
            Ok(process) => {
                if !self.check {
                    self.schedule.stands[index] = Stand::Running;
                }
                self.running.insert(index, Running::new(Place::Child { process, share }, key, self.reopened_of(index)));
                self.sinks.event(&RunEvent::Started { label, key, cause, attempt: terms.attempt });
            }
            Err(error) => {
                self.pool.give_back(share);
                self.summary.store_refused |= error.kind == ErrorKind::Store;
                self.could_not_start(index, key, &Fault::of(error));
            }
        }
        true
    }

    /// A cell that could not be started has failed, and with it, in a check, those that do the same.
    pub(super) fn could_not_start(&mut self, index: usize, key: Key, fault: &Fault) {
        let alike = if self.check { self.checked_by(index, &key) } else { vec![index] };
        self.release_waiting(&key);
        alike.into_iter().for_each(|index| self.fail(index, Some(key), fault.clone(), true));
    }

    /// Where the action of this key is done.
    pub(super) fn folder(&self, key: &Key) -> WorkFolder {
        if self.check { self.store.checking(key) } else { self.store.work(key) }
    }

    /// Where a cell computes: where this run says, else where the pipeline does.
    fn device(&self, index: usize) -> DeviceChoice {
        let cell = &self.plan.cells[index];
        match &cell.body {
            Body::Stage(stage) if stage.uses_devices() => self.on.unwrap_or(cell.device),
            Body::Stage(_) | Body::Command(_) => DeviceChoice::Auto,
        }
    }

    pub(super) fn action_file(
        &self,
        index: usize,
        resolved: Resolved,
        cause: Vec<String>,
        resources: cwm_contract::Resources,
    ) -> Result<ActionFile, Error> {
        let cell = &self.plan.cells[index];
        let files = resolved.outside.values().chain(&resolved.files).chain(resolved.deps.values());
        // Content that a job elsewhere fetches by its digest bears no permissions.
        let files = files.map(|file| &file.path).filter(|path| self.is_away(index) && is_executable(path));
        let executable = files.cloned().collect();
        let mut inputs = BTreeMap::new();
        for input in &cell.inputs {
            let mut group = Vec::with_capacity(input.sources.len());
            for source in &input.sources {
                group.push(match &source.from {
                    Origin::Cell { index, port } => {
                        let record = self.schedule.record(*index);
                        let record =
                            record.ok_or_else(|| Error::internal("a source of a starting cell is not done"))?;
                        let artifact = Artifact::Output(output_of(record, port)?.clone());
                        ActionInput { label: source.label.clone(), artifact }
                    }
                    Origin::File(path) => {
                        let snapshot = resolved.outside.get(path).cloned();
                        let snapshot = snapshot.ok_or_else(|| Error::internal("an outside input was not hashed"))?;
                        ActionInput { label: source.label.clone(), artifact: Artifact::Outside(snapshot) }
                    }
                });
            }
            inputs.insert(input.name.clone(), group);
        }
        let body = match &cell.body {
            Body::Stage(_) => {
                ActionBody::Stage { values: cell.values.clone(), files: resolved.files, expected: resolved.expected }
            }
            Body::Command(command) => ActionBody::Command {
                run: command.run.clone(),
                environment: command
                    .environment
                    .iter()
                    .map(|(name, value)| (name.clone(), value.to_string()))
                    .collect(),
                inherited: resolved.inherited,
                deps: resolved.deps,
            },
        };
        Ok(ActionFile {
            format: ACTION_FILE_FORMAT,
            key: resolved.components.key(),
            label: cell.label.clone(),
            pipeline: stem(self.plan),
            components: resolved.components,
            body,
            inputs,
            groups: cell.inputs.iter().filter(|input| input.group).map(|input| input.name.clone()).collect(),
            outputs: cell
                .outputs
                .iter()
                .map(|output| {
                    let declared = ActionOutput {
                        format: output.format.clone(),
                        shape: output.shape.into(),
                        or_folder: matches!(output.shape, Shape::FileOrFolder(_)),
                    };
                    (output.name.clone(), declared)
                })
                .collect(),
            resources,
            cause,
            // What the remote has under the right names, and is not what it should be, is sent anew.
            force: self.force.contains(&index) || (self.is_away(index) && self.unfetched.contains_key(&index)),
            executable,
            recorded: self.to_check.get(&index).map(|record| record.outputs.clone()),
        })
    }
}

fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

/// The pipeline's file name without its extension.
fn stem(plan: &Plan) -> String {
    plan.file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
