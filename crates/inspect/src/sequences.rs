//! Describes folders of tokens with targets.

use std::path::Path;

use cwm_contract::{Description, Failure, amount};
use cwm_sequences::{NO_LOSS, Sequences};
use serde_json::json;

use crate::format::{counted, escape_controls, line, percent, with_separators};
use crate::games::files_in;

/// Describes a folder of format `sequences`.
pub fn sequences(path: &Path) -> Result<Description, Failure> {
    let sequences = Sequences::open(path)?;
    let vocabulary = sequences.vocabulary();
    let (mut tokens, mut targets, mut lengths) = (0, 0, None);
    for sequence in sequences.iter() {
        let sequence = sequence?;
        let length = sequence.tokens.len() as u64;
        tokens += length;
        targets += sequence.targets.iter().filter(|target| **target != NO_LOSS).count() as u64;
        let (shortest, longest) = lengths.unwrap_or((length, length));
        lengths = Some((length.min(shortest), length.max(longest)));
    }
    let (files, bytes) = files_in(path)?;
    let mut lines = vec![
        line(
            "vocabulary",
            format!(
                "{} (version {}): {} tokens, {} targets, at most {} tokens a sequence",
                escape_controls(&vocabulary.form, 40),
                vocabulary.version,
                with_separators(vocabulary.inputs.into()),
                with_separators(vocabulary.targets.into()),
                with_separators(vocabulary.longest.into())
            ),
        ),
        line("sequences", with_separators(sequences.len() as u64)),
        line("tokens", with_separators(tokens)),
        line("targets", format!("{} ({} of the tokens)", with_separators(targets), percent(targets, tokens))),
    ];
    if let Some((shortest, longest)) = lengths {
        let mean = tokens as f64 / sequences.len() as f64;
        let [shortest, longest] = [shortest, longest].map(with_separators);
        lines.push(line("length", format!("{shortest} to {longest} tokens, mean {mean:.1}")));
    }
    lines.push(line("on disk", format!("{} in {}", amount::format_bytes(bytes), counted(files, "file"))));
    let facts = json!({
        "vocabulary": vocabulary, "sequences": sequences.len(), "tokens": tokens, "targets": targets,
        "shortest": lengths.map(|(shortest, _)| shortest), "longest": lengths.map(|(_, longest)| longest),
        "files": files, "bytes": bytes,
    });
    Ok(Description { lines, facts })
}
