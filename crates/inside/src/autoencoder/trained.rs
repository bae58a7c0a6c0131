//! A trained autoencoder of one site.

use burn::tensor::{Device, Tensor};
use cwm_models::parameters::Weights;
use cwm_models::{DeviceWeights, ForwardPass, Precision};

use super::Autoencoder;

/// An autoencoder with its values and the scale of its site.
#[derive(Clone, Debug)]
pub struct TrainedAutoencoder {
    /// The computation.
    pub autoencoder: Autoencoder,
    /// The values of its parameters.
    pub weights: Weights,
    /// The factor of a row before it is encoded, and the divisor of what is decoded.
    pub scale: f32,
}

/// A trained autoencoder on a device, for passes over rows as they are in the stream.
#[derive(Debug)]
pub struct DeviceAutoencoder {
    autoencoder: Autoencoder,
    weights: DeviceWeights<'static>,
    scale: f64,
}

impl TrainedAutoencoder {
    /// The direction in the stream for which weights of latents [latents] stand: W_dec w / scale.
    pub fn direction(&self, of_latents: &[f32]) -> Vec<f32> {
        let decoder = self.weights.get(Autoencoder::DECODER).chunks_exact(of_latents.len());
        let product = |row: &[f32]| -> f64 {
            row.iter().zip(of_latents).map(|(weight, latent)| f64::from(*weight) * f64::from(*latent)).sum()
        };
        decoder.map(|row| (product(row) / f64::from(self.scale)) as f32).collect()
    }

    /// Copies it to a device. Its products round operands to `precision`.
    pub fn on(&self, device: &Device, precision: Precision) -> DeviceAutoencoder {
        DeviceAutoencoder {
            autoencoder: self.autoencoder.clone(),
            weights: DeviceWeights::owned(&self.weights, device).with_precision(precision),
            scale: f64::from(self.scale),
        }
    }
}

impl DeviceAutoencoder {
    /// The latents [rows, latents] of rows of the stream [rows, width].
    pub fn latents(&self, rows: Tensor<2>) -> Tensor<2> {
        let pass = ForwardPass::evaluation(&self.weights);
        self.autoencoder.encode(&pass, rows.mul_scalar(self.scale)).1
    }

    /// Rows of the stream [rows, width] of latents [rows, latents].
    pub fn rows(&self, latents: Tensor<2>) -> Tensor<2> {
        let pass = ForwardPass::evaluation(&self.weights);
        self.autoencoder.decode(&pass, latents).div_scalar(self.scale)
    }
}
