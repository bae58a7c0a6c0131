//! The probe: fresh models of words, which read the sample's games; one of these is dropped, others are cut.

use cwm_chess::sample;
use cwm_contract::{Failure, Label, Parameters, ProbeContext, ProbeOutput, Value};
use cwm_inside::ModelTask;
use cwm_inside::sample::write_checkpoint;
use cwm_models::families;

use crate::Legality;
use crate::config::Config;

/// Words of the longest game that is read.
const LONGEST: i128 = 300;

/// Words after which games are cut, at most.
const MOST: u64 = 200;

/// Runs `legality` on made-up models: of the family that is named, or of each.
pub fn probe(context: &ProbeContext) -> Result<ProbeOutput, Failure> {
    let config = Config::read(context.values())
        .map_err(|fault| Failure::input(format!("parameter `{}` {}", fault.parameter, fault.message)))?;
    let games = context.folder().join("games");
    sample::write_dataset(&games, &sample::games())?;
    let cut = config.max_tokens.map_or(MOST, |given| given.min(MOST));
    let values = context.values_with([
        ("games", Value::Null),
        ("max_game_tokens", Value::Int(LONGEST)),
        ("max_tokens", Value::Int(cut.into())),
        ("move_games", context.at_most("move_games", 1)),
        ("resamples", context.at_most("resamples", 20)),
        ("batch_tokens", context.at_most("batch_tokens", 320)),
    ]);
    let mut probed = ProbeOutput::new();
    let all = families::FAMILIES.iter().map(|family| family.name);
    for family in all.filter(|name| config.family.as_deref().is_none_or(|family| family == *name)) {
        let checkpoint = context.folder().join(family);
        write_checkpoint(&checkpoint, ModelTask::Moves, family, "d32/l1", 7)?;
        let inputs = [("checkpoint", checkpoint), ("games", games.clone()), ("train", games.clone())];
        let inputs = inputs.map(|(name, path)| (name, Label::stage(name), path));
        probed.extend(context.run(&Legality, family, &values, &inputs)?);
    }
    Ok(probed)
}
