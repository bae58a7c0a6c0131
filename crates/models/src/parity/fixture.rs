//! A fixture of the authors' code: a model with weights, a batch, and all that came of them.

use safetensors::tensor::{Dtype, SafeTensors};
use serde_json::Value;

use crate::heads::{GROUPS, LOGITS};
use crate::ops::Targets;
use crate::parameters::Weights;
use crate::testing::golden;
use crate::{Architecture, Network, Tokens};

/// An open fixture.
pub struct Fixture {
    bytes: Vec<u8>,
    /// What the manifest says of it.
    pub manifest: Value,
}

impl Fixture {
    pub fn open(name: &str) -> Option<Fixture> {
        let folder = golden("parity")?;
        let manifest: Value = serde_json::from_slice(&std::fs::read(folder.join("manifest.json")).unwrap()).unwrap();
        let fixtures = manifest["fixtures"].as_array().unwrap();
        let file = format!("{name}.safetensors");
        let manifest = fixtures.iter().find(|fixture| fixture["file"] == file.as_str()).unwrap().clone();
        Some(Fixture { bytes: std::fs::read(folder.join(file)).unwrap(), manifest })
    }

    fn tensors(&self) -> SafeTensors<'_> {
        SafeTensors::deserialize(&self.bytes).unwrap()
    }

    pub fn floats(&self, name: &str) -> Vec<f32> {
        let tensors = self.tensors();
        let tensor = tensors.tensor(name).unwrap_or_else(|_| panic!("no `{name}` in the fixture"));
        assert_eq!(tensor.dtype(), Dtype::F32, "{name}");
        tensor.data().as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    }

    fn integers(&self, name: &str) -> Vec<i64> {
        let tensors = self.tensors();
        let tensor = tensors.tensor(name).unwrap();
        assert_eq!(tensor.dtype(), Dtype::I64, "{name}");
        tensor.data().as_chunks::<8>().0.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect()
    }

    pub fn scalar(&self, name: &str) -> f32 {
        self.floats(name)[0]
    }

    pub fn names(&self, prefix: &str) -> Vec<String> {
        let tensors = self.tensors();
        let names = tensors.names().into_iter().filter_map(|name| name.strip_prefix(prefix));
        let mut names: Vec<String> = names.map(str::to_owned).collect();
        names.sort();
        names
    }

    fn count(&self, name: &str) -> usize {
        self.manifest["config"][name].as_u64().unwrap() as usize
    }

    pub fn network(&self, family: &str, options: &[(&str, &str)]) -> Network {
        let network = Network::build(Architecture {
            family: family.to_owned(),
            size: format!("d{}/l{}", self.count("d_model"), self.count("n_layers")).parse().unwrap(),
            vocabulary: self.manifest["move_vocab"].as_u64().unwrap() as usize,
            dropout: 0.0,
            options: options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        })
        .unwrap();
        assert_eq!(network.layout().total() as u64, self.manifest["param_count"].as_u64().unwrap());
        network
    }

    /// The fixture's weights; tables of d128 fixtures are stored as rows.
    pub fn weights(&self, network: &Network) -> Weights {
        let mut weights = Weights::zeros(network.layout().clone());
        let sparse = self.names("param_sparse_rows.");
        let mut expected = self.names("param.");
        expected.extend(sparse.iter().cloned());
        expected.sort();
        let mut declared: Vec<_> = network.layout().declared().iter().map(|declared| declared.name.clone()).collect();
        declared.sort();
        assert_eq!(declared, expected, "parameter names");
        for (index, declared) in network.layout().declared().iter().enumerate() {
            let name = &declared.name;
            if !sparse.contains(name) {
                weights.get_mut(index).copy_from_slice(&self.floats(&format!("param.{name}")));
                continue;
            }
            let width = declared.shape[1];
            let rows = self.floats(&format!("param_sparse_rows.{name}"));
            for (row, at) in rows.chunks_exact(width).zip(self.integers(&format!("param_sparse_index.{name}"))) {
                let at = at as usize * width;
                weights.get_mut(index)[at..at + width].copy_from_slice(row);
            }
        }
        weights
    }

    pub fn batch(&self) -> (Tokens, Targets) {
        let lengths = self.integers("input.lengths");
        let moves = self.integers("input.moves");
        let time = moves.len() / lengths.len();
        let games: Vec<Vec<u16>> = moves
            .chunks_exact(time)
            .zip(&lengths)
            .map(|(game, &length)| game[..length as usize].iter().map(|&id| id as u16).collect())
            .collect();
        let tokens = Tokens::padded(games.iter().map(Vec::as_slice), self.manifest["pad_id"].as_u64().unwrap() as u32);
        let tensors = self.tensors();
        let pad = tensors.tensor("input.pad_mask").unwrap().data().to_vec();
        let valid: Vec<bool> = pad.iter().map(|&pad| pad == 0).collect();
        assert!(tokens.is_valid().eq(valid.iter().copied()));
        let labels = tensors.tensor("input.states").unwrap().data().to_vec();
        (tokens, Targets { labels: labels.into(), valid: valid.into() })
    }

    /// Logits as our rows of 1,878 have them.
    pub fn logits(&self) -> Vec<f32> {
        // The authors' names, in the order of our groups.
        let names = ["pieces", "side", "castle", "ep_file", "ep_rank", "halfmove", "fullmove"];
        let parts: Vec<(Vec<f32>, usize)> = names
            .iter()
            .zip(GROUPS)
            .map(|(name, group)| (self.floats(&format!("output.{name}")), group.labels * group.classes))
            .collect();
        let rows = parts[0].0.len() / parts[0].1;
        let mut logits = Vec::with_capacity(rows * LOGITS);
        for row in 0..rows {
            for (values, width) in &parts {
                logits.extend_from_slice(&values[row * width..(row + 1) * width]);
            }
        }
        logits
    }
}
