//! Lichess's evaluations: one JSON object a line.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead, ErrorKind, Read};

use cwm_contract::Failure;
use md5::{Digest, Md5};
use serde::Deserialize;

/// A line of so many bytes is too long.
const TOO_LONG: usize = (16 << 20) + 1;

/// An evaluated position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvaluatedPosition {
    /// Its first four FEN fields.
    pub fen: String,
    /// Centipawns from White's side.
    pub centipawns: i64,
    /// The depth that was searched.
    pub depth: Option<i64>,
    /// Thousands of nodes that were searched.
    pub knodes: Option<i64>,
    /// The best line, UCI.
    pub line: String,
}

impl EvaluatedPosition {
    /// The name of the position.
    pub fn id(&self) -> PositionId {
        let mut id = [0; 8];
        id.copy_from_slice(&Md5::digest(&self.fen)[..8]);
        PositionId(u64::from_be_bytes(id))
    }
}

/// The name of a position: 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PositionId(u64);

impl fmt::Display for PositionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The reason why a line is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EvaluationDropReason {
    /// It is no JSON object with a FEN.
    Unreadable,
    /// It is longer than 16 MiB.
    TooLong,
    /// Nothing is evaluated, or without a value.
    NothingEvaluated,
    /// The best line mates.
    Mate,
    /// The position was there before.
    Duplicate,
    /// The value lies in no band.
    NoBand,
    /// The FEN is no position of a game.
    Fen,
}

impl EvaluationDropReason {
    /// All of them.
    pub const ALL: [EvaluationDropReason; 7] = [
        EvaluationDropReason::TooLong,
        EvaluationDropReason::Unreadable,
        EvaluationDropReason::NothingEvaluated,
        EvaluationDropReason::Mate,
        EvaluationDropReason::Duplicate,
        EvaluationDropReason::NoBand,
        EvaluationDropReason::Fen,
    ];

    /// The name in counts.
    pub fn name(self) -> &'static str {
        match self {
            EvaluationDropReason::Unreadable => "unreadable",
            EvaluationDropReason::TooLong => "too_long",
            EvaluationDropReason::NothingEvaluated => "nothing_evaluated",
            EvaluationDropReason::Mate => "mate",
            EvaluationDropReason::Fen => "fen",
            EvaluationDropReason::Duplicate => "seen",
            EvaluationDropReason::NoBand => "no_band",
        }
    }
}

#[derive(Deserialize)]
struct Line<'l> {
    #[serde(borrow)]
    fen: Cow<'l, str>,
    #[serde(borrow, default)]
    evals: Option<Vec<Search<'l>>>,
}

#[derive(Deserialize)]
struct Search<'l> {
    #[serde(default)]
    depth: Option<i64>,
    #[serde(default)]
    knodes: Option<i64>,
    #[serde(borrow, default)]
    pvs: Option<Vec<Variation<'l>>>,
}

#[derive(Deserialize)]
struct Variation<'l> {
    #[serde(default)]
    cp: Option<i64>,
    #[serde(default)]
    mate: Option<i64>,
    #[serde(borrow, default)]
    line: Option<Cow<'l, str>>,
}

/// Reads evaluations line by line.
pub struct EvaluationReader<R> {
    input: R,
    file: String,
    line: Vec<u8>,
    is_truncated: bool,
}

impl<R: BufRead> EvaluationReader<R> {
    /// Reads `file` (its name in messages).
    pub fn new(input: R, file: &str) -> Self {
        EvaluationReader { input, file: file.to_owned(), line: Vec::new(), is_truncated: false }
    }

    /// Returns true if the compressed data end too early, as in a file of which only the first bytes were fetched.
    pub fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    /// Reads the next line: its position, or the reason why it is dropped; none after the last.
    ///
    /// # Errors
    ///
    /// The file cannot be read on.
    pub fn read(&mut self) -> Result<Option<Result<EvaluatedPosition, EvaluationDropReason>>, Failure> {
        match self.read_line() {
            Ok(0) => Ok(None),
            Ok(TOO_LONG..) => Ok(Some(Err(EvaluationDropReason::TooLong))),
            Ok(_) => Ok(Some(evaluated(&self.line))),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                self.is_truncated = true;
                Ok(None)
            }
            Err(error) => Err(Failure::input(format!("{}: cannot be read on: {error}", self.file))),
        }
    }

    /// Reads a line, and reads over what is longer than the longest. Returns how much of it was kept.
    fn read_line(&mut self) -> io::Result<usize> {
        self.line.clear();
        let read = self.input.by_ref().take(TOO_LONG as u64).read_until(b'\n', &mut self.line)?;
        if read == TOO_LONG && self.line.last() != Some(&b'\n') {
            self.input.skip_until(b'\n')?;
        }
        Ok(read)
    }
}

fn evaluated(line: &[u8]) -> Result<EvaluatedPosition, EvaluationDropReason> {
    let Line { fen, evals } = serde_json::from_slice(line).map_err(|_| EvaluationDropReason::Unreadable)?;
    // `max_by_key` takes the last of equals.
    let deepest = evals.into_iter().flatten().rev().max_by_key(|search| search.depth);
    let Some(Search { depth, knodes, pvs }) = deepest else { return Err(EvaluationDropReason::NothingEvaluated) };
    let best = pvs.into_iter().flatten().next().ok_or(EvaluationDropReason::NothingEvaluated)?;
    match best {
        Variation { mate: Some(_), .. } => Err(EvaluationDropReason::Mate),
        Variation { cp: None, .. } => Err(EvaluationDropReason::NothingEvaluated),
        Variation { cp: Some(centipawns), line, .. } => {
            let fen = four_fields(&fen).ok_or(EvaluationDropReason::Fen)?;
            Ok(EvaluatedPosition { fen, centipawns, depth, knodes, line: line.unwrap_or_default().into_owned() })
        }
    }
}

/// The first four fields of a FEN, with a space between them; none if it has fewer.
pub fn four_fields(fen: &str) -> Option<String> {
    let fields: Vec<&str> = fen.split_ascii_whitespace().take(4).collect();
    (fields.len() == 4).then(|| fields.join(" "))
}
