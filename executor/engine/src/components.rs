//! Resolves the key of a cell from the plan and the results of its inputs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use cwm_contract::{CONTRACT_VERSION, ExpectedChecksum, Format, Shape, Value};

use cwm_action::key_parameters;
use cwm_action::source_key;
use cwm_core::{Components, Error, KEY_FORMAT};
use cwm_pipeline::plan::{Body, Cell, Origin, OutputPlan};
use cwm_project::pins::Pins;
use cwm_store::external_files::{DigestCache, FileFingerprint};
use cwm_store::{ActionRecord, OutputRecord};

/// The components of a cell's key, with the other data of its action.
pub struct Resolved {
    /// The components of the key.
    pub components: Components,
    /// Files given as parameters, as they are now.
    pub files: Vec<FileFingerprint>,
    /// Dependencies of a command by relative path, as they are now.
    pub deps: BTreeMap<PathBuf, FileFingerprint>,
    /// Files from outside given as inputs, by path.
    pub outside: BTreeMap<PathBuf, FileFingerprint>,
    /// Names of environment variables that a command inherits.
    pub inherited: Vec<String>,
    /// The checksums of its downloads, from pins.
    pub expected: Vec<ExpectedChecksum>,
}

/// The output of a finished cell that a source names.
pub fn output_of<'r>(record: &'r ActionRecord, port: &str) -> Result<&'r OutputRecord, Error> {
    record.outputs.get(port).ok_or_else(|| {
        Error::store(format!("the record of action {} has no output `{port}`", record.key.short()))
            .hint("run the stage again with `--force`")
    })
}

/// Resolves the key of `cell`. `record` returns the records of its sources. A source without one is left out: the second value has
/// the input's name and the label in the key of each.
///
/// # Errors
/// A file from outside or a secret cannot be read.
pub fn resolve<'r>(
    cell: &Cell,
    files: &DigestCache,
    pins: &Pins,
    record: impl Fn(usize) -> Option<&'r ActionRecord>,
) -> Result<(Resolved, Vec<(String, String)>), Error> {
    let mut unknown = Vec::new();
    let mut resolved = Resolved {
        components: Components {
            key_format: KEY_FORMAT,
            contract: CONTRACT_VERSION,
            kind: cell.kind.clone(),
            code: BTreeMap::new(),
            parameters: BTreeMap::new(),
            inputs: BTreeMap::new(),
        },
        files: Vec::new(),
        deps: BTreeMap::new(),
        outside: BTreeMap::new(),
        inherited: Vec::new(),
        expected: Vec::new(),
    };
    for input in &cell.inputs {
        let mut group = Vec::with_capacity(input.sources.len());
        for (ordinal, source) in input.sources.iter().enumerate() {
            let digest = match &source.from {
                Origin::Cell { index, port } => match record(*index) {
                    Some(record) => output_of(record, port)?.digest,
                    None => {
                        unknown.push((input.name.clone(), input.key_label(ordinal)));
                        continue;
                    }
                },
                Origin::File(path) => {
                    let snapshot = files.snapshot(path)?;
                    let digest = snapshot.digest;
                    resolved.outside.insert(path.clone(), snapshot);
                    digest
                }
            };
            group.push((input.key_label(ordinal), digest));
        }
        resolved.components.inputs.insert(input.name.clone(), group);
    }
    match &cell.body {
        Body::Stage(stage) => {
            if let Some(sources) = stage.external_sources(&cell.values) {
                // The key of a source is its content: neither its code nor its origin is in it.
                let (source, expected) =
                    source_key::key_value(&sources, &cell.label.stage, pins, files, &mut resolved.files)?;
                resolved.components.parameters.insert(source_key::SOURCE.into(), source);
                resolved.components.inputs.clear();
                resolved.expected = expected;
            } else {
                resolved.components.code = cell.code()?.unwrap_or_default();
                resolved.components.parameters =
                    key_parameters::parameters(*stage, &cell.values, files, &mut resolved.files)?;
            }
        }
        Body::Command(command) => {
            resolved.components.parameters = cell.values.clone();
            resolved.components.parameters.extend(key_parameters::variables(&command.env));
            resolved.inherited = command.env.clone();
            resolved.components.parameters.extend(cell.outputs.iter().filter_map(keyed_output));
            let mut group = Vec::new();
            for dependency in &command.deps {
                let snapshot = files.snapshot(&dependency.path)?;
                group.push((dependency.name.clone(), snapshot.digest));
                resolved.deps.insert(PathBuf::from(&dependency.name), snapshot);
            }
            if !group.is_empty() {
                resolved.components.inputs.insert("deps".into(), group);
            }
        }
    }
    Ok((resolved, unknown))
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
