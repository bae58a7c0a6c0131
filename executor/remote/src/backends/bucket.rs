//! URLs of buckets: `s3://bucket/prefix`.

use super::{check_server_url, invalid};
use cwm_project::site::InvalidRemote;

/// Checks the URL of a bucket (Azure's container), without its scheme. Only characters are allowed that need no escaping anywhere.
///
/// # Errors
/// It is none, or holds credentials.
pub fn check(rest: &str) -> Result<(), InvalidRemote> {
    check_server_url(rest)?;
    let (name, prefix) = split(rest);
    let is_plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    if !is_plain(name) {
        return invalid("the name of a bucket has letters, digits, `-`, `_` and `.`", None);
    }
    let is_part = |part: &str| !part.is_empty() && part != "." && part != ".." && is_plain(part);
    if !prefix.is_empty() && !prefix.split('/').all(is_part) {
        let message = "the prefix in a bucket has letters, digits, `-`, `_` and `.` between single slashes";
        return invalid(message, Some("such as `s3://bucket/teams/chess`"));
    }
    Ok(())
}

/// Returns the name of the bucket, and the prefix of all names in it, without slashes at its ends.
pub fn split(rest: &str) -> (&str, &str) {
    let (name, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    (name, prefix.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_has_no_slashes_at_its_ends() {
        for (rest, name, prefix) in [("b", "b", ""), ("b/", "b", ""), ("c/p/q/", "c", "p/q")] {
            check(rest).expect("it is one");
            assert_eq!(split(rest), (name, prefix));
        }
    }
}
