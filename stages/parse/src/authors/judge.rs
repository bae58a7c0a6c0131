//! What the authors' program makes of a game that was read.

use std::io::BufRead;

use cwm_encoding::{EnPassant, LABELS, PlainMove, Replay, START};

use super::reader::{Reader, Trouble};
use super::text::strip;
use crate::harvest::Harvest;
use crate::rules::{Drop, Ids, Reason, Rules};

/// Adds the game that was read last to `harvest`, if it is kept.
pub fn judge<R: BufRead>(reader: &Reader<R>, rules: &Rules, harvest: &mut Harvest) -> Result<(), Drop> {
    let drop = |reason, offset| Drop { reason, offset, seen: None };
    match reader.trouble {
        Some(Trouble::NotUtf8(at)) => return Err(drop(Reason::NotUtf8, at)),
        Some(Trouble::TooLong(at)) => return Err(drop(Reason::TooLong, at)),
        Some(Trouble::Exception(at)) => {
            let seen = Some("at which python-chess fails".into());
            return Err(Drop { reason: Reason::Exception, offset: at, seen });
        }
        None => {}
    }
    let played = play(reader, harvest).ok_or_else(|| drop(Reason::Unplayable, reader.offset))?;
    if played < rules.min_plies {
        return Err(drop(Reason::Short, reader.offset));
    }
    let site = match (reader.tags.site.as_deref().map(strip), &rules.ids) {
        (Some(""), _) | (None, Ids::Site) => return Err(drop(Reason::NoSite, reader.offset)),
        (site, _) => site.unwrap_or("?"),
    };
    harvest.keep(site, &reader.tags.result, |id| rules.ids.write(site, id));
    Ok(())
}

/// Plays the main line from the beginning, as the authors' program does, and appends its moves and labels. The moves were
/// read on other boards where an illegal move in a variation came before, and need not fit; `None` where they cannot be
/// played, or there is nothing to play them on.
fn play<R: BufRead>(reader: &Reader<R>, harvest: &mut Harvest) -> Option<usize> {
    let mut position = reader.initial_position(reader.variant()?)?;
    let mut tokens = vec![START];
    let mut labels = position.labels().to_vec();
    for played in reader.tree.main_line() {
        position.play(played).ok()?;
        let packed = played.packed();
        harvest.moves().push(packed);
        tokens.push(PlainMove::from_packed(packed)?.token());
        labels.extend_from_slice(&position.labels());
    }
    if !replays(&tokens, &labels) {
        harvest.carry_labels(&labels);
    }
    Some(tokens.len() - 1)
}

/// Whether a replay of `tokens` by standard rules gives `labels`, so that they need not be kept.
fn replays(tokens: &[u16], labels: &[u8]) -> bool {
    let mut replay = Replay::new(tokens, EnPassant::Always);
    labels.as_chunks::<LABELS>().0.iter().all(|row| matches!(replay.advance(), Ok(Some(found)) if found == row))
}
