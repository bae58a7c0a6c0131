//! Boards of rows.

use cwm_inside::linear_probe::{SQUARES, Target};
use cwm_models::parameters::InitRng;

/// Place of the label of the side to move: 1 for Black.
const SIDE: usize = 64;

/// Boards of rows, in their order.
#[derive(Clone, Debug, PartialEq)]
pub struct Boards {
    /// Labels of their squares, [rows, 64].
    labels: Vec<u8>,
    /// True where Black is to move.
    is_black: Vec<bool>,
    /// Plies played.
    plies: Vec<u32>,
    /// The first row of each game, and the number of rows.
    starts: Vec<usize>,
}

impl Boards {
    /// Returns boards without rows.
    pub fn empty() -> Self {
        Boards { labels: Vec::new(), is_black: Vec::new(), plies: Vec::new(), starts: vec![0] }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.plies.len()
    }

    /// The rows of each game.
    pub fn games(&self) -> impl ExactSizeIterator<Item = std::ops::Range<usize>> + '_ {
        self.starts.windows(2).map(|pair| pair[0]..pair[1])
    }

    /// The class of each square, [rows, 64].
    pub fn classes(&self, target: Target) -> Vec<u8> {
        let mut classes = Vec::with_capacity(self.labels.len());
        (0..self.len()).for_each(|row| self.push_classes(target, row, &mut classes));
        classes
    }

    /// Adds the class of each square of a row to `into`.
    pub fn push_classes(&self, target: Target, row: usize, into: &mut Vec<u8>) {
        let (labels, is_black) = (&self.labels[row * SQUARES..(row + 1) * SQUARES], self.is_black[row]);
        into.extend(labels.iter().map(|label| target.class(*label, is_black)));
    }

    /// Adds a row of the current game: the labels of its board, and the plies played on it.
    pub fn push(&mut self, labels: &[u8], ply: u32) {
        self.labels.extend_from_slice(&labels[..SQUARES]);
        self.is_black.push(labels[SIDE] == 1);
        self.plies.push(ply);
    }

    /// Ends the current game.
    pub fn end_game(&mut self) {
        self.starts.push(self.len());
    }

    /// Shuffles the boards among rows of equal ply.
    pub fn shuffle(&mut self, seed: u64) {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by_key(|&row| self.plies[row]);
        let mut source = order.clone();
        let mut random = InitRng::seeded(seed);
        for rows in source.chunk_by_mut(|one, two| self.plies[*one] == self.plies[*two]) {
            for place in (1..rows.len()).rev() {
                rows.swap(place, random.uniform(0.0, (place + 1) as f64) as usize);
            }
        }
        let before = self.clone();
        for (row, from) in order.into_iter().zip(source) {
            let of = from * SQUARES..(from + 1) * SQUARES;
            self.labels[row * SQUARES..(row + 1) * SQUARES].copy_from_slice(&before.labels[of]);
            self.is_black[row] = before.is_black[from];
        }
    }
}

#[cfg(test)]
mod tests {
    use cwm_encoding::LABELS;

    use super::*;

    #[test]
    fn mine_is_that_of_the_side_to_move() {
        let mut boards = Boards::empty();
        for side in [0, 1] {
            let mut labels = [0; LABELS];
            // A white pawn, a black queen.
            (labels[0], labels[1], labels[SIDE]) = (1, 11, side);
            boards.push(&labels, 0);
        }
        let classes = boards.classes(Target::Mine);
        assert_eq!((&classes[..3], &classes[SQUARES..SQUARES + 3]), (&[1, 2, 0][..], &[2, 1, 0][..]));
    }

    #[test]
    fn boards_change_places_among_equal_plies_alone() {
        let mut boards = Boards::empty();
        for row in 0..40u8 {
            let mut labels = [row; LABELS];
            labels[SIDE] = row % 2;
            boards.push(&labels, u32::from(row % 2));
        }
        let before = boards.clone();
        boards.shuffle(1);
        assert_ne!(boards.labels, before.labels);
        let firsts: Vec<u8> = boards.labels.iter().step_by(SQUARES).copied().collect();
        for (row, first) in firsts.iter().enumerate() {
            assert_eq!((first % 2, boards.is_black[row]), (row as u8 % 2, row % 2 == 1));
        }
        let mut sorted = firsts;
        sorted.sort_unstable();
        assert_eq!(sorted, (0..40).collect::<Vec<u8>>());
    }
}
