//! What will keep an export from being made, told before anything runs.

use std::fs;
use std::io;
use std::path::Path;

use super::Store;

impl Store {
    /// What keeps anything from being exported into the folder `destination`, as far as that can be told before there is
    /// anything to export: in words, and what to do about it.
    pub fn export_preflight(&self, destination: &Path) -> Option<(String, &'static str)> {
        let shown = destination.display();
        let root = std::path::absolute(self.root()).unwrap_or_else(|_| self.root().to_owned());
        if destination.starts_with(&root) || self.holds(destination) {
            let words = format!("{shown} is in the store itself");
            return Some((words, "name a folder outside of it: what is in the store is made by cwm alone"));
        }
        let standing = destination.ancestors().find_map(|place| match fs::metadata(place) {
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => None,
            found => Some((place, found.is_ok_and(|found| !found.is_dir()))),
        });
        match standing {
            Some((place, true)) => Some((
                format!("{} is a file, and an export makes a folder", place.display()),
                "move it away, or name another folder",
            )),
            _ => None,
        }
    }
}
