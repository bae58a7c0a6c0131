//! Items about comments.

use std::path::Path;

use cwm_contract::{Context, Failure};
use cwm_questions::build::semantic;
use cwm_questions::{Item, Task, read_comments};

use crate::counts::SourceCounts;
use crate::embeddings;
use crate::files::Text;

/// Reads comments, and their embeddings if there are any, and builds the items of Semantic.
pub fn read(
    context: &Context,
    path: &Path,
    seed: i128,
    wanted: impl Fn(Task) -> usize,
) -> Result<(Vec<Item>, SourceCounts), Failure> {
    context.activity("reading comments");
    let text = Text::open(path)?;
    let comments = read_comments(text.reader, &path.display().to_string())?;
    let vectors =
        context.optional_input("embeddings").map(|path| embeddings::read(path, comments.len())).transpose()?;
    let mut counts = SourceCounts::new([]);
    comments.iter().for_each(|_| counts.count_read());
    Ok((semantic(&comments, vectors.as_deref(), seed, wanted)?, counts))
}
