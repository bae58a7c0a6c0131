//! Completes words for a shell: stages, cells, outputs and variables of the pipeline at hand.
//!
//! A shell calls `cwm` with the variable [`ASKED_BY`] set and the words typed so far after `--` (`cwm completions`). A
//! pipeline that is wrong or missing gives no candidates, and no message in the middle of a line.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap_complete::engine::{CompletionCandidate, PathCompleter, ValueCompleter};

use super::PipelineArguments;
use super::pipeline::assignment;
use crate::locate::{open_store, pipeline_file};
use cwm_core::Diagnostics;
use cwm_gc::tags;
use cwm_pipeline::plan::{self, Plan};
use cwm_pipeline::spec;

/// The environment variable by which a shell requests completions.
pub const ASKED_BY: &str = "CWM_COMPLETE";

/// Completes stages, cells and pipeline files, for commands that take all of them.
pub fn files_and_stages(current: &OsStr) -> Vec<CompletionCandidate> {
    let is_pipeline = |path: &std::path::Path| path.extension().is_some_and(|end| end == "yaml" || end == "yml");
    let mut all = stages(current);
    if !current.to_string_lossy().contains('[') {
        all.extend(PathCompleter::file().filter(is_pipeline).complete(current));
    }
    all
}

/// Completes stages, and the cells of the stage that `current` names.
pub fn stages(current: &OsStr) -> Vec<CompletionCandidate> {
    let Some((plan, typed)) = plan().zip(current.to_str()) else { return Vec::new() };
    beginning(typed, addresses(&plan, unquoted(typed)))
}

/// Completes stages, cells and their outputs.
pub fn outputs(current: &OsStr) -> Vec<CompletionCandidate> {
    let Some((plan, typed)) = plan().zip(current.to_str()) else { return Vec::new() };
    let word = unquoted(typed);
    let mut all = addresses(&plan, word);
    for stage in plan.stages.iter().filter(|stage| word.starts_with(&stage.name)) {
        for &cell in &stage.cells {
            let cell = &plan.cells[cell];
            let label = if stage.cells.len() == 1 { stage.name.clone() } else { cell.label.to_string() };
            let ports =
                cell.outputs.iter().map(|output| (format!("{label}.{}", output.name), output.format.to_string()));
            all.extend(ports.filter(|(address, _)| word.contains('[') || !address.contains('[')));
        }
    }
    beginning(typed, all)
}

/// Completes outputs and tags.
pub fn results(current: &OsStr) -> Vec<CompletionCandidate> {
    let mut all = outputs(current);
    all.extend(tags(current));
    all
}

/// Completes stages and tags.
pub fn stages_and_tags(current: &OsStr) -> Vec<CompletionCandidate> {
    let mut all = stages(current);
    all.extend(tags(current));
    all
}

/// Completes the operands of `cwm diff`: tags, files and folders.
pub fn compared(current: &OsStr) -> Vec<CompletionCandidate> {
    let mut all = tags(current);
    all.extend(PathCompleter::any().complete(current));
    all
}

/// Tags, as `tag:NAME`.
fn tags(current: &OsStr) -> Vec<CompletionCandidate> {
    let Some(typed) = current.to_str() else { return Vec::new() };
    let names = tag_names().into_iter().map(|name| (format!("{}{name}", tags::PREFIX), String::new()));
    beginning(typed, names.collect())
}

/// Completes the names of tags, as `cwm tag` takes them.
pub fn names_of_tags(current: &OsStr) -> Vec<CompletionCandidate> {
    let Some(typed) = current.to_str() else { return Vec::new() };
    beginning(typed, tag_names().into_iter().map(|name| (name, String::new())).collect())
}

fn tag_names() -> Vec<String> {
    let named = words().windows(2).rev().find(|two| two[0] == "--store").map(|two| PathBuf::from(&two[1]));
    let root = named.or_else(|| std::env::var_os("CWM_STORE").map(PathBuf::from));
    let file = asked().and_then(|asked| asked.file);
    let store = open_store(root.as_deref(), file.as_deref());
    let tags = store.ok().and_then(|store| tags::list(&store).ok()).unwrap_or_default();
    tags.into_iter().map(|tag| tag.name).collect()
}

/// Completes the values of `--device`.
pub fn devices(current: &OsStr) -> Vec<CompletionCandidate> {
    let Some(typed) = current.to_str() else { return Vec::new() };
    let mut all = vec![("auto".to_owned(), "a GPU if one can be used, else the processor".to_owned())];
    match crate::registry::model_tools() {
        Some(model_tools) => all
            .extend(model_tools.devices().into_iter().filter(|one| one.usable).map(|one| (one.name, one.description))),
        None => all.push(("cpu".to_owned(), "the processor".to_owned())),
    }
    beginning(typed, all)
}

/// Completes the variables of the pipeline, as `--set` takes them.
pub fn variables(current: &OsStr) -> Vec<CompletionCandidate> {
    let Some((arguments, typed)) = asked().zip(current.to_str()) else { return Vec::new() };
    let Ok(file) = pipeline_file(arguments.file.as_deref()) else { return Vec::new() };
    let root = std::fs::read_to_string(file).ok().and_then(|text| spec::parse_yaml(&text, 0).ok());
    let written = root.and_then(|root| spec::read(&root, &mut Diagnostics::default()));
    let variables = written.into_iter().flat_map(|spec| spec.vars);
    beginning(typed, variables.map(|(name, value)| (format!("{}=", name.text), value.value().to_string())).collect())
}

/// Stages with their kinds; the cells of a stage of several as soon as its name is there whole.
fn addresses(plan: &Plan, word: &str) -> Vec<(String, String)> {
    let mut all: Vec<_> = plan.stages.iter().map(|stage| (stage.name.clone(), stage.kind.clone())).collect();
    let stage = word.split('[').next().unwrap_or_default();
    if let Some(stage) = plan.stages.iter().find(|known| known.name == stage && known.cells.len() > 1) {
        all.extend(stage.cells.iter().map(|&cell| (plan.cells[cell].label.to_string(), stage.kind.clone())));
    }
    all
}

/// Those that begin as the word does that is typed, quoted as it is.
fn beginning(typed: &str, all: Vec<(String, String)>) -> Vec<CompletionCandidate> {
    let word = unquoted(typed);
    let quote = &typed[..typed.len() - word.len()];
    let fitting = all.into_iter().filter(|(address, _)| address.starts_with(word));
    let candidate = |(address, about): (String, String)| {
        CompletionCandidate::new(format!("{quote}{address}")).help((!about.is_empty()).then(|| about.into()))
    };
    fitting.map(candidate).collect()
}

/// A word without the quote that was opened before it.
fn unquoted(typed: &str) -> &str {
    typed.strip_prefix(['\'', '"']).unwrap_or(typed)
}

fn plan() -> Option<Plan> {
    let arguments = asked()?;
    let file = pipeline_file(arguments.file.as_deref()).ok()?;
    plan::load(&file, &arguments.sets, &crate::registry::built_in()).ok()
}

/// The words on the line, as far as they are typed.
fn words() -> Vec<String> {
    let words = std::env::args_os().skip_while(|word| word != "--").skip(1);
    words.filter_map(|word: OsString| word.into_string().ok()).collect()
}

/// Which pipeline the words on the line mean.
fn asked() -> Option<PipelineArguments> {
    let words = words();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let short = if words.contains(&"log") { "--file" } else { "-f" };
    let mut arguments = PipelineArguments { file: None, sets: Vec::new() };
    // The last word is the one that is being completed.
    for (at, &word) in words.iter().enumerate().take(words.len().checked_sub(1)?) {
        match word {
            "--file" => arguments.file = words.get(at + 1).map(Into::into),
            "--set" => arguments.sets.extend(words.get(at + 1).and_then(|set| assignment(set).ok())),
            _ if word == short => arguments.file = words.get(at + 1).map(Into::into),
            _ if word.starts_with("--file=") => arguments.file = word.strip_prefix("--file=").map(Into::into),
            _ if arguments.file.is_none() && (word.ends_with(".yaml") || word.ends_with(".yml")) => {
                arguments.file = Some(word.into());
            }
            _ => (),
        }
    }
    Some(arguments)
}
