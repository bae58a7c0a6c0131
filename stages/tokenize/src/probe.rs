//! The probe: the sample's games as each of the sets, in files of few games each.

use cwm_chess::sample;
use cwm_contract::{Failure, Label, ProbeContext, ProbeOutput};

use crate::{SETS, Tokenize};

/// Runs `tokenize` on made-up games.
pub fn probe(context: &ProbeContext) -> Result<ProbeOutput, Failure> {
    let games = sample::games();
    let mut inputs = Vec::new();
    for (number, (input, _)) in SETS.into_iter().enumerate() {
        let folder = context.folder().join(input);
        sample::write_games(&folder, games.iter().skip(number))?;
        inputs.push((input, Label::stage("corpus"), folder));
    }
    let values = context.values_with([("shard_games", context.at_most("shard_games", 4))]);
    context.run(&Tokenize, "run", &values, &inputs)
}

#[cfg(test)]
mod tests {
    use cwm_contract::{Values, testing};

    use super::*;

    #[test]
    fn all_sets_are_written_and_the_same_comes_twice() {
        let folder = tempfile::tempdir().unwrap();
        let probe = || testing::probe(&Tokenize, Values::new(), folder.path()).unwrap().unwrap();
        let probed = probe();
        for (_, output) in SETS {
            assert!(probed.keys().any(|name| name.starts_with(&format!("run/{output}/"))), "{:?}", probed.keys());
        }
        std::fs::remove_dir_all(folder.path()).unwrap();
        assert!(probe() == probed);
    }
}
