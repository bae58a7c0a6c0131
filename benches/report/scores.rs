//! Scores that nobody computed: as many, as long and as mixed as real ones.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, RecordBatch, UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

/// What is made up.
pub struct Made {
    pub games: u32,
    /// Which set of games: those of one set have the same lengths for every model.
    pub set: u64,
    /// Mean number of plies of a game.
    pub plies: f64,
    /// Mean number of plies for which a model makes no mistake.
    pub lasts: f64,
}

/// Groups of labels in the order of their columns, and how many each has.
const GROUPS: [(&str, u32, u32); 7] = [
    ("hits_pieces", 0, 64),
    ("hits_side", 64, 1),
    ("hits_castling", 65, 4),
    ("hits_ep_file", 69, 1),
    ("hits_ep_rank", 70, 1),
    ("hits_halfmove", 71, 2),
    ("hits_fullmove", 73, 2),
];

struct Row {
    game: u32,
    t: u32,
    right: u128,
    loss: f64,
}

/// Writes a file as `evaluate` does, and says how many rows it has.
pub fn write(path: &Path, model: &str, made: &Made) -> u64 {
    let mut lengths = Random::new(made.set);
    let mut random = Random::new(model.bytes().fold(made.set, |seed, byte| seed * 31 % 1_000_003 + u64::from(byte)));
    let mut writer = None;
    let (mut rows, mut written) = (Vec::new(), 0);
    for game in 0..made.games {
        // Lengths between a quarter of the mean and almost twice as much.
        let plies = (made.plies * (0.25 + 0.75 * (lengths.share() + lengths.share()))) as u32;
        let sound = (-random.share().ln() * made.lasts) as u32;
        for t in 0..=plies {
            rows.push(row(&mut random, game, t, t >= sound));
        }
        if rows.len() >= 1 << 17 || game + 1 == made.games {
            let batch = batch(&rows);
            let writer = writer.get_or_insert_with(|| open(path, model, &batch));
            writer.write(&batch).expect("written rows");
            written += rows.len() as u64;
            rows.clear();
        }
    }
    writer.expect("games").close().expect("a written file");
    written
}

fn row(random: &mut Random, game: u32, t: u32, is_lost: bool) -> Row {
    let all = (1u128 << 75) - 1;
    // Once it is lost, a model has some labels wrong at three positions of four.
    let wrong = if is_lost && random.next() & 3 != 0 {
        let some = |random: &mut Random| u128::from(random.next() & random.next() & random.next());
        (some(random) | some(random) << 64) & all
    } else {
        0
    };
    let loss = random.share() * 1e-4 + f64::from(wrong.count_ones()) * (0.01 + 0.02 * random.share());
    Row { game, t, right: all & !wrong, loss }
}

fn open(path: &Path, model: &str, batch: &RecordBatch) -> ArrowWriter<File> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(Some(1 << 18))
        .set_key_value_metadata(Some(vec![KeyValue::new("cwm.model".to_owned(), model.to_owned())]))
        .build();
    let file = File::create(path).expect("a file");
    ArrowWriter::try_new(file, batch.schema(), Some(properties)).expect("a Parquet file")
}

fn batch(rows: &[Row]) -> RecordBatch {
    let mut columns: Vec<(&str, ArrayRef)> = vec![
        ("game", Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.game)))),
        ("t", Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.t)))),
        ("right_squares", Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.right as u64)))),
        ("right_state", Arc::new(UInt16Array::from_iter_values(rows.iter().map(|row| (row.right >> 64) as u16)))),
    ];
    for (name, first, count) in GROUPS {
        let hits = |row: &Row| (row.right >> first & ((1 << count) - 1)).count_ones() as u8;
        columns.push((name, Arc::new(UInt8Array::from_iter_values(rows.iter().map(hits)))));
    }
    columns
        .push(("correct", Arc::new(UInt8Array::from_iter_values(rows.iter().map(|row| row.right.count_ones() as u8)))));
    columns
        .push(("exact", Arc::new(BooleanArray::from_iter(rows.iter().map(|row| Some(row.right.count_ones() == 75))))));
    columns.push(("loss", Arc::new(Float64Array::from_iter_values(rows.iter().map(|row| row.loss)))));
    RecordBatch::try_from_iter(columns).expect("columns of one length")
}

/// Numbers that look random enough here (xorshift).
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Random((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Between 0 and 1.
    fn share(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }
}
