//! Resolves the action of a cell, and with it its key, from the plan and the results of its inputs.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use cwm_contract::{CONTRACT_VERSION, DeviceChoice, Format, Needs, Resources, Shape, Value};

use crate::lookup::RunContext;
use crate::machine::needs_on;
use cwm_action::{
    ACTION_FILE_FORMAT, ActionBody, ActionFile, ActionInput, ActionOutput, Artifact, key_parameters, source_key,
};
use cwm_core::{Components, Digest, Error, KEY_FORMAT, Result};
use cwm_pipeline::plan::{ArtifactOrigin, Body, Cell, OutputPlan};
use cwm_store::{ActionRecord, OutputRecord};

/// Returns the output of a finished cell that a source names.
///
/// # Errors
/// The record has no such output.
pub fn output_of<'r>(record: &'r ActionRecord, output_name: &str) -> Result<&'r OutputRecord> {
    record.outputs.get(output_name).ok_or_else(|| {
        Error::store(format!("the record of action {} has no output `{output_name}`", record.key.short()))
            .hint("run the stage again with `--force`")
    })
}

/// Returns the needs of a cell and its device: the one of the run, else the one of the pipeline.
pub fn needs_of(cell: &Cell, device: Option<DeviceChoice>) -> (Needs, DeviceChoice) {
    let chosen = cell.stage().filter(|stage| stage.uses_devices()).map(|_| device.unwrap_or(cell.settings.device));
    let device = chosen.unwrap_or(DeviceChoice::Auto);
    (needs_on(device, &cell.settings.needs), device)
}

impl RunContext<'_> {
    /// Resolves the action of a cell; its share of the machine and its causes are left open. `record` returns the records of its
    /// sources. A source without one is no input of the action, and zeros stand for its digest: the key is not that of the cell
    /// then.
    ///
    /// # Errors
    /// An external file or a secret cannot be read.
    pub fn resolve<'r>(&self, index: usize, record: impl Fn(usize) -> Option<&'r ActionRecord>) -> Result<ActionFile> {
        let RunContext { plan, digests, pins, .. } = self;
        let cell = self.cell(index);
        let mut inputs = BTreeMap::new();
        let mut components = Components {
            key_format: KEY_FORMAT,
            contract: CONTRACT_VERSION,
            kind: cell.kind.clone(),
            code: BTreeMap::new(),
            parameters: BTreeMap::new(),
            inputs: BTreeMap::new(),
        };
        for input in &cell.inputs {
            let count = input.sources.len();
            let (mut group, mut keyed) = (Vec::with_capacity(count), Vec::with_capacity(count));
            for (ordinal, source) in input.sources.iter().enumerate() {
                let key_label = input.key_label(ordinal);
                let artifact = match &source.from {
                    ArtifactOrigin::File(path) => Artifact::External(digests.snapshot(path)?),
                    ArtifactOrigin::Cell { index, output_name } => match record(*index) {
                        Some(record) => Artifact::Output(output_of(record, output_name)?.clone()),
                        None => {
                            keyed.push((key_label, Digest([0; 32])));
                            continue;
                        }
                    },
                };
                keyed.push((key_label, artifact.digest()));
                group.push(ActionInput { label: source.label.clone(), artifact });
            }
            components.inputs.insert(input.name.clone(), keyed);
            inputs.insert(input.name.clone(), group);
        }
        let body = match &cell.body {
            Body::Stage(stage) => {
                let (mut read, mut expected) = (Vec::new(), Vec::new());
                if let Some(sources) = stage.external_sources(&cell.values) {
                    // The key of a source is its content: neither its code nor its origin is in it.
                    let source;
                    (source, expected) = source_key::key_value(&sources, &cell.label.stage, pins, digests, &mut read)?;
                    components.parameters.insert(source_key::SOURCE.into(), source);
                    components.inputs.clear();
                } else {
                    components.code = cell.code()?.unwrap_or_default();
                    components.parameters = key_parameters::parameters(*stage, &cell.values, digests, &mut read)?;
                }
                ActionBody::Stage { values: cell.values.clone(), files: read, expected }
            }
            Body::Command(command) => {
                components.parameters = cell.values.clone();
                components.parameters.extend(key_parameters::variables(&command.env));
                components.parameters.extend(cell.outputs.iter().filter_map(keyed_output));
                let mut deps = BTreeMap::new();
                for name in &command.deps {
                    let snapshot = digests.snapshot(&plan.folder.join(name))?;
                    let group = components.inputs.entry("deps".into()).or_default();
                    group.push((name.clone(), snapshot.digest));
                    deps.insert(PathBuf::from(name), snapshot);
                }
                let environment = command.environment.iter().map(|(name, value)| (name.clone(), value.to_string()));
                ActionBody::Command {
                    shell: command.shell.clone(),
                    run: command.run.clone(),
                    environment: environment.collect(),
                    inherited: command.env.clone(),
                    deps,
                }
            }
        };
        let outputs = cell.outputs.iter().map(|output| {
            let or_folder = matches!(output.shape, Shape::FileOrFolder(_));
            let declared = ActionOutput { format: output.format.clone(), shape: output.shape.into(), or_folder };
            (output.name.clone(), declared)
        });
        Ok(ActionFile {
            format: ACTION_FILE_FORMAT,
            key: components.key(),
            label: cell.label.clone(),
            pipeline: plan.file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            components,
            body,
            inputs,
            groups: cell.inputs.iter().filter(|input| input.group).map(|input| input.name.clone()).collect(),
            outputs: outputs.collect(),
            resources: Resources::default(),
            cause: Vec::new(),
            force: false,
            executable: Vec::new(),
            recorded: None,
        })
    }
}

/// Returns the declaration of a command's output as it enters the key. The default output is not in the key.
fn keyed_output(output: &OutputPlan) -> Option<(String, Value)> {
    let shape = match output.shape {
        Shape::File("") if output.name == "out" && output.format == Format::ANY => return None,
        Shape::File(extension) | Shape::FileOrFolder(extension) => {
            ("file".to_owned(), Value::Text(extension.to_owned()))
        }
        Shape::Folder => ("folder".to_owned(), Value::Bool(true)),
    };
    let format = ("format".to_owned(), Value::Text(output.format.to_string()));
    Some((format!("{}{}", key_parameters::OUTPUT, output.name), Value::Map(BTreeMap::from([shape, format]))))
}

/// Returns the external files of an action that may be executed. A job that fetches them by digest does not see their permissions.
pub fn executable_files(action: &ActionFile) -> Vec<PathBuf> {
    let is_executable =
        |path: &&PathBuf| std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0);
    action.external_files().map(|file| &file.path).filter(is_executable).cloned().collect()
}
