//! Contents of files, before a model is recognised.

use std::path::{Path, PathBuf};

use crate::element::Element;
use crate::file::ForeignFile;

/// A file of `tests/data`.
pub fn data(name: &str) -> PathBuf {
    Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("tests/data").join(name)
}

#[test]
fn both_forms_of_torch_save_hold_the_same() {
    let mut archive = ForeignFile::open(&data("archive.pt")).unwrap();
    let mut legacy = ForeignFile::open(&data("legacy.pt")).unwrap();
    let contents = archive.contents().clone();
    assert_eq!(contents.settings, legacy.contents().settings);
    let paths: Vec<&str> = contents.groups.iter().map(|group| group.path.as_str()).collect();
    assert_eq!(paths, ["model_state_dict", "optimizer_state_dict.state.0", "rng"]);
    for (group, other) in contents.groups.iter().zip(legacy.contents().groups.clone()) {
        assert_eq!(group.path, other.path);
        for ((name, tensor), (other_name, other)) in group.tensors.iter().zip(&other.tensors) {
            let (tensor, other) = (tensor.as_ref().unwrap(), other.as_ref().unwrap());
            assert_eq!((name, &tensor.shape), (other_name, &other.shape));
            assert_eq!(archive.read(name, tensor).unwrap(), legacy.read(name, other).unwrap(), "{name}");
        }
    }
}

#[test]
fn tensors_have_the_values_that_were_saved() {
    let mut file = ForeignFile::open(&data("archive.pt")).unwrap();
    let group = file.contents().groups[0].clone();
    assert_eq!(group.tensors.len(), 12);
    for (index, (name, tensor)) in group.tensors.iter().enumerate() {
        let tensor = tensor.as_ref().unwrap();
        let bytes = file.read(name, tensor).unwrap();
        let mut values = Vec::new();
        assert_eq!(tensor.storage.element.widen(&bytes, &mut values), 0, "{name}");
        for (place, value) in values.iter().enumerate() {
            let written = ((place as i32 * 37).rem_euclid(64) - 32) as f32 / (64 * (index + 1)) as f32;
            // The script rounds them to bfloat16, to nearest, ties to even.
            let bits = written.to_bits();
            let rounded = f32::from_bits((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff_0000);
            let expected = if name == "output_head.bias" { value } else { &rounded };
            assert_eq!(value, expected, "{name} {place}");
            assert!((value - written).abs() <= written.abs() / 256.0, "{name} {place}");
        }
    }
    let kind = |name: &str| {
        let (_, tensor) = group.tensors.iter().find(|(other, _)| other == name).unwrap();
        tensor.as_ref().unwrap().storage.element.clone()
    };
    assert_eq!(kind("layers.0.slice.vf_A.weight"), Element::F64);
    assert_eq!(kind("output_head.weight"), Element::BF16);
    assert_eq!(kind("output_head.bias"), Element::F16);
}

#[test]
fn the_digest_is_of_what_was_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.pt");
    for (name, other) in [("archive.pt", "legacy.pt"), ("legacy.pt", "archive.pt")] {
        std::fs::copy(data(name), &path).unwrap();
        let (contents, mut source) = ForeignFile::open(&path).unwrap().into_parts();
        // Somebody puts another file there.
        let next = folder.path().join("next");
        std::fs::copy(data(other), &next).unwrap();
        std::fs::rename(&next, &path).unwrap();
        let (first, tensor) = &contents.groups[0].tensors[0];
        source.read(first, tensor.as_ref().unwrap()).unwrap();
        let bytes = std::fs::read(data(name)).unwrap();
        assert_eq!((source.digest().unwrap(), source.length()), (blake3::hash(&bytes), bytes.len() as u64));
    }
}

#[test]
fn settings_are_found_wherever_they_stand() {
    let file = ForeignFile::open(&data("legacy.pt")).unwrap();
    let values = |name: &str| {
        file.contents().settings.get(name).map(|values| values.iter().cloned().collect::<Vec<_>>()).unwrap_or_default()
    };
    assert_eq!(values("slice_scale"), ["0.1"]);
    assert_eq!(values("dropout"), ["0.25"]);
    assert_eq!(values("step"), ["77"]);
    assert_eq!(values("note"), [""]);
    assert_eq!(values("nothing"), [""; 0]);
}
