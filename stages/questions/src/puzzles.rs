//! Items from puzzles.

use std::path::Path;

use cwm_contract::{Context, Failure};
use cwm_questions::Item;
use cwm_questions::build::{Origin, Positions, PuzzleDropReason, PuzzleReader, Tactics};

use crate::counts::SourceCounts;
use crate::files::Text;

/// Rows between two checks for cancellation.
const STRIDE: u64 = 1 << 10;

/// Reads puzzles until no task needs more. `positions` is absent where positions are from elsewhere.
pub fn read(
    context: &Context,
    path: &Path,
    mut positions: Option<Positions>,
    mut tactics: Tactics,
) -> Result<(Vec<Item>, SourceCounts), Failure> {
    let mut counts = SourceCounts::new(PuzzleDropReason::ALL.map(PuzzleDropReason::name));
    let file = path.display().to_string();
    for pass in [0, 1] {
        let full = |positions: &Option<Positions>, tactics: &Tactics| {
            tactics.is_full(pass) && (pass > 0 || positions.as_ref().is_none_or(Positions::is_full))
        };
        if full(&positions, &tactics) {
            continue;
        }
        context.activity(if pass == 0 { "reading puzzles" } else { "reading puzzles again for themes" });
        let text = Text::open(path)?;
        let mut reader = PuzzleReader::new(text.reader, &file)?;
        while let Some(row) = reader.read()? {
            if reader.row().is_multiple_of(STRIDE) {
                context.check_cancelled()?;
                context.progress(text.meter.consumed(), text.size, "bytes");
            }
            if pass == 0 {
                counts.count_read();
            }
            match row {
                Ok(puzzle) => {
                    counts.impossible_rights += u64::from(pass == 0 && puzzle.has_impossible_right);
                    if let (0, Some(positions)) = (pass, &mut positions) {
                        positions.add_candidate(&puzzle.before, Origin::Puzzle { id: &puzzle.id })?;
                    }
                    tactics.add_candidate(pass, &puzzle)?;
                }
                Err(reason) if pass == 0 => {
                    counts.log_dropped(reason.name(), &format!("{file}, row {}", reader.row()), context);
                }
                Err(_) => {}
            }
            if full(&positions, &tactics) {
                break;
            }
        }
    }
    let mut items = positions.map(Positions::finish).unwrap_or_default();
    items.extend(tactics.finish());
    Ok((items, counts))
}
