//! Writes the output `answers`.

use cwm_answers::{AnswersWriter, PlayerSettings};
use cwm_contract::{Context, Failure};
use cwm_journal::Journal;

use crate::config::Config;
use crate::entry::Entry;

/// Writes the answers of the journal in the order of the items.
///
/// # Errors
/// An item has none, or an operation on the disk fails.
pub fn write(context: &Context, config: &Config, journal: &Journal<Entry>) -> Result<(), Failure> {
    context.activity("writing");
    let mut served = None;
    if config.is_server() {
        journal.for_each(|_, entry| {
            served = served.take().or_else(|| entry?.served);
            Ok(())
        })?;
    }
    let mut writer = AnswersWriter::create(context.output("answers")?, &run(config, served))?;
    let (mut attempts, mut cost, mut faults) = (0, 0.0, 0);
    journal.for_each(|index, entry| {
        let entry = entry.ok_or_else(|| Failure::internal(format!("question {index} was not asked")))?;
        attempts += u64::from(entry.attempts);
        cost += entry.spent;
        faults += u64::from(entry.fault.is_some());
        writer.push(entry.into_answer())
    })?;
    writer.finish()?;
    if config.is_server() {
        context.metric("requests", attempts as f64);
        context.metric("cost", cost);
        context.metric("faults", faults as f64);
    }
    Ok(())
}

/// The description of the run: the player and its settings.
fn run(config: &Config, served_model: Option<String>) -> PlayerSettings {
    let run = PlayerSettings {
        name: config.run_name().to_owned(),
        player: Some(config.player.clone()),
        context: Some(config.context.clone()),
        examples: Some(config.examples),
        ..PlayerSettings::default()
    };
    if !config.is_server() {
        return PlayerSettings { temperature: config.temperature.filter(|_| config.player == "engine"), ..run };
    }
    PlayerSettings {
        model: config.model.clone(),
        served_model,
        max_tokens: Some(config.max_tokens),
        temperature: config.temperature,
        reasoning: Some(config.reasoning.clone()),
        ..run
    }
}
