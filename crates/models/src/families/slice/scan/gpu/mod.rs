//! The recurrence on a GPU: one launch forward, and one backward besides the sum of the gradients of `init` over games.
//!
//! A cube has some neighbouring blocks of one game and goes from step to step; all games and blocks are computed at once.

mod backward;
mod chunked;
mod sequential;

use cubecl::prelude::*;

use super::{Scan, ScanAlgorithm};
use crate::gpu::{Array, Gpu, Operation, cubes, sum_over_rows};

/// Larger blocks are left to the decomposed form: the maps of a chunk would not fit into a cube's shared memory.
pub const LARGEST_BLOCK: usize = 16;

/// Channels of a cube that has a thread for each.
const CHANNELS: usize = 64;

impl Scan {
    /// Channels of a cube with a thread for each: some whole blocks.
    fn channels(&self) -> usize {
        (CHANNELS / self.shape.block).max(1) * self.shape.block
    }

    /// Games, steps and channels, as kernels take them.
    fn sizes(&self) -> [u32; 3] {
        [self.shape.lengths.len(), self.shape.time, self.shape.width].map(|size| size as u32)
    }

    /// Returns the number of cubes if each has `channels` channels.
    fn cubes_of(&self, channels: usize) -> CubeCount {
        cubes(self.shape.lengths.len() * self.shape.width.div_ceil(channels))
    }
}

impl Operation<3> for Scan {
    fn forward(&self, gpu: &Gpu, [init, a, c]: [&Array; 3], _save: bool) -> (Array, Vec<Array>) {
        let (states, lengths) = (gpu.empty(c.len()), gpu.lengths(&self.shape.lengths));
        let ([games, time, width], block) = (self.sizes(), self.shape.block);
        let (init, a, c, lengths, into) = (init.arg(), a.arg(), c.arg(), lengths.arg(), states.arg());
        match self.algorithm {
            ScanAlgorithm::Sequential => {
                let channels = self.channels();
                let (cubes, cube) = (self.cubes_of(channels), CubeDim::new_1d(channels as u32));
                let client = gpu.client();
                sequential::run::launch(
                    client, cubes, cube, init, a, c, lengths, into, games, time, width, block, channels,
                );
            }
            ScanAlgorithm::Chunked => {
                let blocks = chunked::blocks(block);
                let (cubes, cube) = (self.cubes_of(blocks * block), CubeDim::new_1d(chunked::threads(block) as u32));
                let client = gpu.client();
                chunked::run::launch(client, cubes, cube, init, a, c, lengths, into, games, time, width, block, blocks);
            }
        }
        (states.clone(), vec![states])
    }

    fn backward(
        &self,
        gpu: &Gpu,
        [init, a, _]: [&Array; 3],
        saved: &[Array],
        gradient: &Array,
        _wanted: [bool; 3],
    ) -> [Option<Array>; 3] {
        let [games, time, width] = self.sizes();
        let (grad_init, grad_a, grad_c) =
            (gpu.empty((games * width) as usize), gpu.empty(a.len()), gpu.empty(gradient.len()));
        let channels = self.channels();
        let lengths = gpu.lengths(&self.shape.lengths);
        backward::run::launch(
            gpu.client(),
            self.cubes_of(channels),
            CubeDim::new_1d(channels as u32),
            init.arg(),
            a.arg(),
            saved[0].arg(),
            gradient.arg(),
            lengths.arg(),
            grad_init.arg(),
            grad_a.arg(),
            grad_c.arg(),
            games,
            time,
            width,
            self.shape.block,
            channels,
        );
        let grad_init = sum_over_rows(gpu, &grad_init, games as usize, width as usize);
        [Some(grad_init), Some(grad_a), Some(grad_c)]
    }
}
