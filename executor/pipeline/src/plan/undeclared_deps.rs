//! Finds files that a command's text names and its `deps:` do not: a change of them would rerun nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::dependencies::names_below;
use super::file_references::FileReference;
use super::{Body, Cell, CommandPlan, Plan};
use cwm_core::Place;

impl Plan {
    /// Returns a warning, with its place and what to write, for each word of the commands of these cells that is a file below the
    /// pipeline's folder, but neither one of the command's `deps:` nor one that it is given or writes.
    pub fn undeclared_deps(&self, cells: &[usize]) -> BTreeSet<String> {
        let mut warnings = BTreeSet::new();
        let mut seen = BTreeSet::new();
        for (index, cell) in cells.iter().filter_map(|&index| Some((index, self.cells.get(index)?))) {
            // All cells of a stage have one text.
            if let Body::Command(command) = &cell.body
                && seen.insert(cell.label.stage.as_str())
            {
                let words = find_undeclared(command, &self.external_files(&[index]), &self.folder);
                warnings.extend(words.iter().map(|word| self.warning(cell, word)));
            }
        }
        warnings
    }

    fn warning(&self, cell: &Cell, (before, word, name): &(&str, &str, String)) -> String {
        let run = cell.explicit.get(super::COMMAND_RUN).map_or(cell.place, |written| written.place);
        // The same letters may stand before it, in a comment for one.
        let place = self.place_of(word, before.matches(word).count(), run);
        let file = self.sources.get(place).map_or("", |source| source.name.as_str());
        let (line, column, stage) = (place.line, place.column, &cell.label.stage);
        let found = if Path::new(word).is_absolute() {
            ""
        } else {
            "the command begins in a folder of its own, without it, and "
        };
        format!(
            "{file}:{line}:{column}: `{word}` in the `run` of `{stage}` is a file of the pipeline's folder that its `deps` do \
             not name: {found}a change of it reruns nothing; write `deps: [{name}]`"
        )
    }

    /// Returns the place of `word` in the text at `place`, after so many `earlier` ones; else that place.
    fn place_of(&self, word: &str, earlier: usize, place: Place) -> Place {
        let found = || {
            let text = &self.sources.get(place)?.text;
            let within = text.get(place.start as usize..place.end as usize)?;
            let start = place.start as usize + within.match_indices(word).nth(earlier)?.0;
            Some(Place::in_text(place.source, text, start..start + word.len()))
        };
        found().unwrap_or(place)
    }
}

/// The words that name files in `folder` which are not `given`, each with the text before it and its path from there.
fn find_undeclared<'c>(
    command: &'c CommandPlan,
    declared: &BTreeMap<PathBuf, FileReference>,
    folder: &Path,
) -> Vec<(&'c str, &'c str, String)> {
    let words = || words(&command.run);
    let written: BTreeSet<&str> = words().filter(|(before, _)| is_written(before)).map(|(_, word)| word).collect();
    let mut found: Vec<(&str, &str, String)> = Vec::new();
    for (before, word) in words().filter(|(_, word)| !written.contains(word)) {
        let Some(name) = name_below(word, folder) else { continue };
        let path = folder.join(&name);
        let is_new = !declared.contains_key(&path) && !found.iter().any(|(.., other)| *other == name);
        // At last, since it reads a line, which may be long.
        if is_new && path.is_file() && !is_idle(before) {
            found.push((before, word, name));
        }
    }
    found
}

/// The path from `folder` of what a word may name below it. A word without a point or a slash is taken for a name of
/// something else.
fn name_below(word: &str, folder: &Path) -> Option<String> {
    if !word.contains(['.', '/']) || word.contains(['$', '*', '?', '[', '`', '~', '\\']) {
        return None;
    }
    let path = Path::new(word);
    let relative = if path.is_absolute() { path.strip_prefix(folder).ok()? } else { path };
    let name = names_below(relative)?.join("/");
    (!name.is_empty()).then_some(name)
}

/// The words of a shell's text, roughly, each with the text before it: quotes, operators and `=` stand between words.
fn words(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut end = 0;
    let pieces = text.split_inclusive(ends_word).map(move |piece| {
        let before = &text[..end];
        end += piece.len();
        (before, piece.trim_end_matches(ends_word))
    });
    pieces.filter(|(_, word)| !word.is_empty())
}

/// Returns true if output is sent to the word after this text.
fn is_written(before: &str) -> bool {
    before.trim_end_matches(|c: char| c.is_whitespace() || "'\"".contains(c)).ends_with('>')
}

/// Returns true if the word after this text is only printed, or in a comment.
fn is_idle(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let command = line.rsplit([';', '|', '&']).next().unwrap_or_default();
    line.split_whitespace().any(|word| word.starts_with('#'))
        || command.split(ends_word).any(|word| matches!(word, "echo" | "printf"))
}

fn ends_word(c: char) -> bool {
    let is_operator = matches!(c, '\'' | '"' | '`' | ';' | '|' | '&' | '<' | '>' | '(' | ')' | '{' | '}' | '=' | ',');
    is_operator || c.is_whitespace()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_a_shell_would_do() {
        let read = |text| -> Vec<(&str, bool, bool)> {
            words(text).map(|(before, word)| (word, is_written(before), is_idle(before))).collect()
        };
        let plain = |text: &'static str| (text, false, false);
        assert_eq!(read("python3 'a.py' --to=b.txt"), ["python3", "a.py", "--to", "b.txt"].map(plain));
        assert_eq!(read("sort a.txt >> \"x.txt\""), [plain("sort"), plain("a.txt"), ("x.txt", true, false)]);
        let idle = |text: &'static str| (text, false, true);
        let printed = [plain("echo"), idle("a.py"), plain("b.py"), plain("#"), idle("c.py"), plain("d.py")];
        assert_eq!(read("echo a.py; b.py # c.py\nd.py"), printed);
    }

    #[test]
    fn names_stay_below_the_folder() {
        let folder = Path::new("/here/project");
        assert_eq!(name_below("./a.py", folder).as_deref(), Some("a.py"));
        assert_eq!(name_below("/here/project/lib/a.py", folder).as_deref(), Some("lib/a.py"));
        for other in ["../a.py", "/etc/passwd", "$HOME/a.py", "*.py", "test", ".", "/"] {
            assert_eq!(name_below(other, folder), None, "{other}");
        }
    }
}
