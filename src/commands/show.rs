//! `cwm show`: a stage's result, or what a key or digest stands for.

use std::path::Path;

use crate::cli::ShowArguments;
use crate::commands::{Workspace, print, print_json};
use crate::engine::CellState;
use crate::error::Error;
use crate::events::{bytes, duration};
use crate::exit_code::ExitCode;
use crate::store::ActionRecord;

/// Runs `cwm show`.
///
/// # Errors
/// Nothing of that name or hash is known, or the store cannot be read.
pub fn run(store: Option<&Path>, arguments: &ShowArguments) -> Result<ExitCode, Error> {
    let mut workspace = Workspace::open(store, &arguments.pipeline)?;
    let records = match workspace.plan.select(&arguments.what) {
        Ok(cells) => {
            let survey = workspace.survey()?;
            let mut records = Vec::new();
            for index in &cells {
                match &survey.states[*index] {
                    CellState::Cached(record) => records.push(record.as_ref().clone()),
                    _ if cells.len() == 1 => {
                        return Err(Error::usage(format!("{} has no result yet", workspace.plan.cells[*index].label))
                            .hint("`cwm run` makes it; `cwm why` says what it waits for"));
                    }
                    _ => eprintln!("{} has no result yet", workspace.plan.cells[*index].label),
                }
            }
            records
        }
        Err(unknown) => by_hash(&workspace, &arguments.what)?.ok_or_else(|| Error::from(unknown))?,
    };
    if arguments.json {
        print_json(&records)?;
    } else {
        print(&records.iter().map(describe).collect::<Vec<_>>().join("\n"))?;
    }
    Ok(ExitCode::OK)
}

/// The records whose key, or one of whose outputs, begins with `prefix`; nothing if `prefix` is no hexadecimal of at
/// least 6 digits.
fn by_hash(workspace: &Workspace, prefix: &str) -> Result<Option<Vec<ActionRecord>>, Error> {
    if prefix.len() < 6 || !prefix.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(None);
    }
    let prefix = prefix.to_ascii_lowercase();
    let mut found = Vec::new();
    for key in workspace.store.keys()? {
        for record in workspace.store.actions(&key)? {
            let outputs = record.outputs.values().map(|output| output.digest.to_string());
            if outputs.chain([key.to_string()]).any(|hash| hash.starts_with(&prefix)) {
                found.push(record);
            }
        }
    }
    if found.is_empty() {
        return Err(Error::usage(format!("the store knows no key or digest that begins with {prefix}")));
    }
    Ok(Some(found))
}

fn describe(record: &ActionRecord) -> String {
    let made = &record.circumstances;
    let mut text = format!("{} ({})\n", record.label, record.components.kind);
    text += &format!("  key         {}\n  made        {}\n", record.key, record.origin());
    text += &format!(
        "  cost        {} ({} user, {} system), {} of memory at most, on {} cores\n",
        duration(made.wall_seconds),
        duration(made.user_seconds),
        duration(made.system_seconds),
        bytes(made.peak_memory_bytes),
        made.machine.cores,
    );
    for line in &record.cause {
        text += &format!("  because     {line}\n");
    }
    for (name, output) in &record.outputs {
        let outside = output.outside.as_ref().map(|outside| format!(", in place at {}", outside.path.display()));
        let outside = outside.unwrap_or_default();
        text +=
            &format!("  output      {name}: {} {} ({}{outside})\n", output.format, output.digest, bytes(output.size));
    }
    for (name, value) in &record.components.parameters {
        text += &format!("  parameter   {name}: {value}\n");
    }
    for (name, group) in &record.components.inputs {
        for (label, digest) in group {
            let label = if label.is_empty() { String::new() } else { format!(" ({label})") };
            text += &format!("  input       {name}{label}: {digest}\n");
        }
    }
    for (name, value) in &record.metrics {
        text += &format!("  metric      {name}: {value}\n");
    }
    for (name, digest) in &record.components.code {
        text += &format!("  code        {name}: {}\n", digest.get(..12).unwrap_or(digest));
    }
    text
}
