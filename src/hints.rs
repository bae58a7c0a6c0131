//! Commands in hints: they repeat the options of this command line that name the pipeline, its variables and its store.

use std::path::Path;
use std::sync::{LazyLock, OnceLock};

use cwm_core::shell_quote;
use regex::{Captures, Regex};

/// The options of this command line, with and without `--set`.
static OPTIONS: OnceLock<[String; 2]> = OnceLock::new();

/// The option `--executor` of this command line, with a space before it.
static EXECUTOR: OnceLock<String> = OnceLock::new();

/// Remembers the options of this command line for [`with_options`].
pub fn record_options(store: Option<&Path>, file: Option<&Path>, sets: &[(String, String)]) {
    OPTIONS.get_or_init(|| [sets, &[]].map(|sets| pipeline_options(store, file, sets)));
}

/// Remembers the option `--executor` of this command line for [`with_options`]: without it, `cwm run` in a hint would do
/// elsewhere what this run left.
pub fn record_executor(name: &str) {
    EXECUTOR.get_or_init(|| format!(" --executor {name}"));
}

/// Returns a text for people with the options of this command line in each command between backquotes, so that it can be pasted.
pub fn with_options(text: &str) -> String {
    // The expression takes half a millisecond to compile.
    match OPTIONS.get().filter(|_| text.contains("`cwm ")) {
        Some([all, without_sets]) => complete(text, all, without_sets, EXECUTOR.get().map_or("", String::as_str)),
        None => text.to_owned(),
    }
}

/// A command between backquotes: its name, also that of a group, and what follows.
static COMMAND: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("`cwm ((?:store |model |util )?[a-z]*)([^`]*)").expect("the expression is well-formed")
});

fn complete(text: &str, all: &str, without_sets: &str, executor: &str) -> String {
    let complete = |command: &Captures<'_>| {
        let (name, typed) = (&command[1], &command[2]);
        let has_pipeline =
            [" -f ", " --file ", " --set ", " --store ", ".yaml"].iter().any(|option| typed.contains(option));
        let options = match name {
            _ if has_pipeline => String::new(),
            // Its `-f` is `--follow`.
            "log" => all.replacen(" -f ", " --file ", 1),
            "run" if !typed.contains(" --executor ") => format!("{all}{executor}"),
            "run" | "status" | "why" | "accept" | "show" | "export" | "sql" | "lock" | "push" | "pull"
            | "store verify" | "model track" | "uci" | "reward" => all.to_owned(),
            "store ls" | "store tag" | "store du" | "store gc" | "diff" | "runs" => without_sets.to_owned(),
            _ => String::new(),
        };
        format!("`cwm {name}{options}{typed}")
    };
    COMMAND.replace_all(text, complete).into_owned()
}

/// Returns the options that name the pipeline, its variables and its store, each with a space before it.
pub fn pipeline_options(store: Option<&Path>, file: Option<&Path>, sets: &[(String, String)]) -> String {
    let file = file.map(|file| format!(" -f {}", shell_quote(&file.to_string_lossy())));
    let store = store.map(|store| format!(" --store {}", shell_quote(&store.to_string_lossy())));
    let sets = set_options(sets.iter().map(|(name, value)| (name, value)));
    [file.unwrap_or_default(), sets, store.unwrap_or_default()].concat()
}

/// Returns the options that give variables these values, each with a space before it.
pub fn set_options<'a>(sets: impl IntoIterator<Item = (&'a String, &'a String)>) -> String {
    sets.into_iter().map(|(name, value)| format!(" --set {}", shell_quote(&format!("{name}={value}")))).collect()
}

/// Returns the command line of this process, quoted for a shell, `without` an option and its values, and with those `added`. It
/// names the store, also where that is from the environment: another shell may have another one.
pub fn invocation(without: Option<&str>, added: &str) -> String {
    let mut words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let (mut options, mut operands) = ("cwm".to_owned(), String::new());
    while let Some(word) = words.next() {
        match without.and_then(|option| word.strip_prefix(option)) {
            // After `--` there are no options.
            _ if word == "--" || !operands.is_empty() => operands += &format!(" {}", shell_quote(&word)),
            Some("") => _ = words.next(),
            Some(value) if value.starts_with('=') => {}
            _ => options += &format!(" {}", shell_quote(&word)),
        }
    }
    let store = std::env::var("CWM_STORE").ok().filter(|store| !store.is_empty() && !options.contains(" --store"));
    let store = store.map_or_else(String::new, |store| format!(" --store {}", shell_quote(&store)));
    options + added + &store + &operands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_them_as_they_were_given() {
        let sets = [("url", "http://x/y?a=1&b=2"), ("who", "it's I"), ("none", "")];
        let sets = sets.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let typed = pipeline_options(Some(Path::new("/store")), Some(Path::new("a folder/lichess.yaml")), &sets);
        let echoed = std::process::Command::new("sh").args(["-c", &format!("printf '%s\\n' {typed}")]).output();
        let words = String::from_utf8(echoed.expect("a shell").stdout).expect("text");
        let expected = "-f\na folder/lichess.yaml\n--set\nurl=http://x/y?a=1&b=2\n--set\nwho=it's I\n--set\nnone=\n";
        assert_eq!(words, format!("{expected}--store\n/store\n"));
        assert_eq!(pipeline_options(None, None, &[]), "");
    }

    #[test]
    fn every_command_in_a_hint_gets_the_options_that_it_has() {
        let completed = |text| complete(text, " -f a.yaml --set n=1", " -f a.yaml", "");
        for (text, expected) in [
            (
                "`cwm run` computes it; `cwm why 'm[x=1]'`",
                "`cwm run -f a.yaml --set n=1` computes it; `cwm why -f a.yaml --set n=1 'm[x=1]'`",
            ),
            (
                "`cwm log STAGE`, `cwm store ls --all`",
                "`cwm log --file a.yaml --set n=1 STAGE`, `cwm store ls -f a.yaml --all`",
            ),
            // These have no options of the pipeline, or have them already.
            ("`cwm init DIR`, `cwm run FILE.yaml`, `cwm", "`cwm init DIR`, `cwm run FILE.yaml`, `cwm"),
            ("`cwm lock --update -f b.yaml` and `cwm runner`", "`cwm lock --update -f b.yaml` and `cwm runner`"),
        ] {
            assert_eq!(completed(text), expected);
        }
        let of_slurm = |text| complete(text, " -f a.yaml", " -f a.yaml", " --executor slurm");
        let hint = "`cwm run` submits it, `cwm run --executor local` runs it, `cwm why a`";
        let expected = "`cwm run -f a.yaml --executor slurm` submits it, `cwm run -f a.yaml --executor local` runs it, \
                        `cwm why -f a.yaml a`";
        assert_eq!(of_slurm(hint), expected);
    }
}
