//! URLs of buckets: `s3://bucket/prefix`.

use super::check_server_url;
use cwm_project::config::InvalidRemote;

/// Checks the URL of a bucket (Azure's container), without its scheme. Only characters are allowed that need no escaping anywhere.
///
/// # Errors
/// It is none, or holds credentials.
pub fn check(rest: &str) -> Result<(), InvalidRemote> {
    check_server_url(rest, "-_./")
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
