//! Examples that models were fine-tuned on: the first of each data set, as text.

use std::fs::File;
use std::io::{BufRead, BufReader};

use askama::Template;
use cwm_contract::{Context, Failure, GroupInput};
use cwm_page::{Widget, escape_controls};
use cwm_reasoning::{Message, MessageRole, read_examples};

use crate::papers::shown_answers::beginning;

#[derive(Template)]
#[template(path = "reasoning/examples.html")]
struct View {
    examples: Vec<ShownExample>,
}

/// An example, safe to show.
struct ShownExample {
    source: String,
    id: String,
    /// The role and the text of each message.
    messages: Vec<(&'static str, String)>,
}

/// The examples; nothing without data sets.
///
/// # Errors
/// A file cannot be read, or does not begin with an example.
pub(super) fn examples(context: &Context) -> Result<Option<Widget>, Failure> {
    let mut examples = Vec::new();
    for input in context.group("examples") {
        examples.extend(first(input)?);
    }
    if examples.is_empty() {
        return Ok(None);
    }
    let html = View { examples }.render();
    let html = html.map_err(|error| Failure::internal(format!("cannot draw the examples: {error}")))?;
    Ok(Some(Widget { html, style: include_str!("examples.css"), script: "" }))
}

/// The first example of a file; nothing of an empty one.
fn first(input: &GroupInput) -> Result<Option<ShownExample>, Failure> {
    let failed = |error| Failure::io("read", &input.path, error);
    let mut line = String::new();
    BufReader::new(File::open(&input.path).map_err(failed)?).read_line(&mut line).map_err(failed)?;
    let source = escape_controls(&input.label.to_string());
    let example = read_examples(line.as_bytes(), &source)?.pop();
    let shown = |Message { role, content }: &Message| {
        let who = match role {
            MessageRole::System => "System message",
            MessageRole::User => "Question",
            MessageRole::Assistant => "Answer",
        };
        (who, beginning(content))
    };
    Ok(example.map(|example| ShownExample {
        source,
        id: escape_controls(&example.id),
        messages: example.messages.iter().map(shown).collect(),
    }))
}
