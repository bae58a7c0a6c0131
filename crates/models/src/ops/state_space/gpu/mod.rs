//! The recurrence on a GPU, step by step: what the kernels of Mamba-2 and Mamba-3 have in common.
//!
//! A cube has the state of one head of one game, or of a tile of its columns, in its threads' registers, and goes
//! through the steps. Every product of decays is a product of the steps' own factors e^a, so there are no sums of
//! logarithms to lose digits in. A thread has the rows n = slice + 16 j and the columns p = column + 16 i of the state.
//!
//! Inputs are packed: a row a step, with queries, keys and values at the places that [`Plan`] says. `rates` are
//! [rows, heads, 3]: the factor e^a, `own` and `later`. Outputs are [rows, heads, ranks, width].

mod backward;
mod forward;
mod queries;
mod stage;

use cubecl::prelude::*;

pub(crate) use backward::backward;
pub(crate) use forward::forward;

/// Slices of the state's rows, and threads across its columns.
pub(crate) const LANES: usize = 16;

/// Threads of a cube.
pub(crate) const UNITS: usize = LANES * LANES;

/// Steps between states that are saved for the backward pass.
pub(crate) const CHUNK: usize = 16;

/// Most columns of a thread.
const COLUMNS: usize = 4;

/// Values that a cube keeps of the inputs of coming steps, at most (unless one step has more).
const STAGED: usize = 1600;

/// Rates of a step and head: factor, own and later.
pub(crate) const RATES: usize = 3;

/// Gradients of rates of a step, head and tile: of the log decay, own, later and the skip connection.
pub(crate) const RATE_GRADIENTS: usize = 4;

/// Sizes of the recurrence, and the places of its inputs in a packed row. Kernels are compiled for each plan.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
pub(crate) struct Plan {
    pub heads: usize,
    /// Rows a step in queries, keys and values.
    pub ranks: usize,
    /// Width of queries and keys.
    pub state: usize,
    /// Width of a head's values.
    pub width: usize,
    /// Values of a packed row.
    pub row: usize,
    /// Places of the first head's queries [ranks, state], keys [ranks, state] and values [ranks, width] in a row.
    pub places: [usize; 3],
    /// The distance from a head's queries and keys to those of the next, or 0 if all heads share them.
    pub next_keys: usize,
    /// The distance from a head's values to those of the next.
    pub next_values: usize,
    /// Values at the end of the gradients of a row and head that a family fills, for sums over rows.
    pub extra: usize,
}

impl Plan {
    /// Rows of the state that a thread has.
    pub fn down(&self) -> usize {
        self.state.div_ceil(LANES)
    }

    /// Columns of the state that a thread has.
    pub fn across(&self) -> usize {
        self.width.div_ceil(LANES).clamp(1, COLUMNS)
    }

    /// Values of the state that a thread has.
    pub fn cells(&self) -> usize {
        self.down() * self.across()
    }

    /// The state's rows, filled up.
    pub fn rows(&self) -> usize {
        self.down() * LANES
    }

    /// Columns of a tile.
    pub fn tile(&self) -> usize {
        self.across() * LANES
    }

    /// Tiles of a head's columns.
    pub fn tiles(&self) -> usize {
        self.width.div_ceil(self.tile())
    }

    /// Values of a step in the stage: queries and keys [ranks, rows] each, values [ranks, tile], rates.
    pub fn staged(&self) -> usize {
        self.ranks * (2 * self.rows() + self.tile()) + RATES
    }

    /// Steps that are staged at once, a divisor of [`CHUNK`].
    pub fn block(&self, with_gradient: bool) -> usize {
        let step = self.staged() + if with_gradient { self.ranks * self.tile() } else { 0 };
        let fit = (STAGED / step).clamp(1, CHUNK);
        1 << fit.ilog2()
    }

    /// Gradients of a row and head: values [ranks, width]; then for each tile its part of those of keys and queries,
    /// [ranks, state] each; then the extra ones.
    pub fn gradients(&self) -> usize {
        self.key_gradients(self.tiles()) + self.extra
    }

    /// The place of a tile's part of the gradients of keys among the gradients of a row and head.
    pub fn key_gradients(&self, tile: usize) -> usize {
        self.ranks * self.width + tile * 2 * self.ranks * self.state
    }
}

/// Games of a batch, padded to the same number of steps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batch {
    pub games: usize,
    pub time: usize,
}

impl Batch {
    /// Rows of all games.
    pub fn rows(&self) -> usize {
        self.games * self.time
    }

    /// States that are saved of a game, one after each chunk but the last.
    fn saved_states(&self) -> usize {
        self.time.div_ceil(CHUNK).saturating_sub(1)
    }
}

/// The share of a cube: a tile of a head of a game.
#[derive(CubeType, Clone, Copy)]
pub(super) struct Place {
    pub game: usize,
    pub head: usize,
    pub tile: usize,
}

/// The place of a number, counted by tiles, then heads, then games.
#[cube]
pub(super) fn place(at: usize, #[comptime] plan: Plan) -> Place {
    let tiles = comptime!(plan.tiles());
    let heads = comptime!(plan.heads);
    Place { game: at / (tiles * heads), head: at / tiles % heads, tile: at % tiles }
}
