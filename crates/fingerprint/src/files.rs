//! The files of a crate that are its code.

use std::fs;
use std::path::Path;

use crate::Error;

/// The content of a file.
pub(crate) enum Content {
    /// Rust that parses.
    Rust(Box<syn::File>),
    /// Everything else: templates, SQL, data, and Rust that does not parse.
    Bytes(Vec<u8>),
}

/// One file of a crate.
pub(crate) struct SourceFile {
    /// Relative to the crate's folder, with `/`.
    pub(crate) path: String,
    pub(crate) content: Content,
}

/// All files of the crate at `folder` that may decide what it computes, sorted by path. Its manifest is not among
/// them: what matters of it is hashed apart.
pub(crate) fn read_crate(folder: &Path) -> Result<Vec<SourceFile>, Error> {
    let mut files = Vec::new();
    read_folder(folder, "", &mut files)?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn read_folder(folder: &Path, prefix: &str, files: &mut Vec<SourceFile>) -> Result<(), Error> {
    for entry in fs::read_dir(folder).map_err(|error| Error::new(folder, error))? {
        let entry = entry.map_err(|error| Error::new(folder, error))?;
        let path = entry.path();
        let Ok(name) = entry.file_name().into_string() else {
            return Err(Error::new(&path, "its name is not UTF-8"));
        };
        let kind = entry.file_type().map_err(|error| Error::new(&path, error))?;
        if is_excluded(prefix, &name, kind.is_dir()) {
            continue;
        }
        if kind.is_dir() {
            read_folder(&path, &format!("{prefix}{name}/"), files)?;
        } else if kind.is_symlink() {
            return Err(Error::new(&path, "a link inside a stage's code: put the file itself there"));
        } else {
            let bytes = fs::read(&path).map_err(|error| Error::new(&path, error))?;
            let rust = if name.ends_with(".rs") { parse(&bytes) } else { None };
            let content = rust.map_or(Content::Bytes(bytes), |file| Content::Rust(Box::new(file)));
            files.push(SourceFile { path: format!("{prefix}{name}"), content });
        }
    }
    Ok(())
}

/// Tests, benches, examples, prose, build artefacts, and what editors and test tools leave behind. Markdown counts
/// as prose at the top of the crate and as a `README.md`; elsewhere it may be a template and is code.
fn is_excluded(prefix: &str, name: &str, is_folder: bool) -> bool {
    let hidden = name.starts_with('.') || name.ends_with('~');
    let at_top = prefix.is_empty();
    if is_folder {
        hidden || (at_top && matches!(name, "tests" | "benches" | "examples" | "target" | "proptest-regressions"))
    } else {
        let prose = (at_top && name.ends_with(".md")) || name == "README.md";
        let snapshot = name.ends_with(".snap") || name.ends_with(".snap.new");
        hidden || prose || snapshot || (at_top && matches!(name, "Cargo.toml" | "Cargo.lock"))
    }
}

/// Rust as the compiler reads it: line ends are `\n` whatever the checkout made of them.
fn parse(bytes: &[u8]) -> Option<syn::File> {
    let text = std::str::from_utf8(bytes).ok()?;
    syn::parse_file(&text.replace("\r\n", "\n")).ok()
}
