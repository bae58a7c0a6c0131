//! The gradient of a table from those of the rows that were looked up in it.
//!
//! Adding each row where its token stands would race on a GPU or wait for its turn, and sums of f32 hang on their order. So
//! rows of one token are added pair by pair, round by round, in an order that the tokens alone decide; then each token of
//! the table takes its row, or zeros. Nothing is scattered.

use burn::tensor::{Device, Int, Tensor, TensorData};

/// The sum of those `rows` [rows, width] that have each token's id, for a table of so many `tokens`: [tokens, width]. Rows of
/// `left_out` are not added.
pub fn sum_by_token(rows: Tensor<2>, ids: &[u32], tokens: usize, left_out: Option<usize>) -> Tensor<2> {
    let ([_, width], device) = (rows.dims(), rows.device());
    let (found, rounds) = plan(ids, left_out);
    let none = Tensor::zeros([1, width], &device);
    let mut places = vec![found.len() as i32; tokens];
    for (place, &token) in found.iter().enumerate() {
        places[token as usize] = place as i32;
    }
    let sums = match found.is_empty() {
        true => none,
        false => Tensor::cat(vec![rounds.into_iter().fold(rows, |rows, round| round.apply(rows, &device)), none], 0),
    };
    sums.select(0, indices(places, &device))
}

/// One round: row i of its result is row `left[i]`, plus row `right[i]` where there is one.
#[derive(Debug, Default, PartialEq)]
struct Round {
    left: Vec<i32>,
    right: Vec<i32>,
    /// 1 where there is a right one, else 0.
    both: Vec<f32>,
}

impl Round {
    fn push(&mut self, left: i32, right: Option<i32>) {
        self.left.push(left);
        self.right.push(right.unwrap_or(left));
        self.both.push(if right.is_some() { 1.0 } else { 0.0 });
    }

    fn apply(self, rows: Tensor<2>, device: &Device) -> Tensor<2> {
        let left = rows.clone().select(0, indices(self.left, device));
        if self.both.iter().all(|&both| both == 0.0) {
            return left;
        }
        let count = self.both.len();
        let both = Tensor::<2>::from_data(TensorData::new(self.both, [count, 1]), device);
        left + rows.select(0, indices(self.right, device)) * both
    }
}

/// The tokens among `ids`, ascending, and the rounds after which each has one row.
fn plan(ids: &[u32], left_out: Option<usize>) -> (Vec<i32>, Vec<Round>) {
    let wanted = (0..ids.len()).filter(|&row| Some(ids[row] as usize) != left_out);
    let mut order: Vec<usize> = wanted.collect();
    order.sort_by_key(|&row| (ids[row], row));
    let mut groups: Vec<Vec<i32>> = Vec::new();
    let mut tokens = Vec::new();
    for row in order {
        let token = ids[row] as i32;
        if tokens.last() == Some(&token) {
            groups.last_mut().expect("a token has a group").push(row as i32);
        } else {
            tokens.push(token);
            groups.push(vec![row as i32]);
        }
    }
    let mut rounds = Vec::new();
    while rounds.is_empty() || groups.iter().any(|group| group.len() > 1) {
        let mut round = Round::default();
        for group in &mut groups {
            let first = round.left.len() as i32;
            group.chunks(2).for_each(|pair| round.push(pair[0], pair.get(1).copied()));
            *group = (first..round.left.len() as i32).collect();
        }
        rounds.push(round);
    }
    (tokens, rounds)
}

fn indices(values: Vec<i32>, device: &Device) -> Tensor<1, Int> {
    let count = values.len();
    Tensor::from_data(TensorData::new(values, [count]), device)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{assert_close, random, values};

    #[test]
    fn rounds_halve_each_tokens_rows() {
        let (tokens, rounds) = plan(&[7, 3, 7, 7, 9, 3], Some(9));
        assert_eq!(tokens, [3, 7]);
        let first = Round { left: vec![1, 0, 3], right: vec![5, 2, 3], both: vec![1.0, 1.0, 0.0] };
        let second = Round { left: vec![0, 1], right: vec![0, 2], both: vec![0.0, 1.0] };
        assert_eq!(rounds, [first, second]);
        assert_eq!(plan(&[9, 9], Some(9)).0, Vec::<i32>::new());
        assert_eq!(plan(&[], None).0, Vec::<i32>::new());
    }

    proptest! {
        #[test]
        fn each_token_has_the_sum_of_its_rows(
            ids in prop::collection::vec(0u32..12, 0..60),
            left_out in prop::option::of(0usize..12),
        ) {
            const WIDTH: usize = 3;
            let rows = random::<2>([ids.len().max(1), WIDTH], 2, 1.0);
            let mut expected = vec![0.0f64; 12 * WIDTH];
            for (&id, row) in ids.iter().zip(values(&rows).chunks_exact(WIDTH)) {
                if Some(id as usize) != left_out {
                    let into = &mut expected[id as usize * WIDTH..][..WIDTH];
                    into.iter_mut().zip(row).for_each(|(into, &row)| *into += f64::from(row));
                }
            }
            let expected: Vec<f32> = expected.iter().map(|&value| value as f32).collect();
            let rows = if ids.is_empty() { Tensor::zeros([0, WIDTH], &cwm_models::device::cpu()) } else { rows };
            assert_close(&values(&sum_by_token(rows, &ids, 12, left_out)), &expected, 1e-5);
        }
    }
}
