//! The server's key: read from the environment, sent, and written nowhere.

use cwm_contract::Failure;

/// The text in place of the key in texts of the server.
const REPLACEMENT: &str = "(key)";

/// Shorter ones are no secrets, such as `none` or `EMPTY`.
const SHORTEST_SECRET: usize = 12;

/// A key, or none.
#[derive(Clone)]
pub struct ServerKey(Option<String>);

impl ServerKey {
    /// Reads the key in the environment variable `variable`.
    ///
    /// # Errors
    /// It holds characters that no header may have.
    pub fn of_environment(variable: &str) -> Result<Self, Failure> {
        let value = std::env::var_os(variable).unwrap_or_default();
        value.to_str().and_then(Self::new).ok_or_else(|| {
            Failure::input(format!("the environment variable {variable} holds no key: a key is ASCII without spaces"))
        })
    }

    /// The key in this text, or no key if it is empty. `None` if it holds characters that no header may have.
    pub fn new(text: &str) -> Option<Self> {
        let key = text.trim();
        let is_key = key.bytes().all(|byte| byte.is_ascii_graphic());
        is_key.then(|| ServerKey((!key.is_empty()).then(|| key.to_owned())))
    }

    /// No key.
    pub fn none() -> Self {
        ServerKey(None)
    }

    /// True if there is one.
    pub fn is_set(&self) -> bool {
        self.0.is_some()
    }

    /// The header `Authorization`.
    pub fn header(&self) -> Option<String> {
        self.0.as_ref().map(|key| format!("Bearer {key}"))
    }

    /// A text of the server without the key.
    pub fn redact(&self, text: String) -> String {
        match &self.0 {
            Some(key) if key.len() >= SHORTEST_SECRET && text.contains(key.as_str()) => {
                text.replace(key.as_str(), REPLACEMENT)
            }
            _ => text,
        }
    }
}
