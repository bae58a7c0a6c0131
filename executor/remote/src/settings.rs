//! Settings and credentials of remotes from the environment, checked before they are used: what no request can carry is found
//! here, with its name and never its value.

use super::fault::Fault;

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
    /// What it is called.
    pub name: String,
    /// What it says, without space around it.
    pub value: String,
}

/// The variables whose names begin with `prefix` and are `known`, in the order of their names. A value that is empty is none.
///
/// # Errors
/// One has characters that it cannot have.
pub fn of_environment(prefix: &str, known: impl Fn(&str) -> bool) -> Result<Vec<Variable>, Fault> {
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

/// What `name` says, without space around it, such as the line break that `$(cat file)` leaves out and other ways leave in.
///
/// # Errors
/// It has characters that it cannot have.
pub fn checked<'v>(name: &str, value: &'v str) -> Result<&'v str, Fault> {
    let value = value.trim();
    let is_any_text = FREE.iter().any(|end| name.ends_with(end));
    let may_be_spaced = TIMES.iter().any(|end| name.ends_with(end));
    let fits = |letter: char| letter.is_ascii_graphic() || (letter == ' ' && may_be_spaced);
    match is_any_text || value.chars().all(fits) {
        true => Ok(value),
        false => Err(Fault::Refused(format!(
            "{name} has a space, a line break or another character that it cannot have; its value is not shown"
        ))),
    }
}

fn no_text(name: &str) -> Fault {
    Fault::Refused(format!("{name} is no text; its value is not shown"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn space_around_a_value_goes_and_what_no_request_can_carry_is_refused_by_its_name() {
        assert_eq!(checked("AWS_ACCESS_KEY_ID", " AK\n"), Ok("AK"));
        assert_eq!(checked("AWS_SECRET_ACCESS_KEY", "a/b+c=\r\n"), Ok("a/b+c="));
        assert_eq!(checked("AWS_WEB_IDENTITY_TOKEN_FILE", "/a b/ü"), Ok("/a b/ü"));
        assert_eq!(checked("GOOGLE_SERVICE_ACCOUNT_KEY", "{\n \"a\": 1 }\n"), Ok("{\n \"a\": 1 }"));
        assert_eq!(checked("AWS_CONNECT_TIMEOUT", "5 seconds"), Ok("5 seconds"));
        for value in ["hun ter2", "hun\nter2", "hun\u{7f}ter2", "hün\u{e9}ter2", "hun\0ter2"] {
            for name in ["AWS_REGION", "AWS_SESSION_TOKEN", "AZURE_STORAGE_TOKEN", "AZURE_STORAGE_SAS_KEY"] {
                let words = checked(name, value).expect_err(value).words();
                assert!(words.contains(name) && !words.contains("ter2"), "{words}");
            }
        }
    }
}
