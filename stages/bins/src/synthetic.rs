//! Made-up scores for the tests.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BooleanArray, Float64Array, UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
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
    /// Bit i: label i is right, of 75.
    pub(crate) right: u128,
    pub(crate) loss: Option<f64>,
}

/// All labels are right.
pub(crate) const ALL_RIGHT: u128 = (1 << 75) - 1;

impl Position {
    pub(crate) fn correct(&self) -> u32 {
        self.right.count_ones()
    }

    pub(crate) fn is_exact(&self) -> bool {
        self.right == ALL_RIGHT
    }
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
            let wrong = (u128::from(next(1 << 40)) << 35 | u128::from(next(1 << 40))) & ALL_RIGHT | 1 << next(75);
            let right = if exact { ALL_RIGHT } else { ALL_RIGHT & !wrong };
            let loss = next(1 << 40) as f64 / 2f64.powi(next(61) as i32);
            positions.push(Position { game, t, right, loss: Some(loss) });
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
        ("right_squares", column::<UInt64Array, _>(positions, |position| Some(position.right as u64))),
        ("right_state", column::<UInt16Array, _>(positions, |position| Some((position.right >> 64) as u16))),
        ("correct", column::<UInt8Array, _>(positions, |position| Some(position.correct() as u8))),
        ("exact", column::<BooleanArray, _>(positions, |position| Some(position.is_exact()))),
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
