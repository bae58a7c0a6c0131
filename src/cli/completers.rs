//! Completes words for a shell: stages, cells, outputs and variables of the pipeline that the command line names.
//!
//! A shell calls `cwm` with the variable [`COMPLETION_VARIABLE`] set and the words typed so far after `--`
//! (`cwm util completions`). A pipeline that is wrong or missing gives no candidates, and no message in the middle of a line.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::{ArgMatches, CommandFactory};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter};

use super::{Cli, PipelineArguments};
use crate::locate::{open_store, pipeline_file};
use cwm_core::Problems;
use cwm_gc::tags;
use cwm_pipeline::plan::{self, Plan};
use cwm_pipeline::spec;

/// The environment variable by which a shell requests completions.
pub const COMPLETION_VARIABLE: &str = "CWM_COMPLETE";

/// Words with their descriptions, which may be empty.
type Candidates = Vec<(String, String)>;

/// Returns the completer that offers those of the candidates that begin with the current word, quoted as it is. `candidates`
/// receives the word without the quote that was opened before it.
pub fn complete(candidates: fn(&str) -> Candidates) -> ArgValueCompleter {
    ArgValueCompleter::new(move |current: &OsStr| complete_word(current, candidates))
}

/// Completes stages, cells and pipeline files, for commands that take all of them.
pub fn files_and_stages() -> ArgValueCompleter {
    let is_pipeline = |path: &Path| path.extension().is_some_and(|end| end == "yaml" || end == "yml");
    with_paths(stages, PathCompleter::file().filter(is_pipeline))
}

/// Completes the operands of `cwm diff`: tags, files and folders.
pub fn diff_operands() -> ArgValueCompleter {
    with_paths(prefixed_tags, PathCompleter::any())
}

fn with_paths(candidates: fn(&str) -> Candidates, paths: PathCompleter) -> ArgValueCompleter {
    ArgValueCompleter::new(move |current: &OsStr| {
        let mut all = complete_word(current, candidates);
        all.extend(paths.complete(current));
        all
    })
}

fn complete_word(current: &OsStr, candidates: fn(&str) -> Candidates) -> Vec<CompletionCandidate> {
    let Some(typed) = current.to_str() else { return Vec::new() };
    let word = typed.strip_prefix(['\'', '"']).unwrap_or(typed);
    let quote = &typed[..typed.len() - word.len()];
    let candidate = |(text, description): (String, String)| {
        CompletionCandidate::new(format!("{quote}{text}")).help((!description.is_empty()).then(|| description.into()))
    };
    candidates(word).into_iter().filter(|(text, _)| text.starts_with(word)).map(candidate).collect()
}

/// Lists stages, and the cells of the stage that `word` names.
pub fn stages(word: &str) -> Candidates {
    let Some(plan) = plan() else { return Vec::new() };
    let mut all: Vec<_> = plan.stages.iter().map(|stage| (stage.name.clone(), stage.kind.clone())).collect();
    let name = word.split('[').next().unwrap_or_default();
    if let Some(stage) = plan.stages.iter().find(|stage| stage.name == name && stage.cells.len() > 1) {
        all.extend(stage.cells.iter().map(|&cell| (plan.cells[cell].label.to_string(), stage.kind.clone())));
    }
    all
}

/// Lists stages, cells and their outputs.
pub fn outputs(word: &str) -> Candidates {
    let mut all = stages(word);
    let Some(plan) = plan() else { return all };
    for stage in plan.stages.iter().filter(|stage| word.starts_with(&stage.name)) {
        for &cell in &stage.cells {
            let cell = &plan.cells[cell];
            let label = if stage.cells.len() == 1 { stage.name.clone() } else { cell.label.to_string() };
            let output_names =
                cell.outputs.iter().map(|output| (format!("{label}.{}", output.name), output.format.to_string()));
            all.extend(output_names.filter(|(address, _)| word.contains('[') || !address.contains('[')));
        }
    }
    all
}

/// Lists outputs and tags.
pub fn outputs_and_tags(word: &str) -> Candidates {
    [outputs(word), prefixed_tags(word)].concat()
}

/// Lists stages and tags.
pub fn stages_and_tags(word: &str) -> Candidates {
    [stages(word), prefixed_tags(word)].concat()
}

fn prefixed_tags(word: &str) -> Candidates {
    let prefixed = |(name, description)| (format!("{}{name}", tags::PREFIX), description);
    tag_names(word).into_iter().map(prefixed).collect()
}

/// Lists the names of tags, as `cwm store tag` takes them.
pub fn tag_names(_word: &str) -> Candidates {
    let Some(line) = parse_line() else { return Vec::new() };
    let store = open_store(value::<PathBuf>(&line, "store").as_deref(), pipeline_arguments(&line).file.as_deref());
    let tags = store.ok().and_then(|store| tags::list(&store).ok()).unwrap_or_default();
    tags.into_iter().map(|tag| (tag.name, String::new())).collect()
}

/// Lists the values of `--device`.
pub fn devices(_word: &str) -> Candidates {
    let mut all = vec![("auto".to_owned(), "a GPU if one can be used, else the CPU".to_owned())];
    match crate::registry::model_tools() {
        Some(model_tools) => all
            .extend(model_tools.devices().into_iter().filter(|one| one.usable).map(|one| (one.name, one.description))),
        None => all.push(("cpu".to_owned(), "the CPU".to_owned())),
    }
    all
}

/// Lists the variables of the pipeline, as `--set` takes them.
pub fn variables(_word: &str) -> Candidates {
    let Some(file) = parse_line().and_then(|line| pipeline_file(pipeline_arguments(&line).file.as_deref()).ok()) else {
        return Vec::new();
    };
    let root = std::fs::read_to_string(file).ok().and_then(|text| spec::parse_yaml(&text, 0).ok());
    let spec = root.and_then(|root| spec::read(&root, &Problems::default()));
    let variables = spec.into_iter().flat_map(|spec| spec.vars);
    variables.map(|(name, value)| (format!("{}=", name.text), value.value().to_string())).collect()
}

fn plan() -> Option<Plan> {
    let arguments = pipeline_arguments(&parse_line()?);
    let file = pipeline_file(arguments.file.as_deref()).ok()?;
    plan::load(&file, &arguments.sets, &crate::registry::built_in()).ok()
}

/// Parses the command line without its last word, which is the one to complete. Returns the matches of the innermost command.
fn parse_line() -> Option<ArgMatches> {
    let mut words: Vec<OsString> = std::env::args_os().skip_while(|word| word != "--").skip(1).collect();
    words.pop();
    let mut matches = Cli::command().ignore_errors(true).try_get_matches_from(words).ok()?;
    while let Some((_, command)) = matches.remove_subcommand() {
        matches = command;
    }
    Some(matches)
}

/// Returns the value of an option, if the command has it.
fn value<T: Clone + Send + Sync + 'static>(line: &ArgMatches, id: &str) -> Option<T> {
    line.try_get_one::<T>(id).ok().flatten().cloned()
}

/// Returns the pipeline that the command line names, by `--file` or as a word.
fn pipeline_arguments(line: &ArgMatches) -> PipelineArguments {
    let sets = line.try_get_many::<(String, String)>("sets").ok().flatten();
    let is_pipeline =
        |word: &OsString| word.to_string_lossy().ends_with(".yaml") || word.to_string_lossy().ends_with(".yml");
    let word = std::env::args_os().skip_while(|word| word != "--").find(is_pipeline);
    PipelineArguments {
        file: value(line, "file").or_else(|| word.map(PathBuf::from)),
        sets: sets.into_iter().flatten().cloned().collect(),
    }
}
