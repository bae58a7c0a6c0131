//! The scan by products of transitions: associative over each chunk.
//!
//! A step is an affine map (M, c); two in a row are (M₂ M₁, M₂ c₁ + c₂). The scan combines neighbours, then neighbours of
//! those, and fills the gaps on the way back, in the order of the authors' (PyTorch's generic `associative_scan`), so
//! that a product overflows here where it does there.

use super::{CHUNK, Game};

/// All steps of a game.
#[macerator::with_simd]
pub fn chunked<'a, S: macerator::Simd>(game: Game<'a>, inputs: &[f32], states: &mut [f32]) {
    let Game { width, block, init, transitions } = game;
    let mut maps = Maps { width, block, linear: Vec::new(), shift: Vec::new(), row: vec![0.0; block] };
    let mut start = init.to_vec();
    let chunks = transitions.chunks(CHUNK * width * block).zip(inputs.chunks(CHUNK * width));
    for ((transitions, inputs), states) in chunks.zip(states.chunks_mut(CHUNK * width)) {
        maps.load(transitions, inputs);
        // The same code for each; naming the frequent blocks lets the compiler unroll them.
        match block {
            1 => maps.scan(1),
            8 => maps.scan(8),
            block => maps.scan(block),
        }
        maps.apply(&start, states);
        start.copy_from_slice(&states[states.len() - width..]);
    }
}

/// Affine maps of the steps of a chunk.
struct Maps {
    width: usize,
    block: usize,
    /// M, [steps, width * block]
    linear: Vec<f32>,
    /// c, [steps, width]
    shift: Vec<f32>,
    /// Room for a row of a block.
    row: Vec<f32>,
}

impl Maps {
    /// M = I + A and c of each step.
    #[inline(always)]
    fn load(&mut self, transitions: &[f32], inputs: &[f32]) {
        self.linear.clear();
        self.linear.extend_from_slice(transitions);
        for block in self.linear.chunks_exact_mut(self.block * self.block) {
            block.iter_mut().step_by(self.block + 1).for_each(|diagonal| *diagonal += 1.0);
        }
        self.shift.clear();
        self.shift.extend_from_slice(inputs);
    }

    /// Replaces each step's map by that of all steps up to it.
    #[inline(always)]
    fn scan(&mut self, block: usize) {
        let steps = self.shift.len() / self.width;
        let mut stride = 1;
        while 2 * stride <= steps {
            for later in (2 * stride - 1..steps).step_by(2 * stride) {
                self.combine(block, later - stride, later);
            }
            stride *= 2;
        }
        while stride > 1 {
            stride /= 2;
            for later in (3 * stride - 1..steps).step_by(2 * stride) {
                self.combine(block, later - stride, later);
            }
        }
    }

    /// The map of step `later` becomes that of `earlier`, then `later`.
    #[inline(always)]
    fn combine(&mut self, block: usize, earlier: usize, later: usize) {
        let (linear, shift) = (self.width * block, self.width);
        let (head, tail) = self.linear.split_at_mut(later * linear);
        let (earlier_linear, later_linear) = (&head[earlier * linear..(earlier + 1) * linear], &mut tail[..linear]);
        let (head, tail) = self.shift.split_at_mut(later * shift);
        let (earlier_shift, later_shift) = (&head[earlier * shift..(earlier + 1) * shift], &mut tail[..shift]);
        if block == 1 {
            let maps = later_linear.iter_mut().zip(later_shift).zip(earlier_linear.iter().zip(earlier_shift));
            for ((m, c), (earlier_m, earlier_c)) in maps {
                *c += *m * earlier_c;
                *m *= earlier_m;
            }
            return;
        }
        let row = &mut self.row[..block];
        let later = later_linear.chunks_exact_mut(block * block).zip(later_shift.chunks_exact_mut(block));
        let earlier = earlier_linear.chunks_exact(block * block).zip(earlier_shift.chunks_exact(block));
        for ((m, c), (earlier_m, earlier_c)) in later.zip(earlier) {
            for (m, c) in m.chunks_exact_mut(block).zip(c) {
                row.fill(0.0);
                let mut total = 0.0;
                for ((&m, earlier_m), earlier_c) in m.iter().zip(earlier_m.chunks_exact(block)).zip(earlier_c) {
                    total += m * earlier_c;
                    for (row, earlier_m) in row.iter_mut().zip(earlier_m) {
                        *row += m * earlier_m;
                    }
                }
                *c += total;
                m.copy_from_slice(row);
            }
        }
    }

    /// The states of all steps, from that before the chunk.
    #[inline(always)]
    fn apply(&self, start: &[f32], states: &mut [f32]) {
        let maps = self.linear.chunks_exact(self.width * self.block).zip(self.shift.chunks_exact(self.width));
        for ((linear, shift), states) in maps.zip(states.chunks_exact_mut(self.width)) {
            for (i, (state, row)) in states.iter_mut().zip(linear.chunks_exact(self.block)).enumerate() {
                let start = &start[i / self.block * self.block..][..self.block];
                let total: f32 = row.iter().zip(start).map(|(m, start)| m * start).sum();
                *state = total + shift[i];
            }
        }
    }
}
