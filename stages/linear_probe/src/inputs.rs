//! The values that linear probes read: rows of the stream, or latents of an autoencoder.

use burn::tensor::{Tensor, TensorData};
use cwm_inside::Rows;
use cwm_inside::autoencoder::DeviceAutoencoder;
use cwm_models::device;

/// The form in which a linear probe reads the rows of a layer.
pub enum Form {
    /// Rows of the stream, divided by this.
    Stream(f32),
    /// Latents of an autoencoder, encoded on the CPU.
    Latents {
        /// The autoencoder.
        autoencoder: Box<DeviceAutoencoder>,
        /// The number of its latents.
        latents: usize,
    },
}

/// The values that a linear probe of one layer reads.
pub struct Inputs<'a> {
    /// The rows.
    pub rows: &'a Rows,
    /// The place of the layer among the rows' sites.
    pub site: usize,
    /// Their form.
    pub form: &'a Form,
}

impl Inputs<'_> {
    /// The number of values of a row.
    pub fn width(&self) -> usize {
        match self.form {
            Form::Stream(_) => self.rows.width(),
            Form::Latents { latents, .. } => *latents,
        }
    }

    /// Reads rows: `into` becomes [rows, width].
    pub fn read(&self, rows: impl IntoIterator<Item = usize>, into: &mut Vec<f32>) {
        self.rows.read(self.site, rows, into);
        match self.form {
            Form::Stream(scale) => {
                if *scale != 1.0 {
                    into.iter_mut().for_each(|value| *value /= scale);
                }
            }
            Form::Latents { autoencoder, .. } => {
                let shape = [into.len() / self.rows.width(), self.rows.width()];
                let x = Tensor::<2>::from_data(TensorData::new(std::mem::take(into), shape), &device::cpu());
                let latents = autoencoder.latents(x).into_data();
                into.extend_from_slice(latents.as_slice::<f32>().expect("latents are f32 and contiguous"));
            }
        }
    }
}

/// Root mean square of all values of a site; 1 if all are 0.
pub fn root_mean_square(rows: &Rows, site: usize) -> f32 {
    let (mut sum, mut values) = (0.0, Vec::new());
    for row in 0..rows.len() {
        rows.read(site, [row], &mut values);
        sum += values.iter().map(|value| f64::from(*value) * f64::from(*value)).sum::<f64>();
    }
    let mean = sum / (rows.len() * rows.width()).max(1) as f64;
    if mean > 0.0 { mean.sqrt() as f32 } else { 1.0 }
}
