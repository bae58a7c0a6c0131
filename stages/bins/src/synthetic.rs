//! Made-up scores for the tests.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, BooleanArray, Float64Array, UInt8Array, UInt32Array};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::file::metadata::KeyValue;
use datafusion::parquet::file::properties::WriterProperties;

/// The columns of a scores row that `bins` reads.
#[derive(Clone, Debug)]
pub(crate) struct Position {
    pub(crate) game: u32,
    pub(crate) t: u32,
    pub(crate) correct: u8,
    pub(crate) exact: bool,
    pub(crate) loss: Option<f64>,
}

/// The positions of `games` games of 1 to 60 steps, with losses over many orders of
/// magnitude, each a multiple of 2^-60.
pub(crate) fn scores(seed: u64, games: u32) -> Vec<Position> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move |bound: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % bound
    };
    let mut positions = Vec::new();
    for game in 0..games {
        let steps = 1 + next(60) as u32;
        let strong = next(3) == 0;
        for t in 0..steps {
            let exact = strong || next(4) == 0;
            let correct = if exact { 75 } else { next(75) as u8 };
            let loss = next(1 << 40) as f64 / 2f64.powi(next(61) as i32);
            positions.push(Position { game, t, correct, exact, loss: Some(loss) });
        }
    }
    positions
}

/// Writes them as `evaluate` does, in several row groups, with `model` as the `cwm.model` text.
pub(crate) fn write_scores(path: &Path, model: Option<&str>, positions: &[Position]) {
    fn column<A: FromIterator<T> + datafusion::arrow::array::Array + 'static, T>(
        positions: &[Position],
        read: impl Fn(&Position) -> T,
    ) -> ArrayRef {
        Arc::new(positions.iter().map(read).collect::<A>())
    }
    let batch = RecordBatch::try_from_iter([
        ("game", column::<UInt32Array, _>(positions, |position| Some(position.game))),
        ("t", column::<UInt32Array, _>(positions, |position| Some(position.t))),
        ("correct", column::<UInt8Array, _>(positions, |position| Some(position.correct))),
        ("exact", column::<BooleanArray, _>(positions, |position| Some(position.exact))),
        ("loss", column::<Float64Array, _>(positions, |position| position.loss)),
    ])
    .unwrap();
    let metadata = model.map(|text| vec![KeyValue::new("cwm.model".to_owned(), text.to_owned())]);
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(Some(10_000))
        .set_key_value_metadata(metadata)
        .build();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}
