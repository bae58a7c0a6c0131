//! Gated sparse autoencoders (arXiv 2404.16014): rows of the residual stream as sums of few of many directions.
//!
//! A row x of a site is first multiplied by the site's `scale`, and what the decoder gives is divided by it.

mod files;
mod measures;
mod network;
mod trained;
mod unit_columns;

pub use files::{Description, SiteDescription, file_name};
pub use measures::{Measures, ReconstructionSums};
pub use network::{Autoencoder, Loss};
pub use trained::{DeviceAutoencoder, TrainedAutoencoder};
pub use unit_columns::{project_gradient, set_unit_columns};

#[cfg(test)]
mod tests;
