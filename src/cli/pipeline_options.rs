//! Options of this command line, repeated in commands that hints name.

use std::path::Path;

use cwm_core::shell_quote;

use super::PipelineArguments;

/// Returns the options that name the pipeline, its variables and its store, each with a space before it.
pub fn pipeline_options(store: Option<&Path>, arguments: &PipelineArguments) -> String {
    let mut options = String::new();
    if let Some(file) = &arguments.file {
        options += &format!(" -f {}", shell_quote(&file.to_string_lossy()));
    }
    options += &set_options(arguments.sets.iter().map(|(name, value)| (name, value)));
    if let Some(store) = store {
        options += &format!(" --store {}", shell_quote(&store.to_string_lossy()));
    }
    options
}

/// Returns the options that give variables these values, each with a space before it.
pub fn set_options<'a>(sets: impl IntoIterator<Item = (&'a String, &'a String)>) -> String {
    sets.into_iter().map(|(name, value)| format!(" --set {}", shell_quote(&format!("{name}={value}")))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_them_as_they_were_given() {
        let sets = [("url", "http://x/y?a=1&b=2"), ("who", "it's I"), ("none", "")];
        let sets = sets.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let arguments = PipelineArguments { file: Some("a folder/lichess.yaml".into()), sets };
        let typed = pipeline_options(Some(Path::new("/store")), &arguments);
        let echoed = std::process::Command::new("sh").args(["-c", &format!("printf '%s\\n' {typed}")]).output();
        let words = String::from_utf8(echoed.expect("a shell").stdout).expect("text");
        let expected = "-f\na folder/lichess.yaml\n--set\nurl=http://x/y?a=1&b=2\n--set\nwho=it's I\n--set\nnone=\n";
        assert_eq!(words, format!("{expected}--store\n/store\n"));
        assert_eq!(pipeline_options(None, &PipelineArguments { file: None, sets: Vec::new() }), "");
    }
}
