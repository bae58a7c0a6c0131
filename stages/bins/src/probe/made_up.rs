//! Made-up scores: few games, whose steps stand at the edges of bins.

use std::collections::BTreeSet;
use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BooleanArray, Float64Array, UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::file::metadata::KeyValue;
use datafusion::parquet::file::properties::WriterProperties;

/// Games of one scores file: so few that a bin which only two of them reach is not drawn by some resamples.
const GAMES: u32 = 23;

/// The game that goes on far beyond the others: a bin is its own, and one before it has no positions at all.
const LONGEST: u32 = 11;

/// All labels are right.
const ALL_RIGHT: u128 = (1 << 75) - 1;

/// Columns by name.
pub(super) type Columns = Vec<(&'static str, ArrayRef)>;

/// The losses of a file's positions.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Losses {
    All,
    /// One is infinite.
    Infinite,
    /// One is none.
    NotANumber,
    Some,
    None,
}

/// One scores file.
pub(super) struct ScoresFile {
    pub(super) label: &'static str,
    model: Option<&'static str>,
    columns: Columns,
}

/// One position.
struct Position {
    game: u32,
    t: u32,
    right: u128,
    loss: f64,
}

impl ScoresFile {
    /// Scores with this as their `cwm.model`.
    pub(super) fn new(label: &'static str, model: Option<&'static str>, columns: Columns) -> Self {
        ScoresFile { label, model, columns }
    }

    /// Changes the columns.
    pub(super) fn altered(mut self, alter: impl Fn(&mut Columns)) -> Self {
        alter(&mut self.columns);
        self
    }

    /// Writes them, in several row groups.
    pub(super) fn write(&self, path: &Path) -> Result<(), Box<dyn std::error::Error>> {
        let columns = self.columns.iter().map(|(name, values)| (*name, values.clone(), true));
        let batch = RecordBatch::try_from_iter_with_nullable(columns)?;
        let properties = WriterProperties::builder()
            .set_key_value_metadata(self.model.map(|text| vec![KeyValue::new("cwm.model".to_owned(), text.to_owned())]))
            .set_max_row_group_row_count(Some(50))
            .build();
        let mut writer = ArrowWriter::try_new(File::create(path)?, batch.schema(), Some(properties))?;
        writer.write(&batch)?;
        writer.close()?;
        Ok(())
    }
}

/// Puts other values into a column.
pub(super) fn replace(columns: &mut Columns, name: &str, values: ArrayRef) {
    columns.iter_mut().filter(|(column, _)| *column == name).for_each(|(_, column)| *column = values.clone());
}

/// Scores of all games, for bins of this width.
pub(super) fn columns(width: u32, losses: Losses) -> Columns {
    of_games(0..GAMES, width, losses)
}

/// Scores of some games.
pub(super) fn of_games(games: Range<u32>, width: u32, losses: Losses) -> Columns {
    let mut positions: Vec<Position> = games.flat_map(|game| game_of(game, width)).collect();
    // Not in their order, on which no figure may rest.
    positions.reverse();
    let loss_of = |(row, position): (usize, &Position)| match losses {
        Losses::None => None,
        Losses::Some if row % 2 == 1 => None,
        Losses::Infinite if row == 7 => Some(f64::INFINITY),
        Losses::NotANumber if row == 7 => Some(f64::NAN),
        _ => Some(position.loss),
    };
    let all = || positions.iter();
    let loss = Float64Array::from_iter(positions.iter().enumerate().map(loss_of));
    vec![
        // Numbers of games have gaps, as those of a sample have.
        ("game", Arc::new(UInt32Array::from_iter_values(all().map(|one| one.game * 3))) as ArrayRef),
        ("t", Arc::new(UInt32Array::from_iter_values(all().map(|one| one.t)))),
        ("right_squares", Arc::new(UInt64Array::from_iter_values(all().map(|one| one.right as u64)))),
        ("right_state", Arc::new(UInt16Array::from_iter_values(all().map(|one| (one.right >> 64) as u16)))),
        ("correct", Arc::new(UInt8Array::from_iter_values(all().map(|one| one.right.count_ones() as u8)))),
        ("exact", Arc::new(BooleanArray::from_iter(all().map(|one| Some(one.right == ALL_RIGHT))))),
        ("loss", Arc::new(loss)),
    ]
}

/// A game: the first steps, and those around the ends of the first bins, as far as it goes.
fn game_of(game: u32, width: u32) -> Vec<Position> {
    let edges = [0, 1, width / 2, width - 1, width, width + 1, 2 * width - 1, 2 * width];
    let edges: BTreeSet<u32> = edges.into();
    let steps = 1 + game as usize % edges.len();
    let mut steps: Vec<u32> = edges.into_iter().take(steps).collect();
    if game == LONGEST {
        steps.push(4 * width);
    }
    let position = |(place, t): (usize, u32)| {
        let place = place as u32;
        // Every fifth game is exact, and so are three of four positions of the others.
        let exact = game.is_multiple_of(5) || !(game * 7 + place * 3).is_multiple_of(4);
        let wrong = 1 << ((game * 13 + place * 29) % 75) | 1 << ((game * 31 + place * 7) % 75);
        let right = if exact { ALL_RIGHT } else { ALL_RIGHT & !wrong };
        // Over many orders of magnitude and not whole in binary, so that rounding on the way would show.
        let loss = f64::from(1 + (game * 37 + place * 11) % 17) / 3.0 * 0.5f64.powi(((game + 5 * place) % 40) as i32);
        Position { game, t, right, loss }
    };
    steps.into_iter().enumerate().map(position).collect()
}
