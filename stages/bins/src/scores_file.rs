//! One scores file: its footer, checked before any query runs.

use std::fs::File;
use std::path::Path;

use cwm_contract::{Failure, Label};
use cwm_scores::metrics;
use datafusion::arrow::datatypes::DataType;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Map, Value};

/// The columns that all scores have beside their metrics.
const POSITION: [(&str, DataType); 2] = [("game", DataType::UInt32), ("t", DataType::UInt32)];

/// Columns of the labels that are right; other programs may leave them out.
const RIGHT: [(&str, DataType); 2] = [("right_squares", DataType::UInt64), ("right_state", DataType::UInt16)];

/// The footer of a scores file.
pub(crate) struct ScoresFile {
    /// True if it has the labels that are right.
    pub(crate) has_labels: bool,
    /// The object under `cwm.model`; empty where there is none.
    pub(crate) model: Map<String, Value>,
}

impl ScoresFile {
    /// Reads and checks the footer of `path`, the scores of `label`.
    ///
    /// # Errors
    /// The file cannot be opened, is not Parquet, has no such column, has one of another type, holds no rows, or its
    /// `cwm.model` is no JSON object.
    pub(crate) fn open(label: &Label, path: &Path) -> Result<Self, Failure> {
        let file = File::open(path).map_err(|error| Failure::io("open", path, error))?;
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| {
            Failure::input(format!("the scores of {label} are no readable Parquet file ({}): {error}", path.display()))
                .hint("run the stage that made them again, or look at the file with `cwm show --path`")
        })?;
        let has_labels = RIGHT.iter().all(|(name, _)| reader.schema().field_with_name(name).is_ok());
        let columns = POSITION.iter().chain(RIGHT.iter().filter(|_| has_labels)).map(|(name, wanted)| (*name, wanted));
        for (name, wanted) in columns.chain(metrics::ALL.iter().map(|metric| (metric.column, &metric.data_type))) {
            let Ok(field) = reader.schema().field_with_name(name) else {
                return Err(Failure::input(format!("the scores of {label} have no column `{name}`")));
            };
            if field.data_type() != wanted {
                let found = field.data_type();
                return Err(Failure::input(format!(
                    "the column `{name}` in the scores of {label} must be {wanted}, not {found}"
                )));
            }
        }
        let footer = reader.metadata().file_metadata();
        if footer.num_rows() == 0 {
            return Err(Failure::input(format!("the scores of {label} hold no positions"))
                .hint("the set of games that was evaluated is empty"));
        }
        let model = footer
            .key_value_metadata()
            .into_iter()
            .flatten()
            .find(|entry| entry.key == "cwm.model")
            .and_then(|entry| entry.value.as_deref());
        let model = match model {
            None => Map::new(),
            Some(text) => serde_json::from_str(text).map_err(|error| {
                Failure::input(format!("`cwm.model` in the scores of {label} is not a JSON object: {error}"))
            })?,
        };
        Ok(ScoresFile { has_labels, model })
    }
}
