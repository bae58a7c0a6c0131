//! `deps:` of a command: files and globs, expanded.

use std::collections::BTreeSet;
use std::io;
use std::path::{Component, Path};

use globset::GlobBuilder;

use super::Dependency;
use super::generated_files::{holds_results, is_own_file};
use cwm_core::files::exported_files;
use cwm_core::{Diagnostic, Problems, SpannedStr, visible};

/// Folders that others write beside what is meant: what Python compiled from it, and git's own. A run by hand, or a commit, would
/// change what every command rests on.
const BESIDE: [&str; 2] = ["__pycache__", ".git"];

/// A glob that walks past more entries than this was meant otherwise.
const MOST_ENTRIES: usize = 200_000;

/// The files that `written` names, relative to `folder`, sorted, none twice. `None` if something is wrong, which is
/// reported.
pub fn dependencies(written: &[SpannedStr], folder: &Path, problems: &Problems) -> Option<Vec<Dependency>> {
    let mut found = BTreeSet::new();
    let mut right = true;
    for word in written {
        match files(&word.text, folder) {
            Ok(files) => found.extend(files),
            Err((message, hint)) => {
                right = false;
                problems.push(Diagnostic::at(word.place, message).maybe_hint(hint));
            }
        }
    }
    right.then(|| found.into_iter().map(|name| Dependency { path: folder.join(&name), name }).collect())
}

type Fault = (String, Option<String>);

fn files(text: &str, folder: &Path) -> Result<Vec<String>, Fault> {
    let shown = visible(text);
    let mut parts = Vec::new();
    for part in Path::new(text).components() {
        match (part, part.as_os_str().to_str()) {
            (Component::Normal(_), Some(part)) => parts.push(part),
            (Component::CurDir, _) => (),
            _ => {
                return Err((
                    format!("`{shown}` leaves the pipeline's folder"),
                    Some("a dependency is in that folder or below it".into()),
                ));
            }
        }
    }
    let name = parts.join("/");
    let is_glob = |text: &str| text.contains(['*', '?', '[', '{']);
    if !is_glob(&name) {
        return match std::fs::metadata(folder.join(&name)) {
            Ok(metadata) if metadata.is_dir() => {
                Err((format!("`{shown}` is a folder"), Some(format!("its files are `{name}/**`"))))
            }
            Ok(_) => Ok(vec![name]),
            Err(error) => Err((format!("cannot read `{shown}`: {error}"), None)),
        };
    }
    let glob = GlobBuilder::new(&name)
        .literal_separator(true)
        .build()
        .map_err(|error| (format!("`{shown}` is not a glob: {}", error.kind()), None))?
        .compile_matcher();
    let literal = parts.iter().take_while(|part| !is_glob(part)).copied().collect::<Vec<_>>();
    let passed_over = BESIDE.into_iter().filter(|one| !name.contains(one)).collect();
    let mut walk = Walk { names: Vec::new(), entries: 0, passed_over, exported: BTreeSet::new() };
    walk.folder(folder, &literal.join("/"), &|name| glob.is_match(name)).map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => (
            format!("`{shown}` walks past more than {MOST_ENTRIES} files"),
            Some("begin it with the folder that is meant".into()),
        ),
        _ => (format!("cannot read what `{shown}` matches: {error}"), None),
    })?;
    if walk.names.is_empty() {
        return Err((format!("`{shown}` matches no file"), Some("globs are relative to the pipeline's folder".into())));
    }
    Ok(walk.names)
}

struct Walk {
    names: Vec<String>,
    entries: usize,
    /// Names of folders that are not meant.
    passed_over: Vec<&'static str>,
    /// Files that cwm exported.
    exported: BTreeSet<String>,
}

impl Walk {
    /// Links to folders are not followed: they may lead anywhere. Nothing that cwm itself writes is walked past.
    fn folder(&mut self, root: &Path, name: &str, wanted: &dyn Fn(&str) -> bool) -> io::Result<()> {
        let (mut files, mut folders) = (BTreeSet::new(), BTreeSet::new());
        let entries = match fs_err::read_dir(root.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other?,
        };
        for entry in entries {
            let entry = entry?;
            self.entries += 1;
            if self.entries > MOST_ENTRIES {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            // A name that is not UTF-8 cannot be matched by a glob written in YAML.
            let Some(last) = entry.file_name().to_str().map(str::to_owned) else { continue };
            if entry.file_type()?.is_dir() {
                folders.insert(last)
            } else {
                files.insert(last)
            };
        }
        let whole = |last: &String| if name.is_empty() { last.clone() } else { format!("{name}/{last}") };
        self.exported.extend(exported_files(&root.join(name)).iter().map(whole));
        for last in &files {
            let name = whole(last);
            let path = root.join(&name);
            if wanted(&name) && path.is_file() && !self.exported.contains(&name) && !is_own_file(&path, last) {
                self.names.push(name);
            }
        }
        for name in
            folders.iter().filter(|last| !self.passed_over.contains(&last.as_str())).map(whole).collect::<Vec<_>>()
        {
            if !holds_results(&root.join(&name)) {
                self.folder(root, &name, wanted)?;
            }
        }
        Ok(())
    }
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
            "pipeline.yaml",
            "poetry.lock",
            "report/notes.md",
            "whole/deep/late",
        ];
        assert_eq!(names, meant);
        assert_eq!(files("pipeline.lock", folder.path()).unwrap(), ["pipeline.lock"], "who names it means it");
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
