//! The state of a training as a file, from which an interrupted one goes on.
//!
//! A line of JSON, then the arrays as little-endian floats, then the digest of both. The file is replaced atomically.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use cwm_contract::{Failure, write_atomically};
use cwm_inside::autoencoder::Autoencoder;
use cwm_models::checkpoint::fill;
use cwm_models::parameters::Weights;
use cwm_training::optimiser::AdamWOptions;
use serde::{Deserialize, Serialize};

use crate::reservoir::Cursor;
use crate::trainer::SiteState;

/// Version of the file.
const FORMAT: u32 = 1;
/// Floats that are turned into bytes at once.
const PIECE: usize = 1 << 14;
/// Bytes of a digest in hexadecimal.
const DIGEST: usize = 64;

/// Everything that changes from update to update.
#[derive(Clone, Debug)]
pub struct State {
    /// The place in the rows, and what was recorded.
    pub progress: Progress,
    /// The sites.
    pub sites: Vec<SiteState>,
}

/// The progress of a training.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Updates made.
    pub updates: u64,
    /// The block of rows that is trained on.
    pub block: u64,
    /// The first row of this block.
    pub begin: Cursor,
    /// Batches of this block that were trained on.
    pub batches: u64,
    /// The output `curves` so far.
    pub curves: String,
}

#[derive(Serialize, Deserialize)]
struct Header {
    format: u32,
    progress: Progress,
    scales: Vec<f32>,
    #[serde(rename = "silent")]
    rows_since_active: Vec<Vec<u64>>,
}

/// The file in a folder of checkpoints.
pub fn path(folder: &Path) -> PathBuf {
    folder.join("autoencoders.state")
}

impl State {
    /// Writes it into a folder of checkpoints.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn write(&self, folder: &Path) -> Result<(), Failure> {
        let path = path(folder);
        write_atomically(&path, &folder.join("writing.tmp"), |file| self.write_to(&mut io::BufWriter::new(file)))
            .map_err(|error| Failure::io("write", &path, error))
    }

    fn write_to(&self, file: &mut impl Write) -> io::Result<()> {
        let header = Header {
            format: FORMAT,
            progress: self.progress.clone(),
            scales: self.sites.iter().map(|site| site.scale).collect(),
            rows_since_active: self.sites.iter().map(|site| site.rows_since_active.clone()).collect(),
        };
        let mut hasher = blake3::Hasher::new();
        let mut write = |bytes: &[u8]| {
            hasher.update(bytes);
            file.write_all(bytes)
        };
        write(&serde_json::to_vec(&header)?)?;
        write(b"\n")?;
        for array in self.sites.iter().flat_map(arrays) {
            for piece in array.values().chunks(PIECE) {
                write(&piece.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>())?;
            }
        }
        file.write_all(hasher.finalize().to_hex().as_bytes())?;
        file.flush()
    }

    /// Reads the state of a training of so many sites; `None` if there is no file, and the fault of one that is not as it
    /// was written.
    ///
    /// # Errors
    /// The file is there and cannot be read.
    pub fn read(
        folder: &Path,
        autoencoder: &Autoencoder,
        sites: usize,
        options: AdamWOptions,
    ) -> Result<Option<Result<Self, String>>, Failure> {
        let path = path(folder);
        match std::fs::read(&path) {
            Ok(bytes) => Ok(Some(parse(&bytes, autoencoder, sites, options))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Failure::io("read", &path, error)),
        }
    }
}

/// The arrays of a site in the order of the file.
fn arrays(site: &SiteState) -> [&Weights; 3] {
    [&site.weights, &site.adamw.first, &site.adamw.second]
}

fn parse(bytes: &[u8], autoencoder: &Autoencoder, sites: usize, options: AdamWOptions) -> Result<State, String> {
    let (content, digest) = bytes.split_at(bytes.len().saturating_sub(DIGEST));
    if blake3::hash(content).to_hex().as_bytes() != digest {
        return Err("its content is not what was written".to_owned());
    }
    let end = content.iter().position(|&byte| byte == b'\n').ok_or("it has no header")?;
    let header: Header = serde_json::from_slice(&content[..end]).map_err(|error| error.to_string())?;
    let size = autoencoder.layout().total() * size_of::<f32>();
    let floats = &content[end + 1..];
    if (header.format, header.scales.len(), header.rows_since_active.len()) != (FORMAT, sites, sites)
        || floats.len() != 3 * sites * size
    {
        return Err("it is of another training".to_owned());
    }
    let mut arrays = floats.chunks_exact(size);
    let mut next = || {
        let mut weights = Weights::zeros(autoencoder.layout().clone());
        arrays.next().into_iter().for_each(|bytes| fill(weights.values_mut(), bytes));
        weights
    };
    let site = |(scale, rows_since_active): (f32, Vec<u64>)| {
        let mut site = SiteState::new(scale, next(), options, rows_since_active.len());
        (site.adamw.first, site.adamw.second, site.adamw.updates) = (next(), next(), header.progress.updates);
        SiteState { rows_since_active, ..site }
    };
    let sites = header.scales.into_iter().zip(header.rows_since_active).map(site).collect();
    Ok(State { progress: header.progress, sites })
}
