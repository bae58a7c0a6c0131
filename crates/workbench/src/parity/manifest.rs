//! The manifest that may lie beside fixtures.

/// Its name.
pub const FILE: &str = "manifest.json";
