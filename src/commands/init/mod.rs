//! `cwm init`: writes a small pipeline to begin with, which runs at once.

use std::io::Write;
use std::path::Path;

use fs_err as fs;
use serde_json::json;

use crate::cli::InitArguments;
use crate::output::print_result;
use cwm_core::{Error, shell_quote};
use cwm_pipeline::schema;

/// Runs `cwm init`: writes the pipeline, its schema for editors, and what git is to ignore. Nothing is overwritten.
///
/// # Errors
/// There is a pipeline already, or the folder cannot be written.
pub fn run(arguments: &InitArguments) -> Result<(), Error> {
    let (pipeline, exported) = match arguments.command {
        true => (include_str!("commands.yaml"), "/counts/"),
        false => (include_str!("pipeline.yaml"), "/report/"),
    };
    let folder = &arguments.folder;
    let file = folder.join("pipeline.yaml");
    if file.symlink_metadata().is_ok() {
        return Err(Error::usage(format!("there is a pipeline already: {}", file.display()))
            .hint("name another folder: `cwm init DIR`"));
    }
    fs::create_dir_all(folder).map_err(rejected)?;
    let schema = serde_json::to_string_pretty(&schema::document(&crate::registry::built_in()));
    let schema = schema.map_err(|error| Error::internal(error.to_string()))? + "\n";
    let ignored = include_str!("gitignore").replace("EXPORTED", exported);
    let files = [
        (file, pipeline.to_owned()),
        (folder.join("pipeline.schema.json"), schema),
        (folder.join(".gitignore"), ignored),
    ];
    // Files that were there before stay as they were.
    let (mut written, mut existing) = (Vec::new(), Vec::new());
    for (path, text) in files {
        let list = if write_new(&path, &text)? { &mut written } else { &mut existing };
        list.push(path.display().to_string());
    }
    print_result(&json!({ "written": written, "kept": existing }), || written.join("\n"))?;
    for file in existing {
        let advice = match file.ends_with(".gitignore") {
            true => format!("; add /artifacts/ and {exported} to it"),
            false => String::new(),
        };
        eprintln!("{file} existed before and was not changed{advice}");
    }
    let folder = folder.to_string_lossy();
    let step = if folder == "." { String::new() } else { format!("cd {} && ", shell_quote(&folder)) };
    eprintln!("next: {step}cwm run");
    Ok(())
}

/// Writes a file unless there is one. Returns true if it did.
fn write_new(path: &Path, text: &str) -> Result<bool, Error> {
    match fs::OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(mut file) => file.write_all(text.as_bytes()).map(|()| true).map_err(rejected),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(rejected(error)),
    }
}

fn rejected(error: std::io::Error) -> Error {
    Error::system(format!("cannot create a pipeline here: {error}"))
}
