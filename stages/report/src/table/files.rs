//! The files of a table, a format each.

use std::path::Path;

use cwm_contract::Failure;

use super::Table;

/// A form in which a table is written.
pub(crate) struct Format {
    /// Of the file's name.
    pub(crate) ending: &'static str,
    /// For people.
    pub(crate) name: &'static str,
    write: fn(&Table) -> Result<Vec<u8>, Failure>,
}

/// All of them: those that people paste, then those that programs read.
pub(crate) const FORMATS: [Format; 5] = [
    Format { ending: "md", name: "Markdown", write: |table| Ok(table.markdown().into_bytes()) },
    Format { ending: "tex", name: "LaTeX", write: |table| Ok(table.latex().into_bytes()) },
    Format { ending: "csv", name: "CSV", write: |table| Ok(table.csv().into_bytes()) },
    Format { ending: "json", name: "JSON", write: |table| Ok(table.json()?.into_bytes()) },
    Format { ending: "parquet", name: "Parquet", write: Table::parquet },
];

impl Table {
    /// Writes its files into `folder`, and gives their names.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(crate) fn write_files(&self, folder: &Path) -> Result<Vec<String>, Failure> {
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
