//! The files of a table, a format each.

use std::path::Path;

use cwm_contract::Failure;

use super::Table;

/// A form in which a table is written.
pub struct Format {
    /// The ending of the file's name.
    pub ending: &'static str,
    /// For people.
    pub name: &'static str,
    write: fn(&Table) -> Result<String, Failure>,
}

/// All of them: the one that people paste, then those that programs read.
pub const FORMATS: [Format; 3] = [
    Format { ending: "tex", name: "LaTeX", write: |table| Ok(table.latex()) },
    Format { ending: "csv", name: "CSV", write: |table| Ok(table.csv()) },
    Format { ending: "json", name: "JSON", write: Table::json },
];

impl Table {
    /// Writes its files into `folder`, and gives their names.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write_files(&self, folder: &Path) -> Result<Vec<String>, Failure> {
        let write = |format: &Format| {
            let name = format!("{}.{}", self.id, format.ending);
            let path = folder.join(&name);
            let bytes = (format.write)(self)?;
            std::fs::write(&path, bytes).map_err(|error| Failure::io("write", &path, error))?;
            Ok(name)
        };
        FORMATS.iter().map(write).collect()
    }
}
