//! A Parquet file as this stage writes it.

use std::path::Path;

use arrow_schema::SchemaRef;
use cwm_contract::Failure;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

/// Rows of a row group.
const GROUP_ROWS: usize = 1 << 18;

/// A new file at `path` with these columns and this metadata.
///
/// # Errors
/// An operation on the disk fails.
pub fn create<const N: usize>(
    path: &Path,
    schema: &SchemaRef,
    metadata: [(&str, String); N],
) -> Result<ArrowWriter<fs_err::File>, Failure> {
    let metadata = metadata.map(|(key, value)| KeyValue::new(key.to_owned(), value)).to_vec();
    // The library's own version there would change the bytes with every update of it.
    let properties = WriterProperties::builder()
        .set_created_by("cwm".to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_key_value_metadata(Some(metadata))
        .build();
    let writer = ArrowWriter::try_new(fs_err::File::create(path)?, schema.clone(), Some(properties));
    writer.map_err(|error| Failure::system(format!("cannot write {}: {error}", path.display())))
}
