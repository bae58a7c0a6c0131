//! The files of a page.

use std::path::Path;

use cwm_contract::Failure;
use serde::Serialize;

use super::{Block, Page};

/// `tables/index.json`: the list of all tables and figures, for programs.
#[derive(Serialize)]
struct Index<'a> {
    format: u32,
    tables: Vec<IndexEntry<'a>>,
    figures: Vec<IndexEntry<'a>>,
}

#[derive(Serialize)]
struct IndexEntry<'a> {
    id: &'a str,
    title: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    paper: Option<&'a str>,
    files: Vec<String>,
}

impl Page {
    /// Writes the page, and every table and figure in each of its formats, into `folder`.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), Failure> {
        for made in [folder.join("tables"), folder.join("figures")] {
            std::fs::create_dir_all(&made).map_err(|error| Failure::io("make", &made, error))?;
        }
        let write = |name: &str, text: &dyn AsRef<[u8]>| {
            let path = folder.join(name);
            std::fs::write(&path, text.as_ref()).map_err(|error| Failure::io("write", &path, error))
        };
        write("index.html", &self.html()?)?;
        let mut index = Index { format: 1, tables: Vec::new(), figures: Vec::new() };
        for block in self.blocks() {
            match block {
                Block::Table(table) => {
                    let files = table.write_files(&folder.join("tables"))?;
                    let files = files.iter().map(|name| format!("tables/{name}")).collect();
                    index.tables.push(IndexEntry { id: &table.id, title: &table.title, paper: table.paper, files });
                }
                Block::Figure(figure) => {
                    let files: Vec<_> = ["svg", "pdf", "csv"].map(|end| format!("figures/{}.{end}", figure.id)).into();
                    write(&files[0], &figure.standalone_svg())?;
                    write(&files[1], &figure.pdf())?;
                    write(&files[2], &figure.csv())?;
                    index.figures.push(IndexEntry { id: &figure.id, title: &figure.title, paper: figure.paper, files });
                }
                Block::Widget(_) => {}
            }
        }
        let mut json = serde_json::to_string_pretty(&index)
            .map_err(|error| Failure::internal(format!("cannot write tables/index.json: {error}")))?;
        json.push('\n');
        write("tables/index.json", &json)
    }
}
