//! Records and edits a model's residual stream at its sites during a pass.
//!
//! Site 0 is the stream after the embedding, site `l` the stream after block `l`, before the final norm.

#[cfg(test)]
mod invariants;

use std::cell::RefCell;

use burn::tensor::{IndexingUpdateOp, Int, Tensor, TensorData};

/// The sites that a pass keeps and the one that it edits; by default none.
#[derive(Default)]
pub struct Sites {
    /// The sites to keep, each at most once. Of an edited site, the edited stream is kept.
    pub keep: Vec<usize>,
    /// The change of one site.
    pub edit: Option<Edit>,
}

/// A change of the stream at one site. Everything after that site reads the changed stream.
pub struct Edit {
    /// The site.
    pub site: usize,
    /// The change.
    pub change: Change,
}

/// A change of the stream [batch * time, width].
#[expect(clippy::large_enum_variant, reason = "a pass has one at most")]
pub enum Change {
    /// Vectors are added to some rows.
    Add {
        /// The rows, each at most once; row `b * time + t` is step `t` of sequence `b`.
        rows: Vec<usize>,
        /// The vector of each row, [rows, width].
        vectors: Tensor<2>,
    },
    /// The function's result, in the same shape, replaces the whole stream.
    Replace(Box<dyn Fn(Tensor<2>) -> Tensor<2> + Send + Sync>),
}

impl Change {
    fn apply(&self, x: Tensor<2>) -> Tensor<2> {
        match self {
            Change::Add { rows, vectors } => {
                let indices: Vec<i32> = rows.iter().map(|&row| row as i32).collect();
                let indices = TensorData::new(indices, [rows.len()]);
                let indices = Tensor::<1, Int>::from_data(indices, &x.device());
                x.select_assign(0, indices, vectors.clone(), IndexingUpdateOp::Add)
            }
            Change::Replace(function) => function(x),
        }
    }
}

/// The sites of a pass, and what it has kept so far.
pub(crate) struct SiteRecorder {
    sites: Sites,
    kept: RefCell<Vec<(usize, Tensor<2>)>>,
}

impl SiteRecorder {
    pub fn new(sites: Sites) -> Self {
        SiteRecorder { sites, kept: RefCell::default() }
    }

    /// The stream that a model continues with after `site`.
    pub fn visit(&self, site: usize, x: Tensor<2>) -> Tensor<2> {
        let x = match &self.sites.edit {
            Some(edit) if edit.site == site => edit.change.apply(x),
            _ => x,
        };
        if self.sites.keep.contains(&site) {
            self.kept.borrow_mut().push((site, x.clone()));
        }
        x
    }

    /// The streams that were kept, in the order of the model's sites.
    pub fn kept(&self) -> Vec<(usize, Tensor<2>)> {
        self.kept.borrow().clone()
    }

    /// The largest site that is kept or changed.
    pub fn last(&self) -> Option<usize> {
        self.sites.keep.iter().copied().chain(self.sites.edit.as_ref().map(|edit| edit.site)).max()
    }
}
