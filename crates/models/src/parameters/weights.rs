//! Values of all parameters in one array.

use std::ops::Range;
use std::sync::Arc;

use super::{Declarations, InitRng, Parameter};

/// Names, shapes and places of all parameters of a model.
#[derive(Clone, Debug)]
pub struct Layout {
    declared: Vec<Parameter>,
    starts: Vec<usize>,
    total: usize,
}

impl Layout {
    /// More parameters are not meant: 4 TiB of them.
    pub const MAX_PARAMETERS: usize = 1 << 40;

    /// Lays out what was declared, one after the other; `None` if that is more than [`Layout::MAX_PARAMETERS`] values.
    pub fn new(declarations: Declarations) -> Option<Self> {
        let (mut total, mut starts) = (0usize, Vec::with_capacity(declarations.all.len()));
        for declared in &declarations.all {
            starts.push(total);
            let values = declared.shape.iter().try_fold(1usize, |values, &extent| values.checked_mul(extent))?;
            total = total.checked_add(values).filter(|&total| total <= Layout::MAX_PARAMETERS)?;
        }
        Some(Layout { declared: declarations.all, starts, total })
    }

    /// All parameters in order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.declared
    }

    /// Number of values in all.
    pub fn total(&self) -> usize {
        self.total
    }

    /// Returns the range of the values of parameter `index`.
    pub fn range(&self, index: usize) -> Range<usize> {
        self.starts[index]..self.starts[index] + self.declared[index].len()
    }

    /// The parameter of this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.declared.iter().position(|declared| declared.name == name)
    }
}

/// Values for a layout: weights, gradients or moments.
#[derive(Clone, Debug)]
pub struct Weights {
    layout: Arc<Layout>,
    values: Vec<f32>,
}

impl Weights {
    /// All zero.
    pub fn zeros(layout: Arc<Layout>) -> Self {
        Weights { values: vec![0.0; layout.total()], layout }
    }

    /// Draws each parameter by its [`Init`](super::Init), in declaration order from one generator.
    pub fn initial(layout: Arc<Layout>, seed: u64) -> Self {
        let mut weights = Weights::zeros(layout.clone());
        let mut draw = InitRng::seeded(seed);
        for (index, declared) in layout.parameters().iter().enumerate() {
            declared.init.fill(&mut weights.values[layout.range(index)], &mut draw);
        }
        weights
    }

    /// Names, shapes and places.
    pub fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// All values, in declaration order.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// All values, to change.
    pub fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }

    /// Values of parameter `index`.
    pub fn get(&self, index: usize) -> &[f32] {
        &self.values[self.layout.range(index)]
    }

    /// Values of parameter `index`, to change.
    pub fn get_mut(&mut self, index: usize) -> &mut [f32] {
        &mut self.values[self.layout.range(index)]
    }

    /// Returns true if every value is finite.
    pub fn is_finite(&self) -> bool {
        self.values.iter().all(|value| value.is_finite())
    }
}
