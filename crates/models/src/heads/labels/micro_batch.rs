//! Games as inputs of a pass: tokens padded, with their labels.

use cwm_encoding::PAD;

use super::{LABELS, Targets};
use crate::Tokens;

/// A few games that go through the model together.
#[derive(Clone, Debug)]
pub struct MicroBatch {
    /// The games, as places in the list that was cut.
    pub games: Vec<usize>,
    /// Their tokens.
    pub tokens: Tokens,
    /// Their labels.
    pub targets: Targets,
}

impl MicroBatch {
    /// The games at the places `chosen` of `games`. `label` is given the place of each and the room for its labels,
    /// `[tokens, 75]`.
    ///
    /// # Errors
    /// The errors of `label`.
    pub fn labelled<E>(
        games: &[&[u16]],
        chosen: &[usize],
        label: impl Fn(usize, &mut [u8]) -> Result<(), E>,
    ) -> Result<Self, E> {
        let tokens = Tokens::padded(chosen.iter().map(|&game| games[game]), u32::from(PAD));
        let mut labels = vec![0; tokens.rows() * LABELS];
        for (&game, room) in chosen.iter().zip(labels.chunks_mut((tokens.time() * LABELS).max(1))) {
            label(game, &mut room[..games[game].len() * LABELS])?;
        }
        let valid = tokens.is_valid().collect();
        Ok(MicroBatch { games: chosen.to_vec(), tokens, targets: Targets { labels: labels.into(), valid } })
    }
}
