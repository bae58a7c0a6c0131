//! Finds the pipeline file and the store that a command works on.

use std::path::{Path, PathBuf};

use crate::hints;
use crate::output::print_note;
use cwm_core::{Error, escape_controls, folder_of, nearest};
use cwm_pipeline::plan::Plan;
use cwm_project::config::ProjectConfig;
use cwm_store::Store;

/// Opens the store that the command line names, else that of `cwm.toml`, else the one beside the pipeline. The pipeline is not
/// read.
///
/// # Errors
/// There is no pipeline, or the store is of a newer format.
pub fn open_store(store: Option<&Path>, file: Option<&Path>) -> Result<Store, Error> {
    hints::record_options(store, file, &[]);
    if let Some(root) = store {
        return Ok(Store::at(root)?);
    }
    let file = pipeline_file(file)?;
    let config = ProjectConfig::of(&file, &cwm_remote::Kinds)?;
    Ok(Store::at(&store_folder(None, &config, folder_of(&file)))?)
}

/// Opens a store as [`open_store`] does, and requires that it exists if the command line names it: a mistyped name must not pass
/// for an empty store. A default store that does not exist yet is only noted.
///
/// # Errors
/// As [`open_store`]; or the named store does not exist.
pub fn open_existing_store(store: Option<&Path>, file: Option<&Path>) -> Result<Store, Error> {
    let opened = open_store(store, file)?;
    // A store that lost its file `format` is a store.
    if opened.exists() || opened.root().join("objects").is_dir() {
        return Ok(opened);
    }
    let problem = format!("there is no store in {}", opened.root().display());
    match store {
        Some(_) => Err(Error::store(problem).hint("`--store` or CWM_STORE names it; `cwm run` would create one there")),
        None => {
            print_note(&format!("note: {problem} yet; `cwm run` creates it"));
            Ok(opened)
        }
    }
}

/// Returns the folder of the store: that of the command line, else of `cwm.toml`, else `artifacts` beside the pipeline.
pub fn store_folder(store: Option<&Path>, config: &ProjectConfig, folder: &Path) -> PathBuf {
    store.or(config.store.as_deref()).map_or_else(|| folder.join("artifacts"), Path::to_owned)
}

/// Returns a hint that names the pipeline with the name most like that of `file`, in its folder or in `pipelines/` there.
pub fn similar_pipeline(file: &Path) -> Option<String> {
    let folder = file.parent()?;
    let mut found = pipelines_in(folder, 0);
    found.extend(pipelines_in(&folder.join("pipelines"), 1));
    let stem = |path: &Path| Some(path.file_stem()?.to_str()?.to_owned());
    let stems: Vec<String> = found.iter().map(|path| stem(path).unwrap_or_default()).collect();
    let similar = nearest(&stem(file)?, stems.iter().map(String::as_str))?;
    let place = stems.iter().position(|stem| stem == similar)?;
    Some(format!("did you mean `{}`?", escape_controls(&found[place].to_string_lossy())))
}

/// Returns the pipeline files in a folder and in folders below it, so many levels deep, sorted by path.
fn pipelines_in(folder: &Path, levels: u32) -> Vec<PathBuf> {
    let listed = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let names = std::fs::read_dir(listed).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.file_name()));
    let mut found = Vec::new();
    for path in names.map(|name| folder.join(name)) {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("yaml" | "yml") => found.push(path),
            _ if levels > 0 && path.is_dir() => found.extend(pipelines_in(&path, levels - 1)),
            _ => {}
        }
    }
    found.sort();
    found
}

/// Returns the cells that any of `words` selects, or all cells without words.
///
/// # Errors
/// One of them is no stage. If it is like the name of a pipeline file, a hint names that.
pub fn select_cells(plan: &Plan, words: &[String]) -> Result<Vec<usize>, Error> {
    plan.select_all(words).map_err(|error| {
        let wrong = words.first().filter(|word| plan.select(word).is_err());
        wrong.and_then(|word| similar_pipeline(Path::new(word))).into_iter().fold(error, Error::hint)
    })
}

/// Finds the pipeline file: `file`, else `pipeline.yaml` in the current folder or one above it.
///
/// # Errors
/// There is none.
pub fn pipeline_file(file: Option<&Path>) -> Result<PathBuf, Error> {
    if let Some(file) = file {
        let path = file.display();
        let problem = match std::fs::metadata(file) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => format!("there is no pipeline file {path}"),
            Ok(metadata) if metadata.is_dir() => format!("{path} is a folder, and a pipeline is a file"),
            // Other errors are those of reading it.
            _ => return Ok(file.to_owned()),
        };
        let hint = "name it: `cwm run FILE.yaml`; without a name it is pipeline.yaml here or in a folder above";
        return Err(Error::usage(problem).hint(similar_pipeline(file).unwrap_or_else(|| hint.to_owned())));
    }
    let here =
        std::env::current_dir().map_err(|error| Error::system(format!("cannot find the current folder: {error}")))?;
    here.ancestors().map(|folder| folder.join("pipeline.yaml")).find(|file| file.is_file()).ok_or_else(|| {
        Error::usage("there is no pipeline.yaml here or in a folder above")
            .hint("name one with `--file FILE`; `cwm init` creates one here")
    })
}
