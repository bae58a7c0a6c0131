//! URLs of buckets: `s3://bucket/prefix`.

use super::{check_server_url, invalid};
use cwm_project::site::InvalidRemote;

/// A bucket (Azure's container) and the prefix of all names in it, which may be empty.
#[derive(Debug, PartialEq, Eq)]
pub struct Bucket<'u> {
    /// The bucket.
    pub name: &'u str,
    /// The prefix, without slashes at its ends.
    pub prefix: &'u str,
}

impl<'u> Bucket<'u> {
    /// The bucket of a URL without its scheme. Only characters are allowed that need no escaping anywhere.
    ///
    /// # Errors
    /// It is none, or holds credentials.
    pub fn parse(rest: &'u str) -> Result<Bucket<'u>, InvalidRemote> {
        check_server_url(rest)?;
        let (name, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let prefix = prefix.trim_end_matches('/');
        let is_plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
        if !is_plain(name) {
            return invalid("the name of a bucket has letters, digits, `-`, `_` and `.`", None);
        }
        let is_part = |part: &str| !part.is_empty() && part != "." && part != ".." && is_plain(part);
        if !prefix.is_empty() && !prefix.split('/').all(is_part) {
            let message = "the prefix in a bucket has letters, digits, `-`, `_` and `.` between single slashes";
            return invalid(message, Some("such as `s3://bucket/teams/chess`"));
        }
        Ok(Bucket { name, prefix })
    }

    /// The bucket of a URL that was checked.
    pub fn checked(rest: &'u str) -> Bucket<'u> {
        let (name, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        Bucket { name, prefix: prefix.trim_end_matches('/') }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_has_no_slashes_at_its_ends() {
        for (rest, name, prefix) in [("b", "b", ""), ("b/", "b", ""), ("c/p/q/", "c", "p/q")] {
            assert_eq!(Bucket::parse(rest), Ok(Bucket { name, prefix }));
            assert_eq!(Bucket::checked(rest), Bucket { name, prefix });
        }
    }
}
