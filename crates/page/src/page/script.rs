//! The page's one script, its hash for the content policy, and data for it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cwm_contract::Failure;
use serde::Serialize;
use sha2::{Digest, Sha256};

/// The text between the script's tags: parts of the page and of its widgets, each in a block of its own, so that names of
/// one are not those of another.
pub(super) fn script(widgets: impl Iterator<Item = &'static str>) -> String {
    let (before, after) = ([include_str!("sections.js"), include_str!("sort.js")], include_str!("provenance.js"));
    let parts = before.into_iter().chain(widgets).chain([after]);
    let blocks: Vec<String> = parts.map(|part| format!("{{\n{part}}}\n")).collect();
    format!("\n\"use strict\";\n{}", blocks.concat())
}

/// `sha256-…` of the text between the tags, as a content policy has it.
pub(super) fn hash(script: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(script)))
}

/// The value as JSON for a data block of the page: nothing in it can end the block or begin a tag.
///
/// # Errors
/// It cannot be JSON, which is a mistake of ours.
pub fn embedded_json(value: &(impl Serialize + ?Sized)) -> Result<String, Failure> {
    let text = serde_json::to_string(value)
        .map_err(|error| Failure::internal(format!("the page's data cannot be JSON: {error}")))?;
    Ok(text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_cannot_leave_its_block() {
        let hostile = "</script><!--<script>&amp;";
        let text = embedded_json(hostile).unwrap();
        assert!(!text.contains(['<', '>', '&']), "{text}");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), hostile);
    }

    #[test]
    fn a_policys_hash_is_that_of_the_standard() {
        // From Content Security Policy Level 3, section 2.3.1.
        assert_eq!(hash("alert('Hello, world.');"), "sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng=");
    }
}
