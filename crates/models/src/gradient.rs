//! Gradients of a batch, gathered from its micro-batches.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use burn::tensor::{Tensor, TensorData};
use rayon::prelude::*;

use crate::parameters::{Layout, Role, Weights};

/// Gradients of one micro-batch, on the device.
#[derive(Debug)]
pub struct DeviceGradients {
    /// By parameter, flat; `None` where it had none or is only a table.
    pub dense: Vec<Option<Tensor<1>>>,
    /// Rows of tables; they add to what is dense.
    pub embedding_rows: Vec<SparseRowGradients>,
}

/// Gradients of the rows that were looked up in a table, on the device.
#[derive(Debug)]
pub struct SparseRowGradients {
    /// The table's place among the parameters.
    pub parameter: usize,
    /// The token of each row.
    pub ids: Arc<[u32]>,
    /// [rows, width]
    pub rows: Tensor<2>,
}

impl From<DeviceGradients> for MicroGradient {
    fn from(gradients: DeviceGradients) -> Self {
        let of_rows =
            |SparseRowGradients { parameter, ids, rows }| EmbeddingGradient { parameter, ids, rows: rows.into_data() };
        MicroGradient {
            dense: gradients.dense.into_iter().map(|gradient| gradient.map(Tensor::into_data)).collect(),
            embedding_rows: gradients.embedding_rows.into_iter().map(of_rows).collect(),
        }
    }
}

/// Gradients of one micro-batch.
#[derive(Debug)]
pub struct MicroGradient {
    /// By parameter; `None` where it had none or is a table.
    pub(crate) dense: Vec<Option<TensorData>>,
    /// Rows of tables.
    pub(crate) embedding_rows: Vec<EmbeddingGradient>,
}

/// Gradients of the rows that were looked up in a table.
#[derive(Debug)]
pub(crate) struct EmbeddingGradient {
    pub parameter: usize,
    pub ids: Arc<[u32]>,
    /// [rows, width]
    pub rows: TensorData,
}

/// Sum of the gradients of all micro-batches, always in their order, whichever finishes first: so its bits do not
/// depend on the number of threads.
#[derive(Debug)]
pub struct GradientSum {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    sum: Weights,
    next: usize,
    waiting: BTreeMap<usize, MicroGradient>,
}

impl GradientSum {
    /// Zero.
    pub fn new(layout: Arc<Layout>) -> Self {
        GradientSum { state: Mutex::new(State { sum: Weights::zeros(layout), next: 0, waiting: BTreeMap::new() }) }
    }

    /// Adds the gradient of micro-batch `index`, once all before it are in.
    pub fn add(&self, index: usize, gradient: MicroGradient) {
        let mut state = self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        state.waiting.insert(index, gradient);
        let State { sum, next, waiting } = &mut *state;
        while let Some(gradient) = waiting.remove(next) {
            add(sum, &gradient);
            *next += 1;
        }
    }

    /// The sum of all that was added, and zero again for the next batch.
    pub fn with<R>(&mut self, use_sum: impl FnOnce(&mut Weights) -> R) -> R {
        let state = self.state.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner());
        debug_assert!(state.waiting.is_empty(), "a micro-batch was left out");
        state.next = 0;
        let result = use_sum(&mut state.sum);
        state.sum.values_mut().par_chunks_mut(1 << 16).for_each(|chunk| chunk.fill(0.0));
        result
    }
}

fn add(sum: &mut Weights, gradient: &MicroGradient) {
    let layout = sum.layout().clone();
    for (index, data) in gradient.dense.iter().enumerate() {
        if let Some(data) = data {
            for (total, value) in sum.get_mut(index).iter_mut().zip(floats(data)) {
                *total += value;
            }
        }
    }
    for of_table in &gradient.embedding_rows {
        let declared = &layout.parameters()[of_table.parameter];
        let padding = match declared.role {
            Role::Embedding { padding } => padding,
            Role::Dense => None,
        };
        let width = declared.shape[1];
        let table = sum.get_mut(of_table.parameter);
        for (&id, row) in of_table.ids.iter().zip(floats(&of_table.rows).chunks_exact(width)) {
            let id = id as usize;
            if padding == Some(id) {
                continue;
            }
            for (total, value) in table[id * width..(id + 1) * width].iter_mut().zip(row) {
                *total += value;
            }
        }
    }
}

fn floats(data: &TensorData) -> &[f32] {
    data.as_slice().expect("gradients are f32 and contiguous")
}
