//! Credentials for S3 from the files in which people keep them: `~/.aws/credentials` and `~/.aws/config`. (The environment,
//! tokens of web identities and of machines, and all of Google and Azure, `object_store` handles by itself.)

use std::collections::BTreeMap;

use crate::error::{RemoteError, Result};
use cwm_core::escape_controls;

/// Returns the entries of the profile that the environment names, else of `default`, in the files that the environment names,
/// else in those of the home folder.
///
/// # Errors
/// The environment names a profile that is in neither file.
pub fn read() -> Result<BTreeMap<String, String>> {
    let variable =
        |name: &str| std::env::var(name).ok().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
    let file = |by_name: &str, usual: &str| {
        let path = variable(by_name).or_else(|| Some(format!("{}/.aws/{usual}", variable("HOME")?)))?;
        std::fs::read_to_string(path).ok()
    };
    let named = variable("AWS_PROFILE");
    let name = named.as_deref().unwrap_or("default");
    let mut values = section(&file("AWS_CONFIG_FILE", "config").unwrap_or_default(), name, "profile ");
    values.extend(section(&file("AWS_SHARED_CREDENTIALS_FILE", "credentials").unwrap_or_default(), name, ""));
    if named.is_some() && values.is_empty() {
        return Err(RemoteError::Unsupported(format!(
            "AWS_PROFILE names the profile `{}`, and neither ~/.aws/credentials nor ~/.aws/config (or what \
             AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE name) has entries of it",
            escape_controls(name)
        )));
    }
    Ok(values)
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
