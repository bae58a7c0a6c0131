//! The options that name a pipeline.

use std::path::{Path, PathBuf};

use clap::Args;

use super::completers::{complete, variables};
use crate::locate::{pipeline_file, similar_pipeline};
use cwm_core::{Error, escape_controls};

/// The options that name a pipeline.
#[derive(Clone, Debug, Default, Args)]
pub struct PipelineArguments {
    /// The pipeline [default: pipeline.yaml here or in a folder above]
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Give a variable of the pipeline another value (may be repeated)
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment, add = complete(variables))]
    pub sets: Vec<(String, String)>,
}

impl PipelineArguments {
    /// Takes the pipeline from the first of the words, if it is one: what ends in .yaml or .yml, or cannot be the name of a stage.
    ///
    /// # Errors
    /// Another one is named by `--file`; or there is none, and the words are no pipeline.
    pub fn take_from(&mut self, words: &mut Vec<String>) -> Result<(), Error> {
        let is_file = |word: &String| {
            word.ends_with(".yaml") || word.ends_with(".yml") || word == "-" || word.starts_with(['/', '.'])
        };
        if self.file.is_none() && words.first().is_some_and(is_file) {
            self.file = Some(PathBuf::from(words.remove(0)));
        }
        if let Some(file) = words.iter().find(|word| is_file(word)) {
            return Err(match &self.file {
                Some(first) => Error::usage(format!("two pipelines are named: `{}` and `{file}`", first.display()))
                    .hint("leave out one of them: each command takes one pipeline, then stages"),
                None => Error::usage(format!("`{file}` is a pipeline and comes after a stage"))
                    .hint("the pipeline comes first, or is named with `--file FILE`"),
            });
        }
        if let (None, Some(first)) = (&self.file, words.first()) {
            pipeline_file(None).map_err(|error| {
                let message = format!("{}, and `{}` is no pipeline file", error.message, escape_controls(first));
                let hints = similar_pipeline(Path::new(first)).map_or(error.hints, |hint| vec![hint]);
                Error { message, hints, ..error }
            })?;
        }
        Ok(())
    }
}

/// Parses `NAME=VALUE`.
pub(super) fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, _)) if name.trim().is_empty() => Err(format!("`{text}` has no name: NAME=VALUE")),
        Some((name, value)) => Ok((name.trim().to_owned(), value.to_owned())),
        None => Err(format!("`{text}` is not of the form NAME=VALUE")),
    }
}

/// Parses a number of cores.
pub(super) fn core_count(text: &str) -> Result<u32, String> {
    text.parse().ok().filter(|count| *count > 0).ok_or_else(|| "must be a whole number from 1".to_owned())
}

/// Parses the size of a difference.
pub(super) fn tolerance(text: &str) -> Result<f64, String> {
    let size = text.parse().ok().filter(|size: &f64| size.is_finite() && *size >= 0.0);
    size.ok_or_else(|| "must be a number such as 0.001".to_owned())
}
