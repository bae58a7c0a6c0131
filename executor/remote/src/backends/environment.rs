//! Settings and credentials from the environment. A value that no request can carry is refused here, by its name and without
//! showing it.

use std::path::Path;
use std::str::FromStr;

use crate::error::{RemoteError, Result};

/// Ends of names whose values are paths, documents, times or words for people: any text.
const ANY_TEXT: [&str; 11] = [
    "_FILE",
    "_PATH",
    "SERVICE_ACCOUNT",
    "SERVICE_ACCOUNT_KEY",
    "APPLICATION_CREDENTIALS",
    "_AGENT",
    "_TYPE",
    "_CERTIFICATE",
    "_EXCLUDES",
    "_TIMEOUT",
    "_INTERVAL",
];

/// A variable that is set.
pub struct Setting<K> {
    /// Its name.
    pub variable: String,
    /// The key of `object_store` that it sets.
    pub key: K,
    /// Its value, without space around it.
    pub value: String,
}

/// Returns the variables of these names that `object_store` reads, in the order of their names. A value that is empty is
/// none.
///
/// # Errors
/// One has characters that it cannot have.
pub fn settings<K: FromStr>(is_of_kind: impl Fn(&str) -> bool) -> Result<Vec<Setting<K>>> {
    let mut found = Vec::new();
    for (name, value) in std::env::vars_os() {
        let Some(variable) = name.to_str().filter(|name| is_of_kind(name)) else { continue };
        let Ok(key) = variable.to_ascii_lowercase().parse() else { continue };
        let value = check_value(variable, &value.to_string_lossy())?.to_owned();
        if !value.is_empty() {
            found.push(Setting { variable: variable.to_owned(), key, value });
        }
    }
    found.sort_by(|one, other| one.variable.cmp(&other.variable));
    Ok(found)
}

/// Returns where the settings of a remote come from: cwm.toml, and these variables with the files that they name.
pub fn sources<K>(settings: &[Setting<K>]) -> String {
    let source = |Setting { variable, value, .. }: &Setting<K>| match Path::new(value).is_absolute() {
        true => format!(", {variable}, {value}"),
        false => format!(", {variable}"),
    };
    "cwm.toml".to_owned() + &settings.iter().map(source).collect::<String>()
}

/// Returns the value of `name`, without space around it, such as the line break that `$(cat file)` leaves out and other ways
/// leave in.
///
/// # Errors
/// It has characters that it cannot have.
pub fn check_value<'v>(name: &str, value: &'v str) -> Result<&'v str> {
    let value = value.trim();
    if ANY_TEXT.iter().any(|end| name.ends_with(end)) || value.chars().all(|letter| letter.is_ascii_graphic()) {
        return Ok(value);
    }
    Err(RemoteError::Unsupported(format!(
        "{name} has a space, a line break or another character that it cannot have; its value is not shown"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_trimmed_and_refused_by_their_name() {
        assert_eq!(check_value("AWS_ACCESS_KEY_ID", " AK\n"), Ok("AK"));
        assert_eq!(check_value("AWS_SECRET_ACCESS_KEY", "a/b+c=\r\n"), Ok("a/b+c="));
        assert_eq!(check_value("AWS_WEB_IDENTITY_TOKEN_FILE", "/a b/ü"), Ok("/a b/ü"));
        assert_eq!(check_value("GOOGLE_SERVICE_ACCOUNT_KEY", "{\n \"a\": 1 }\n"), Ok("{\n \"a\": 1 }"));
        assert_eq!(check_value("AWS_CONNECT_TIMEOUT", "5 seconds"), Ok("5 seconds"));
        for value in ["hun ter2", "hun\nter2", "hun\u{7f}ter2", "hün\u{e9}ter2", "hun\0ter2"] {
            for name in ["AWS_REGION", "AWS_SESSION_TOKEN", "AZURE_STORAGE_TOKEN", "AZURE_STORAGE_SAS_KEY"] {
                let words = check_value(name, value).expect_err(value).to_string();
                assert!(words.contains(name) && !words.contains("ter2"), "{words}");
            }
        }
    }
}
