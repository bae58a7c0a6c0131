//! Settings beside the weights.

use std::collections::BTreeMap;

use cwm_models::Architecture;

use super::models::{file_of, hints, network};
use crate::recognise::recognise;
use crate::{FileContents, ForeignFile, ImportHints};

/// Contents with these settings beside the groups of `file`; a name may have several values.
fn saying(file: &ForeignFile, settings: &[(&str, &str)]) -> FileContents {
    let mut contents = FileContents { groups: file.contents().groups.clone(), ..FileContents::default() };
    for (name, value) in settings {
        contents.settings.entry((*name).to_owned()).or_default().insert((*value).to_owned());
    }
    contents
}

/// Returns the architecture that a model of the family, d64/l1, is recognised as beside these settings; or the error.
fn with(family: &str, settings: &[(&str, &str)], hints: &ImportHints) -> Result<Architecture, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    file_of(&network(family, "d64/l1", 30, &[]), &path);
    let contents = saying(&ForeignFile::open(&path).unwrap(), settings);
    let recognised = recognise(&path, &contents, hints);
    let found = recognised.map(|recognised| recognised.network.architecture().clone());
    found.map_err(|error| {
        let failure = cwm_contract::Failure::from(error);
        let message = failure.message.replace(&path.display().to_string(), "it");
        failure.hint.map_or(message.clone(), |hint| format!("{message} ({hint})"))
    })
}

#[test]
fn settings_beside_the_weights_choose_and_deny() {
    let with = |family: &str, settings: &[(&str, &str)]| with(family, settings, &ImportHints::default());
    for (settings, family) in [("true", "gated_deltanet"), ("false", "gated_deltanet_pos")] {
        let found =
            with("gated_deltanet", &[("gated_deltanet_allow_neg_eigval", settings), ("dropout", "0.0")]).unwrap();
        assert_eq!((found.family.as_str(), found.dropout), (family, 0.0));
    }
    let found = with("transformer", &[("n_heads", "4"), ("slice_scale", "0.005")]).unwrap();
    assert_eq!(found.options["heads"], "4");
    // However they are spelled: as Python does, or others.
    for settings in [
        &[("slice_scale", "1e-1"), ("slice_norm_eps", "1e-06"), ("slice_diagonal_dense", "False"), ("dropout", "1e-1")]
            [..],
        &[("slice_scale", "0.10"), ("slice_norm_eps", "0.000001"), ("slice_diagonal_dense", "false")],
        &[("slice_scale", "None"), ("slice_norm_type", "rmsnorm")],
    ] {
        assert_eq!(with("slice", settings).unwrap().family, "slice");
    }
    for (settings, family) in [("True", "gated_deltanet"), ("False", "gated_deltanet_pos")] {
        let settings = [("gated_deltanet_allow_neg_eigval", settings), ("gated_deltanet_norm_eps", "1e-6")];
        assert_eq!(with("gated_deltanet", &settings).unwrap().family, family);
    }
    assert!(with("slice", &[("slice_final_norm", "True")]).unwrap_err().contains("declares `slice_final_norm` = True"));
    let denied = with("slice", &[("slice_scale", "0.005")]).unwrap_err();
    assert!(
        denied.contains("declares `slice_scale` = 0.005, where slice of this program has 0.1: it is another model"),
        "{denied}"
    );
}

#[test]
fn heads_that_the_tensors_cannot_have_are_refused() {
    let heads = |hints: &ImportHints, settings: &[&str]| {
        let settings: Vec<(&str, &str)> = settings.iter().map(|value| ("n_heads", *value)).collect();
        with("transformer", &settings, hints)
    };
    let none = ImportHints::default();
    for (settings, why) in [
        ("3", ": size d64/l1: a width of 64 does not divide among 3 heads"),
        ("64", ": size d64/l1 with 64 heads: rotary positions need an even number of channels a head, not 1"),
        ("0", ": option `heads` must be a whole number from 1 to 65536, not `0`"),
        ("two", ": option `heads` must be a whole number from 1 to 65536, not `two`"),
    ] {
        let told = heads(&none, &[settings]).unwrap_err();
        let start =
            format!("it declares `n_heads` = {settings}, which its tensors cannot have{why} (give their number with ");
        assert!(told.starts_with(&start), "{told}");
    }
    assert!(
        heads(&none, &["4", "2"]).unwrap_err().starts_with("it declares `n_heads` = 2 and 4, which contradict each")
    );
    assert_eq!(heads(&none, &["4", "4.0", "None"]).unwrap().options["heads"], "4");
    // Who says it knows it.
    let options = BTreeMap::from([("heads".to_owned(), "8".to_owned())]);
    assert_eq!(heads(&ImportHints { options, ..ImportHints::default() }, &["4", "3"]).unwrap().options["heads"], "8");
    // Where shapes tell it, or the family has none, it is no matter.
    assert_eq!(with("gated_deltanet", &[("n_heads", "3")], &hints("gated_deltanet")).unwrap().options["heads"], "1");
    assert_eq!(with("mamba2", &[("n_heads", "6"), ("n_heads", "3")], &none).unwrap().family, "mamba2");
}

#[test]
fn settings_that_contradict_each_other_are_no_settings_that_agree() {
    let told = with("slice", &[("slice_scale", "0.005"), ("slice_scale", "0.1")], &ImportHints::default()).unwrap_err();
    assert!(
        told.starts_with("it declares `slice_scale` = 0.005 and 0.1, which contradict each other (if the"),
        "{told}"
    );
    let told = with("slice", &[("slice_scale", "0.005"), ("slice_scale", "0.2")], &ImportHints::default()).unwrap_err();
    assert!(told.contains("= 0.005 and 0.2, where slice of this program has 0.1: it is another model"), "{told}");
    // Of these the reader is asked, and then believed.
    let both = [("allow_neg_eigval", "True"), ("allow_neg_eigval", "False")];
    let told = with("gated_deltanet", &both, &ImportHints::default()).unwrap_err();
    assert!(told.starts_with("it fits gated_deltanet and gated_deltanet_pos"), "{told}");
    let chosen = with("gated_deltanet", &both, &hints("gated_deltanet_pos")).unwrap();
    assert_eq!(chosen.family, "gated_deltanet_pos");
}

#[test]
fn a_fixed_setting_that_presets_change_is_reported_where_the_file_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let assumed_options = |family: &str, settings: &[(&str, &str)]| {
        file_of(&network(family, "d64/l1", 30, &[]), &path);
        let contents = saying(&ForeignFile::open(&path).unwrap(), settings);
        recognise(&path, &contents, &ImportHints::default()).unwrap().assumed_options
    };
    let scale = || vec![("slice_scale", "0.1".to_owned())];
    assert_eq!(
        (assumed_options("slice", &[]), assumed_options("slice_diag", &[("slice_scale", "None")])),
        (scale(), scale())
    );
    assert_eq!(
        (assumed_options("slice", &[("slice_scale", "0.10")]), assumed_options("mamba2", &[])),
        (vec![], vec![])
    );
}
