//! Embeddings of comments: Parquet, a row a comment, `comment` (its place among the comments, from 0) and `vector` (of length one).

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, UInt32Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::cast;
use arrow_schema::{DataType, Field};
use cwm_contract::Failure;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// The largest difference of a vector's length from one.
const TOLERANCE: f64 = 0.01;

/// The vectors of so many comments, in their order.
///
/// # Errors
///
/// The file is not what it must be, or does not have one vector of each comment, all of length one and with
/// equally many numbers.
pub fn read(path: &Path, comments: usize) -> Result<Vec<Vec<f32>>, Failure> {
    let wrong = |what: String| Failure::input(format!("the embeddings ({}) {what}", path.display()));
    let unreadable = |error: &dyn std::fmt::Display| wrong(format!("cannot be read: {error}"));
    let file = fs_err::File::open(path)?.into_file();
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| unreadable(&error))?;
    let mut vectors = vec![Vec::new(); comments];
    for batch in builder.build().map_err(|error| unreadable(&error))? {
        let batch = batch.map_err(|error| unreadable(&error))?;
        let numbers = column(&batch, "comment", &DataType::UInt32).map_err(wrong)?;
        let list = DataType::List(Arc::new(Field::new("item", DataType::Float32, true)));
        let lists = column(&batch, "vector", &list).map_err(wrong)?;
        for row in 0..batch.num_rows() {
            let number = numbers.as_primitive::<UInt32Type>().value(row);
            let place = vectors.get_mut(number as usize);
            let place = place.ok_or_else(|| wrong(format!("are of a comment {number}, and there are {comments}")))?;
            if !place.is_empty() {
                return Err(wrong(format!("have two vectors of comment {number}")));
            }
            let vector = lists.as_list::<i32>().value(row);
            let values = vector.as_primitive::<Float32Type>().values();
            let length = values.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
            if vector.null_count() > 0 {
                return Err(wrong(format!("have a vector of comment {number} in which a number is missing")));
            }
            let is_one = (length - 1.0).abs() <= TOLERANCE;
            if !is_one {
                return Err(wrong(format!("have a vector of comment {number} of length {length:.3}, and not one"))
                    .hint("divide each vector by its length"));
            }
            *place = values.to_vec();
        }
    }
    let size = vectors.first().map_or(0, Vec::len);
    match vectors.iter().position(|vector| vector.is_empty() || vector.len() != size) {
        Some(at) => Err(wrong(format!("have no vector of comment {at}, or one of another size than the first"))),
        None => Ok(vectors),
    }
}

/// A column without nulls, as a type.
fn column(batch: &RecordBatch, name: &str, kind: &DataType) -> Result<ArrayRef, String> {
    let column = batch.column_by_name(name).ok_or_else(|| format!("have no column `{name}`"))?;
    let values = cast(column, kind).map_err(|error| format!("have another column `{name}`: {error}"))?;
    if values.null_count() > 0 { Err(format!("have a `{name}` that is none")) } else { Ok(values) }
}
