//! The GPT-2 of the paper on the inside of models, as PyTorch computed it.

use std::collections::BTreeSet;

use super::files::Pieces;
use super::{faults, judge, judge_file, shared, worst};

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
        let left_out: &[&str] = if is_tiny { &[] } else { &["mid., grad. (not in the file)"] };
        assert_eq!(comparison.left_out, left_out, "{name}");
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
    assert_eq!(faults(&other).unwrap_err(), "its parameters are those of gpt, but --family says `transformer`");
    let other = judge(&[&file], None, &[("gelu", "erf")]).pop().unwrap();
    assert!(faults(&other).unwrap().iter().any(|quantity| quantity == "output.logits"));
}
