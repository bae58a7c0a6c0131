//! One pass through a model: weights on a device, and what training needs to remember.

use std::cell::RefCell;
use std::sync::Arc;

use burn::tensor::{Device, Tensor, TensorData};

use crate::counter_rng::CounterRng;
use crate::gradient::{DeviceGradients, MicroGradient, SparseRowGradients};
use crate::parameters::{Layout, Role, Slot, Weights};
use crate::sites::{SiteRecorder, Sites};
use crate::{Precision, Tokens, ops};

/// Weights as tensors on a device, for one or more passes at once.
///
/// Tables that are only looked up by token stay where they are: a pass takes the rows that it needs, so that neither a
/// whole table nor a dense gradient of its size moves about.
#[derive(Debug)]
pub struct DeviceWeights<'w> {
    tables: Tables<'w>,
    device: Device,
    tensors: Vec<Option<Tensor<1>>>,
    precision: Precision,
}

/// The storage of tables.
#[derive(Debug)]
enum Tables<'w> {
    /// Weights in the CPU's memory.
    Host(&'w Weights),
    /// Weights on the device, by parameter.
    Device(Vec<Option<Tensor<2>>>),
}

impl<'w> DeviceWeights<'w> {
    /// Copies all dense parameters to `device`.
    pub fn new(weights: &'w Weights, device: &Device) -> Self {
        let tensors = weights
            .layout()
            .parameters()
            .iter()
            .enumerate()
            .map(|(index, declared)| {
                let data = || TensorData::new(weights.get(index).to_vec(), [declared.len()]);
                (declared.role == Role::Dense).then(|| Tensor::from_data(data(), device))
            })
            .collect();
        DeviceWeights { tables: Tables::Host(weights), device: device.clone(), tensors, precision: Precision::Fp32 }
    }

    /// Copies all parameters to `device`, tables too.
    pub fn owned(weights: &Weights, device: &Device) -> DeviceWeights<'static> {
        let part = |index: usize| {
            let values = weights.get(index).to_vec();
            Tensor::from_data(TensorData::new(values, [weights.get(index).len()]), device)
        };
        DeviceWeights::of_parts(weights.layout(), part, device)
    }

    /// Parts of `weights`, all parameters in one tensor on `device` in declaration order.
    pub fn on_device(layout: &Layout, weights: &Tensor<1>, device: &Device) -> DeviceWeights<'static> {
        DeviceWeights::of_parts(layout, |index| weights.clone().slice([layout.range(index)]), device)
    }

    /// Parameters on `device`: those that `part` gives, flat.
    pub fn of_parts(layout: &Layout, part: impl Fn(usize) -> Tensor<1>, device: &Device) -> DeviceWeights<'static> {
        let (mut tensors, mut tables) = (Vec::new(), Vec::new());
        for (index, declared) in layout.parameters().iter().enumerate() {
            let part = part(index);
            let (tensor, table) = match declared.role {
                Role::Dense => (Some(part), None),
                Role::Embedding { .. } => (None, Some(part.reshape([declared.shape[0], declared.shape[1]]))),
            };
            tensors.push(tensor);
            tables.push(table);
        }
        DeviceWeights { tables: Tables::Device(tables), device: device.clone(), tensors, precision: Precision::Fp32 }
    }

    /// Returns these weights for passes in `precision` in place of fp32.
    pub fn with_precision(mut self, precision: Precision) -> Self {
        self.precision = precision;
        self
    }
}

impl DeviceWeights<'_> {
    /// The rows of a table for each token.
    fn rows(&self, slot: Slot<2>, tokens: &Tokens) -> Tensor<2> {
        let [_, width] = slot.shape;
        match &self.tables {
            Tables::Host(weights) => {
                let table = weights.get(slot.index);
                let mut values = Vec::with_capacity(tokens.rows() * width);
                for &id in tokens.ids().iter() {
                    values.extend_from_slice(&table[id as usize * width..(id as usize + 1) * width]);
                }
                Tensor::from_data(TensorData::new(values, [tokens.rows(), width]), &self.device)
            }
            Tables::Device(tables) => {
                let whole = || self.tensors[slot.index].clone().map(|table| table.reshape(slot.shape));
                let table = tables[slot.index].clone().or_else(whole).expect("a parameter is whole, or a table");
                let ids: Vec<i32> = tokens.ids().iter().map(|&id| id as i32).collect();
                table.select(0, Tensor::from_data(TensorData::new(ids, [tokens.rows()]), &self.device))
            }
        }
    }
}

/// Something seen on the way: `block0.attn` and its value, rows by width.
pub type Observation = (String, Tensor<2>);

/// A forward pass: provides parameters, tracks which need gradients, draws dropout.
pub struct ForwardPass<'w> {
    device_weights: &'w DeviceWeights<'w>,
    device: Device,
    parameters: Vec<Option<Tensor<1>>>,
    embedding_rows: RefCell<Vec<EmbeddingRows>>,
    has_gradients: bool,
    rng: Option<CounterRng>,
    observed: Option<RefCell<Vec<Observation>>>,
    sites: Option<SiteRecorder>,
}

struct EmbeddingRows {
    parameter: usize,
    ids: Arc<[u32]>,
    rows: Tensor<2>,
}

impl<'w> ForwardPass<'w> {
    /// A pass without gradients or dropout.
    pub fn evaluation(device_weights: &'w DeviceWeights<'w>) -> Self {
        ForwardPass {
            device_weights,
            device: device_weights.device.clone(),
            parameters: device_weights.tensors.clone(),
            embedding_rows: RefCell::default(),
            has_gradients: false,
            rng: None,
            observed: None,
            sites: None,
        }
    }

    /// A pass whose gradients [`ForwardPass::gradient`] gives; with dropout if `rng` is given.
    pub fn training(device_weights: &'w DeviceWeights<'w>, rng: Option<CounterRng>) -> Self {
        let mut pass = ForwardPass::untracked(device_weights);
        pass.parameters = pass.parameters.into_iter().map(|tensor| tensor.map(Tensor::require_grad)).collect();
        ForwardPass { has_gradients: true, rng, ..pass }
    }

    /// A pass that computes the bits of a training pass without dropout, which an evaluation need not, and keeps nothing for
    /// gradients.
    pub fn untracked(device_weights: &'w DeviceWeights<'w>) -> Self {
        let of_training = |tensor: &Option<Tensor<1>>| tensor.clone().map(Tensor::autodiff);
        ForwardPass {
            device: device_weights.device.clone().autodiff(),
            parameters: device_weights.tensors.iter().map(of_training).collect(),
            ..ForwardPass::evaluation(device_weights)
        }
    }

    /// Returns this pass, which keeps what models offer to [`ForwardPass::observe`].
    pub fn observing(mut self) -> Self {
        self.observed = Some(RefCell::default());
        self
    }

    /// Returns this pass, which keeps and changes the stream at these sites. Callers check them against
    /// [`Network::sites`](crate::Network::sites). Edits are for passes without gradients.
    pub fn with_sites(mut self, sites: Sites) -> Self {
        self.sites = Some(SiteRecorder::new(sites));
        self
    }

    /// The device of this pass.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the type to which operands of matrix products are rounded.
    pub fn precision(&self) -> Precision {
        self.device_weights.precision
    }

    /// A dense parameter in its declared shape.
    ///
    /// # Panics
    /// The slot is that of a table, or of another model: a mistake in a family.
    pub fn parameter<const D: usize>(&self, slot: Slot<D>) -> Tensor<D> {
        let flat = self.parameters[slot.index].clone().expect("tables are looked up, not used whole");
        flat.reshape(slot.shape)
    }

    /// The rows of a table for each token: [batch * time, width]. Their gradients are those of rows also where the table
    /// is a dense parameter, used whole elsewhere: both gradients add up to its own.
    ///
    /// # Panics
    /// A token is not in the table: callers check tokens against the vocabulary.
    pub fn embedding(&self, slot: Slot<2>, tokens: &Tokens) -> Tensor<2> {
        let rows = self.device_weights.rows(slot, tokens);
        if !self.device.is_autodiff() {
            return rows;
        }
        let rows = rows.autodiff();
        if !self.has_gradients {
            return rows;
        }
        let rows = rows.require_grad();
        self.embedding_rows.borrow_mut().push(EmbeddingRows {
            parameter: slot.index,
            ids: tokens.ids().clone(),
            rows: rows.clone(),
        });
        rows
    }

    /// Dropout with probability `p` while training with rng; else `x` itself.
    pub fn dropout<const D: usize>(&self, x: Tensor<D>, p: f64) -> Tensor<D> {
        match self.next_dropout(p) {
            Some(dropout) => ops::dropout(x, dropout),
            None => x,
        }
    }

    /// The dropout of one place, for operations that apply it themselves.
    pub fn next_dropout(&self, p: f64) -> Option<ops::Dropout> {
        let rng = self.rng.as_ref().filter(|_| p > 0.0)?;
        Some(ops::Dropout { key: rng.next_key(), p: p as f32 })
    }

    /// Offers a value to the observer this pass.
    pub fn observe(&self, name: impl FnOnce() -> String, value: &Tensor<2>) {
        if let Some(observed) = &self.observed {
            observed.borrow_mut().push((name(), value.clone()));
        }
    }

    /// Returns the observed tensors, in order.
    pub fn observed(&self) -> Vec<Observation> {
        self.observed.as_ref().map(|observed| observed.borrow().clone()).unwrap_or_default()
    }

    /// The stream [batch * time, width] that a family continues with after a site: 0 after its embedding, `l` after its
    /// block `l`. It is `x` itself, without a copy or an operation, where this pass changes nothing.
    pub fn stream(&self, site: usize, x: Tensor<2>) -> Tensor<2> {
        match &self.sites {
            Some(sites) => sites.visit(site, x),
            None => x,
        }
    }

    /// Returns the kept streams with their sites, in the order of the sites, each [batch * time, width].
    pub fn kept(&self) -> Vec<(usize, Tensor<2>)> {
        self.sites.as_ref().map(SiteRecorder::kept).unwrap_or_default()
    }

    /// The largest site that this pass keeps or changes.
    pub(crate) fn last_site(&self) -> Option<usize> {
        self.sites.as_ref().and_then(SiteRecorder::last)
    }

    /// Gradients of the sum of `loss` with respect to all parameters.
    ///
    /// # Panics
    /// The pass is not a training pass, or `loss` does not come from it.
    pub fn gradient(self, loss: &Tensor<1>) -> MicroGradient {
        self.device_gradients(loss).into()
    }

    /// Returns [`ForwardPass::gradient`], left on the device.
    ///
    /// # Panics
    /// As [`ForwardPass::gradient`].
    pub fn device_gradients(self, loss: &Tensor<1>) -> DeviceGradients {
        let mut gradients = loss.backward();
        let mut take = |tensor: Tensor<1>| tensor.grad_remove(&mut gradients);
        let dense = self.parameters.into_iter().map(|parameter| parameter.and_then(&mut take)).collect();
        let embedding_rows = self.embedding_rows.into_inner().into_iter().filter_map(|embedding_rows| {
            let rows = embedding_rows.rows.grad_remove(&mut gradients)?;
            Some(SparseRowGradients { parameter: embedding_rows.parameter, ids: embedding_rows.ids, rows })
        });
        DeviceGradients { embedding_rows: embedding_rows.collect(), dense }
    }
}
