//! Lichess's puzzles: CSV with a header.

use std::io::Read;

use csv::{Reader, ReaderBuilder, StringRecord};
use cwm_contract::Failure;
use shakmaty::{Chess, Position as _};

use crate::truth::{chess_of_fen, played};

/// A puzzle: a position, the opponent's move, and the solution.
#[derive(Clone, Debug)]
pub struct Puzzle {
    /// Its id.
    pub id: String,
    /// The position before the opponent's move.
    pub before: Chess,
    /// The position of the solver.
    pub after: Chess,
    /// The opponent's move and the solution, UCI; at least two.
    pub moves: Vec<String>,
    /// Its rating.
    pub rating: i64,
    /// The deviation of the rating.
    pub rating_deviation: i64,
    /// The popularity, from -100 to 100.
    pub popularity: i64,
    /// Its themes.
    pub themes: Vec<String>,
    /// True if its FEN has an impossible castling right, which is dropped.
    pub has_impossible_right: bool,
}

/// The reason why a row is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PuzzleDropReason {
    /// It has fewer columns than the header, as a cut last row.
    Truncated,
    /// A number is none, or a text is not UTF-8.
    Unreadable,
    /// Its FEN is no position.
    Fen,
    /// It has fewer than two moves.
    NoSolution,
    /// A move is not legal.
    IllegalMove,
}

impl PuzzleDropReason {
    /// All of them.
    pub const ALL: [PuzzleDropReason; 5] = [
        PuzzleDropReason::Truncated,
        PuzzleDropReason::Unreadable,
        PuzzleDropReason::Fen,
        PuzzleDropReason::NoSolution,
        PuzzleDropReason::IllegalMove,
    ];

    /// The name in counts.
    pub fn name(self) -> &'static str {
        match self {
            PuzzleDropReason::Truncated => "cut",
            PuzzleDropReason::Unreadable => "unreadable",
            PuzzleDropReason::Fen => "fen",
            PuzzleDropReason::NoSolution => "no_solution",
            PuzzleDropReason::IllegalMove => "illegal_move",
        }
    }
}

/// The columns that are read, by name.
const COLUMNS: [&str; 7] = ["PuzzleId", "FEN", "Moves", "Rating", "RatingDeviation", "Popularity", "Themes"];

/// Reads puzzles row by row.
pub struct PuzzleReader<R> {
    csv: Reader<R>,
    file: String,
    columns: [usize; COLUMNS.len()],
    width: usize,
    record: StringRecord,
    rows: u64,
}

impl<R: Read> PuzzleReader<R> {
    /// Reads the header of `file` (its name in messages).
    ///
    /// # Errors
    ///
    /// It cannot be read, or a column is missing.
    pub fn new(input: R, file: &str) -> Result<Self, Failure> {
        let mut csv = ReaderBuilder::new().flexible(true).buffer_capacity(1 << 17).from_reader(input);
        let header = csv.headers().map_err(|error| Failure::input(format!("{file}, line 1: {error}")))?.clone();
        let found = COLUMNS.map(|name| header.iter().position(|column| column.trim() == name));
        let missing: Vec<&str> =
            COLUMNS.into_iter().zip(found).filter(|(_, found)| found.is_none()).map(|(name, _)| name).collect();
        if !missing.is_empty() {
            let message = format!("{file}, line 1: the header lacks {}", missing.join(", "));
            return Err(Failure::input(message).hint("puzzles need the columns of Lichess's file, with a header"));
        }
        let columns = found.map(Option::unwrap_or_default);
        Ok(PuzzleReader {
            csv,
            file: file.to_owned(),
            columns,
            width: header.len(),
            record: StringRecord::new(),
            rows: 0,
        })
    }

    /// Reads the next row: a puzzle, or the reason why it is dropped; none after the last.
    ///
    /// # Errors
    ///
    /// The file cannot be read on.
    pub fn read(&mut self) -> Result<Option<Result<Puzzle, PuzzleDropReason>>, Failure> {
        let read = self.csv.read_record(&mut self.record);
        self.rows += 1;
        match read {
            Ok(false) => Ok(None),
            // Otherwise one quote would take all rows up to the next with it.
            Ok(true) if self.record.iter().any(|text| text.trim_end().contains('\n')) => {
                let message =
                    format!("{}, row {}: a text in quotes goes on over the end of its line", self.file, self.rows);
                Err(Failure::input(message).hint("close the quote: a puzzle is one line"))
            }
            Ok(true) => Ok(Some(self.puzzle())),
            Err(error) if matches!(error.kind(), csv::ErrorKind::Utf8 { .. }) => {
                Ok(Some(Err(PuzzleDropReason::Unreadable)))
            }
            Err(error) => Err(Failure::input(format!("{}: cannot be read on: {error}", self.file))),
        }
    }

    /// The number of rows read, without the header.
    pub fn row(&self) -> u64 {
        self.rows
    }

    fn puzzle(&self) -> Result<Puzzle, PuzzleDropReason> {
        if self.record.len() < self.width {
            return Err(PuzzleDropReason::Truncated);
        }
        let [id, fen, moves, rating, rating_deviation, popularity, themes] =
            self.columns.map(|column| self.record.get(column).unwrap_or_default());
        let number = |text: &str| text.trim().parse::<i64>().map_err(|_| PuzzleDropReason::Unreadable);
        let (rating, rating_deviation, popularity) = (number(rating)?, number(rating_deviation)?, number(popularity)?);
        let (before, has_impossible_right) = chess_of_fen(fen.trim()).map_err(|_| PuzzleDropReason::Fen)?;
        let words: Vec<&str> = moves.split_ascii_whitespace().collect();
        if words.len() < 2 {
            return Err(PuzzleDropReason::NoSolution);
        }
        let after = play(&before, &words[..1])?;
        play(&after, &words[1..])?;
        Ok(Puzzle {
            id: id.to_owned(),
            has_impossible_right,
            before,
            after,
            moves: words.into_iter().map(str::to_owned).collect(),
            rating,
            rating_deviation,
            popularity,
            themes: themes.split_ascii_whitespace().map(str::to_owned).collect(),
        })
    }
}

/// The position after moves.
fn play(from: &Chess, moves: &[&str]) -> Result<Chess, PuzzleDropReason> {
    let mut position = from.clone();
    for word in moves {
        position.play_unchecked(played(&position, word).ok_or(PuzzleDropReason::IllegalMove)?);
    }
    Ok(position)
}
