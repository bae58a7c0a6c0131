//! Small files that would be large in memory: what they hold once, they hold many times.

use super::archives::{archive, legacy, tensor, text};
use super::hostile::{opened, refused};
use super::models::{network, refused as not_adopted};
use crate::ImportHints;

/// Remembers the top of the stack at `place`.
fn remembered(place: u8) -> [u8; 2] {
    [b'q', place]
}

/// A dictionary with `count` items: a number, and what is remembered at `place`.
fn items(count: i32, place: u8) -> Vec<u8> {
    let item = |number: i32| [&b"J"[..], &number.to_le_bytes(), &[b'h', place]].concat();
    [b"}(".to_vec(), (0..count).flat_map(item).collect(), b"u".to_vec()].concat()
}

fn pickle(parts: &[&[u8]]) -> Vec<u8> {
    [b"\x80\x04", &parts.concat()[..], b"."].concat()
}

fn saved(pickle: &[u8]) -> Vec<u8> {
    archive(&[("m/data.pkl", pickle), ("m/data/0", &[0; 4])])
}

const ONE: [&[i32]; 2] = [&[1], &[1]];

#[test]
fn a_long_name_is_not_copied_into_many_classes() {
    let name = text(&"a".repeat(16 << 20));
    let bomb = pickle(&[&name, &remembered(0), &b"h\0h\0\x93".repeat(2_000)]);
    assert!(refused(&saved(&bomb)).contains("a name is too long"));
    // Short enough, but a million of them.
    let name = text(&"a".repeat(2_000));
    let bomb = pickle(&[&name, &remembered(0), &b"h\0h\0\x930".repeat(1 << 20)]);
    assert!(refused(&saved(&bomb)).contains("it expands to more than any checkpoint"));
}

#[test]
fn the_dimensions_of_a_tensor_are_counted_before_they_are_collected() {
    let many = vec![1; 1 << 19];
    let bomb = pickle(&[&tensor("FloatStorage", "0", 1, 0, [&many, &many]), &remembered(0), &items(4_000, 0)]);
    let bytes = saved(&bomb);
    assert_eq!(opened(&bytes), Ok(0));
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    let foreign = crate::ForeignFile::open(file.path()).unwrap();
    let (_, odd) = &foreign.contents().groups[0].tensors[0];
    assert_eq!(odd.as_ref().unwrap_err(), "has 524288 dimensions; 8 are read at most");
    let nine = vec![1; 9];
    let bomb = pickle(&[&tensor("FloatStorage", "0", 1, 0, [&nine[..8], &nine[..8]]), &remembered(0), &items(1, 0)]);
    assert_eq!(opened(&saved(&bomb)), Ok(1));
    let bomb = pickle(&[&tensor("FloatStorage", "0", 1, 0, [&nine, &nine[..8]]), &remembered(0), &items(1, 0)]);
    assert_eq!(opened(&saved(&bomb)), Ok(0));
}

#[test]
fn one_tensor_under_many_names_is_bounded() {
    let plain = tensor("FloatStorage", "0", 1, 0, ONE);
    assert_eq!(opened(&saved(&pickle(&[&plain, &remembered(0), &items(500, 0)]))), Ok(500));
    let bomb = pickle(&[&plain, &remembered(0), &items(2_000_000, 0)]);
    assert!(refused(&saved(&bomb)).contains("it expands to more than any checkpoint"));
    // With a key of a storage that is as long as names may be.
    let long = tensor("FloatStorage", &"0".repeat(4 << 10), 1, 0, ONE);
    let bomb = pickle(&[&long, &remembered(0), &items(100_000, 0)]);
    assert!(refused(&saved(&bomb)).contains("it expands to more than any checkpoint"));
    let longer = tensor("FloatStorage", &"0".repeat((4 << 10) + 1), 1, 0, ONE);
    assert_eq!(opened(&saved(&pickle(&[&longer, &remembered(0), &items(1, 0)]))), Ok(0));
}

#[test]
fn one_key_of_many_things_is_bounded() {
    let plain = tensor("FloatStorage", "0", 1, 0, ONE);
    let held = |length: usize, count: usize, value: &[u8]| {
        let key = text(&"k".repeat(length));
        let many = [b"}(".to_vec(), b"h\0h\x01".repeat(count), b"u".to_vec()].concat();
        opened(&saved(&pickle(&[&key, &remembered(0), value, &remembered(1), &many])))
    };
    let message = held(1 << 20, 4_000, &plain).unwrap_err();
    assert_eq!(message, "it holds a tensor under a name of 1048576 bytes; 4096 are read at most");
    assert!(held(4 << 10, 100_000, &plain).unwrap_err().contains("it expands to more than any checkpoint"));
    // As a setting it is said once; and as a step of a path, copied for no tensor.
    assert_eq!(held(1 << 20, 1_000_000, b"K\x01"), Ok(0));
    assert_eq!(held(4 << 10, 1_000_000, b"K\x01"), Ok(0));
    assert_eq!(held(1 << 20, 1_000_000, b"}"), Ok(0));
}

#[test]
fn settings_that_are_each_said_of_each_other_are_bounded() {
    // A thousand names of a thousand bytes, each of a thousand texts of a thousand bytes.
    let texts: Vec<u8> = (0..1_000u32)
        .flat_map(|index| [text(&format!("{index:0>1000}")), b"r".to_vec(), index.to_le_bytes().to_vec()].concat())
        .collect();
    let recall = |index: u32| [&b"j"[..], &index.to_le_bytes()].concat();
    let item = |index: u32| [recall(index % 1_000), recall(index / 1_000)].concat();
    let all: Vec<u8> = (0..1_000_000).flat_map(item).collect();
    let bomb = pickle(&[b"(", &texts, b"1}(", &all, b"u"]);
    assert!(refused(&saved(&bomb)).contains("it expands to more than any checkpoint"));
}

#[test]
fn the_older_form_names_each_storage_once() {
    let plain = tensor("FloatStorage", "0", 1, 0, ONE);
    let good = pickle(&[&plain, &remembered(0), &items(1, 0)]);
    let keys = pickle(&[b"](", &text("0"), b"e"]);
    let storage = [&1u64.to_le_bytes()[..], &[0; 4]].concat();
    assert_eq!(opened(&legacy(&good, &keys, &storage)), Ok(1));
    // Tensors of one class of storages, whose name is long, and of as many storages.
    let class = "F".repeat(4_000);
    let each = (0..1_000u32).flat_map(|key| tensor(&class, &key.to_string(), 1, 0, ONE));
    let bomb = pickle(&[b"](", &each.collect::<Vec<u8>>(), b"e"]);
    assert_eq!(refused(&legacy(&bomb, &keys, &storage)), "it has a storage `0` that nothing uses");
}

#[test]
fn a_model_that_is_larger_than_its_file_is_refused_before_there_is_room_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.pt");
    // 275 GB: one float, expanded. And as much in a file that has not even that float.
    for (size, storage) in [("d65536/l1", &[0; 4][..]), ("d65536/l1", &[]), ("d512/l1", &[0; 4])] {
        let network = network("transformer", size, 1 << 20, &[]);
        let tensors = network.layout().parameters().iter().map(|declared| {
            let shape: Vec<i32> = declared.shape.iter().map(|&length| length as i32).collect();
            let expanded = tensor("FloatStorage", "0", 1, 0, [&shape, &vec![0; shape.len()]]);
            [text(&declared.name), expanded].concat()
        });
        let bomb = pickle(&[b"}(", &tensors.collect::<Vec<_>>().concat(), b"u"]);
        let bytes = archive(&[("m/data.pkl", &bomb), ("m/data/0", storage)]);
        std::fs::write(&path, &bytes).unwrap();
        let (message, hint) = not_adopted(&path, &ImportHints::default());
        if storage.is_empty() {
            assert!(message.contains("has 0 bytes"), "{message}");
        } else {
            let (total, length) = (network.layout().total(), bytes.len());
            assert_eq!(message, format!("it declares {total} parameters, in {length} bytes"));
            assert!(hint.contains("expanded"), "{hint}");
        }
    }
}
