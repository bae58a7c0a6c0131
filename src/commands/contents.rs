//! What is in a stage's outputs, as the inspector tells it, and what led to them.

use cwm_contract::{DescribeOptions, Description, Failure, FailureKind};
use serde_json::{Map, Value, json};

use crate::workspace::Workspace;
use cwm_core::{Error, ErrorKind};
use cwm_engine::{CacheStatus, KeyStatus, output_of};
use cwm_store::ActionRecord;

/// The contents of some outputs of one record.
#[derive(Default)]
pub struct Contents {
    /// By output: `train`.
    pub outputs: Vec<(String, Description)>,
    /// What tells of their origin, further up: by stage and output, such as the counts of what was left out.
    pub upstream: Vec<((String, String), Description)>,
    /// What could not be looked into; the rest is told all the same.
    pub faults: Vec<Error>,
}

impl Contents {
    /// Looks into the outputs `ports` of `record`, and into what belongs to their story in the stages that the cell
    /// `index` descends from, if it is one of the plan.
    pub fn look(
        workspace: &Workspace,
        cache_status: &CacheStatus,
        record: &ActionRecord,
        ports: &[String],
        index: Option<usize>,
        detail: DescribeOptions,
    ) -> Self {
        let mut contents = Contents::default();
        let Some(inspector) = crate::registry::inspector() else { return contents };
        let mut background = Vec::new();
        for port in ports {
            match describe(workspace, record, port, detail) {
                Ok(Some(description)) => contents.outputs.push((port.clone(), description)),
                Ok(None) => {}
                Err(error) => contents.faults.push(error),
            }
            background.extend(record.outputs.get(port).map(|output| inspector.related_formats(&output.format)));
        }
        let background = background.concat();
        let ancestors = index.map(|index| workspace.plan.ancestors(&[index])).unwrap_or_default();
        for ancestor in ancestors.into_iter().filter(|ancestor| Some(*ancestor) != index) {
            let KeyStatus::Cached(above) = &cache_status.states[ancestor] else { continue };
            for (port, _) in above.outputs.iter().filter(|(_, output)| background.contains(&output.format)) {
                let place = || (workspace.plan.cells[ancestor].label.to_string(), port.clone());
                match describe(workspace, above, port, DescribeOptions { examples: 0, ..detail }) {
                    Ok(Some(description)) => contents.upstream.push((place(), description)),
                    Ok(None) => {}
                    Err(error) => contents.faults.push(error),
                }
            }
        }
        contents
    }

    /// For a terminal: a block an output.
    pub fn text(&self, label: &str) -> String {
        let indented = |line: &String| if line.is_empty() { "\n".to_owned() } else { format!("  {line}\n") };
        let block = |title: String, description: &Description| {
            format!("\n{title}\n{}", description.lines.iter().map(indented).collect::<String>())
        };
        let outputs = self.outputs.iter().map(|(port, description)| block(format!("{label}.{port}"), description));
        let upstream = self
            .upstream
            .iter()
            .map(|((stage, port), description)| block(format!("{stage}.{port}, upstream of it"), description));
        outputs.chain(upstream).collect()
    }

    /// The same for programs, added to the JSON of the record.
    pub fn add_to(&self, record: &mut Map<String, Value>) {
        let outputs: Map<String, Value> =
            self.outputs.iter().map(|(port, description)| (port.clone(), description.facts.clone())).collect();
        let upstream = self.upstream.iter().map(
            |((stage, port), description)| json!({ "stage": stage, "output": port, "contents": description.facts }),
        );
        record.insert("contents".to_owned(), Value::Object(outputs));
        record.insert("upstream".to_owned(), upstream.collect());
    }
}

fn describe(
    workspace: &Workspace,
    record: &ActionRecord,
    port: &str,
    detail: DescribeOptions,
) -> Result<Option<Description>, Error> {
    let Some(inspector) = crate::registry::inspector() else { return Ok(None) };
    let output = output_of(record, port)?;
    workspace.require_complete_output(record, port)?;
    let path = workspace.store.path_of(output, &workspace.files)?;
    inspector.describe(&output.format, &path, detail).map_err(inside)
}

/// Converts the failure of an inspector: what it reads lies in the store.
pub fn inside(failure: Failure) -> Error {
    let is_input = failure.kind == FailureKind::Input;
    let mut error = Error::from(failure);
    if is_input {
        error.kind = ErrorKind::Store;
        if error.hints.is_empty() {
            return error.hint("`cwm verify` sets damaged files aside; `cwm run STAGE` makes that stage's again");
        }
    }
    error
}
