//! The place in a report's page for what only the executor knows: which results made it, when, where and at what cost.
//!
//! A stage that writes a page of the format [`crate::Format::REPORT`] leaves [`EMPTY`] in its [`PAGE`], and its result
//! stays a function of what it reads. Where the executor exports such a report, it puts [`filled`] there, in the copy.

/// The page of a report, in its folder.
pub const PAGE: &str = "index.html";

/// The file beside the page that an export adds: the same JSON, for programs.
pub const FILE: &str = "provenance.json";

/// The element of the page, as the stage leaves it. No text in a page can be taken for it, as `<` is escaped there.
pub const EMPTY: &str = r#"<script type="application/json" id="cwm-provenance">null</script>"#;

/// The same element with `json` in it, of which nothing can end the element: JSON has `<` in strings only.
pub fn filled(json: &str) -> String {
    EMPTY.replacen("null", &json.replace('<', "\\u003c"), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_filled_in_cannot_end_the_element() {
        let filled = filled(r#"{"a":"</script><!--null"}"#);
        assert_eq!(
            filled,
            r#"<script type="application/json" id="cwm-provenance">{"a":"\u003c/script>\u003c!--null"}</script>"#
        );
    }
}
