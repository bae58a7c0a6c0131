//! `deps:` of a command: files and globs, expanded.

use std::collections::BTreeSet;
use std::io;
use std::path::{Component, Path};

use globset::{GlobBuilder, GlobMatcher};

use cwm_core::files::{EXPORT_LIST, TEMPORARY, exported_files};
use cwm_core::{Diagnostic, Problems, SpannedStr, escape_controls, read_regular_file};

/// Folders that tools write into a folder of sources: Python's compiled files and git's data. If they were dependencies, running a
/// script by hand, or a commit, would change the key of every command that depends on the folder.
const TOOL_FOLDERS: [&str; 2] = ["__pycache__", ".git"];

/// The line of a lock file that has its version begins with one of these.
const LOCK_FORMATS: [&str; 3] = ["cwm-lock:", "cwm-sources:", "cwm-accepted:"];

/// Returns the files that `written` names, relative to `folder`, sorted, none twice.
pub fn dependencies(written: &[SpannedStr], folder: &Path, problems: &Problems) -> Vec<String> {
    let files = written.iter().filter_map(|word| {
        let files = files(&word.text, folder);
        problems.ok(files.map_err(|problem| Diagnostic { place: Some(word.place), ..problem }))
    });
    files.flatten().collect::<BTreeSet<String>>().into_iter().collect()
}

/// Returns the names in a relative path; nothing if it leaves its folder.
pub fn names_below(path: &Path) -> Option<Vec<&str>> {
    let parts = path.components().filter(|part| *part != Component::CurDir);
    parts.map(|part| if let Component::Normal(name) = part { name.to_str() } else { None }).collect()
}

/// The files that a path or a glob names. A problem has no place yet.
fn files(text: &str, folder: &Path) -> Result<Vec<String>, Diagnostic> {
    let shown = escape_controls(text);
    let parts = names_below(Path::new(text)).ok_or_else(|| {
        Diagnostic::without_place(format!("`{shown}` leaves the pipeline's folder"))
            .hint("a dependency is in that folder or below it")
    })?;
    let name = parts.join("/");
    let is_glob = |text: &str| text.contains(['*', '?', '[', '{']);
    if !is_glob(&name) {
        return match std::fs::metadata(folder.join(&name)) {
            Ok(metadata) if metadata.is_dir() => {
                let all = if name.is_empty() { "**".to_owned() } else { format!("{name}/**") };
                Err(Diagnostic::without_place(format!("`{shown}` is a folder")).hint(format!("its files are `{all}`")))
            }
            Ok(_) => Ok(vec![name]),
            Err(error) => Err(Diagnostic::without_place(format!("cannot read `{shown}`: {error}"))),
        };
    }
    let glob = GlobBuilder::new(&name)
        .literal_separator(true)
        .build()
        .map_err(|error| Diagnostic::without_place(format!("`{shown}` is not a glob: {}", error.kind())))?
        .compile_matcher();
    let literal = parts.iter().take_while(|part| !is_glob(part)).copied().collect::<Vec<_>>();
    let names = matches(folder, literal.join("/"), &name, &glob).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => {
            Diagnostic::without_place(format!("{error} (matched by `{shown}`): its name is not UTF-8"))
                .hint("rename it")
        }
        _ => Diagnostic::without_place(format!("cannot read what `{shown}` matches: {error}")),
    })?;
    match names.is_empty() {
        true => Err(Diagnostic::without_place(format!("`{shown}` matches no file"))
            .hint("globs are relative to the pipeline's folder")),
        false => Ok(names),
    }
}

/// Returns the files in the folder `start` below `root`, and in its folders, that `glob` matches. Links to folders are not
/// followed: they may lead anywhere. Nothing that cwm itself writes is matched.
fn matches(root: &Path, start: String, text: &str, glob: &GlobMatcher) -> io::Result<Vec<String>> {
    let (mut names, mut exported) = (Vec::new(), BTreeSet::new());
    let mut waiting = vec![start];
    while let Some(folder) = waiting.pop() {
        let path_of = |last: &str| if folder.is_empty() { last.to_owned() } else { format!("{folder}/{last}") };
        exported.extend(exported_files(&root.join(&folder)).iter().map(|name| path_of(name)));
        let listed = match fs_err::read_dir(root.join(&folder)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            other => other?,
        };
        for entry in listed {
            let entry = entry?;
            let file_name = entry.file_name();
            let Some(last) = file_name.to_str().map(str::to_owned) else {
                // A key holds names as text, and a file that is left out would be no dependency.
                if glob.is_match(Path::new(&folder).join(&file_name)) {
                    let shown = format!("{file_name:?}").replace('"', "`");
                    return Err(io::Error::new(io::ErrorKind::InvalidData, shown));
                }
                continue;
            };
            let (name, path) = (path_of(&last), entry.path());
            if entry.file_type()?.is_dir() {
                let is_meant = !TOOL_FOLDERS.contains(&last.as_str()) || text.contains(&last);
                // A store, or a remote.
                let is_store = ["objects", "actions"].iter().all(|name| path.join(name).is_dir());
                waiting.extend((is_meant && !(is_store && path.join("format").is_file())).then_some(name));
            } else if glob.is_match(&name) && path.is_file() && !exported.contains(&name) && !is_own_file(&path, &last)
            {
                names.push(name);
            }
        }
    }
    Ok(names)
}

/// Returns true if this plain file is one that cwm writes beside a pipeline, or is writing: a glob that matched it would match new
/// content after every run. Only what is certainly cwm's is skipped, since a skipped file is in no key.
fn is_own_file(file: &Path, name: &str) -> bool {
    // The name of a file that is being written ends in random letters and digits.
    let is_random = |rest: &str| rest.len() == 6 && rest.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_unfinished = name.strip_prefix(TEMPORARY).is_some_and(is_random);
    is_unfinished || name == EXPORT_LIST || (name.ends_with(".lock") && is_lock_file(file))
}

fn is_lock_file(file: &Path) -> bool {
    let text = read_regular_file(file).unwrap_or_default();
    let is_version = |line: &str| LOCK_FORMATS.iter().any(|format| line.starts_with(format));
    String::from_utf8_lossy(&text).lines().any(is_version)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Else every run would find what the one before has written.
    #[test]
    fn what_cwm_and_git_write_is_no_match() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, text).unwrap();
        };
        for name in ["a.py", "poetry.lock", "pipeline.yaml", "report/notes.md", "kept/format", "kept/x"] {
            write(name, "");
        }
        for own in
            ["artifacts/format", "artifacts/objects/ab/cd", "artifacts/actions/x.json", ".git/index", ".cwm-a1B2c3"]
        {
            write(own, "");
        }
        write("pipeline.lock", "# Results.\ncwm-lock: 1\n");
        write("sources.lock", "cwm-sources: 1\n");
        write("accepted.lock", "cwm-accepted: 1\n");
        // Files of the same names that cwm did not write.
        for other in ["like/format", "like/objects", "like/actions/x"] {
            write(other, "");
        }
        write("chart/Chart.yaml", "");
        write("chart/Chart.lock", "digest: x\n");
        write("chart/sources.lock", "");
        write(".cwm-notes", "");
        let list = |whole: bool, file: &str| {
            let copied = serde_json::json!({"digest": "0".repeat(64), "size": 0, "mtime_ns": 0, "executable": false});
            serde_json::json!({"cwm_export": 1, "whole": whole, "files": {file: copied}}).to_string()
        };
        write("report/.cwm-export", &list(false, "report.html"));
        write("report/report.html", "");
        write("whole/.cwm-export", &list(true, "deep/x"));
        write("whole/deep/x", "");
        write("whole/deep/late", "");
        let mut names = files("**", folder.path()).unwrap();
        names.sort();
        let meant = [
            ".cwm-notes",
            "a.py",
            "chart/Chart.lock",
            "chart/Chart.yaml",
            "chart/sources.lock",
            "kept/format",
            "kept/x",
            "like/actions/x",
            "like/format",
            "like/objects",
            "pipeline.yaml",
            "poetry.lock",
            "report/notes.md",
            "whole/deep/late",
        ];
        assert_eq!(names, meant);
        assert_eq!(files("pipeline.lock", folder.path()).unwrap(), ["pipeline.lock"], "who names it means it");
    }

    #[test]
    fn the_hint_for_a_folder_is_a_glob_of_its_files() {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir(folder.path().join("code")).unwrap();
        fs_err::write(folder.path().join("code/a.py"), "").unwrap();
        for (named, glob) in [(".", "**"), ("./", "**"), ("code", "code/**"), ("./code/", "code/**")] {
            let problem = files(named, folder.path()).unwrap_err();
            assert_eq!(problem.hint, Some(format!("its files are `{glob}`")), "{named}");
            assert_eq!(files(glob, folder.path()).unwrap(), ["code/a.py"]);
        }
    }

    #[test]
    fn a_match_whose_name_is_no_text_is_an_error() {
        use std::os::unix::ffi::OsStrExt;
        let folder = tempfile::tempdir().unwrap();
        let name = std::ffi::OsStr::from_bytes(b"x\xff.txt");
        if fs_err::write(folder.path().join(name), "").is_err() {
            println!("skipped: this file system has no such names");
            return;
        }
        fs_err::write(folder.path().join("y"), "").unwrap();
        let refused = files("x*", folder.path()).unwrap_err().message;
        assert_eq!(refused, "`x\\xFF.txt` (matched by `x*`): its name is not UTF-8");
        assert_eq!(files("y*", folder.path()).unwrap(), ["y"]);
    }

    #[test]
    fn globs_are_expanded_and_sorted() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "b.py",
            "a.py",
            "lib/c.py",
            "lib/deep/d.py",
            "lib/x.txt",
            "é.py",
            "lib/__pycache__/c.cpython-313.pyc",
            "my__pycache__/e.txt",
        ] {
            let path = folder.path().join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, name).unwrap();
        }
        let names = |text| {
            files(text, folder.path()).map(|mut names| {
                names.sort();
                names.join(" ")
            })
        };
        assert_eq!(names("*.py").unwrap(), "a.py b.py é.py");
        assert_eq!(names("lib/**").unwrap(), "lib/c.py lib/deep/d.py lib/x.txt");
        assert_eq!(names("lib/__pycache__/*").unwrap(), "lib/__pycache__/c.cpython-313.pyc");
        assert_eq!(names("my*/*.txt").unwrap(), "my__pycache__/e.txt");
        assert_eq!(names("**/*.py").unwrap(), "a.py b.py lib/c.py lib/deep/d.py é.py");
        assert_eq!(names("./lib/./x.txt").unwrap(), "lib/x.txt");
        for wrong in ["../a.py", "/etc/passwd", "lib", "none.py", "*.rs", "lib/../../x", "none/*.py", "[", "{a"] {
            assert!(names(wrong).is_err(), "{wrong}");
        }
    }
}
