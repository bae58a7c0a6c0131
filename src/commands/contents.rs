//! Describes the content of a stage's outputs, and of what they were made from.

use cwm_contract::{DescribeOptions, Description, Failure, FailureKind, Format};
use serde_json::{Value, json};

use crate::workspace::Workspace;
use cwm_core::{Error, ErrorKind};
use cwm_engine::{CacheStatus, KeyStatus};
use cwm_store::ActionRecord;

/// Descriptions of outputs of one record, and of what it was made from.
#[derive(Default)]
pub struct Contents {
    /// The outputs, by name.
    outputs: Vec<(String, Description)>,
    /// Outputs of earlier stages that explain them, such as counts of dropped games, by stage and name.
    upstream: Vec<(String, String, Description)>,
    /// Errors of outputs that cannot be described; the others are.
    pub errors: Vec<Error>,
}

impl Contents {
    /// Describes the outputs `output_names` of `record`, the result of the cell `index` of the plan, and the outputs
    /// upstream of it that explain them.
    pub fn describe(
        workspace: &Workspace,
        cache_status: &CacheStatus,
        record: &ActionRecord,
        output_names: &[String],
        index: Option<usize>,
        options: DescribeOptions,
    ) -> Self {
        let (mut outputs, mut upstream, mut errors) = (Vec::new(), Vec::new(), Vec::new());
        let Some(inspector) = crate::registry::inspector() else { return Contents::default() };
        let mut describe = |record: &ActionRecord, name: &str, options| {
            let described = workspace
                .complete_output(record, name)
                .and_then(|(output, path)| inspector.describe(&output.format, &path, options).map_err(store_error));
            described.unwrap_or_else(|error| {
                errors.push(error);
                None
            })
        };
        for name in output_names {
            outputs.extend(describe(record, name, options).map(|description| (name.clone(), description)));
        }
        let described = output_names.iter().filter_map(|name| record.outputs.get(name));
        let related: Vec<Format> = described.flat_map(|output| inspector.related_formats(&output.format)).collect();
        let ancestors = index.map(|index| workspace.plan.ancestors(&[index])).unwrap_or_default();
        for ancestor in ancestors.into_iter().filter(|ancestor| Some(*ancestor) != index) {
            let KeyStatus::Cached(above) = &cache_status.states[ancestor] else { continue };
            for (name, _) in above.outputs.iter().filter(|(_, output)| related.contains(&output.format)) {
                let stage = workspace.plan.cells[ancestor].label.to_string();
                let description = describe(above, name, DescribeOptions { examples: 0, ..options });
                upstream.extend(description.map(|description| (stage, name.clone(), description)));
            }
        }
        Contents { outputs, upstream, errors }
    }

    /// Returns the text for a terminal, a block an output.
    pub fn text(&self, label: &str) -> String {
        let indented = |line: &String| if line.is_empty() { "\n".to_owned() } else { format!("  {line}\n") };
        let block = |title: String, description: &Description| {
            format!("\n{title}\n{}", description.lines.iter().map(indented).collect::<String>())
        };
        let outputs = self.outputs.iter().map(|(name, one)| block(format!("{label}.{name}"), one));
        let upstream = self.upstream.iter();
        let upstream = upstream.map(|(stage, name, one)| block(format!("{stage}.{name}, upstream of it"), one));
        outputs.chain(upstream).collect()
    }

    /// Adds the contents to the JSON of the record.
    pub fn add_to(&self, record: &mut Value) {
        let outputs = self.outputs.iter().map(|(name, one)| (name.clone(), one.facts.clone()));
        let above = self.upstream.iter();
        let above = above.map(|(stage, name, one)| json!({ "stage": stage, "output": name, "contents": one.facts }));
        record["contents"] = outputs.collect();
        record["upstream"] = above.collect();
    }
}

/// Converts the failure of an inspector, which reads files of the store.
pub fn store_error(failure: Failure) -> Error {
    let is_input = failure.kind == FailureKind::Input;
    let mut error = Error::from(failure);
    if is_input {
        error.kind = ErrorKind::Store;
        if error.hints.is_empty() {
            return error.hint(
                "`cwm store verify` moves damaged files to quarantine; `cwm run STAGE` computes that stage's again",
            );
        }
    }
    error
}
