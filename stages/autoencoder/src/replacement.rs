//! Replacements of the stream of a site.

use std::sync::Arc;

use burn::tensor::{Device, Tensor, TensorData};
use cwm_inside::Batch;
use cwm_inside::autoencoder::DeviceAutoencoder;
use cwm_models::sites::Change;

/// The replacement of one site's stream.
#[derive(Clone)]
pub enum Replacement {
    /// The reconstruction of it by an autoencoder.
    Reconstructed(Arc<DeviceAutoencoder>),
    /// One row [width] everywhere.
    Row(Box<Tensor<1>>),
}

impl Replacement {
    /// The change of a batch's stream; with `keep_begin`, the row of each game's first token stays.
    pub fn change(&self, batch: &Batch<'_>, device: &Device, keep_begin: bool) -> Change {
        let (games, time) = (batch.places.len(), batch.tokens.time());
        let is_kept = |row: usize| keep_begin && row.is_multiple_of(time);
        let mask: Vec<f32> = (0..games * time).map(|row| if is_kept(row) { 0.0 } else { 1.0 }).collect();
        let mask = Tensor::<2>::from_data(TensorData::new(mask, [games * time, 1]), device);
        let replacement = self.clone();
        Change::Replace(Box::new(move |x| {
            let y = replacement.replacement_rows(x.clone());
            x * mask.clone().neg().add_scalar(1.0) + y * mask.clone()
        }))
    }

    fn replacement_rows(&self, x: Tensor<2>) -> Tensor<2> {
        match self {
            Replacement::Reconstructed(autoencoder) => autoencoder.rows(autoencoder.latents(x)),
            Replacement::Row(row) => Tensor::clone(row).unsqueeze::<2>().repeat_dim(0, x.dims()[0]),
        }
    }
}
