//! The stage as a whole.

use std::path::Path;

use cwm_contract::testing::{Outcome, Trial};
use cwm_contract::{Failure, Stage, Value};
use cwm_models::checkpoint;
use cwm_models::heads::labels::LOGITS;

use crate::Pretrained;

/// A file of torch.save that `cwm-foreign` tests with: the diagonal SLiCE of width 1 with three tokens.
fn source() -> String {
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    format!("{folder}/../../crates/foreign/tests/data/archive.pt")
}

fn trial(folder: &Path) -> Trial {
    Trial::new(folder).with("source", Value::Text(source()))
}

fn refused(trial: Trial) -> String {
    match trial.run(&Pretrained) {
        Ok(_) => panic!("it was taken"),
        Err(Failure { message, .. }) => message,
    }
}

fn bytes(outcome: &Outcome) -> Vec<Vec<u8>> {
    let folder = &outcome.outputs["checkpoint"];
    [checkpoint::WEIGHTS_FILE, checkpoint::DESCRIPTION_FILE]
        .map(|file| std::fs::read(folder.join(file)).unwrap())
        .into()
}

#[test]
fn a_file_becomes_a_checkpoint_of_equal_bytes_on_any_number_of_cores() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let one = trial(folders[0].path()).cores(1).run(&Pretrained).unwrap();
    let two = trial(folders[1].path()).cores(2).run(&Pretrained).unwrap();
    assert!(bytes(&one) == bytes(&two));
    let (description, _, weights) = checkpoint::read(&one.outputs["checkpoint"], LOGITS).unwrap();
    assert_eq!(description.architecture.family, "slice_diag");
    assert_eq!(weights.values().len() as u64, description.parameters);
    assert!(description.training["imported"]["file"].as_str().unwrap().starts_with("blake3:"));
}

#[test]
fn what_the_file_does_not_hold_is_refused_before_or_when_it_runs() {
    let folder = tempfile::tempdir().unwrap();
    let with = |name: &str, value: Value| refused(trial(folder.path()).with(name, value));
    let text = |text: &str| Value::Text(text.into());
    assert!(with("family", text("slise")).starts_with("parameter `family` is unknown: there is no family `slise`"));
    assert!(with("size", text("128")).starts_with("parameter `size` `128` is not a size"));
    assert!(
        with("family", text("transformer"))
            .contains("`model_state_dict` is no transformer: it has no `tok_emb.weight`")
    );
    assert!(with("size", text("d2/l1")).contains("where [3, 2] is needed"));
    assert!(with("key", text("ema")).contains("has no tensors in `ema`"));
    let options = || Value::Map([("block".to_owned(), text("1"))].into());
    assert_eq!(with("options", options()), "parameter `options` need a `family` to belong to");
    let of = |family: &str| trial(folder.path()).with("family", text(family)).with("options", options());
    assert_eq!(refused(of("mamba2")), "parameter `options` `block` is none of `mamba2`");
    assert!(of("slice").run(&Pretrained).is_ok());
}

#[test]
fn naming_the_family_rests_the_result_on_its_code_alone() {
    let mut values = Pretrained.parameters().into_iter().filter_map(|spec| Some((spec.name.to_owned(), spec.default?)));
    let mut values: cwm_contract::Values = values.by_ref().collect();
    values.insert("source".into(), Value::Text(source()));
    assert_eq!(Pretrained.code_parts(&values), None);
    values.insert("family".into(), Value::Text("gated_deltanet_pos".into()));
    assert_eq!(Pretrained.code_parts(&values), Some(vec!["gated_deltanet".to_owned()]));
}

#[test]
fn forms_are_those_of_players_and_need_their_tokens() {
    let folder = tempfile::tempdir().unwrap();
    let with = |form: &str| refused(trial(folder.path()).with("form", Value::Text(form.into())));
    for form in cwm_player::Form::ALL {
        let (message, inputs) = (with(form.name()), form.vocabulary().inputs);
        assert!(message.contains(&format!("has shape [3, 1] where [{inputs}, 1] is needed")), "{message}");
    }
    assert!(with("words").contains("has shape [3, 1] where [72, 1] is needed"));
    assert!(with("letters").starts_with("parameter `form` "));
}
