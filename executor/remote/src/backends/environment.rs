//! Settings and credentials from the environment. A value that no request can carry is refused here, by its name and without
//! showing it.

use crate::error::RemoteError;

/// Ends of names whose values are paths, documents or words for people: any text.
const FREE: [&str; 9] = [
    "_FILE",
    "_PATH",
    "SERVICE_ACCOUNT",
    "SERVICE_ACCOUNT_KEY",
    "APPLICATION_CREDENTIALS",
    "_AGENT",
    "_TYPE",
    "_CERTIFICATE",
    "_EXCLUDES",
];

/// Ends of names whose values are times, such as `30 seconds`.
const TIMES: [&str; 2] = ["_TIMEOUT", "_INTERVAL"];

/// A variable that is set.
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value, without space around it.
    pub value: String,
}

/// The variables whose names begin with `prefix` and are `known`, in the order of their names. A value that is empty is none.
///
/// # Errors
/// One has characters that it cannot have.
pub fn variables(prefix: &str, known: impl Fn(&str) -> bool) -> Result<Vec<Variable>, RemoteError> {
    let mut found = Vec::new();
    for (name, value) in std::env::vars_os() {
        let Some(name) = name.to_str().filter(|name| name.starts_with(prefix)) else { continue };
        if !known(&name.to_ascii_lowercase()) {
            continue;
        }
        let value = value.to_str().ok_or_else(|| no_text(name))?;
        let value = checked(name, value)?.to_owned();
        if !value.is_empty() {
            found.push(Variable { name: name.to_owned(), value });
        }
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(found)
}

/// The value of `name`, without space around it, such as the line break that `$(cat file)` leaves out and other ways leave in.
///
/// # Errors
/// It has characters that it cannot have.
pub fn checked<'v>(name: &str, value: &'v str) -> Result<&'v str, RemoteError> {
    let value = value.trim();
    let is_any_text = FREE.iter().any(|end| name.ends_with(end));
    let may_be_spaced = TIMES.iter().any(|end| name.ends_with(end));
    let fits = |letter: char| letter.is_ascii_graphic() || (letter == ' ' && may_be_spaced);
    match is_any_text || value.chars().all(fits) {
        true => Ok(value),
        false => Err(RemoteError::Refused(format!(
            "{name} has a space, a line break or another character that it cannot have; its value is not shown"
        ))),
    }
}

fn no_text(name: &str) -> RemoteError {
    RemoteError::Refused(format!("{name} is no text; its value is not shown"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_trimmed_and_refused_by_their_name() {
        assert_eq!(checked("AWS_ACCESS_KEY_ID", " AK\n"), Ok("AK"));
        assert_eq!(checked("AWS_SECRET_ACCESS_KEY", "a/b+c=\r\n"), Ok("a/b+c="));
        assert_eq!(checked("AWS_WEB_IDENTITY_TOKEN_FILE", "/a b/ü"), Ok("/a b/ü"));
        assert_eq!(checked("GOOGLE_SERVICE_ACCOUNT_KEY", "{\n \"a\": 1 }\n"), Ok("{\n \"a\": 1 }"));
        assert_eq!(checked("AWS_CONNECT_TIMEOUT", "5 seconds"), Ok("5 seconds"));
        for value in ["hun ter2", "hun\nter2", "hun\u{7f}ter2", "hün\u{e9}ter2", "hun\0ter2"] {
            for name in ["AWS_REGION", "AWS_SESSION_TOKEN", "AZURE_STORAGE_TOKEN", "AZURE_STORAGE_SAS_KEY"] {
                let words = checked(name, value).expect_err(value).to_string();
                assert!(words.contains(name) && !words.contains("ter2"), "{words}");
            }
        }
    }
}
