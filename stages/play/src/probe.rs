//! The probe: the first games of the very policy and seed.

use cwm_contract::{Failure, ProbeContext, ProbeOutput};

use crate::Play;

/// Number of games.
const GAMES: i128 = 3;

/// Plays few games.
pub fn probe(context: &ProbeContext) -> Result<ProbeOutput, Failure> {
    let values = context.values_with([("games", context.at_most("games", GAMES))]);
    context.run(&Play, "run", &values, &[])
}

#[cfg(test)]
mod tests {
    use cwm_contract::{Value, Values, testing};

    use super::*;

    #[test]
    fn each_seed_has_a_probe_of_its_own_and_the_same_comes_twice() {
        let probe = |policy: &str, seed| {
            let folder = tempfile::tempdir().unwrap();
            let values = Values::from([
                ("policy".to_owned(), Value::Text(policy.to_owned())),
                ("games".to_owned(), Value::Int(1_000_000)),
                ("seed".to_owned(), Value::Int(seed)),
            ]);
            testing::probe(&Play, values, folder.path()).unwrap().unwrap()
        };
        for policy in ["engine", "uniform", "promotion"] {
            let probed = probe(policy, 1);
            assert!(probed.keys().eq(["run/counts", "run/pgn"]), "{:?}", probed.keys());
            assert!(probe(policy, 1) == probed && probe(policy, 2) != probed);
        }
    }
}
