//! Credentials for S3 from the files in which people keep them: `~/.aws/credentials` and `~/.aws/config`. (The environment,
//! tokens of web identities and of machines, and all of Google and Azure, `object_store` knows by itself.)

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::environment;
use crate::error::RemoteError;
use cwm_core::visible;

/// The entries of a profile.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Profile {
    values: BTreeMap<String, String>,
    /// The name, where the environment gives it, and neither file has such a profile.
    not_found: Option<String>,
}

impl Profile {
    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The profile that the environment names, else `default`, from the files that the environment names, else those in the
    /// home folder. Nothing, where there are none.
    ///
    /// # Errors
    /// A value there has characters that it cannot have.
    pub fn read() -> Result<Profile, RemoteError> {
        let variable = |name: &str| {
            std::env::var(name).ok().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
        };
        let given = variable("AWS_PROFILE");
        let name = given.clone().unwrap_or_else(|| "default".to_owned());
        let home = variable("HOME").map(PathBuf::from);
        let file = |given: &str, usual: &str| {
            let path = variable(given).map(PathBuf::from).or_else(|| Some(home.as_ref()?.join(".aws").join(usual)))?;
            std::fs::read_to_string(path).ok()
        };
        let config = file("AWS_CONFIG_FILE", "config").unwrap_or_default();
        let credentials = file("AWS_SHARED_CREDENTIALS_FILE", "credentials").unwrap_or_default();
        let mut values = section(&config, &name, "profile ");
        values.extend(section(&credentials, &name, ""));
        for key in ["aws_access_key_id", "aws_secret_access_key", "aws_session_token"] {
            if let Some(value) = values.get(key) {
                environment::checked(&format!("`{key}` of the profile {}", visible(&name)), value)?;
            }
        }
        let not_found = given.filter(|_| values.is_empty());
        Ok(Profile { values, not_found })
    }

    /// A profile is named that is in neither file.
    ///
    /// # Errors
    /// It is nowhere.
    pub fn require_found(&self) -> Result<(), RemoteError> {
        let Some(name) = &self.not_found else { return Ok(()) };
        Err(RemoteError::Refused(format!(
            "AWS_PROFILE names the profile `{}`, and neither ~/.aws/credentials nor ~/.aws/config (or what \
             AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE name) has entries of it",
            visible(name)
        )))
    }
}

/// The entries of `[name]`, or of `[prefix name]`, in such a file.
fn section(text: &str, name: &str, prefix: &str) -> BTreeMap<String, String> {
    let mut inside = false;
    let mut values = BTreeMap::new();
    for line in text.lines() {
        // An indented line belongs to what is above it, such as settings of one service.
        if line.starts_with([' ', '\t', '#', ';']) || line.trim().is_empty() {
            continue;
        }
        if let Some(title) = line.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            let title = title.trim();
            inside = title == name
                || (!prefix.is_empty() && title.strip_prefix(prefix).is_some_and(|rest| rest.trim() == name));
        } else if let (true, Some((key, value))) = (inside, line.split_once('=')) {
            values.insert(key.trim().to_owned(), value.trim().to_owned());
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_read_as_other_programs_read_them() {
        let text = "# ours\n[default]\nregion = eu-1\ns3 =\n  endpoint_url = x\n\n[profile lab]\nregion=us-2\n endpoint_url = y\nendpoint_url = z=1\n";
        assert_eq!(section(text, "default", "profile ")["region"], "eu-1");
        assert_eq!(section(text, "default", "profile ").get("endpoint_url"), None);
        assert_eq!(section(text, "lab", "profile ")["endpoint_url"], "z=1");
        assert!(section(text, "lab", "").is_empty());
    }
}
