//! The tags of a game, as python-chess reads them.

use crate::text::is_space;

/// The tags that matter, each as written. Of two with one name the last counts.
#[derive(Clone, Debug)]
pub struct Tags {
    /// The place of the game.
    pub site: Option<String>,
    /// `*` without the tag.
    pub result: String,
    /// The rules it was played by.
    pub variant: Option<String>,
    /// The position it began from. `SetUp` means nothing.
    pub fen: Option<String>,
    /// True if there is any tag.
    pub any: bool,
}

impl Default for Tags {
    fn default() -> Self {
        Tags { site: None, result: "*".into(), variant: None, fen: None, any: false }
    }
}

impl Tags {
    /// Reads one line that begins with `[`. Malformed ones mean nothing.
    pub fn read_line(&mut self, line: &str) {
        let Some((name, value)) = tag(line) else { return };
        self.any = true;
        match name {
            "Site" => self.site = Some(value.to_owned()),
            "Result" => value.clone_into(&mut self.result),
            "Variant" => self.variant = Some(value.to_owned()),
            "FEN" => self.fen = Some(value.to_owned()),
            _ => {}
        }
    }
}

/// `[Name "value"]`, white space behind it: the value ends at the last quote, and what is inside stays as it is.
fn tag(line: &str) -> Option<(&str, &str)> {
    let inside = line.trim_end_matches(is_space).strip_prefix('[')?.strip_suffix("\"]")?;
    let (name, value) = inside.split_once('"')?;
    let trimmed = name.trim_end_matches(is_space);
    (trimmed.len() < name.len()).then_some((trimmed, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_what_the_regular_expression_takes() {
        for (line, expected) in [
            ("[Site \"a\"]\n", Some(("Site", "a"))),
            ("[Site\u{a0}\t\"a \\\"b\\\" c\"]  \r\n", Some(("Site", "a \\\"b\\\" c"))),
            ("[Site \"\"]", Some(("Site", ""))),
            ("[Site \"a\"] \"b\"]", Some(("Site", "a\"] \"b"))),
            ("[Site \"]", None),
            ("[Site\"a\"]", None),
            ("[Site \"a\" ]", None),
            ("[Site \"a\"]]", None),
            ("[Site 'a']", None),
            (" [Site \"a\"]", None),
        ] {
            assert_eq!(tag(line), expected, "{line}");
        }
    }
}
