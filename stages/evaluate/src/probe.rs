//! The probe: fresh models of the very family, options and precision on the sample's games, and with weights of which
//! some are not numbers. Predictions of other programs have no probe.

use std::path::{Path, PathBuf};

use cwm_chess::sample;
use cwm_contract::{Failure, Label, Parameters, ProbeContext, ProbeOutput};
use cwm_encoding::VOCABULARY;
use cwm_models::checkpoint::{self, Description, FORMAT, Status};
use cwm_models::heads::labels;
use cwm_models::{Architecture, families};

use crate::Evaluate;
use crate::config::Config;

/// Scores made-up models.
pub fn probe(context: &ProbeContext) -> Result<Option<ProbeOutput>, Failure> {
    let config = Config::read(context.values())
        .map_err(|fault| Failure::input(format!("parameter `{}` {}", fault.parameter, fault.message)))?;
    if config.predictions_only_parameter().is_some() {
        return Ok(None);
    }
    let games = context.folder().join("games");
    sample::write_dataset(&games, &sample::games())?;
    let mut probed = ProbeOutput::new();
    let all = families::FAMILIES.iter().map(|family| family.name);
    for family in all.filter(|name| config.family.as_deref().is_none_or(|family| family == *name)) {
        for (state, spoilt) in [("sound", false), ("spoilt", true)] {
            let name = format!("{family}-{state}");
            let model = model(context.folder(), &name, family, spoilt)?;
            let inputs =
                [("checkpoint", Label::stage("model"), model), ("games", Label::stage("tokens"), games.clone())];
            let values = context.values_with([
                ("batch_tokens", context.at_most("batch_tokens", 320)),
                ("board_games", context.at_most("board_games", 2)),
            ]);
            probed.extend(context.run(&Evaluate, &name, &values, &inputs)?);
        }
    }
    Ok(Some(probed))
}

/// A checkpoint with fresh weights, or spoilt ones.
fn model(folder: &Path, name: &str, family: &str, spoilt: bool) -> Result<PathBuf, Failure> {
    let network = labels::network(Architecture {
        family: family.to_owned(),
        size: "d64/l2".parse()?,
        vocabulary: VOCABULARY,
        dropout: 0.1,
        options: Default::default(),
    })?;
    let description = Description {
        format: FORMAT,
        architecture: network.architecture().clone(),
        parameters: network.layout().total() as u64,
        status: Status::Finished,
        training: serde_json::Map::from_iter([("seed".to_owned(), 7.into()), ("steps".to_owned(), 12.into())]),
    };
    let mut weights = network.initial_weights(7);
    if spoilt {
        // The last ones, so that some labels have a belief and some none.
        weights.values_mut().iter_mut().rev().take(9).for_each(|weight| *weight = f32::NAN);
    }
    let path = folder.join(name);
    checkpoint::write(&path, &description, &weights)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use cwm_contract::{Value, Values, testing};

    use super::*;

    fn probe(given: &[(&str, &str)]) -> Option<ProbeOutput> {
        let folder = tempfile::tempdir().unwrap();
        let value = |text: &str| Value::Text(text.to_owned());
        let values: Values = given.iter().map(|(name, text)| ((*name).to_owned(), value(text))).collect();
        testing::probe(&Evaluate, values, folder.path()).unwrap()
    }

    #[test]
    fn all_families_are_scored_unless_one_is_named_and_the_same_comes_twice() {
        let all = probe(&[]).unwrap();
        assert!(!all.keys().any(|name| name.ends_with("refused")), "{:?}", all.keys());
        assert_eq!(all.keys().filter(|name| name.ends_with("-spoilt/boards")).count(), families::FAMILIES.len());
        let one = probe(&[("family", "transformer")]).unwrap();
        assert_eq!(one.len(), 6);
        assert!(one.iter().all(|(name, bytes)| all[name] == *bytes));
        assert_ne!(one["transformer-sound/boards"], one["transformer-spoilt/boards"]);
        assert!(probe(&[("family", "transformer"), ("precision", "bf16")]).unwrap() != one);
        assert_eq!(probe(&[("name", "theirs")]), None);
    }
}
