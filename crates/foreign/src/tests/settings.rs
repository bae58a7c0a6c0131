//! What settings beside the weights say.

use std::collections::BTreeMap;

use cwm_models::Architecture;

use super::models::{file_of, network, wish};
use crate::recognise::recognise;
use crate::{Contents, ForeignFile, Wish};

/// Contents that say this beside the groups of `file`; a name may be said to be several things.
fn saying(file: &ForeignFile, said: &[(&str, &str)]) -> Contents {
    let mut contents = Contents { groups: file.contents().groups.clone(), ..Contents::default() };
    for (name, value) in said {
        contents.settings.entry((*name).to_owned()).or_default().insert((*value).to_owned());
    }
    contents
}

/// What a model of the family, d64/l1, is taken for beside these settings; or what is said against it, with the hint.
fn with(family: &str, said: &[(&str, &str)], wish: &Wish) -> Result<Architecture, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    file_of(&network(family, "d64/l1", 30, &[]), &path);
    let contents = saying(&ForeignFile::open(&path).unwrap(), said);
    let recognised = recognise(&path, &contents, wish);
    let found = recognised.map(|recognised| recognised.network.architecture().clone());
    found.map_err(|error| {
        let failure = cwm_contract::Failure::from(error);
        let message = failure.message.replace(&path.display().to_string(), "it");
        failure.hint.map_or(message.clone(), |hint| format!("{message} ({hint})"))
    })
}

#[test]
fn settings_beside_the_weights_choose_and_deny() {
    let with = |family: &str, said: &[(&str, &str)]| with(family, said, &Wish::default());
    for (said, family) in [("true", "gated_deltanet"), ("false", "gated_deltanet_pos")] {
        let found = with("gated_deltanet", &[("gated_deltanet_allow_neg_eigval", said), ("dropout", "0.0")]).unwrap();
        assert_eq!((found.family.as_str(), found.dropout), (family, 0.0));
    }
    let found = with("transformer", &[("n_heads", "4"), ("slice_scale", "0.005")]).unwrap();
    assert_eq!(found.options["heads"], "4");
    // However they are spelled: as Python does, or others.
    for said in [
        &[("slice_scale", "1e-1"), ("slice_norm_eps", "1e-06"), ("slice_diagonal_dense", "False"), ("dropout", "1e-1")]
            [..],
        &[("slice_scale", "0.10"), ("slice_norm_eps", "0.000001"), ("slice_diagonal_dense", "false")],
        &[("slice_scale", "None"), ("slice_norm_type", "rmsnorm")],
    ] {
        assert_eq!(with("slice", said).unwrap().family, "slice");
    }
    for (said, family) in [("True", "gated_deltanet"), ("False", "gated_deltanet_pos")] {
        let said = [("gated_deltanet_allow_neg_eigval", said), ("gated_deltanet_norm_eps", "1e-6")];
        assert_eq!(with("gated_deltanet", &said).unwrap().family, family);
    }
    assert!(with("slice", &[("slice_final_norm", "True")]).unwrap_err().contains("says `slice_final_norm` = True"));
    let denied = with("slice", &[("slice_scale", "0.005")]).unwrap_err();
    assert!(
        denied.contains("says `slice_scale` = 0.005, where slice of this program has 0.1: it is another model"),
        "{denied}"
    );
}

#[test]
fn heads_that_the_tensors_cannot_have_are_refused() {
    let heads = |wish: &Wish, said: &[&str]| {
        let said: Vec<(&str, &str)> = said.iter().map(|value| ("n_heads", *value)).collect();
        with("transformer", &said, wish)
    };
    let none = Wish::default();
    for (said, why) in [
        ("3", ": size d64/l1: a width of 64 does not divide among 3 heads"),
        ("64", ": size d64/l1 with 64 heads: rotary positions need an even number of channels a head, not 1"),
        ("0", ": option `heads` must be a whole number from 1 to 65536, not `0`"),
        ("two", ": option `heads` must be a whole number from 1 to 65536, not `two`"),
    ] {
        let told = heads(&none, &[said]).unwrap_err();
        let start =
            format!("it says `n_heads` = {said}, which its tensors cannot have{why} (say how many it has with ");
        assert!(told.starts_with(&start), "{told}");
    }
    assert!(heads(&none, &["4", "2"]).unwrap_err().starts_with("it says `n_heads` = 2 and 4, which contradict each"));
    assert_eq!(heads(&none, &["4", "4.0", "None"]).unwrap().options["heads"], "4");
    // Who says it knows it.
    let options = BTreeMap::from([("heads".to_owned(), "8".to_owned())]);
    assert_eq!(heads(&Wish { options, ..Wish::default() }, &["4", "3"]).unwrap().options["heads"], "8");
    // Where shapes tell it, or the family has none, it is no matter.
    assert_eq!(with("gated_deltanet", &[("n_heads", "3")], &wish("gated_deltanet")).unwrap().options["heads"], "1");
    assert_eq!(with("mamba2", &[("n_heads", "6"), ("n_heads", "3")], &none).unwrap().family, "mamba2");
}

#[test]
fn settings_that_contradict_each_other_are_no_settings_that_agree() {
    let told = with("slice", &[("slice_scale", "0.005"), ("slice_scale", "0.1")], &Wish::default()).unwrap_err();
    assert!(told.starts_with("it says `slice_scale` = 0.005 and 0.1, which contradict each other (if the"), "{told}");
    let told = with("slice", &[("slice_scale", "0.005"), ("slice_scale", "0.2")], &Wish::default()).unwrap_err();
    assert!(told.contains("= 0.005 and 0.2, where slice of this program has 0.1: it is another model"), "{told}");
    // Of these the reader is asked, and then believed.
    let both = [("allow_neg_eigval", "True"), ("allow_neg_eigval", "False")];
    let told = with("gated_deltanet", &both, &Wish::default()).unwrap_err();
    assert!(told.starts_with("it fits gated_deltanet and gated_deltanet_pos"), "{told}");
    let chosen = with("gated_deltanet", &both, &wish("gated_deltanet_pos")).unwrap();
    assert_eq!(chosen.family, "gated_deltanet_pos");
}

#[test]
fn a_fixed_setting_that_presets_change_is_said_where_the_file_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let untold = |family: &str, said: &[(&str, &str)]| {
        file_of(&network(family, "d64/l1", 30, &[]), &path);
        let contents = saying(&ForeignFile::open(&path).unwrap(), said);
        recognise(&path, &contents, &Wish::default()).unwrap().untold
    };
    let scale = || vec![("slice_scale", "0.1".to_owned())];
    assert_eq!((untold("slice", &[]), untold("slice_diag", &[("slice_scale", "None")])), (scale(), scale()));
    assert_eq!((untold("slice", &[("slice_scale", "0.10")]), untold("mamba2", &[])), (vec![], vec![]));
}
