//! The format `probes` (docs/formats.md): linear probes of some layers of a model, with their description.

use std::collections::BTreeMap;
use std::path::Path;

use cwm_contract::Failure;
use cwm_models::checkpoint::{Floats, fill};
use safetensors::SafeTensors;
use safetensors::tensor::Dtype;
use serde::{Deserialize, Serialize};

use super::{LinearProbe, SQUARES};

/// The version of the format that this code writes and reads.
pub const FORMAT: u32 = 1;

const WEIGHTS: &str = "probes.safetensors";
const DESCRIPTION: &str = "probes.json";

/// The model, target and training of linear probes: `probes.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearProbesDescription {
    /// [`FORMAT`].
    pub format: u32,
    /// [`Model::json`](crate::Model::json) of the model.
    pub model: serde_json::Map<String, serde_json::Value>,
    /// `trained` or `untrained`.
    pub network: String,
    /// Channels of its stream.
    pub width: usize,
    /// The layers, ascending.
    pub layers: Vec<usize>,
    /// `raw`, or `normed` where the last layer's rows are those after the final norm.
    #[serde(rename = "final")]
    pub last: String,
    /// `stream`, or `latents` of an autoencoder.
    pub of: String,
    /// `both`, `piece`, `colour` or `mine`.
    pub target: String,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// `linear` or `difference`.
    pub method: String,
    /// The phase of the tokens that they were trained on: `any`, or its number.
    pub phase: String,
    /// `after` or `before`: the board of a token.
    pub board: String,
    /// Rows, epochs, rates.
    pub training: serde_json::Map<String, serde_json::Value>,
}

/// The linear probe of one layer.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerProbe {
    /// Its directions in the stream; those of latents are decoded.
    pub probe: LinearProbe,
    /// The probe on the autoencoder's latents, if it reads those.
    pub latent: Option<LinearProbe>,
    /// Rows were divided by this before they were read.
    pub scale: f32,
}

impl LayerProbe {
    /// The class of each square that it reads from a row of the stream, a8 first.
    pub fn read(&self, row: &[f32]) -> Vec<u8> {
        let row: Vec<f32> = row.iter().map(|value| value / self.scale).collect();
        // Losses alone depend on labels.
        self.probe.predict(&row, &[0; SQUARES]).classes
    }
}

/// Linear probes of some layers.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearProbes {
    /// Their model, target and training.
    pub description: LinearProbesDescription,
    /// The probe of each layer.
    pub layers: BTreeMap<usize, LayerProbe>,
}

impl LinearProbes {
    /// Writes them as a folder.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn write(&self, folder: &Path) -> Result<(), Failure> {
        fs_err::create_dir_all(folder)?;
        let mut tensors: Vec<(String, Vec<usize>, &[f32])> = Vec::new();
        for (layer, of) in &self.layers {
            let probes = [("weight", Some(&of.probe)), ("latent", of.latent.as_ref())];
            for (name, probe) in probes.into_iter().filter_map(|(name, probe)| Some((name, probe?))) {
                let shape = vec![SQUARES, probe.classes, probe.width];
                tensors.push((format!("{name}.{layer}"), shape, &probe.weight));
            }
            tensors.push((format!("scale.{layer}"), Vec::new(), std::slice::from_ref(&of.scale)));
        }
        let views = tensors.iter().map(|(name, shape, values)| (name.as_str(), Floats { shape, values }));
        safetensors::serialize_to_file(views, None, &folder.join(WEIGHTS))
            .map_err(|error| Failure::system(format!("cannot write the linear probes: {error}")))?;
        let mut text = serde_json::to_string_pretty(&self.description)
            .map_err(|error| Failure::internal(format!("the description of linear probes: {error}")))?;
        text.push('\n');
        fs_err::write(folder.join(DESCRIPTION), text)?;
        Ok(())
    }

    /// Reads a folder.
    ///
    /// # Errors
    /// A file is missing or damaged, is of another format, or a tensor is not there, of another shape or not finite.
    pub fn read(folder: &Path) -> Result<Self, Failure> {
        let wrong = |file: &str, what: String| {
            Failure::input(format!("the linear probes {}: {what}", folder.join(file).display()))
        };
        let text = fs_err::read(folder.join(DESCRIPTION))?;
        let description: LinearProbesDescription = serde_json::from_slice(&text)
            .map_err(|error| wrong(DESCRIPTION, format!("is no description of linear probes: {error}")))?;
        if description.format != FORMAT {
            let found = description.format;
            return Err(wrong(DESCRIPTION, format!("has format {found}, and this build reads format {FORMAT}")));
        }
        let bytes = fs_err::read(folder.join(WEIGHTS))?;
        let file = SafeTensors::deserialize(&bytes)
            .map_err(|error| wrong(WEIGHTS, format!("is no safetensors file: {error}")))?;
        let read = |name: String, shape: &[Option<usize>]| {
            let tensor = file.tensor(&name).map_err(|_| wrong(WEIGHTS, format!("has no tensor `{name}`")))?;
            let found = tensor.shape();
            let fits = found.len() == shape.len()
                && found.iter().zip(shape).all(|(found, wanted)| wanted.is_none_or(|wanted| wanted == *found));
            if !fits || tensor.dtype() != Dtype::F32 {
                let dtype = tensor.dtype();
                return Err(wrong(
                    WEIGHTS,
                    format!("`{name}` has shape {found:?} and type {dtype:?}, which do not fit"),
                ));
            }
            let mut values = vec![0.0; found.iter().product()];
            fill(&mut values, tensor.data());
            if !values.iter().all(|value| value.is_finite()) {
                return Err(wrong(WEIGHTS, format!("`{name}` has numbers that are not finite")));
            }
            Ok((found.to_vec(), values))
        };
        let classes = description.classes.len();
        let mut layers = BTreeMap::new();
        for &layer in &description.layers {
            let probe = |name: &str, width: Option<usize>| {
                let (shape, weight) = read(format!("{name}.{layer}"), &[Some(SQUARES), Some(classes), width])?;
                Ok::<_, Failure>(LinearProbe::new(classes, shape[2], weight))
            };
            let latent = if description.of == "latents" { Some(probe("latent", None)?) } else { None };
            let scale = read(format!("scale.{layer}"), &[])?.1[0];
            if scale <= 0.0 {
                return Err(wrong(WEIGHTS, format!("`scale.{layer}` is {scale}, and rows are divided by it")));
            }
            layers.insert(layer, LayerProbe { probe: probe("weight", Some(description.width))?, latent, scale });
        }
        Ok(LinearProbes { description, layers })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probes() -> LinearProbes {
        let description = LinearProbesDescription {
            format: FORMAT,
            model: serde_json::Map::from_iter([("family".to_owned(), "gpt".into())]),
            network: "trained".to_owned(),
            width: 4,
            layers: vec![0, 10],
            last: "raw".to_owned(),
            of: "latents".to_owned(),
            target: "colour".to_owned(),
            classes: [".", "white", "black"].map(str::to_owned).to_vec(),
            method: "linear".to_owned(),
            phase: "any".to_owned(),
            board: "after".to_owned(),
            training: serde_json::Map::new(),
        };
        let layer = |seed| LayerProbe {
            probe: LinearProbe::initial(3, 4, seed),
            latent: Some(LinearProbe::initial(3, 7, seed)),
            scale: 1.5,
        };
        LinearProbes { description, layers: [(0, layer(1)), (10, layer(2))].into() }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        probes().write(folder.path()).unwrap();
        assert_eq!(LinearProbes::read(folder.path()).unwrap(), probes());
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let folder = tempfile::tempdir().unwrap();
        probes().write(folder.path()).unwrap();
        let refused = |from: &str, to: &str| {
            probes().write(folder.path()).unwrap();
            let file = folder.path().join(DESCRIPTION);
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(text.contains(from), "{text}");
            std::fs::write(file, text.replace(from, to)).unwrap();
            LinearProbes::read(folder.path()).unwrap_err().message
        };
        let is_about = |message: String, what: &str| assert!(message.ends_with(what), "{message}");
        is_about(refused("\"format\": 1", "\"format\": 2"), "has format 2, and this build reads format 1");
        is_about(refused("    10\n", "    11\n"), "has no tensor `latent.11`");
        is_about(
            refused("\"width\": 4", "\"width\": 5"),
            "`weight.0` has shape [64, 3, 4] and type F32, which do not fit",
        );
        let mut nan = probes();
        nan.layers.get_mut(&10).unwrap().probe.weight[7] = f32::NAN;
        nan.write(folder.path()).unwrap();
        is_about(LinearProbes::read(folder.path()).unwrap_err().message, "`weight.10` has numbers that are not finite");
        let mut zero = probes();
        zero.layers.get_mut(&0).unwrap().scale = 0.0;
        zero.write(folder.path()).unwrap();
        is_about(LinearProbes::read(folder.path()).unwrap_err().message, "`scale.0` is 0, and rows are divided by it");
    }
}
