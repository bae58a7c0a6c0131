//! `cwm util schema`: what a pipeline file may hold, for editors and for people.

use crate::output::{print, print_json, reject_json_with};
use cwm_core::Error;
use cwm_pipeline::schema;

/// Runs `cwm util schema`: prints JSON Schema, or a page of Markdown.
///
/// # Errors
/// Standard output cannot be written.
pub fn run(markdown: bool) -> Result<(), Error> {
    let registry = crate::registry::built_in();
    if !markdown {
        return print_json(&schema::document(&registry));
    }
    reject_json_with("--markdown")?;
    print(&schema::markdown(&registry))
}
