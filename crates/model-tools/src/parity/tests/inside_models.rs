//! The GPT-2 of the paper on the inside of models, as PyTorch computed it, and what is measured inside models.

use std::collections::BTreeSet;
use std::path::Path;

use cwm_contract::testing::shared;

use super::files::Pieces;
use super::{faults, judge, judge_file, worst};

const FOLDER: &str = "systems/inside-models-golden";

#[test]
fn both_fixtures_are_within_the_tolerances_in_all_that_they_have() {
    let Some(folder) = shared(FOLDER) else { return };
    for name in ["gpt2-tiny", "gpt2-d64"] {
        let comparison = judge_file(&folder.join(format!("{name}.safetensors")));
        assert_eq!(faults(&comparison), Ok(Vec::new()), "{name}");
        assert_eq!(comparison.notes, [""; 0], "{name}");
        let quantities = comparison.result.as_ref().unwrap();
        let worst = worst(quantities);
        println!("{name}: {} of the tolerance in {}", worst.worst.of_tolerance, worst.name);
        let compared: BTreeSet<&str> = quantities.iter().map(|quantity| quantity.name.as_str()).collect();
        assert_eq!(compared.len(), quantities.len(), "{name}: a quantity is named twice");
        for what in ["output.logits", "output.loss", "edit.scale", "edit.logits_eta_2", "replace.loss"] {
            let decomposed = format!("{what} (decomposed)");
            assert!(compared.contains(what) && compared.contains(decomposed.as_str()), "{name}: no {what}");
        }
        for what in ["grad_norm.wte.weight", "grad_dot_param.ln_f.bias", "train_trace.param_norm_after_5"] {
            assert!(compared.contains(what), "{name}: no {what}");
        }
        let is_tiny = name == "gpt2-tiny";
        for what in ["mid.stream.0", "mid.stream.2", "mid.ln_f", "grad.h.1.mlp.c_proj.weight"] {
            assert_eq!(compared.contains(what), is_tiny, "{name}: {what}");
        }
        let not_compared: &[&str] = if is_tiny { &[] } else { &["mid., grad. (not in the file)"] };
        assert_eq!(comparison.not_compared, not_compared, "{name}");
    }
}

#[test]
fn a_changed_number_is_beyond_and_the_tensor_is_named() {
    let Some(folder) = shared(FOLDER) else { return };
    let (name, place) = ("gpt2-tiny.safetensors", tempfile::tempdir().unwrap());
    std::fs::copy(folder.join("manifest.json"), place.path().join("manifest.json")).unwrap();
    let pieces = Pieces::read(&folder.join(name));
    for (tensor, change) in [
        ("output.logits", 2e-4),
        ("mid.stream.1", 2e-4),
        ("mid.ln_f", 2e-4),
        ("edit.logits_eta_0.5", 2e-4),
        ("edit.scale", 2e-4),
        ("replace.loss", 1e-3),
        ("output.loss_sum", 1e-2),
        ("grad_norm.ln_f.weight", 1e-1),
        ("grad.wpe.weight", 1e-1),
    ] {
        let changed = |index, value| if index == 0 { value + change } else { value };
        let file = pieces.changed(place.path(), name, |pieces| pieces.map(tensor, changed));
        let beyond = faults(&judge_file(&file)).unwrap();
        assert!(beyond.iter().any(|quantity| quantity == tensor), "{tensor}: {beyond:?}");
        assert!(beyond.iter().all(|quantity| quantity.starts_with(tensor)), "{tensor}: {beyond:?}");
    }
    let file = pieces.changed(place.path(), name, |pieces| _ = pieces.0.remove("replace.loss"));
    assert_eq!(faults(&judge_file(&file)).unwrap_err(), "has no tensor `replace.loss`");
    let file = pieces.changed(place.path(), name, |pieces| pieces.get("input.tokens").bytes[0] = 72);
    assert_eq!(faults(&judge_file(&file)).unwrap_err(), "`input.tokens[0, 0]` is 72, no word of 72");
    let file = pieces.changed(place.path(), name, |_| {});
    let other = judge(&[&file], Some("transformer"), &[]).pop().unwrap();
    assert_eq!(faults(&other).unwrap_err(), "its parameters are those of gpt, but --family is `transformer`");
    let other = judge(&[&file], None, &[("gelu", "erf")]).pop().unwrap();
    assert!(faults(&other).unwrap().iter().any(|quantity| quantity == "output.logits"));
}

/// Files of the folder that are no fixtures have no line.
#[test]
fn the_folder_is_within_a_line_for_each_fixture() {
    let Some(folder) = shared(FOLDER) else { return };
    let comparisons = judge(&[&folder], None, &[]);
    let names: Vec<&str> = comparisons.iter().map(|comparison| comparison.name.as_str()).collect();
    assert_eq!(names, ["alignment", "gated-sae", "gpt2-d64", "gpt2-tiny", "linear-probe", "mass"]);
    for comparison in &comparisons {
        assert_eq!(faults(comparison), Ok(Vec::new()), "{}", comparison.name);
        assert_eq!(comparison.notes, [""; 0], "{}", comparison.name);
        let quantities = comparison.result.as_ref().unwrap();
        let worst = worst(quantities);
        println!("{comparison}; {} quantities, {} of the tolerance", quantities.len(), worst.worst.of_tolerance);
        let names: BTreeSet<&str> = quantities.iter().map(|quantity| quantity.name.as_str()).collect();
        assert_eq!(names.len(), quantities.len(), "{}: a quantity is named twice", comparison.name);
    }
    let compared = |name: &str, quantity: &str| -> u64 {
        let comparison = comparisons.iter().find(|comparison| comparison.name == name).unwrap();
        let quantities = comparison.result.as_ref().unwrap();
        quantities
            .iter()
            .find(|found| found.name == quantity)
            .unwrap_or_else(|| panic!("{name}: no {quantity}"))
            .compared
    };
    for (name, quantity, count) in [
        ("gated-sae", "output.f", 96 * 64),
        ("linear-probe", "final.predicted", 240 * 64),
        ("linear-probe", "manifest cd_metrics.f1_macro", 1),
        ("alignment", "null", 200),
        ("mass", "mass.original", 211),
        ("mass", "mass.future", 196),
    ] {
        assert_eq!(compared(name, quantity), count, "{name}: {quantity}");
    }
    assert!(compared("mass", "mass.without") > 2_000);
}

/// A copy of the golden files.
fn copied(folder: &Path, place: &Path) {
    for name in ["manifest.json", "legal.jsonl", "mass.json"] {
        std::fs::copy(folder.join(name), place.join(name)).unwrap();
    }
}

#[test]
fn a_changed_number_of_what_is_measured_is_beyond_and_the_tensor_is_named() {
    let Some(folder) = shared(FOLDER) else { return };
    let place = tempfile::tempdir().unwrap();
    copied(&folder, place.path());
    let changed = |name: &str, tensor: &str, change: &dyn Fn(&mut Pieces)| {
        let file = Pieces::read(&folder.join(name)).changed(place.path(), name, change);
        let beyond = faults(&judge_file(&file)).unwrap();
        assert!(beyond.iter().any(|quantity| quantity == tensor), "{name}: {tensor}: {beyond:?}");
        beyond
    };
    for (name, tensors) in [
        (
            "gated-sae.safetensors",
            &["output.pi_gate", "output.f", "output.x_hat", "output.loss", "grad.b_mag", "after_5.W_dec"][..],
        ),
        ("linear-probe.safetensors", &["output.loss", "grad.weight", "after_5.weight", "cd.difference"]),
    ] {
        for tensor in tensors {
            let first = |at, value| if at == 0 { value + 1e-2 } else { value };
            let beyond = changed(name, tensor, &|pieces| pieces.map(tensor, first));
            assert_eq!(beyond, [*tensor], "{name}");
        }
    }
    for tensor in ["final.predicted", "cd.predicted"] {
        changed("linear-probe.safetensors", tensor, &|pieces| pieces.get(tensor).bytes[0] ^= 1);
    }
    for tensor in ["within", "null"] {
        let doubled = |pieces: &mut Pieces| {
            let bytes = pieces.get(tensor).bytes.first_chunk_mut::<8>().unwrap();
            *bytes = (f64::from_le_bytes(*bytes) + 1e-8).to_le_bytes();
        };
        assert_eq!(changed("alignment.safetensors", tensor, &doubled), [tensor]);
    }
    let raised = |pieces: &mut Pieces| pieces.map("logits", |at, value| if at == 5 { value + 1.0 } else { value });
    changed("mass.safetensors", "mass.original", &raised);
}

#[test]
fn a_changed_number_beside_a_fixture_is_beyond() {
    let Some(folder) = shared(FOLDER) else { return };
    let place = tempfile::tempdir().unwrap();
    for (file, from, to, name, quantity) in [
        ("mass.json", "\"argmax\":", "\"argmax\":1", "mass.safetensors", "argmax"),
        ("legal.jsonl", "\"origins\":[19,52]", "\"origins\":[19,53]", "mass.safetensors", "origins"),
        ("legal.jsonl", "[68,69,70,71]", "[68,69,70]", "mass.safetensors", "promotions"),
        ("manifest.json", "\"mu\": 0.1044", "\"mu\": 0.1045", "alignment.safetensors", "manifest mu"),
        (
            "manifest.json",
            "\"boards\": 0.0125",
            "\"boards\": 0.0126",
            "linear-probe.safetensors",
            "manifest metrics.boards",
        ),
        ("manifest.json", "\"l1\": 10.8", "\"l1\": 10.9", "gated-sae.safetensors", "manifest metrics.l1"),
        ("manifest.json", "19.4183", "19.4193", "gated-sae.safetensors", "train_trace.losses[0]"),
        ("manifest.json", "2.67248", "2.67258", "linear-probe.safetensors", "train_trace.losses[0]"),
    ] {
        copied(&folder, place.path());
        std::fs::copy(folder.join(name), place.path().join(name)).unwrap();
        let text = std::fs::read_to_string(folder.join(file)).unwrap();
        assert!(text.contains(from), "{file}: {from}");
        std::fs::write(place.path().join(file), text.replacen(from, to, 1)).unwrap();
        let beyond = faults(&judge_file(&place.path().join(name))).unwrap();
        assert!(beyond.iter().any(|found| found == quantity), "{quantity}: {beyond:?}");
    }
    let file = place.path().join("gated-sae.safetensors");
    std::fs::remove_file(place.path().join("manifest.json")).unwrap();
    assert_eq!(faults(&judge_file(&file)).unwrap_err(), "needs a manifest.json beside it that names it");
}
