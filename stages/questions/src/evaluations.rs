//! Items from evaluated positions: those of `analyse` (Parquet), or Lichess's JSON lines.

use std::io::BufRead;
use std::path::Path;

use cwm_contract::{Context, Failure};
use cwm_encoding::PlainMove;
use cwm_evaluations::{Evaluation, Evaluations, Line, Score};
use cwm_questions::build::{EvaluatedPosition, EvaluationDropReason, EvaluationReader, PositionJudgement, four_fields};
use cwm_questions::{Band, Item};

use crate::counts::SourceCounts;
use crate::files::Text;

/// The first bytes of a Parquet file.
const PARQUET: &[u8] = b"PAR1";

/// Rows between two checks for cancellation.
const STRIDE: u64 = 1 << 10;

/// A pass over evaluations, which are read until no task needs more, or `first` with a value were read.
struct EvaluationPass<'a> {
    context: &'a Context,
    judgement: PositionJudgement,
    counts: SourceCounts,
    left: u64,
}

/// Reads evaluations. `wanted` are the bands that must have an item.
///
/// # Errors
///
/// A wanted band stays empty, or the file cannot be read.
pub fn read(
    context: &Context,
    path: &Path,
    judgement: PositionJudgement,
    first: Option<u64>,
    wanted: &[Band],
) -> Result<(Vec<Item>, SourceCounts), Failure> {
    context.activity("reading evaluations");
    let counts = SourceCounts::new(EvaluationDropReason::ALL.map(EvaluationDropReason::name));
    let mut pass = EvaluationPass { context, judgement, counts, left: first.unwrap_or(u64::MAX) };
    let mut text = Text::open(path)?;
    let start = text.reader.fill_buf().map_err(|error| Failure::io("read", path, error))?;
    if start.starts_with(PARQUET) {
        pass.rows(path)?
    } else {
        pass.lines(path, text)?
    }
    let EvaluationPass { judgement, mut counts, .. } = pass;
    counts.impossible_rights = judgement.impossible_rights();
    let found: Vec<(Band, u64)> = judgement.found().collect();
    if let Some((empty, _)) = found.iter().find(|(band, found)| *found == 0 && wanted.contains(band)) {
        let found: Vec<String> = found.iter().map(|(band, found)| format!("{} {found}", band.name())).collect();
        let message = format!(
            "{}: no position is evaluated as `{}`; of {} there are: {}",
            path.display(),
            empty.name(),
            counts.read(),
            found.join(", ")
        );
        return Err(
            Failure::input(message).hint("give more evaluations, raise `first`, or leave the task out with `tasks`")
        );
    }
    Ok((judgement.finish(), counts))
}

impl EvaluationPass<'_> {
    /// Takes a row. Returns true if more are needed.
    fn take(&mut self, row: Result<EvaluatedPosition, EvaluationDropReason>) -> Result<bool, Failure> {
        self.counts.count_read();
        let dropped = match row {
            Ok(position) => {
                self.left -= 1;
                self.judgement.add_candidate(&position)?
            }
            Err(reason) => Some(reason),
        };
        if let Some(reason) = dropped {
            self.counts.count_dropped(reason.name());
        }
        if self.counts.read().is_multiple_of(STRIDE) {
            self.context.check_cancelled()?;
        }
        Ok(self.left > 0 && !self.judgement.is_full())
    }

    fn lines(&mut self, path: &Path, text: Text) -> Result<(), Failure> {
        let mut reader = EvaluationReader::new(text.reader, &path.display().to_string());
        while let Some(row) = reader.read()? {
            self.context.progress(text.meter.consumed(), text.size, "bytes");
            if !self.take(row)? {
                break;
            }
        }
        if reader.is_truncated() {
            self.context.note(format!("{} is cut: it was read until there", path.display()));
        }
        Ok(())
    }

    fn rows(&mut self, path: &Path) -> Result<(), Failure> {
        let evaluations = Evaluations::open(path)?;
        let (total, nodes) = (evaluations.total(), evaluations.description().nodes);
        for row in evaluations {
            self.context.progress(self.counts.read(), Some(total), "positions");
            if !self.take(evaluated(&row?, nodes))? {
                break;
            }
        }
        Ok(())
    }
}

fn evaluated(row: &Evaluation, nodes: Option<u64>) -> Result<EvaluatedPosition, EvaluationDropReason> {
    let Line { score, depth, moves } = row.lines.first().ok_or(EvaluationDropReason::NothingEvaluated)?;
    let of_mover = match score {
        None => return Err(EvaluationDropReason::NothingEvaluated),
        Some(Score::Mate(_)) => return Err(EvaluationDropReason::Mate),
        Some(Score::Centipawns(value)) => i64::from(*value),
    };
    let fen = four_fields(&row.fen).ok_or(EvaluationDropReason::Fen)?;
    let black = fen.split(' ').nth(1) == Some("b");
    let line = moves.iter().filter_map(|&packed| PlainMove::from_packed(packed)).map(|plain| plain.to_string());
    Ok(EvaluatedPosition {
        fen,
        centipawns: if black { -of_mover } else { of_mover },
        depth: depth.map(i64::from),
        knodes: nodes.map(|nodes| (nodes / 1_000) as i64),
        line: line.collect::<Vec<_>>().join(" "),
    })
}
