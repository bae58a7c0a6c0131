//! Parses the files of papers' numbers.

/// The fields of a line; a comma within quotes ends none.
pub(crate) fn fields(line: &str) -> Vec<&str> {
    let mut quoted = false;
    let is_end = |letter: char| {
        quoted ^= letter == '"';
        letter == ',' && !quoted
    };
    line.split(is_end).map(|field| field.trim_matches('"')).collect()
}

/// Returns true if both are names of one run, apart from case and from the characters between words.
pub(crate) fn is_named(run: &str, other: &str) -> bool {
    let name = |run: &str| -> String {
        let letters = run.chars().filter(|letter| letter.is_alphanumeric() || ['*', '.'].contains(letter));
        letters.flat_map(char::to_lowercase).collect()
    };
    name(run) == name(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comma_within_quotes_ends_no_field() {
        assert_eq!(fields("a,\"1,2\",c"), ["a", "1,2", "c"]);
        assert!(is_named("Llama 4 Maverick", "llama_4_maverick") && !is_named("GPT-5*", "GPT-5"));
    }
}
