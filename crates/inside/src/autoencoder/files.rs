//! The format `autoencoder`: a folder with a description and a file for each site.

use std::collections::BTreeMap;
use std::path::Path;

use cwm_contract::Failure;
use cwm_models::checkpoint::{Floats, fill};
use cwm_models::parameters::Weights;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};

use super::{Autoencoder, TrainedAutoencoder};

/// The version of these folders.
const FORMAT: u32 = 1;
/// File of the description.
const DESCRIPTION: &str = "autoencoder.json";
/// Name of the scale among the tensors.
const SCALE: &str = "scale";

/// Facts about all autoencoders of a folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// The version of the folder, 1.
    pub format: u32,
    /// The model that the rows are from; the writer decides the keys.
    pub model: serde_json::Map<String, serde_json::Value>,
    /// Channels of the stream.
    pub width: usize,
    /// Latents.
    pub latents: usize,
    /// Sites of the stream, ascending.
    pub layers: Vec<usize>,
    /// The result of each site's training, by site.
    pub sites: BTreeMap<usize, SiteDescription>,
    /// Parameters and counts of the training; the trainer decides the keys.
    pub training: serde_json::Map<String, serde_json::Value>,
}

/// The result of one site's training.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SiteDescription {
    /// Latents that were above 0 in none of the last rows, as many as `dead_after` of the training.
    pub dead: u64,
}

/// The file of a site in the folder.
pub fn file_name(layer: usize) -> String {
    format!("layer-{layer:02}.safetensors")
}

impl Description {
    /// One of this version's.
    pub fn new(
        model: serde_json::Map<String, serde_json::Value>,
        (width, latents): (usize, usize),
        sites: BTreeMap<usize, SiteDescription>,
        training: serde_json::Map<String, serde_json::Value>,
    ) -> Self {
        Description { format: FORMAT, model, width, latents, layers: sites.keys().copied().collect(), sites, training }
    }

    /// Reads the description of a folder.
    ///
    /// # Errors
    /// It is missing, of another version, or no description.
    pub fn read(folder: &Path) -> Result<Self, Failure> {
        let path = folder.join(DESCRIPTION);
        let text = fs_err::read(&path)?;
        let wrong = |error: &dyn std::fmt::Display| {
            Failure::input(format!("{} is no description of autoencoders: {error}", path.display()))
        };
        let value: serde_json::Value = serde_json::from_slice(&text).map_err(|error| wrong(&error))?;
        if value["format"] != FORMAT {
            return Err(wrong(&format!("its `format` is {}, and this build reads {FORMAT}", value["format"])));
        }
        serde_json::from_value(value).map_err(|error| wrong(&error))
    }

    /// Writes a folder, which is made, without the sites' files.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn write(&self, folder: &Path) -> Result<(), Failure> {
        fs_err::create_dir_all(folder)?;
        let text = serde_json::to_string_pretty(self).map_err(|error| Failure::internal(error.to_string()))?;
        Ok(fs_err::write(folder.join(DESCRIPTION), text + "\n")?)
    }

    /// Reads the autoencoder of a site.
    ///
    /// # Errors
    /// The folder has none of it, or its file is not what the description declares; the tensor is named.
    pub fn open(&self, folder: &Path, layer: usize) -> Result<TrainedAutoencoder, Failure> {
        if !self.layers.contains(&layer) {
            let message = format!("{} has no autoencoder of layer {layer}", folder.display());
            let layers: Vec<String> = self.layers.iter().map(ToString::to_string).collect();
            return Err(Failure::input(message).hint(format!("it has those of layers {}", layers.join(", "))));
        }
        let path = folder.join(file_name(layer));
        read(&path, self.width, self.latents)
            .map_err(|wrong| Failure::input(format!("{} is no autoencoder: {wrong}", path.display())))
    }
}

impl TrainedAutoencoder {
    /// Writes it as the file of a site in a folder.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn write(&self, folder: &Path, layer: usize) -> Result<(), Failure> {
        let path = folder.join(file_name(layer));
        let declared = self.weights.layout().parameters().iter().enumerate();
        let scale = [self.scale];
        let views = declared
            .map(|(index, declared)| {
                (declared.name.as_str(), Floats { shape: &declared.shape, values: self.weights.get(index) })
            })
            .chain([(SCALE, Floats { shape: &[], values: &scale })]);
        safetensors::serialize_to_file(views, None, &path)
            .map_err(|error| Failure::system(format!("cannot write {}: {error}", path.display())))
    }
}

/// Reads a site's file; the error is what is wrong with it.
fn read(path: &Path, width: usize, latents: usize) -> Result<TrainedAutoencoder, String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let file = SafeTensors::deserialize(&bytes).map_err(|error| error.to_string())?;
    let tensor = |name: &str, shape: &[usize]| -> Result<TensorView<'_>, String> {
        let tensor = file.tensor(name).map_err(|_| format!("it has no tensor `{name}`"))?;
        if tensor.dtype() == Dtype::F32 && tensor.shape() == shape {
            return Ok(tensor);
        }
        Err(format!("`{name}` is {:?} {:?} where F32 {shape:?} is needed", tensor.dtype(), tensor.shape()))
    };
    let autoencoder = Autoencoder::new(width, latents).ok_or("it would be too large")?;
    // All shapes are looked at before room is made.
    let declared = autoencoder.layout().parameters().iter();
    let tensors: Vec<TensorView> =
        declared.map(|declared| tensor(&declared.name, &declared.shape)).collect::<Result<_, _>>()?;
    let mut scale = [0.0];
    fill(&mut scale, tensor(SCALE, &[])?.data());
    let mut weights = Weights::zeros(autoencoder.layout().clone());
    for (index, tensor) in tensors.iter().enumerate() {
        fill(weights.get_mut(index), tensor.data());
        if !weights.get(index).iter().all(|value| value.is_finite()) {
            let name = &autoencoder.layout().parameters()[index].name;
            return Err(format!("`{name}` has numbers that are not finite"));
        }
    }
    if scale[0] <= 0.0 || !scale[0].is_finite() {
        return Err(format!("its `{SCALE}` is {}, not above 0", scale[0]));
    }
    Ok(TrainedAutoencoder { autoencoder, weights, scale: scale[0] })
}
