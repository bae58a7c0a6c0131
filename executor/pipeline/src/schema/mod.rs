//! What a pipeline file may hold, told to editors (JSON Schema) and to people (a page), from the declarations that the
//! plan checks it by: `cwm schema`, `docs/pipeline.schema.json`, `docs/reference.md`.

mod document;
mod keys;
mod markdown;
mod stage;
mod types;

pub use document::document;
pub use markdown::markdown;
