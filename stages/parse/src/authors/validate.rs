//! Decides, as the authors' program does, whether a game that was read is kept.

use std::io::BufRead;

use cwm_encoding::{EnPassant, LABELS, PlainMove, Replay, START};

use crate::parsed_block::ParsedBlock;
use crate::rules::{DroppedGame, IdScheme, Reason, Rules};
use cwm_python_chess_reader::{ReadError, Reader, strip};

/// Adds the game that was read last to `parsed`, if it is kept.
pub fn validate<R: BufRead>(reader: &Reader<R>, rules: &Rules, parsed: &mut ParsedBlock) -> Result<(), DroppedGame> {
    let drop = |reason, offset| DroppedGame { reason, offset, detail: None };
    match reader.error {
        Some(ReadError::NotUtf8(at)) => return Err(drop(Reason::NotUtf8, at)),
        Some(ReadError::TooLong(at)) => return Err(drop(Reason::TooLong, at)),
        Some(ReadError::Exception(at)) => {
            let detail = Some("at which python-chess fails".into());
            return Err(DroppedGame { reason: Reason::Exception, offset: at, detail });
        }
        None => {}
    }
    let played = play(reader, parsed).ok_or_else(|| drop(Reason::Unplayable, reader.offset))?;
    if played < rules.min_plies {
        return Err(drop(Reason::Short, reader.offset));
    }
    let site = match (reader.tags.site.as_deref().map(strip), &rules.ids) {
        (Some(""), _) | (None, IdScheme::Site) => return Err(drop(Reason::NoSite, reader.offset)),
        (site, _) => site.unwrap_or("?"),
    };
    parsed.keep(site, &reader.tags.result, |id| rules.ids.write(site, id));
    Ok(())
}

/// Plays the main line from the beginning, as the authors' program does, and appends its moves and labels. The moves were
/// read on other boards where an illegal move in a variation came before, and need not fit; `None` where they cannot be
/// played, or there is nothing to play them on.
fn play<R: BufRead>(reader: &Reader<R>, parsed: &mut ParsedBlock) -> Option<usize> {
    let mut position = reader.initial_position(reader.variant()?)?;
    let mut tokens = vec![START];
    let mut labels = position.labels().to_vec();
    for played in reader.tree.main_line() {
        position.play(played).ok()?;
        let packed = played.packed();
        parsed.moves().push(packed);
        tokens.push(PlainMove::from_packed(packed)?.token());
        labels.extend_from_slice(&position.labels());
    }
    if !replays(&tokens, &labels) {
        parsed.set_labels(&labels);
    }
    Some(tokens.len() - 1)
}

/// Returns true if a replay of `tokens` by standard rules gives `labels`, so that they need not be kept.
fn replays(tokens: &[u16], labels: &[u8]) -> bool {
    let mut replay = Replay::new(tokens, EnPassant::Always);
    labels.as_chunks::<LABELS>().0.iter().all(|row| matches!(replay.advance(), Ok(Some(found)) if found == row))
}
