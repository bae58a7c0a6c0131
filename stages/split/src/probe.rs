//! The probe: so many games that each part has some, in files of few games each.

use std::path::PathBuf;

use cwm_chess::{GameRow, GamesWriter, SHARD_GAMES, bucket, sample};
use cwm_contract::{Failure, Label, Parameters, ProbeContext, ProbeOutput};

use crate::Split;
use crate::config::Config;

/// Copies of the sample's games; of 600 ids with the usual buckets, some are for validation.
const COPIES: usize = 100;

/// Ids that are tried for each edge.
const TRIES: u64 = 200_000;

/// Runs `split` on made-up games.
pub fn probe(context: &ProbeContext) -> Result<ProbeOutput, Failure> {
    let folder = context.folder().join("games");
    let games = sample::games();
    // Short ones: only ids and order matter.
    let short: Vec<_> = games.iter().map(|game| game[..20].to_vec()).collect();
    sample::write_games(&folder, (0..COPIES).flat_map(|_| &short))?;
    let edges = edges(context)?;
    let values = context.values_with([("shard_games", context.at_most("shard_games", 250))]);
    let mut probed = context.run(&Split, "run", &values, &[("games", Label::stage("corpus"), folder)])?;
    probed.extend(context.run(&Split, "edges", &values, &[("games", Label::stage("corpus"), edges)])?);
    Ok(probed)
}

/// Games of the last bucket for validation and of the first that is not, where ids of such are soon found.
fn edges(context: &ProbeContext) -> Result<PathBuf, Failure> {
    let config = Config::read(context.values())
        .map_err(|fault| Failure::input(format!("parameter `{}` {}", fault.parameter, fault.message)))?;
    let folder = context.folder().join("edges");
    let mut writer = GamesWriter::create(&folder, SHARD_GAMES)?;
    for (index, wanted) in [config.validation.checked_sub(1), Some(config.validation)].into_iter().enumerate() {
        let mut ids = (0..TRIES).map(|number| format!("edge_{number}"));
        let found = ids.find(|id| Some(bucket(id, config.buckets)) == wanted);
        let id = found.unwrap_or_else(|| "edge".to_owned());
        writer.push(GameRow { index: index as u64, id: &id, site: "edge", result: "*", moves: &[], labels: None })?;
    }
    writer.finish()?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use cwm_contract::{Values, testing};

    use super::*;

    #[test]
    fn both_parts_have_games_and_the_same_comes_twice() {
        let folder = tempfile::tempdir().unwrap();
        let probe = || testing::probe(&Split, Values::new(), folder.path()).unwrap().unwrap();
        let probed = probe();
        let counts: serde_json::Value = serde_json::from_slice(&probed["run/counts"]).unwrap();
        assert!(counts["validation"]["games"].as_u64().unwrap() > 0, "{counts}");
        assert!(probed.keys().filter(|name| name.starts_with("run/train/")).count() > 1, "{:?}", probed.keys());
        std::fs::remove_dir_all(folder.path()).unwrap();
        assert!(probe() == probed);
    }
}
