//! Files that are no fixtures, or not quite: errors in words, never a panic, and the other files are compared.

use std::path::Path;

use cwm_contract::testing::shared;
use cwm_contract::{FailureKind, ModelTools, ParityRequest};
use proptest::prelude::*;
use safetensors::tensor::Dtype;

use super::files::{Pieces, Stored};
use super::{faults, judge, judge_file};
use crate::ChessModelTools;

fn error(path: &Path) -> String {
    faults(&judge_file(path)).unwrap_err()
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    let Some(folder) = shared("parity") else { return };
    let name = "mamba3_siso-tiny.safetensors";
    let pieces = Pieces::read(&folder.join(name));
    let place = tempfile::tempdir().unwrap();
    let spoiled = |change: &dyn Fn(&mut Pieces)| error(&pieces.changed(place.path(), name, change));
    for tensor in [
        "param.layers.1.mixer.D",
        "param.output_head.weight",
        "input.moves",
        "input.lengths",
        "input.states",
        "input.pad_mask",
        "output.castle",
        "output.loss",
        "output.loss_sum",
        "output.denom",
        "grad_norm.final_norm.weight",
        "grad_dot_param.final_norm.weight",
    ] {
        assert_eq!(spoiled(&|pieces| _ = pieces.0.remove(tensor)), format!("has no tensor `{tensor}`"));
        if tensor.starts_with("param") || tensor.starts_with("output") {
            let nan = |pieces: &mut Pieces| pieces.map(tensor, |i, value| if i == 0 { f32::NAN } else { value });
            let message = spoiled(&nan);
            assert!(message.starts_with(&format!("`{tensor}")) && message.contains("is NaN"), "{message}");
        }
    }
    let retyped = |pieces: &mut Pieces| pieces.get("input.moves").dtype = Dtype::F64;
    assert_eq!(spoiled(&retyped), "`input.moves` is F64 where I64 is needed");
    let reshaped = |pieces: &mut Pieces| pieces.get("output.castle").shape = vec![2, 70, 8];
    assert_eq!(spoiled(&reshaped), "`output.castle` has shape [2, 70, 8] where [2, 70, 4, 2] is needed");
    let reshaped = |pieces: &mut Pieces| pieces.get("param.layers.0.mixer.B_norm.weight").shape = vec![4, 4];
    assert!(spoiled(&reshaped).starts_with("`param.layers.0.mixer."));
    let integer = |tensor: &'static str, at: usize, value: i64| {
        move |pieces: &mut Pieces| {
            pieces.get(tensor).bytes[at * 8..at * 8 + 8].copy_from_slice(&value.to_le_bytes());
        }
    };
    assert_eq!(spoiled(&integer("input.moves", 71, 256)), "`input.moves[1, 1]` is 256, which is no token of 256");
    assert_eq!(spoiled(&integer("input.moves", 3, -1)), "`input.moves[0, 3]` is -1, which is no token of 256");
    assert_eq!(spoiled(&integer("input.lengths", 1, 0)), "`input.lengths[1]` is 0, not from 1 to 70");
    assert_eq!(spoiled(&integer("input.lengths", 0, 71)), "`input.lengths[0]` is 71, not from 1 to 70");
    assert_eq!(
        spoiled(&integer("input.lengths", 1, 30)),
        "`input.pad_mask[1, 30]` does not pad what follows the game's end, and nothing else (`input.lengths[1]` is 30)"
    );
    assert_eq!(
        spoiled(&|pieces| pieces.get("input.states").bytes[64] = 2),
        "`input.states[0, 0, 64]` is 2, but that label has 2 classes"
    );
    let empty = Stored { dtype: Dtype::F32, shape: vec![], bytes: 1f32.to_le_bytes().to_vec() };
    for tensor in ["grad.layers.9.x", "grad_norm.layers.9.x", "grad_dot_param.layers.9.x"] {
        let added = |pieces: &mut Pieces| _ = pieces.0.insert(tensor.to_owned(), empty.clone());
        assert_eq!(spoiled(&added), format!("has `{tensor}`, but the model has no such parameter"));
    }
    let added = |pieces: &mut Pieces| _ = pieces.0.insert("mid.layer7.out".to_owned(), empty.clone());
    assert!(spoiled(&added).starts_with("has `mid.layer7.out`, but our model has no such point; it has "));
    let added = |pieces: &mut Pieces| _ = pieces.0.insert("param.x.weight".to_owned(), empty.clone());
    assert_eq!(spoiled(&added), "has a tensor `param.x.weight` that this model does not have");
    let deep = |pieces: &mut Pieces| {
        _ = pieces.0.insert(format!("param.layers.{}.x", u64::MAX), empty.clone());
    };
    assert!(spoiled(&deep).contains("is not a size"), "{}", spoiled(&deep));
    let extra = pieces.changed(place.path(), name, |pieces| _ = pieces.0.insert("remark".to_owned(), empty.clone()));
    let comparison = judge_file(&extra);
    assert_eq!(faults(&comparison), Ok(Vec::new()));
    assert_eq!(comparison.notes, ["not compared, since it is not known what they are: remark"]);
}

#[test]
fn rows_of_a_table_must_be_in_it() {
    let Some(folder) = shared("parity") else { return };
    let name = "slice_diag-d128.safetensors";
    let pieces = Pieces::read(&folder.join(name));
    let place = tempfile::tempdir().unwrap();
    let spoiled = |change: &dyn Fn(&mut Pieces)| error(&pieces.changed(place.path(), name, change));
    let index = "param_sparse_index.embedding.weight";
    let outside = |pieces: &mut Pieces| pieces.get(index).bytes[..8].copy_from_slice(&20_482i64.to_le_bytes());
    assert_eq!(spoiled(&outside), format!("`{index}` holds 20482, which is no row of a table of 20482"));
    let fewer = |pieces: &mut Pieces| {
        let stored = pieces.get(index);
        stored.shape[0] -= 1;
        stored.bytes.truncate(stored.shape[0] * 8);
    };
    assert_eq!(spoiled(&fewer), format!("`{index}` has shape [90] where [91] is needed"));
}

#[test]
fn files_that_are_no_fixtures_keep_nobody_from_the_others() {
    let Some(folder) = shared("parity") else { return };
    let place = tempfile::tempdir().unwrap();
    let whole = std::fs::read(folder.join("slice_diag-tiny.safetensors")).unwrap();
    for (name, bytes) in [
        ("a.safetensors", &whole[..whole.len() / 2]),
        ("b.safetensors", b"".as_slice()),
        ("c.safetensors", b"\xff\xff\xff\xff\xff\xff\xff\x7f{}"),
        ("d.json", b"{\"x\": 1}"),
        ("e.json", b"\xff\xfe"),
        ("slice_diag-f.safetensors", &whole),
    ] {
        std::fs::write(place.path().join(name), bytes).unwrap();
    }
    let missing = place.path().join("g.safetensors");
    let comparisons = judge(&[place.path(), &missing], None, &[]);
    let outcomes: Vec<_> = comparisons.iter().map(|c| (c.name.as_str(), c.result.is_ok())).collect();
    let expected =
        [("a", false), ("b", false), ("c", false), ("d", false), ("e", false), ("slice_diag-f", true), ("g", false)];
    assert_eq!(outcomes, expected);
    assert!(faults(&comparisons[0]).unwrap_err().starts_with("is not a safetensors file: "));
    assert!(faults(&comparisons[4]).unwrap_err().starts_with("is no JSON: "));
    assert!(faults(&comparisons[6]).unwrap_err().starts_with("cannot read "));
    std::fs::write(place.path().join("manifest.json"), b"{").unwrap();
    let message = error(&place.path().join("slice_diag-f.safetensors"));
    assert!(message.contains("the manifest beside it, ") && message.contains("is wrong: "), "{message}");
}

#[test]
fn a_manifest_stands_for_what_it_names_and_nothing_is_compared_twice() {
    let Some(folder) = shared("parity") else { return };
    let place = tempfile::tempdir().unwrap();
    let (file, manifest) = (place.path().join("slice_diag-tiny.safetensors"), place.path().join("manifest.json"));
    std::fs::copy(folder.join("slice_diag-tiny.safetensors"), &file).unwrap();
    // One that says nothing of its file leaves it to names and shapes.
    std::fs::write(&manifest, br#"{"fixtures": [{"file": "slice_diag-tiny.safetensors"}, {"file": "gone"}]}"#).unwrap();
    let comparisons = judge(&[&manifest, &file, place.path()], None, &[]);
    let names: Vec<&str> = comparisons.iter().map(|comparison| comparison.name.as_str()).collect();
    assert_eq!(names, ["slice_diag-tiny", "gone"]);
    assert_eq!(faults(&comparisons[0]), Ok(Vec::new()));
    assert!(faults(&comparisons[1]).unwrap_err().starts_with("cannot read "));
    std::fs::write(&manifest, b"[]").unwrap();
    let request = ParityRequest { paths: vec![manifest], ..ParityRequest::default() };
    let message = ChessModelTools.parity(&request, &mut |_| {}).unwrap_err().to_string();
    assert!(message.ends_with("is no manifest of fixtures: it has no list `fixtures`"), "{message}");
}

#[test]
fn to_compare_nothing_is_an_error() {
    let place = tempfile::tempdir().unwrap();
    let refused = |request: ParityRequest| ChessModelTools.parity(&request, &mut |_| {}).unwrap_err().to_string();
    let paths = vec![place.path().to_owned()];
    let message = refused(ParityRequest { paths: paths.clone(), ..ParityRequest::default() });
    assert!(message.ends_with("holds no fixture: no .safetensors or .json file to compare"), "{message}");
    let family = Some("lstm".to_owned());
    let message = refused(ParityRequest { paths: paths.clone(), family, ..ParityRequest::default() });
    assert!(message.starts_with("there is no family `lstm`; known are "), "{message}");
    let device = "abacus".to_owned();
    let request = ParityRequest { paths, device, ..ParityRequest::default() };
    let failure = ChessModelTools.parity(&request, &mut |_| {}).unwrap_err();
    assert_eq!((failure.message.starts_with("`abacus` is no device"), failure.kind), (true, FailureKind::Input));
    let message = error(Path::new("/dev/zero"));
    assert_eq!(message, "/dev/zero is no file that could be read to its end");
    let empty = place.path().join("empty.json");
    std::fs::write(&empty, br#"{"batches": [], "summary": {}, "bin_size": 20}"#).unwrap();
    assert_eq!(error(&empty), "`summary` is empty");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_bytes_make_the_judge_panic(at in 0usize..16_000, byte: u8, cut in prop::option::of(0usize..1_600_000)) {
        let Some(folder) = shared("parity") else { return Ok(()) };
        let mut bytes = std::fs::read(folder.join("slice_diag-tiny.safetensors")).unwrap();
        bytes[at] = byte;
        bytes.truncate(cut.unwrap_or(bytes.len()));
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("slice_diag.safetensors");
        std::fs::write(&path, bytes).unwrap();
        let _ = judge_file(&path);
    }
}
