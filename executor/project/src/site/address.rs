//! Where a remote is, as people write it.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use cwm_core::names::suggest;

/// Where a remote is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Address {
    /// A folder of this machine, or one that is mounted; absolute.
    Folder(PathBuf),
    /// `s3://bucket/prefix`: S3 and what speaks it.
    S3(Bucket),
    /// `gs://bucket/prefix`: Google Cloud Storage.
    Gcs(Bucket),
    /// `az://container/prefix`: Azure Blob Storage.
    Azure(Bucket),
    /// `http://…` or `https://…`: what a web server hands out; it is not written and cannot be listed.
    Http(String),
}

/// A bucket (a container) and the prefix of all names in it; empty for none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bucket {
    /// The bucket.
    pub name: String,
    /// The prefix, without slashes at its ends.
    pub prefix: String,
}

/// Why something is no address, and what to do about it. It never repeats what was written, which may hold a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

const SCHEMES: [&str; 6] = ["file", "s3", "gs", "az", "http", "https"];

pub(super) const WHERE_CREDENTIALS_ARE: &str = "cwm.toml belongs into git; credentials come from the environment or the usual files \
                                     (docs/design/remotes.md)";

impl Address {
    /// What `text` says; a folder's path is relative to `folder`.
    ///
    /// # Errors
    /// It is no address, or holds credentials.
    pub fn parse(text: &str, folder: &Path) -> Result<Address, Refused> {
        if text.is_empty() || text.contains(char::is_control) {
            return refused("a remote's URL must be text on one line", None);
        }
        let Some((scheme, rest)) = text.split_once("://") else {
            let scheme = text.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
            if scheme.is_some_and(|scheme| SCHEMES.contains(&scheme.as_str())) {
                let hint = "such as `s3://bucket/prefix`; a folder that is called so is written with `./` before it";
                return refused("a remote's URL has two slashes behind its scheme", Some(hint));
            }
            // `host:path` and `user@host:path`, as other programs have it, and `//host/path`.
            let is_path = text.starts_with(['.', '/']) && !text.starts_with("//");
            if !is_path && (text.starts_with("//") || text.contains(':') && text.contains('@')) {
                let hint = "a folder that is called so is written with `./` before it; what is on another machine is mounted first";
                return refused("a remote is a folder here, or a URL with a scheme", Some(hint));
            }
            return folder_of(text, folder);
        };
        let lower = scheme.to_ascii_lowercase();
        if !SCHEMES.contains(&lower.as_str()) {
            let hint = suggest(scheme, "schemes", SCHEMES);
            // What stands before `://` is no secret only if it is a short word.
            let named = if is_scheme(scheme) { format!(" with the scheme `{scheme}`") } else { String::new() };
            return Err(Refused { message: format!("there are no remotes{named}"), hint });
        }
        if lower == "file" {
            return match rest {
                path if path.contains('%') => refused("a folder's path is written as it is, without `%`", None),
                path if path.starts_with('/') => folder_of(path, folder),
                _ => refused("a `file://` URL has an absolute path: `file:///mnt/shared/cwm`", None),
            };
        }
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if rest.contains('@') {
            return refused("a remote's URL holds no credentials", Some(WHERE_CREDENTIALS_ARE));
        }
        if rest.contains(['?', '#']) {
            return refused("a remote's URL has no `?` and no `#`", Some(WHERE_CREDENTIALS_ARE));
        }
        if authority.is_empty() {
            return refused("a remote's URL names a host, or a bucket", Some("such as `s3://bucket/prefix`"));
        }
        if lower.starts_with("http") {
            if rest.contains(|c: char| c.is_whitespace()) || rest.split('/').any(|part| part == "." || part == "..") {
                return refused("a remote's URL has no spaces, and no part that is `.` or `..`", None);
            }
            if holds_parameters(rest) {
                return refused("a remote's URL has no parameters", Some(WHERE_CREDENTIALS_ARE));
            }
            return Ok(Address::Http(format!("{lower}://{}", rest.trim_end_matches('/'))));
        }
        let bucket = bucket(rest)?;
        Ok(match lower.as_str() {
            "s3" => Address::S3(bucket),
            "gs" => Address::Gcs(bucket),
            _ => Address::Azure(bucket),
        })
    }

    /// Whether it can only be read.
    pub fn is_read_only(&self) -> bool {
        matches!(self, Address::Http(_))
    }
}

/// Whether a name is that of a credential; none of cwm's own keys is.
pub(super) fn is_secret(name: &str) -> bool {
    let words = ["secret", "key", "token", "passw", "pwd", "credential", "auth", "sas", "sig"];
    let name = name.to_ascii_lowercase();
    words.iter().any(|word| name.contains(word))
}

/// Whether this looks like the scheme of a URL.
fn is_scheme(text: &str) -> bool {
    !text.is_empty() && text.len() <= 10 && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

fn refused<T>(message: &str, hint: Option<&str>) -> Result<T, Refused> {
    Err(Refused { message: message.to_owned(), hint: hint.map(str::to_owned) })
}

fn folder_of(text: &str, folder: &Path) -> Result<Address, Refused> {
    if text.starts_with('~') {
        return refused("`~` is known to shells only", Some("write the path of the folder itself"));
    }
    Ok(Address::Folder(folder.join(text)))
}

/// Whether the path of a URL holds what servers take for parameters, written as it is or by numbers.
fn holds_parameters(path: &str) -> bool {
    let parts = path.split('%').skip(1).map(|part| part.get(..2).unwrap_or_default().to_ascii_lowercase());
    let hidden = ["23", "25", "26", "3a", "3b", "3d", "3f", "40", "5c"];
    let mut named = path.split('/').filter_map(|part| part.split_once('='));
    path.contains([';', '&', '\\'])
        || parts.into_iter().any(|number| hidden.contains(&number.as_str()))
        || named.any(|(name, _)| is_secret(name))
}

/// `bucket/prefix`: only characters that need no escaping anywhere.
fn bucket(rest: &str) -> Result<Bucket, Refused> {
    let (name, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    let prefix = prefix.trim_end_matches('/');
    let is_plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    if !is_plain(name) {
        return refused("the name of a bucket has letters, digits, `-`, `_` and `.`", None);
    }
    let is_part = |part: &str| !part.is_empty() && part != "." && part != ".." && is_plain(part);
    if !prefix.is_empty() && !prefix.split('/').all(is_part) {
        let message = "the prefix in a bucket has letters, digits, `-`, `_` and `.` between single slashes";
        return refused(message, Some("such as `s3://bucket/teams/chess`"));
    }
    Ok(Bucket { name: name.to_owned(), prefix: prefix.to_owned() })
}

/// `text` with what may be a secret in its URLs covered by as many asterisks: what servers say is shown to people and in logs.
pub fn without_secrets(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    // With one slash it is none, and was meant as one.
    while let Some(at) = rest.find(":/") {
        let slashes = rest[at + 1..].len() - rest[at + 1..].trim_start_matches('/').len();
        let (before, after) = rest.split_at(at + 1 + slashes);
        shown.push_str(before);
        let end = after.find(|c: char| c.is_whitespace() || "\"'".contains(c)).unwrap_or(after.len());
        let (url, behind) = after.split_at(end);
        let path = url.find(['?', '#']).unwrap_or(url.len());
        // A password may hold a slash that somebody forgot to escape: up to the last `@`.
        let host = url[..path].rfind('@').unwrap_or(0);
        let cover = |part: &str| "*".repeat(part.len());
        shown.push_str(&cover(&url[..host]));
        shown.push_str(&url[host..path]);
        shown.push_str(&cover(&url[path..]));
        rest = behind;
    }
    shown + rest
}
