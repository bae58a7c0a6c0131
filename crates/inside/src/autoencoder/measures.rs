//! Measures of the reconstruction of rows.

/// Sums over rows, in f64 and in the order of the rows.
#[derive(Clone, Debug, Default)]
pub struct ReconstructionSums {
    rows: u64,
    width: usize,
    active: f64,
    size: f64,
    error: f64,
    cosine: f64,
    length: f64,
    squares: f64,
    channels: Vec<f64>,
    fired: Vec<bool>,
}

/// Means over rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measures {
    /// Number of rows.
    pub rows: u64,
    /// Number of latents above 0.
    pub l0: f64,
    /// Sum of the latents.
    pub l1: f64,
    /// Squared error of a channel.
    pub mse: f64,
    /// Cosine of a row and its reconstruction; 0 where one of them is 0.
    pub cosine: f64,
    /// 1 - Σ‖x - x̂‖² / Σ‖x - mean‖².
    pub explained_variance: f64,
    /// ‖x̂‖ / ‖x‖.
    pub norm_ratio: f64,
    /// Number of latents that were above 0 in no row.
    pub inactive_latents: u64,
}

impl ReconstructionSums {
    /// Returns the measures before the first row.
    pub fn new(width: usize, latents: usize) -> Self {
        let (channels, fired) = (vec![0.0; width], vec![false; latents]);
        ReconstructionSums { width, channels, fired, ..ReconstructionSums::default() }
    }

    /// Adds rows [rows, width], their reconstructions, and their latents [rows, latents].
    pub fn add(&mut self, rows: &[f32], reconstructed: &[f32], latents: &[f32]) {
        let pairs = rows.chunks_exact(self.width).zip(reconstructed.chunks_exact(self.width));
        for ((x, y), latents) in pairs.zip(latents.chunks_exact(self.fired.len())) {
            self.add_row(x, y);
            for (fired, &latent) in self.fired.iter_mut().zip(latents) {
                if latent > 0.0 {
                    *fired = true;
                    self.active += 1.0;
                    self.size += f64::from(latent);
                }
            }
        }
    }

    /// Adds the sums of later rows.
    pub fn merge(&mut self, later: &ReconstructionSums) {
        self.rows += later.rows;
        self.active += later.active;
        self.size += later.size;
        self.error += later.error;
        self.cosine += later.cosine;
        self.length += later.length;
        self.squares += later.squares;
        self.channels.iter_mut().zip(&later.channels).for_each(|(sum, later)| *sum += later);
        self.fired.iter_mut().zip(&later.fired).for_each(|(fired, later)| *fired |= later);
    }

    fn add_row(&mut self, x: &[f32], y: &[f32]) {
        let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
        for ((&x, &y), channel) in x.iter().zip(y).zip(&mut self.channels) {
            let (x, y) = (f64::from(x), f64::from(y));
            (xx, yy, xy) = (xx + x * x, yy + y * y, xy + x * y);
            self.error += (x - y).powi(2);
            *channel += x;
        }
        self.rows += 1;
        self.squares += xx;
        let both = (xx * yy).sqrt();
        self.cosine += if both > 0.0 { xy / both } else { 0.0 };
        self.length += if xx > 0.0 { (yy / xx).sqrt() } else { 0.0 };
    }

    /// The mean row; zeros before the first.
    pub fn mean_row(&self) -> Vec<f32> {
        self.channels.iter().map(|sum| (sum / self.rows.max(1) as f64) as f32).collect()
    }

    /// The measures; of no rows all are 0.
    pub fn measures(&self) -> Measures {
        let rows = self.rows.max(1) as f64;
        let of_mean = self.channels.iter().map(|sum| sum * sum).sum::<f64>() / rows;
        let variance = self.squares - of_mean;
        Measures {
            rows: self.rows,
            l0: self.active / rows,
            l1: self.size / rows,
            mse: self.error / (rows * self.width.max(1) as f64),
            cosine: self.cosine / rows,
            explained_variance: if variance > 0.0 { 1.0 - self.error / variance } else { 0.0 },
            norm_ratio: self.length / rows,
            inactive_latents: self.fired.iter().filter(|fired| !**fired).count() as u64,
        }
    }
}
