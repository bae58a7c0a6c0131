//! `cwm show`: a stage's result, or what a key or digest stands for.

use std::collections::BTreeMap;
use std::path::Path;

use cwm_contract::{DescribeOptions, amount};
use serde_json::Value;

use crate::cli::ShowArguments;
use crate::commands::contents::Contents;
use crate::commands::ls::{no_tag, of_lock};
use crate::output::print_answer;
use crate::workspace::{Workspace, warn_about_tags};
use cwm_core::text::duration;
use cwm_core::{Error, ExitCode, escape_controls_in_lines, list_some};
use cwm_engine::{CacheStatus, KeyStatus};
use cwm_gc::tags;
use cwm_store::ActionRecord;

/// Artifacts of one input that are listed for people.
const INPUTS_SHOWN: usize = 20;

/// Runs `cwm show`.
///
/// # Errors
/// Nothing of that name or hash is known, the store cannot be read, or an output is not what its format says; what can
/// be told is told before that.
pub fn run(store: Option<&Path>, arguments: &ShowArguments) -> Result<ExitCode, Error> {
    let mut workspace = Workspace::open_skipping_damaged(store, &arguments.pipeline)?;
    let cache_status = workspace.cache_status()?;
    let shown = match (arguments.what.strip_prefix(tags::PREFIX), named(&workspace, &arguments.what)) {
        (Some(name), _) => by_tag(&workspace, &cache_status, name)?,
        (None, Ok(named)) => recorded(&workspace, &cache_status, &named)?,
        (None, Err(unknown)) => by_hash(&workspace, &cache_status, &arguments.what)?.ok_or(unknown)?,
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let detail = DescribeOptions { examples: arguments.games, cores };
    let mut faults = Vec::new();
    let mut documents = Vec::new();
    let mut texts = Vec::new();
    for Shown { record, ports, cell } in &shown {
        let mut contents = Contents::look(&workspace, &cache_status, record, ports, *cell, detail);
        faults.append(&mut contents.faults);
        texts.push(describe(record) + &contents.text(&record.label.to_string()));
        let mut document = serde_json::to_value(record).map_err(|error| Error::internal(error.to_string()))?;
        if let Value::Object(document) = &mut document {
            contents.add_to(document);
        }
        documents.push(document);
    }
    print_answer(&documents, || texts.join("\n"))?;
    match faults.into_iter().next() {
        Some(fault) => Err(fault),
        None => Ok(ExitCode::OK),
    }
}

/// A result, and which of its outputs are asked about.
struct Shown {
    record: ActionRecord,
    ports: Vec<String>,
    /// The cell of the plan whose result it is.
    cell: Option<usize>,
}

/// The cells that `what` names, each with the output that it names, if it names one.
fn named(workspace: &Workspace, what: &str) -> Result<Vec<(usize, Option<String>)>, Error> {
    match workspace.plan.select(what) {
        Ok(cells) => Ok(cells.into_iter().map(|cell| (cell, None)).collect()),
        Err(_) => {
            let outputs = workspace.plan.select_outputs(what)?;
            Ok(outputs.into_iter().map(|(cell, port)| (cell, Some(port))).collect())
        }
    }
}

/// Their results; of several cells those that have one.
fn recorded(
    workspace: &Workspace,
    cache_status: &CacheStatus,
    named: &[(usize, Option<String>)],
) -> Result<Vec<Shown>, Error> {
    let mut shown = Vec::new();
    for (cell, port) in named {
        match &cache_status.states[*cell] {
            KeyStatus::Cached(record) => {
                let ports = port.iter().cloned().collect();
                let ports = if port.is_some() { ports } else { record.outputs.keys().cloned().collect() };
                shown.push(Shown { record: record.as_ref().clone(), ports, cell: Some(*cell) });
            }
            _ if named.len() == 1 => {
                return Err(Error::usage(format!("{} has no result yet", workspace.plan.cells[*cell].label))
                    .hint("`cwm run` makes it; `cwm why` says what it waits for"));
            }
            _ => eprintln!("{} has no result yet", workspace.plan.cells[*cell].label),
        }
    }
    Ok(shown)
}

/// The results that a tag names.
fn by_tag(workspace: &Workspace, cache_status: &CacheStatus, name: &str) -> Result<Vec<Shown>, Error> {
    let tag = tags::find(&workspace.store, name)?.ok_or_else(|| no_tag(name))?;
    warn_about_tags(std::slice::from_ref(&tag));
    let records = of_lock(&workspace.store, &tag.lock)?;
    let all = |record: &ActionRecord| record.outputs.keys().cloned().collect();
    Ok(records.into_iter().map(|record| shown(cache_status, record.clone(), all(&record))).collect())
}

/// Digits of a key or digest that are enough to ask for it.
const DIGITS: usize = 6;

/// The records of the one key or digest that begins with `prefix`; nothing if `prefix` is no hexadecimal.
fn by_hash(workspace: &Workspace, cache_status: &CacheStatus, prefix: &str) -> Result<Option<Vec<Shown>>, Error> {
    if prefix.is_empty() || !prefix.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(None);
    }
    if prefix.len() < DIGITS {
        return Err(Error::usage(format!("`{prefix}` is no stage, and too short for a key or digest"))
            .hint(format!("give {DIGITS} digits or more")));
    }
    let found = workspace.store.by_prefix(prefix)?;
    let mut meant = BTreeMap::new();
    for (record, ports) in &found {
        if record.key.to_string().starts_with(&prefix.to_ascii_lowercase()) {
            meant.insert(record.key.to_string(), format!("key of {}", record.label));
        } else {
            let outputs = ports.iter().map(|port| (record.outputs[port].digest, port));
            meant.extend(outputs.map(|(digest, port)| (digest.to_string(), format!("{}.{port}", record.label))));
        }
    }
    match meant.len() {
        0 => Err(Error::usage(format!("the store knows no key or digest that begins with {prefix}"))
            .hint("`cwm show STAGE` tells the key and the digests of a stage")),
        1 => Ok(Some(found.into_iter().map(|(record, ports)| shown(cache_status, record, ports)).collect())),
        count => {
            let meant = list_some(meant.iter().map(|(hash, what)| format!("{hash} ({what})")), 8);
            Err(Error::usage(format!("{count} keys and digests begin with {prefix}"))
                .hint(format!("give more digits: {meant}")))
        }
    }
}

fn shown(cache_status: &CacheStatus, record: ActionRecord, ports: Vec<String>) -> Shown {
    let is_of = |state: &KeyStatus| matches!(state, KeyStatus::Cached(cached) if **cached == record);
    let cell = cache_status.states.iter().position(is_of);
    Shown { record, ports, cell }
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
        amount::format_bytes(made.peak_memory_bytes),
        made.machine.cores,
    );
    if let Some(device) = &made.computed_on {
        text += &format!("  device      {device}\n");
    }
    for line in &record.cause {
        text += &format!("  because     {}\n", line);
    }
    for (name, output) in &record.outputs {
        let outside = output.outside.as_ref().map(|outside| format!(", in place at {}", outside.path.display()));
        let outside = outside.unwrap_or_default();
        text += &format!(
            "  output      {name}: {} {} ({}{outside})\n",
            output.format,
            output.digest,
            amount::format_bytes(output.size)
        );
    }
    for (name, value) in &record.components.parameters {
        text += &format!("  parameter   {name}: {value}\n");
    }
    for (name, group) in &record.components.inputs {
        for (label, digest) in group.iter().take(INPUTS_SHOWN) {
            let label = if label.is_empty() { String::new() } else { format!(" ({label})") };
            text += &format!("  input       {name}{label}: {digest}\n");
        }
        if group.len() > INPUTS_SHOWN {
            text += &format!("  input       {name}: {} more, which --json lists\n", group.len() - INPUTS_SHOWN);
        }
    }
    for (name, value) in &record.metrics {
        text += &format!("  metric      {name}: {value}\n");
    }
    for (name, digest) in &record.components.code {
        text += &format!("  code        {name}: {}\n", digest.get(..12).unwrap_or(digest));
    }
    escape_controls_in_lines(&text)
}
