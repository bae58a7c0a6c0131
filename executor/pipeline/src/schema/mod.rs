//! The reference of pipeline files, for editors (JSON Schema) and for people (a page). It is made of the declarations by which a
//! plan is checked: `cwm util schema`, `docs/pipeline.schema.json`, `docs/reference.md`.

mod document;
mod keys;
mod markdown;
mod stage;
mod types;

pub use document::document;
pub use markdown::markdown;
