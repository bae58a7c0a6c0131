//! The file of boards (docs/formats.md): one game a line, JSON with sorted keys.

use std::io::{BufWriter, Write};
use std::path::Path;

use cwm_chess::Dataset;
use cwm_contract::Failure;
use cwm_encoding::{EnPassant, LABELS, PlainMove, legal};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use shakmaty::Chess;
use shakmaty::san::SanPlus;

use super::WrongLabels;

/// Version of the format.
const FORMAT: u32 = 1;

/// Writes boards game by game.
pub struct BoardsWriter<'a> {
    file: BufWriter<fs_err::File>,
    dataset: &'a Dataset,
    en_passant: EnPassant,
    model: Map<String, Value>,
}

/// The coordinates of the model and the name of the test set, where they are known.
const MODEL: [&str; 4] = ["family", "seed", "size", "test"];

/// A line; its fields are in the order of their names.
#[derive(Serialize)]
struct Line<'a> {
    format: u32,
    game: usize,
    id: &'a str,
    labels: Vec<&'a [u8]>,
    loss: Option<Vec<Loss>>,
    model: &'a Map<String, Value>,
    moves: Vec<String>,
    result: &'a str,
    san: Option<Vec<String>>,
    wrong: &'a [WrongLabels],
}

/// A number, or the text for what JSON has no number for.
struct Loss(f64);

impl Serialize for Loss {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            finite if finite.is_finite() => serializer.serialize_f64(finite),
            nan if nan.is_nan() => serializer.serialize_str("nan"),
            infinite if infinite > 0.0 => serializer.serialize_str("inf"),
            _ => serializer.serialize_str("-inf"),
        }
    }
}

impl<'a> BoardsWriter<'a> {
    /// A new file at `path` for games of `dataset`, whose labels are set by the rule `en_passant`; `model` is the
    /// description of the model in the table of scores.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn create(path: &Path, dataset: &'a Dataset, en_passant: EnPassant, model: &Value) -> Result<Self, Failure> {
        let known = |key: &&str| Some(((*key).to_owned(), model.get(*key)?.clone()));
        let model = MODEL.iter().filter_map(known).collect();
        Ok(BoardsWriter { file: BufWriter::new(fs_err::File::create(path)?), dataset, en_passant, model })
    }

    /// Adds the game with the place `game` in the dataset: the wrong labels of each of its positions, and their losses
    /// where they are known.
    ///
    /// # Errors
    /// The dataset is damaged, or an operation on the disk fails.
    pub fn push(&mut self, game: usize, wrong: &[WrongLabels], loss: Option<Vec<f64>>) -> Result<(), Failure> {
        let Some(found) = self.dataset.get(game)? else { return Ok(()) };
        let row = found.row();
        let mut labels = vec![0; row.tokens.len() * LABELS];
        self.dataset.labels_into(game, self.en_passant, &mut labels).map_err(|error| error.failure("games"))?;
        let moves: Vec<PlainMove> = row.tokens.iter().filter_map(|&token| PlainMove::from_token(token)).collect();
        let line = Line {
            format: FORMAT,
            game,
            id: row.id,
            labels: labels.chunks_exact(LABELS).collect(),
            loss: loss.map(|loss| loss.into_iter().map(Loss).collect()),
            model: &self.model,
            moves: moves.iter().map(|plain| plain.to_string()).collect(),
            result: row.result,
            san: san(&moves),
            wrong,
        };
        serde_json::to_writer(&mut self.file, &line)
            .map_err(|error| Failure::system(format!("cannot write the boards: {error}")))?;
        Ok(self.file.write_all(b"\n")?)
    }

    /// Ends the file.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn finish(mut self) -> Result<(), Failure> {
        Ok(self.file.flush()?)
    }
}

/// The moves as people write them; none if they are no game, as those of a game that carries its labels may be.
fn san(moves: &[PlainMove]) -> Option<Vec<String>> {
    let mut position = Chess::default();
    let mut write = |plain: &PlainMove| {
        let played = legal(&position, *plain)?;
        Some(SanPlus::from_move_and_play_unchecked(&mut position, played).to_string())
    };
    moves.iter().map(&mut write).collect()
}
