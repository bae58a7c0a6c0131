//! The place in a report's page for data that only the executor has: which results made it, when, where and at what cost.
//!
//! A stage that writes a page of the format [`crate::Format::REPORT`] leaves [`PLACEHOLDER`] in its [`PAGE_FILE`], and its result
//! stays a function of what it reads. Where the executor exports such a report, it puts [`fill`] there, in the copy.

/// The page of a report, in its folder.
pub const PAGE_FILE: &str = "index.html";

/// The file beside the page that an export adds: the same JSON, for programs.
pub const JSON_FILE: &str = "provenance.json";

/// The element of the page, as the stage leaves it. No text in a page can be taken for it, as `<` is escaped there.
pub const PLACEHOLDER: &str = r#"<script type="application/json" id="cwm-provenance">null</script>"#;

/// Returns the element with `json` in it, which cannot end the element: JSON has `<` in strings only.
pub fn fill(json: &str) -> String {
    PLACEHOLDER.replacen("null", &json.replace('<', "\\u003c"), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_filled_in_cannot_end_the_element() {
        let filled = fill(r#"{"a":"</script><!--null"}"#);
        assert_eq!(
            filled,
            r#"<script type="application/json" id="cwm-provenance">{"a":"\u003c/script>\u003c!--null"}</script>"#
        );
    }
}
