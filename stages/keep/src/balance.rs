//! Draws the answers that are kept from those that passed.

use std::collections::BTreeMap;

use cwm_contract::Failure;
use cwm_game::StreamRng;
use cwm_random::Random;
use cwm_shares::largest_remainders;

use crate::answers::{PassingAnswer, Reason, TeacherAnswers};
use crate::config::Config;

/// Draws answers by the parameters: first by full-move number, then so that no kind of piece has too large a share.
/// Returns the number of those that were not drawn.
///
/// # Errors
/// The shares are no table.
pub fn balance(config: &Config, answers: &mut TeacherAnswers) -> Result<u64, Failure> {
    let mut stream = StreamRng::new("keep", &config.seed.to_string(), 0);
    let not_drawn = limit(config, answers, &mut stream)?;
    let kinds: Vec<Option<&str>> = answers.passing.iter().map(|answer| answer.piece.as_deref()).collect();
    let surplus = surplus(&kinds, config.largest_piece_share, &mut stream);
    remove(answers, &surplus, Some(Reason::Piece));
    Ok(not_drawn)
}

/// Draws `limit` answers: each range of full-move numbers has its share, at most what it has, and what is missing is
/// drawn of the rest.
fn limit(config: &Config, answers: &mut TeacherAnswers, stream: &mut StreamRng) -> Result<u64, Failure> {
    let Some(limit) = config.limit else { return Ok(0) };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let shares = config.fullmove_shares().map_err(|wrong| Failure::input(format!("`fullmoves` {wrong}")))?;
    let bucket = |answer: &PassingAnswer| shares.as_ref().map_or(Some(0), |shares| shares.bucket(answer.fullmove));
    let passing = &answers.passing;
    let outside: Vec<usize> = (0..passing.len()).filter(|&at| bucket(&passing[at]).is_none()).collect();
    remove(answers, &outside, Some(Reason::Fullmove));
    let mut order: Vec<usize> = (0..answers.passing.len()).collect();
    stream.shuffle(&mut order);
    let mut wanted = largest_remainders(&shares.as_ref().map_or_else(|| vec![1.], |shares| shares.shares()), limit);
    let mut rest = Vec::new();
    for at in order {
        match bucket(&answers.passing[at]).map(|bucket| &mut wanted[bucket]) {
            Some(left) if *left > 0 => *left -= 1,
            _ => rest.push(at),
        }
    }
    let missing = wanted.iter().sum::<usize>().min(rest.len());
    let not_drawn = rest.split_off(missing);
    remove(answers, &not_drawn, None);
    Ok(not_drawn.len() as u64)
}

/// The answers about a kind of piece that are too many: the indices of some, drawn, so that no kind has more than
/// `share` of the rest, and the rest is as large as possible.
fn surplus(kinds: &[Option<&str>], share: f64, stream: &mut StreamRng) -> Vec<usize> {
    let mut by_kind: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, kind) in kinds.iter().enumerate() {
        if let Some(kind) = kind {
            by_kind.entry(kind).or_default().push(at);
        }
    }
    let most_of = |total: usize| (share * total as f64 + 1e-9) as usize;
    let left = |total: usize| by_kind.values().map(|of| of.len().min(most_of(total))).sum::<usize>();
    let all = by_kind.values().map(Vec::len).sum::<usize>();
    let total = (0..=all).rev().find(|total| left(*total) >= *total).unwrap_or(0);
    let mut surplus = Vec::new();
    for of in by_kind.values_mut() {
        stream.shuffle(of);
        surplus.extend(of.drain(most_of(total).min(of.len())..));
    }
    surplus
}

/// Removes the answers with these indices, and counts them.
fn remove(answers: &mut TeacherAnswers, indices: &[usize], reason: Option<Reason>) {
    let mut removed = vec![false; answers.passing.len()];
    for &at in indices {
        removed[at] = true;
        if let Some(reason) = reason {
            answers.count_dropped(reason);
        }
    }
    let mut removed = removed.into_iter();
    answers.passing.retain(|_| !removed.next().unwrap_or(false));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(counts: &[(&'static str, usize)], share: f64) -> Vec<usize> {
        let kinds: Vec<Option<&str>> =
            counts.iter().flat_map(|(kind, count)| std::iter::repeat_n(Some(*kind), *count)).chain([None]).collect();
        let mut stream = StreamRng::new("test", "0", 0);
        let surplus = surplus(&kinds, share, &mut stream);
        let removed = |kind: &str| surplus.iter().filter(|&&at| kinds[at] == Some(kind)).count();
        counts.iter().map(|(kind, count)| count - removed(kind)).collect()
    }

    #[test]
    fn no_kind_has_too_large_a_share() {
        let counts = [("king", 1_000), ("queen", 300), ("rook", 300), ("bishop", 200), ("knight", 200), ("pawn", 100)];
        // King at most a quarter of all: 366 of 1,466.
        assert_eq!(left(&counts, 0.25), [366, 300, 300, 200, 200, 100]);
        assert_eq!(left(&counts, 1.), [1_000, 300, 300, 200, 200, 100]);
        assert_eq!(left(&[("king", 5), ("queen", 4)], 0.5), [4, 4]);
        // Three kinds cannot each have at most a quarter.
        assert_eq!(left(&[("king", 5), ("queen", 4), ("rook", 9)], 0.25), [0, 0, 0]);
        assert_eq!(left(&[], 0.25), [0; 0]);
    }
}
