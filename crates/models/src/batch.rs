//! Games as inputs of a pass: tokens padded, with their labels, cut into micro-batches of games of like length.

use cwm_encoding::PAD;

use crate::Tokens;
use crate::heads::LABELS;
use crate::ops::Targets;

/// A few games that go through the model together.
#[derive(Clone, Debug)]
pub struct MicroBatch {
    /// Which games, as places in the list that was cut.
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
    /// What `label` fails with.
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

/// Cuts games with these numbers of steps into micro-batches of at most `limit` tokens each, padding included; a longer
/// game is alone. Longest games first, ties in their order; the micro-batches are of about one size, and an even number
/// if there are several, so that two cores finish together.
pub fn cut_by_length(lengths: &[usize], limit: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|&game| std::cmp::Reverse(lengths[game]));
    let greedy = cut(&order, lengths, limit);
    if greedy.len() < 2 {
        return greedy;
    }
    let wanted = greedy.len().next_multiple_of(2).min(lengths.len());
    // The smallest limit that needs no more micro-batches than wanted.
    let (mut low, mut high) = (0, limit);
    while low < high {
        let middle = low + (high - low) / 2;
        if cut(&order, lengths, middle).len() <= wanted {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    cut(&order, lengths, high)
}

/// Takes games in `order` as long as their padded tokens stay within `limit`.
fn cut(order: &[usize], lengths: &[usize], limit: usize) -> Vec<Vec<usize>> {
    let mut cuts: Vec<Vec<usize>> = Vec::new();
    let mut longest = 0;
    for &game in order {
        match cuts.last_mut() {
            Some(last) if (last.len() + 1) * longest <= limit => last.push(game),
            _ => {
                longest = lengths[game];
                cuts.push(vec![game]);
            }
        }
    }
    cuts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn padded(cut: &[usize], lengths: &[usize]) -> usize {
        cut.len() * cut.iter().map(|&game| lengths[game]).max().unwrap_or(0)
    }

    #[test]
    fn like_lengths_go_together_and_cuts_are_even() {
        let lengths = [10, 80, 12, 78, 11, 79, 9, 80];
        assert_eq!(cut_by_length(&lengths, 330), [vec![1, 7, 5, 3], vec![2, 4, 0, 6]]);
        assert_eq!(cut_by_length(&lengths, 250), [vec![1], vec![7], vec![5, 3], vec![2, 4, 0, 6]]);
        assert!(cut_by_length(&[], 100).is_empty());
        assert_eq!(cut_by_length(&[5, 6], 100), [[1, 0]]);
    }

    proptest! {
        #[test]
        fn every_game_is_in_one_cut_within_the_limit(
            lengths in prop::collection::vec(1usize..300, 0..200),
            limit in 1usize..3000,
        ) {
            let cuts = cut_by_length(&lengths, limit);
            let mut all = cuts.concat();
            all.sort_unstable();
            prop_assert_eq!(all, (0..lengths.len()).collect::<Vec<_>>());
            for cut in &cuts {
                prop_assert!(cut.len() == 1 || padded(cut, &lengths) <= limit);
            }
            prop_assert_eq!(cuts.clone(), cut_by_length(&lengths, limit));
        }
    }
}
