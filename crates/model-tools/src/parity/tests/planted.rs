//! Faults planted in a model or in what is expected of it: each must be seen, and where it is.

use std::path::Path;

use cwm_contract::Comparison;
use cwm_contract::testing::shared;

use super::files::Pieces;
use super::{faults, judge, judge_file};

#[track_caller]
fn assert_seen(comparison: &Comparison, where_at_least: &[&str]) {
    let faults = faults(comparison).unwrap();
    for name in where_at_least {
        assert!(faults.iter().any(|fault| fault == name), "`{name}` is not among {faults:?}");
    }
}

#[test]
fn wrong_options_are_seen() {
    let Some(folder) = shared("parity") else { return };
    let file = |name: &str| folder.join(format!("{name}.safetensors"));
    let judged = |name: &str, family: Option<&str>, options: &[(&str, &str)]| {
        judge(&[&file(name)], family, options).pop().unwrap()
    };
    for size in ["tiny", "d128"] {
        let transformer = format!("transformer-{size}");
        assert_seen(&judged(&transformer, None, &[("rope", "standard")]), &["output.pieces", "output.loss"]);
        assert_seen(&judged(&transformer, None, &[("heads", "4")]), &["output.pieces", "manifest fp64_loss"]);
    }
    assert_seen(
        &judged("gdn_neg-tiny", Some("gated_deltanet_pos"), &[]),
        &["output.pieces", "mid.layer0.attn", "output.pieces (step by step)", "train_trace.losses"],
    );
    assert_seen(
        &judged("gdn_pos-d128", Some("gated_deltanet"), &[]),
        &["output.pieces", "output.pieces (step by step)"],
    );
    assert_eq!(
        faults(&judged("slice_bd8-tiny", None, &[("block", "4")])).unwrap_err(),
        "`param.layers.0.slice.vf_A.weight` has shape [256, 33] where [128, 33] is needed"
    );
    assert_eq!(
        faults(&judged("mamba2-tiny", None, &[("heads", "4")])).unwrap_err(),
        "family `mamba2` has no option `heads`; it has head_width, state"
    );
}

/// Weights that are a little off, as if a computation were.
#[test]
fn weights_that_are_a_little_off_are_seen() {
    let Some(folder) = shared("parity") else { return };
    let place = tempfile::tempdir().unwrap();
    let changes: [(&str, &str, f32, &str); 7] = [
        ("transformer-tiny", "param.blocks.0.norm1.weight", 1.001, "mid.block0.attn"),
        ("slice_bd8-tiny", "param.layers.1.slice.vf_A.weight", 1.001, "mid.layer1.slice"),
        ("slice_diag-tiny", "param.layers.0.slice.init", 1.001, "mid.layer0.slice"),
        ("gdn_neg-tiny", "param.backbone.layers.0.attn.o_norm.weight", 1.001, "mid.layer0.attn"),
        ("mamba2-tiny", "param.layers.0.mixer.D", 1.001, "mid.layer0.mixer"),
        ("mamba3_siso-tiny", "param.layers.1.mixer.dt_bias", 1.001, "mid.layer1.mixer"),
        ("mamba3_mimo4-tiny", "param.layers.0.mixer.mimo_o", 1.001, "mid.layer0.mixer"),
    ];
    for (name, tensor, factor, seen_in) in changes {
        let name = format!("{name}.safetensors");
        let pieces = Pieces::read(&folder.join(&name));
        let whole = pieces.changed(place.path(), &name, |_| {});
        assert_eq!(faults(&judge_file(&whole)), Ok(Vec::new()), "{name}");
        let changed = pieces.changed(place.path(), &name, |pieces| pieces.map(tensor, |_, weight| weight * factor));
        assert_seen(&judge_file(&changed), &[seen_in, "output.pieces"]);
    }
}

/// Only what is changed is seen: nothing else of a sound fixture goes wrong with it.
#[test]
fn every_kind_of_number_is_compared() {
    let Some(folder) = shared("parity") else { return };
    let name = "slice_bd8-tiny.safetensors";
    let pieces = Pieces::read(&folder.join(name));
    let place = tempfile::tempdir().unwrap();
    let seen = |tensor: &str, change: &dyn Fn(usize, f32) -> f32| {
        let changed = pieces.changed(place.path(), name, |pieces| pieces.map(tensor, change));
        faults(&judge_file(&changed)).unwrap()
    };
    let forms = |name: &str, forms: &[&str]| forms.iter().map(|form| format!("{name}{form}")).collect::<Vec<_>>();
    let every = ["", " (scan sequential)", " (decomposed)", " (step by step)"].as_slice();
    let training = &every[..3];
    let tensor = "grad_norm.layers.0.norm2.weight";
    assert_eq!(seen(tensor, &|_, norm| norm * 1.001), forms(tensor, training));
    let tensor = "grad_dot_param.layers.1.slice.vf_B.weight";
    assert_eq!(seen(tensor, &|_, product| -product), forms(tensor, training));
    let tensor = "grad.layers.0.slice.vf_B.weight";
    assert_eq!(seen(tensor, &|i, value| if i == 7 { value + 0.01 } else { value }), forms(tensor, training));
    let tensor = "output.halfmove";
    assert_eq!(seen(tensor, &|i, value| if i == 5 { value + 1e-4 } else { value }), forms(tensor, every));
    assert_eq!(
        seen("mid.layer0.mlp", &|i, value| if i == 99 { value - 1e-3 } else { value }),
        forms("mid.layer0.mlp", training)
    );
    assert_eq!(seen("output.loss", &|_, loss| loss + 1e-5), forms("output.loss", training));
    assert_eq!(seen("output.denom", &|_, denominator| denominator + 75.0).len(), training.len());
    // What stands at padded steps means nothing.
    let padded = |i: usize, value: f32| if i >= (70 + 34) * 9 { f32::NAN } else { value };
    assert!(seen("output.ep_file", &padded).is_empty());
}

/// A fixture beside a manifest that is its own but for a change.
pub struct Beside {
    folder: tempfile::TempDir,
    entry: serde_json::Value,
}

impl Beside {
    pub fn new(golden: &Path, file: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::copy(golden.join(file), folder.path().join(file)).unwrap();
        let manifest: serde_json::Value =
            serde_json::from_slice(&std::fs::read(golden.join("manifest.json")).unwrap()).unwrap();
        let entry = manifest["fixtures"].as_array().unwrap().iter().find(|entry| entry["file"] == file).unwrap();
        Beside { folder, entry: entry.clone() }
    }

    pub fn judged(&self, change: &dyn Fn(&mut serde_json::Value)) -> Comparison {
        let mut entry = self.entry.clone();
        change(&mut entry);
        let text = serde_json::json!({ "fixtures": [entry] }).to_string();
        std::fs::write(self.folder.path().join("manifest.json"), text).unwrap();
        judge_file(&self.folder.path().join(self.entry["file"].as_str().unwrap()))
    }

    pub fn seen(&self, change: &dyn Fn(&mut serde_json::Value)) -> Result<Vec<String>, String> {
        faults(&self.judged(change))
    }
}

fn scale(value: &mut serde_json::Value, factor: f64) {
    *value = (value.as_f64().unwrap() * factor).into();
}

/// A quantity of the trace, in both seats.
fn of_trace(name: &str) -> Result<Vec<String>, String> {
    Ok(["", " (on device)"].map(|backend| format!("train_trace.{name}{backend}")).to_vec())
}

#[test]
fn numbers_of_the_manifest_are_compared() {
    let Some(golden) = shared("parity") else { return };
    let beside = Beside::new(&golden, "mamba2-tiny.safetensors");
    let seen = |change: &dyn Fn(&mut serde_json::Value)| beside.seen(change);
    assert_eq!(seen(&|_| {}), Ok(Vec::new()));
    let only = |name: &str| Ok(vec![name.to_owned()]);
    assert_eq!(seen(&|entry| scale(&mut entry["train_trace"]["losses"][3], 1.0001)), of_trace("losses"));
    assert_eq!(seen(&|entry| scale(&mut entry["train_trace"]["grad_norms"][4], 1.001)), of_trace("grad_norms"));
    assert_eq!(seen(&|entry| entry["param_count"] = 110_607.into()), only("manifest param_count"));
    let both = ["manifest fp64_loss", "manifest fp64_loss (decomposed)"].map(str::to_owned);
    assert_eq!(seen(&|entry| scale(&mut entry["fp64_loss"], 1.0001)), Ok(both.to_vec()));
    // Another optimiser, or another rate, is another training, in both seats.
    for (name, value) in [("lr", 0.002), ("weight_decay", 0.1), ("grad_clip_global_l2", 0.3)] {
        let faults = seen(&|entry| entry["train_trace"]["hyper"][name] = value.into()).unwrap();
        let on_device = faults.iter().filter(|name| name.ends_with(" (on device)")).count();
        assert!(on_device > 0 && on_device * 2 == faults.len(), "{name}: {faults:?}");
    }
    let betas = seen(&|entry| entry["train_trace"]["hyper"]["betas"][1] = 0.99.into()).unwrap();
    of_trace("losses").unwrap().iter().for_each(|name| assert!(betas.contains(name), "{betas:?}"));
    let exempt = |entry: &mut serde_json::Value| {
        entry["no_weight_decay_params_upstream"] = serde_json::json!(["layers.0.mixer.D"]);
    };
    assert_eq!(seen(&exempt), only("manifest no_weight_decay_params_upstream"));
    assert_eq!(
        seen(&|entry| _ = entry["train_trace"].as_object_mut().unwrap().remove("loss_after_5")),
        Err("its manifest's `train_trace` has no number `loss_after_5`".to_owned())
    );
}

/// Mamba's library marks these as exempt and the authors' code lets them decay all the same. After a training without
/// decay they would be longer by what five updates take, 5e-5.
#[test]
fn a_trace_shows_whether_marked_parameters_of_mamba_decay() {
    let Some(golden) = shared("parity") else { return };
    for (file, names) in [
        ("mamba2-tiny.safetensors", ["A_log", "D", "dt_bias"].as_slice()),
        ("mamba3_siso-tiny.safetensors", &["D", "dt_bias"]),
        ("mamba3_mimo4-tiny.safetensors", &["D", "dt_bias"]),
    ] {
        let beside = Beside::new(&golden, file);
        for name in names {
            for what in ["param_norm_after_5", "param_dot_init_after_5"] {
                let place = format!("layers.1.mixer.{name}");
                let without = |entry: &mut serde_json::Value| scale(&mut entry["train_trace"][what][&place], 1.00005);
                assert_eq!(beside.seen(&without), of_trace(what), "{file}: {place}");
            }
        }
    }
}

#[test]
fn what_a_manifest_lacks_or_misspells_is_reported() {
    let Some(golden) = shared("parity") else { return };
    let beside = Beside::new(&golden, "slice_diag-tiny.safetensors");
    let notes_of = |change: &dyn Fn(&mut serde_json::Value)| {
        let Comparison { not_compared, notes, result, .. } = beside.judged(change);
        assert!(result.is_ok());
        (not_compared.join("; "), notes.join("; "))
    };
    let none = || (String::new(), String::new());
    assert_eq!(notes_of(&|_| {}), none());
    let note = |keys: &str| format!("its manifest has unknown keys, and nothing is compared with them: {keys}");
    let misspelt = |entry: &mut serde_json::Value| {
        let entry = entry.as_object_mut().unwrap();
        let (loss, trace) = (entry.remove("fp64_loss").unwrap(), entry.remove("train_trace").unwrap());
        entry.insert("fp64_los".into(), loss);
        entry.insert("training_trace".into(), trace);
        _ = entry["head_losses"].as_object_mut().unwrap().remove("side");
    };
    let missing = "train_trace, fp64_loss, head_losses.side (not in its manifest)".to_owned();
    assert_eq!(notes_of(&misspelt), (missing, note("fp64_los, training_trace")));
    for (place, key) in [("config", "d_modell"), ("train_trace", "loss_after_50"), ("train_trace", "losess")] {
        let added = |entry: &mut serde_json::Value| entry[place][key] = 1.0.into();
        assert_eq!(notes_of(&added), (String::new(), note(&format!("{place}.{key}"))));
    }
    let added = |entry: &mut serde_json::Value| entry["train_trace"]["hyper"]["nesterov"] = true.into();
    assert_eq!(notes_of(&added), (String::new(), note("train_trace.hyper.nesterov")));
    let added = |entry: &mut serde_json::Value| entry["head_losses"]["side"]["share"] = 1.0.into();
    assert_eq!(notes_of(&added), (String::new(), note("head_losses.side.share")));
    // Another file's entry says nothing of this one.
    let beside_another = beside.judged(&|entry| entry["file"] = "other.safetensors".into());
    assert!(beside_another.not_compared[0].ends_with("head_losses (the manifest.json beside it does not name it)"));
}

#[test]
fn numbers_of_other_files_are_compared() {
    let Some(folder) = shared("parity") else { return };
    let place = tempfile::tempdir().unwrap();
    let seen = |file: &str, change: &dyn Fn(&mut serde_json::Value)| {
        let mut value = serde_json::from_slice(&std::fs::read(folder.join(file)).unwrap()).unwrap();
        change(&mut value);
        // A file is judged by what is in it.
        let path: &Path = &place.path().join("numbers.json");
        std::fs::write(path, value.to_string()).unwrap();
        faults(&judge_file(path))
    };
    let only = |name: &str| Ok(vec![name.to_owned()]);
    assert_eq!(seen("lr-schedules.json", &|_| {}), Ok(Vec::new()));
    assert_eq!(
        seen("lr-schedules.json", &|value| value["linear"]["lr_used_at_step"][20] = 0.002.into()),
        only("linear.lr_used_at_step")
    );
    assert_eq!(
        seen("lr-schedules.json", &|value| value["cosine"]["lr_decay_steps"] = 41.into()),
        only("cosine.lr_used_at_step")
    );
    assert_eq!(seen("lr-schedules.json", &|value| *value = serde_json::json!({})).unwrap_err(), UNKNOWN);
    assert_eq!(
        seen("metrics.json", &|value| value["summary"]["val/game_exact_num"] = 3.0.into()),
        only("val/game_exact_num")
    );
    assert_eq!(
        seen("metrics.json", &|value| value["summary"] = serde_json::json!({})).unwrap_err(),
        "`summary` is empty"
    );
    assert_eq!(
        seen("metrics.json", &|value| value["batches"][0]["pred"][0][3][0] = 99.into()).unwrap_err(),
        "`batches[0]` has class 99 of label 0 in `pred`, which has none, in step 3 of game 0"
    );
    assert_eq!(
        seen("param-counts.json", &|value| value["mamba2/d256_l2"]["param_count"] = 8_230_535.into()),
        only("mamba2/d256_l2")
    );
    assert_eq!(
        seen("param-counts.json", &|value| value["transformer/d128_l1"]["params"][1]["shape"][0] = 127.into())
            .unwrap_err(),
        "`transformer/d128_l1`: `param.blocks.0.norm1.weight` has shape [127] where [128] is needed"
    );
}

const UNKNOWN: &str = "holds neither learning-rate schedules nor metrics nor counts of parameters";
