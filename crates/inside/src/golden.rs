//! The golden files of the tests.

use cwm_contract::testing::shared;
use safetensors::tensor::{Dtype, SafeTensors};

/// A file of the golden data of inside models, read whole.
pub struct Golden {
    bytes: Vec<u8>,
    /// Its entry in the manifest.
    pub manifest: serde_json::Value,
}

impl Golden {
    /// The file of this name, or `None` (with a line that states so) without the golden data.
    pub fn open(name: &str) -> Option<Self> {
        let folder = shared("systems/inside-models-golden")?;
        let manifest = std::fs::read(folder.join("manifest.json")).unwrap();
        let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
        let fixtures = manifest["fixtures"].as_array().unwrap();
        let manifest = fixtures.iter().find(|fixture| fixture["file"] == name).unwrap().clone();
        Some(Golden { bytes: std::fs::read(folder.join(name)).unwrap(), manifest })
    }

    /// A tensor of floats.
    pub fn floats(&self, name: &str) -> Vec<f32> {
        self.data(name, Dtype::F32).as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    }

    /// A tensor of floats of 64 bits.
    pub fn doubles(&self, name: &str) -> Vec<f64> {
        self.data(name, Dtype::F64).as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect()
    }

    /// A tensor of bytes.
    pub fn bytes(&self, name: &str) -> Vec<u8> {
        self.data(name, Dtype::U8)
    }

    /// A tensor of integers, none of which is negative.
    pub fn indices(&self, name: &str) -> Vec<usize> {
        let bytes = self.data(name, Dtype::I64);
        bytes.as_chunks::<8>().0.iter().map(|bytes| i64::from_le_bytes(*bytes) as usize).collect()
    }

    /// A number of the manifest.
    pub fn number(&self, name: &str) -> f64 {
        self.manifest[name].as_f64().unwrap()
    }

    fn data(&self, name: &str, dtype: Dtype) -> Vec<u8> {
        let file = SafeTensors::deserialize(&self.bytes).unwrap();
        let tensor = file.tensor(name).unwrap();
        assert_eq!(tensor.dtype(), dtype, "{name}");
        tensor.data().to_vec()
    }
}

/// Asserts that both are equal within `tolerance`, absolute and relative to magnitudes above one.
#[track_caller]
pub fn assert_close(found: f64, expected: f64, tolerance: f64) {
    let allowed = tolerance * expected.abs().max(1.0);
    assert!((found - expected).abs() <= allowed, "{found} where {expected} was expected");
}
