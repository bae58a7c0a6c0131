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
                let words = unnamed(command, &self.external_files(&[index]), &self.folder);
                warnings.extend(words.iter().map(|word| self.warning(cell, command, word)));
            }
        }
        warnings
    }

    fn warning(&self, cell: &Cell, command: &CommandPlan, (word, name): &(&str, String)) -> String {
        let run = cell.given.get(super::COMMAND_RUN).map_or(cell.place, |written| written.place);
        // The same letters may stand before it, in a comment for one.
        let before = (word.as_ptr() as usize).saturating_sub(command.run.as_ptr() as usize);
        let earlier = command.run.get(..before).map_or(0, |text| text.matches(word).count());
        let place = self.place_of(word, earlier, run);
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

/// The words, each with its path from `folder`, that name files there which are not `given`.
fn unnamed<'c>(
    command: &'c CommandPlan,
    given: &BTreeMap<PathBuf, FileReference>,
    folder: &Path,
) -> Vec<(&'c str, String)> {
    let words = shell_words(&command.run);
    let written: BTreeSet<&str> = words.iter().filter(|word| word.is_written).map(|word| word.text).collect();
    let mut found: Vec<(&str, String)> = Vec::new();
    for word in words.iter().filter(|word| !word.is_printed && !written.contains(word.text)) {
        let Some(name) = name_below(word.text, folder) else { continue };
        let path = folder.join(&name);
        if !given.contains_key(&path) && !found.iter().any(|(_, other)| *other == name) && path.is_file() {
            found.push((word.text, name));
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

/// A word of a command.
struct ShellWord<'t> {
    text: &'t str,
    /// True if output is sent there.
    is_written: bool,
    /// True if it is only printed.
    is_printed: bool,
}

/// The words of a shell's text, roughly: quotes, operators and `=` stand between words.
fn shell_words(text: &str) -> Vec<ShellWord<'_>> {
    let mut words: Vec<ShellWord> = Vec::new();
    let (mut is_written, mut is_printed) = (false, false);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(ends_word).unwrap_or(rest.len());
        if first == '#' && (words.is_empty() || text[..text.len() - rest.len()].ends_with(char::is_whitespace)) {
            rest = rest.find('\n').map_or("", |line| &rest[line..]);
        } else if end > 0 {
            let word = &rest[..end];
            words.push(ShellWord { text: word, is_written: std::mem::take(&mut is_written), is_printed });
            is_printed |= matches!(word, "echo" | "printf");
            rest = &rest[end..];
        } else {
            is_written = first == '>' || (is_written && (first.is_whitespace() || "'\"".contains(first)));
            is_printed = is_printed && !";|&\n".contains(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    words
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
        let read = |text| -> Vec<(String, bool, bool)> {
            shell_words(text).iter().map(|word| (word.text.to_owned(), word.is_written, word.is_printed)).collect()
        };
        let plain = |text: &str| (text.to_owned(), false, false);
        assert_eq!(read("python3 'a.py' --to=b.txt"), ["python3", "a.py", "--to", "b.txt"].map(plain));
        let written = ("x.txt".to_owned(), true, false);
        assert_eq!(read("sort a.txt >> \"x.txt\""), [plain("sort"), plain("a.txt"), written]);
        let printed = ("a.py".to_owned(), false, true);
        assert_eq!(read("echo a.py; b.py # c.py\nd.py"), [plain("echo"), printed, plain("b.py"), plain("d.py")]);
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
