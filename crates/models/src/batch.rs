//! Cuts a batch into micro-batches of sequences of like length, so that little is padded.

/// Cuts sequences of these lengths into micro-batches of at most `limit` tokens each, padding included; a longer
/// sequence is alone. Longest first, ties in their order; the micro-batches are of about one size, and an even number
/// if there are several, so that two cores finish together.
pub fn cut_by_length(lengths: &[usize], limit: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|&sequence| std::cmp::Reverse(lengths[sequence]));
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

/// Takes sequences in `order` as long as their padded tokens stay within `limit`.
fn cut(order: &[usize], lengths: &[usize], limit: usize) -> Vec<Vec<usize>> {
    let mut cuts: Vec<Vec<usize>> = Vec::new();
    let mut longest = 0;
    for &sequence in order {
        match cuts.last_mut() {
            Some(last) if (last.len() + 1) * longest <= limit => last.push(sequence),
            _ => {
                longest = lengths[sequence];
                cuts.push(vec![sequence]);
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
        cut.len() * cut.iter().map(|&sequence| lengths[sequence]).max().unwrap_or(0)
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
        fn every_sequence_is_in_one_cut_within_the_limit(
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
