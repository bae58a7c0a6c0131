//! Manifests that contradict their fixture or themselves, and fixtures that lack what others have: none of it is passed
//! over in silence.

use cwm_contract::Comparison;
use cwm_contract::testing::shared;
use serde_json::{Value, json};

use super::files::Pieces;
use super::planted::Beside;
use super::{faults, judge, judge_file};

#[test]
fn counts_of_labels_are_compared_and_not_relied_upon() {
    let Some(golden) = shared("parity") else { return };
    let beside = Beside::new(&golden, "slice_diag-tiny.safetensors");
    let huge = |entry: &mut Value| entry["head_losses"]["side"] = json!({ "loss_sum": 1.0, "denom": 1e9 });
    let forms = ["", " (scan sequential)", " (decomposed)", " (step by step)"];
    let mut expected: Vec<String> = forms.iter().map(|form| format!("manifest head_losses.side{form}")).collect();
    expected.insert(0, "manifest head_losses.side.denom".to_owned());
    assert_eq!(beside.seen(&huge), Ok(expected));
    let one_more = |entry: &mut Value| entry["head_losses"]["castle"]["denom"] = 417.into();
    assert_eq!(beside.seen(&one_more), Ok(vec!["manifest head_losses.castle.denom".to_owned()]));
    for (name, value) in [("loss", 2.5), ("loss_sum", 20_000.0), ("denom", 7801.0)] {
        let changed = |entry: &mut Value| entry[name] = value.into();
        let expected: Vec<String> = forms[..3].iter().map(|form| format!("manifest {name}{form}")).collect();
        assert_eq!(beside.seen(&changed), Ok(expected));
    }
}

#[test]
fn a_configuration_of_another_model_is_refused() {
    let Some(golden) = shared("parity") else { return };
    let error_of = |file: &str, change: &dyn Fn(&mut Value)| Beside::new(&golden, file).seen(change).unwrap_err();
    let mamba = "mamba2-tiny.safetensors";
    assert_eq!(
        error_of(mamba, &|entry| entry["config"]["mamba_variant"] = "mamba-3".into()),
        "its manifest has `mamba_variant` = \"mamba-3\", where this mamba2 has \"mamba-2\": it is another model"
    );
    let both = error_of(mamba, &|entry| entry["config"]["resolved"]["norm_eps"] = 1e-6.into());
    assert!(both.starts_with("its manifest declares `mamba_norm_eps` = "), "{both}");
    assert!(both.ends_with(", which contradict each other"), "{both}");
    assert_eq!(
        error_of(mamba, &|entry| entry["config"]["resolved"]["d_state"] = 32.into()),
        "its manifest has `d_state` = 32, where this mamba2 has 16: it is another model"
    );
    let both = |name: &'static str, value: Value| {
        move |entry: &mut Value| {
            entry["config"][format!("gated_deltanet_{name}")] = value.clone();
            entry["config"]["resolved"][name] = value.clone();
        }
    };
    let sign = both("allow_neg_eigval", true.into());
    let what = "it is another model";
    assert_eq!(
        error_of("gdn_pos-tiny.safetensors", &sign),
        format!(
            "its manifest declares `gated_deltanet_allow_neg_eigval` = true, where gated_deltanet_pos of this program has \
             false: {what}"
        )
    );
    let keys = both("head_dim", 16.into());
    assert!(
        error_of("gdn_neg-tiny.safetensors", &keys)
            .ends_with("= 16, where this gated_deltanet has 12: it is another model")
    );
    let arch = |entry: &mut Value| entry["config"]["arch"] = "slice".into();
    assert!(
        error_of("transformer-tiny.safetensors", &arch).contains("has `arch` = \"slice\", where this transformer has")
    );
}

#[test]
fn what_the_command_line_says_goes_before_the_configuration_which_is_noted() {
    let Some(folder) = shared("parity") else { return };
    let file = folder.join("gdn_neg-tiny.safetensors");
    let Comparison { result, notes, .. } = judge(&[&file], Some("gated_deltanet_pos"), &[]).pop().unwrap();
    assert!(result.is_ok());
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].starts_with("its manifest declares `gated_deltanet_allow_neg_eigval` = true, where"), "{notes:?}");
}

#[test]
fn names_of_parameters_that_the_model_does_not_have_are_refused() {
    let Some(golden) = shared("parity") else { return };
    let beside = Beside::new(&golden, "gdn_neg-tiny.safetensors");
    let exempt = |entry: &mut Value| {
        entry["no_weight_decay_params_upstream"].as_array_mut().unwrap().push("nobody".into());
    };
    assert_eq!(
        beside.seen(&exempt).unwrap_err(),
        "its manifest has `nobody` in `no_weight_decay_params_upstream`, but the model has no such parameter"
    );
    let trained = |entry: &mut Value| entry["train_trace"]["param_norm_after_5"]["nobody"] = 1.0.into();
    assert_eq!(
        beside.seen(&trained).unwrap_err(),
        "its manifest has `nobody` in `param_norm_after_5`, but the model has no such parameter"
    );
    let added = |entry: &mut Value| entry["config"]["gated_deltanet_nobody"] = true.into();
    let comparison = beside.judged(&added);
    assert_eq!(faults(&comparison), Ok(Vec::new()));
    let note = "its manifest has unknown keys, and nothing is compared with them: config.gated_deltanet_nobody";
    assert_eq!(comparison.notes, [note]);
}

#[test]
fn one_tensor_that_others_of_its_kind_stand_beside_is_missed() {
    let Some(folder) = shared("parity") else { return };
    let name = "slice_diag-tiny.safetensors";
    let pieces = Pieces::read(&folder.join(name));
    let place = tempfile::tempdir().unwrap();
    for tensor in ["mid.layer1.mlp", "grad.layers.0.norm1.weight"] {
        let path = pieces.changed(place.path(), name, |pieces| _ = pieces.0.remove(tensor).unwrap());
        let comparison = judge_file(&path);
        assert_eq!(faults(&comparison), Ok(Vec::new()));
        assert_eq!(comparison.not_compared[0], format!("{tensor} (not in the file)"));
    }
}

#[test]
fn a_manifest_that_is_none_is_reported() {
    let Some(folder) = shared("parity") else { return };
    let place = tempfile::tempdir().unwrap();
    let (name, manifest) = ("slice_diag-tiny.safetensors", place.path().join("manifest.json"));
    std::fs::copy(folder.join(name), place.path().join(name)).unwrap();
    for (text, what) in [
        (json!([]), "it has no list `fixtures`".to_owned()),
        (json!({ "fixtures": "x" }), "it has no list `fixtures`".to_owned()),
        (json!({ "fixtures": [{ "file": name }, { "file": name }] }), format!("it has several entries of `{name}`")),
    ] {
        std::fs::write(&manifest, text.to_string()).unwrap();
        let error_of = faults(&judge_file(&place.path().join(name))).unwrap_err();
        assert_eq!(error_of, format!("the manifest beside it, {}, is wrong: {what}", manifest.display()));
    }
}

/// Norms of small Gated DeltaNets are compared to 1e-4 before the first update and to 1e-3 after it, where the signs of
/// gradients near 0 have gone into the weights; those of others to 1e-4 throughout.
#[test]
fn norms_of_a_trace_may_be_further_off_where_signs_went_into_the_weights() {
    let Some(golden) = shared("parity") else { return };
    let norms = |file: &str, step: usize, factor: f64| {
        let changed = |entry: &mut Value| {
            let norm = &mut entry["train_trace"]["grad_norms"][step];
            *norm = (norm.as_f64().unwrap() * factor).into();
        };
        Beside::new(&golden, file).seen(&changed).unwrap().len()
    };
    assert_eq!(norms("gdn_neg-tiny.safetensors", 0, 1.0003), 2);
    assert_eq!(norms("gdn_neg-tiny.safetensors", 1, 1.0003), 0);
    assert_eq!(norms("gdn_neg-tiny.safetensors", 1, 1.002), 2);
    assert_eq!(norms("slice_diag-tiny.safetensors", 1, 1.0003), 2);
}
