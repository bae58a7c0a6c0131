//! Rotary positions, as the authors' code has them and as they are meant; or none.

use std::sync::Arc;

use burn::tensor::{Tensor, TensorData};

/// Base of the frequencies.
const BASE: f64 = 10_000.0;

/// The channels that a position turns together, and the speed at which it turns them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// The authors' code: channel j turns with frequency j mod D/2, but its partner is its neighbour (2i with 2i+1). The
    /// two of a pair have different frequencies, so this is no rotation (models.md §2).
    Upstream,
    /// Su et al. 2021 in the two-halves layout: channels j and j + D/2 turn together with frequency j.
    Standard,
    /// Nothing turns.
    None,
}

/// Factors for each position and channel: y_j = x_j cosine_j + x_partner(j) sine_j.
#[derive(Clone, Debug)]
pub struct Rotation {
    layout: Layout,
    head_width: usize,
    /// [time, head width]
    cosines: Arc<[f32]>,
    /// [time, head width], with the sign of the partner's share.
    sines: Arc<[f32]>,
    partners: Arc<[usize]>,
}

impl Rotation {
    /// Factors for positions below `time` of heads with `head_width` channels.
    pub fn new(layout: Layout, time: usize, head_width: usize) -> Self {
        let half = head_width / 2;
        let partner = |j: usize| match layout {
            Layout::Upstream => j ^ 1,
            Layout::Standard | Layout::None => (j + half) % head_width,
        };
        // PyTorch computes frequencies and angles in f32; so do we, to agree in the last digits.
        let frequency = |j: usize| match layout {
            Layout::None => 0.0,
            _ => (1.0 / BASE.powf((j % half) as f64 * 2.0 / head_width as f64)) as f32,
        };
        let frequencies: Vec<f32> = (0..head_width).map(frequency).collect();
        let places = || (0..time).flat_map(|t| (0..head_width).map(move |j| (t, j)));
        let angle = |(t, j): (usize, usize)| f64::from(t as f32 * frequencies[j]);
        let sine = |(t, j): (usize, usize)| {
            let sine = angle((t, j)).sin() as f32;
            if partner(j) > j { -sine } else { sine }
        };
        Rotation {
            layout,
            head_width,
            cosines: places().map(|place| angle(place).cos() as f32).collect(),
            sines: places().map(sine).collect(),
            partners: (0..head_width).map(partner).collect(),
        }
    }

    /// Channels of a head.
    pub fn head_width(&self) -> usize {
        self.head_width
    }

    /// Channels that turn together.
    #[cfg(feature = "gpu")]
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The factors of each position: of channels, and of their partners.
    #[cfg(feature = "gpu")]
    pub fn factors(&self) -> (&Arc<[f32]>, &Arc<[f32]>) {
        (&self.cosines, &self.sines)
    }

    /// Turns `x` [head width] at position `t` into `y`.
    #[inline(always)]
    pub fn rotate(&self, t: usize, x: &[f32], y: &mut [f32]) {
        if self.layout == Layout::None {
            y.copy_from_slice(x);
            return;
        }
        let (cosines, sines) = self.at(t);
        for (j, y) in y.iter_mut().enumerate() {
            *y = x[j] * cosines[j] + x[self.partners[j]] * sines[j];
        }
    }

    /// Adds the gradient of [`Rotation::rotate`]'s input to `into`, given that of its output.
    #[inline(always)]
    pub fn rotate_back(&self, t: usize, gradient: &[f32], into: &mut [f32]) {
        let (cosines, sines) = self.at(t);
        for (j, &g) in gradient.iter().enumerate() {
            into[j] += g * cosines[j];
            if self.layout != Layout::None {
                into[self.partners[j]] += g * sines[j];
            }
        }
    }

    /// Turns rows [parts, time, head width] by their positions, if anything turns; rows at positions that this has not then
    /// become zeros.
    pub fn rotate_all(&self, x: Tensor<3>) -> Tensor<3> {
        let [_, time, width] = x.dims();
        let table = |factors: &[f32]| {
            let mut factors = factors.to_vec();
            factors.resize(time * width, 0.0);
            Tensor::<3>::from_data(TensorData::new(factors, [1, time, width]), &x.device())
        };
        let Some(partners) = self.partners(x.clone()) else { return x };
        x.clone() * table(&self.cosines) + partners * table(&self.sines)
    }

    /// Turns the heads of rows [rows, heads, head width], each row by its position.
    ///
    /// # Panics
    /// There are not as many positions as rows, or this has not such a position.
    pub fn rotate_rows(&self, x: Tensor<3>, positions: &[u32]) -> Tensor<3> {
        let [rows, _, width] = x.dims();
        let table = |factors: &[f32]| {
            let of_row = |&t: &u32| factors[t as usize * width..(t as usize + 1) * width].iter().copied();
            let factors = positions.iter().flat_map(of_row).collect::<Vec<_>>();
            Tensor::<3>::from_data(TensorData::new(factors, [rows, 1, width]), &x.device())
        };
        let Some(partners) = self.partners(x.clone()) else { return x };
        x.clone() * table(&self.cosines) + partners * table(&self.sines)
    }

    /// The partner of each channel, the last axis; `None` if nothing turns.
    fn partners(&self, x: Tensor<3>) -> Option<Tensor<3>> {
        let shape = x.dims();
        let [parts, time, width] = shape;
        match self.layout {
            Layout::Upstream => Some(x.reshape([parts, time, width / 2, 2]).flip([3]).reshape(shape)),
            Layout::Standard => Some(x.reshape([parts, time, 2, width / 2]).flip([2]).reshape(shape)),
            Layout::None => None,
        }
    }

    fn at(&self, t: usize) -> (&[f32], &[f32]) {
        let at = t * self.head_width..(t + 1) * self.head_width;
        (&self.cosines[at.clone()], &self.sines[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turned(layout: Layout, t: usize, x: &[f32]) -> Vec<f32> {
        let mut y = vec![0.0; x.len()];
        Rotation::new(layout, t + 1, x.len()).rotate(t, x, &mut y);
        y
    }

    #[test]
    fn the_standard_layout_keeps_lengths_and_depends_on_distance_alone() {
        let (q, k) = ([0.3, -1.2, 0.7, 2.0, 0.1, -0.4], [1.0, 0.5, -0.6, 0.2, 0.9, -1.1]);
        let product = |t: usize, s: usize| -> f32 {
            let (q, k) = (turned(Layout::Standard, t, &q), turned(Layout::Standard, s, &k));
            q.iter().zip(&k).map(|(q, k)| q * k).sum()
        };
        assert!((product(9, 4) - product(105, 100)).abs() < 1e-4);
        assert!((product(9, 4) - product(9, 5)).abs() > 1e-2);
    }

    #[test]
    fn all_rows_turn_as_each_does() {
        for layout in [Layout::Upstream, Layout::Standard] {
            let (rotation, x) = (Rotation::new(layout, 3, 6), crate::testing::random::<3>([2, 5, 6], 1, 1.0));
            let found = crate::testing::values(&rotation.rotate_all(x.clone()));
            for (row, (found, x)) in found.chunks_exact(6).zip(crate::testing::values(&x).chunks_exact(6)).enumerate() {
                let mut expected = [0.0; 6];
                if row % 5 < 3 {
                    rotation.rotate(row % 5, x, &mut expected);
                }
                crate::testing::assert_close(found, &expected, 1e-6);
            }
        }
    }

    #[test]
    fn each_row_turns_by_its_position_to_the_bit() {
        for layout in [Layout::Upstream, Layout::Standard, Layout::None] {
            let (rotation, positions) = (Rotation::new(layout, 9, 6), [8, 0, 3, 3]);
            let x = crate::testing::random::<3>([4, 2, 6], 1, 1.0);
            let found = crate::testing::values(&rotation.rotate_rows(x.clone(), &positions));
            for (head, (found, x)) in found.chunks_exact(6).zip(crate::testing::values(&x).chunks_exact(6)).enumerate()
            {
                let mut expected = [0.0; 6];
                rotation.rotate(positions[head / 2] as usize, x, &mut expected);
                assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn the_upstream_layout_pairs_neighbours_of_different_frequencies() {
        // D = 4: frequencies 1, 0.01, 1, 0.01
        let y = turned(Layout::Upstream, 1, &[1.0, 2.0, 3.0, 4.0]);
        let expected = [
            1.0 * 1f32.cos() - 2.0 * 1f32.sin(),
            2.0 * 0.01f32.cos() + 1.0 * 0.01f32.sin(),
            3.0 * 1f32.cos() - 4.0 * 1f32.sin(),
            4.0 * 0.01f32.cos() + 3.0 * 0.01f32.sin(),
        ];
        for (y, expected) in y.iter().zip(expected) {
            assert!((y - expected).abs() < 1e-6, "{y} {expected}");
        }
    }
}
