//! The probe: made-up scores in which each column, each figure and each refusal has its case.

mod made_up;

use std::fs;
use std::sync::Arc;

use cwm_contract::{Failure, Label, Parameters, ProbeContext, ProbeOutput};
use datafusion::arrow::array::{Int64Array, UInt8Array};

use crate::config::Config;
use crate::run::Bins;
use made_up::{Losses, ScoresFile};

/// Resamples, where the stage takes more: several blocks, and a last one that is not full.
const RESAMPLES: i128 = 211;

/// The model and training in the header of a scores file of ours.
const MODEL: &str = r#"{"family":"transformer","size":"d32/l1","seed":3,"parameters":12345,"status":"finished",
    "games":90,"steps":15,"steps_per_epoch":6,"lr":0.003,"warmup":100,"beta2":0.95,"weight_decay":0.1,"lr_floor":0.1,
    "schedule":"cosine","checkpoint":"best","validated_on_test":true}"#;

/// Another one: nothing falls, no epoch is known, and numbers are called by names that are not theirs.
const OTHER: &str = r#"{"family":"slice","size":"d64/l2","seed":null,"parameters":7,"status":"diverged","steps":5,
    "steps_per_epoch":0,"lr":"much","warmup":0.5,"lr_floor":0.1,"schedule":"constant","validated_on_test":false}"#;

/// A label with the values that the file does not have.
const PREDICTIONS_LABEL: &str = "predictions[family=probe,seed=4,size=d64/l2,test=b]";

/// Runs `bins` on made-up scores.
pub fn probe(context: &ProbeContext) -> Result<ProbeOutput, Failure> {
    let config = Config::read(context.values())
        .map_err(|fault| Failure::input(format!("parameter `{}` {}", fault.parameter, fault.message)))?;
    let scored = |label, model, losses| ScoresFile::new(label, model, made_up::columns(config.bin_width, losses));
    let usual = |label, model| scored(label, Some(model), Losses::All);
    let values = context.values_with([("resamples", context.at_most("resamples", RESAMPLES))]);
    let mut probed = ProbeOutput::new();
    let mut take = |name: &str, all: &[ScoresFile]| -> Result<(), Failure> {
        let folder = context.folder().join("scores").join(name);
        fs::create_dir_all(&folder).map_err(|error| Failure::io("make", &folder, error))?;
        let mut given = Vec::new();
        for (number, one) in all.iter().enumerate() {
            let path = folder.join(number.to_string());
            let failed = |error| Failure::system(format!("cannot write {}: {error}", path.display()));
            one.write(&path).map_err(failed)?;
            given.push(("scores", one.label.parse::<Label>().map_err(Failure::internal)?, path));
        }
        probed.extend(context.run(&Bins, name, &values, &given)?);
        Ok(())
    };
    // What is drawn depends on the number of games: several numbers have several chances to show a change of it.
    let of_fewer =
        |label, games| ScoresFile::new(label, Some(OTHER), made_up::of_games(0..games, config.bin_width, Losses::All));
    // Predictions of another program need not have losses, nor which labels are right.
    let predictions = scored(PREDICTIONS_LABEL, None, Losses::None).altered(|columns| {
        columns.retain(|(name, _)| !name.starts_with("right_"));
    });
    take(
        "run",
        &[
            usual("evaluation[seed=9,test=held_out]", MODEL),
            usual("evaluation[seed=1]", OTHER),
            scored("infinite", Some(MODEL), Losses::Infinite),
            scored("not_a_number", Some(OTHER), Losses::NotANumber),
            predictions,
        ],
    )?;
    let one_game = ScoresFile::new("one_game", Some(MODEL), made_up::of_games(0..1, config.bin_width, Losses::All));
    take("one_game", &[one_game])?;
    take("19_games", &[of_fewer("19_games", 19)])?;
    take("21_games", &[of_fewer("21_games", 21)])?;
    take("none", &[])?;
    take("some_losses", &[scored("e", Some(MODEL), Losses::Some)])?;
    let without_values = |columns: &mut made_up::Columns| {
        let correct = (0..columns[0].1.len()).map(|row| (row != 5).then_some(70));
        made_up::replace(columns, "correct", Arc::new(UInt8Array::from_iter(correct)));
    };
    take("incomplete", &[usual("e", MODEL).altered(without_values)])?;
    let nothing = made_up::of_games(0..0, config.bin_width, Losses::All);
    take("no_positions", &[ScoresFile::new("e", Some(MODEL), nothing)])?;
    take("no_column", &[usual("e", MODEL).altered(|columns| columns.retain(|(name, _)| *name != "exact"))])?;
    let of_other_type = |columns: &mut made_up::Columns| {
        let steps = vec![0; columns[0].1.len()];
        made_up::replace(columns, "t", Arc::new(Int64Array::from(steps)));
    };
    take("other_type", &[usual("e", MODEL).altered(of_other_type)])?;
    for (name, label, model) in [
        ("no_family", "e[size=d32/l1]", "{}"),
        ("no_size", "e[family=slice]", "{}"),
        ("family", "e", r#"{"family":1,"size":"d32/l1"}"#),
        ("seed", "e", r#"{"family":"slice","size":"d32/l1","seed":"x"}"#),
        ("seed_of_label", "e[seed=x]", r#"{"family":"slice","size":"d32/l1"}"#),
        ("parameters", "e", r#"{"family":"slice","size":"d32/l1","parameters":-1}"#),
        ("status", "e", r#"{"family":"slice","size":"d32/l1","status":1}"#),
        ("steps", "e", r#"{"family":"slice","size":"d32/l1","steps":-1}"#),
    ] {
        take(name, &[usual(label, model)])?;
    }
    Ok(probed)
}

#[cfg(test)]
mod tests {
    use cwm_contract::{Value, Values, testing};

    use super::*;

    #[test]
    fn all_figures_and_refusals_have_their_case_and_the_same_comes_twice() {
        let folder = tempfile::tempdir().unwrap();
        let probe = |values: Values| {
            let probed = testing::probe(&Bins, values, folder.path()).unwrap().unwrap();
            fs::remove_dir_all(folder.path()).unwrap();
            probed
        };
        let probed = probe(Values::new());
        for file in ["overall", "prefix", "errors"] {
            for run in ["run", "one_game", "19_games", "21_games"] {
                assert!(probed[&format!("{run}/bins/{file}.parquet")].len() > 1_000, "{run} {file}");
            }
        }
        let refused: Vec<_> = probed.iter().filter(|(name, _)| name.ends_with("/refused")).collect();
        let words: std::collections::BTreeSet<_> = refused.iter().map(|(_, words)| words).collect();
        assert_eq!((refused.len(), words.len(), probed.len()), (14, 14, 26), "{:?}", probed.keys());
        assert!(probe(Values::new()) == probed);
        for (parameter, value) in [("seed", 1), ("bin_width", 7), ("resamples", 100)] {
            let other = probe(Values::from([(parameter.to_owned(), Value::Int(value))]));
            assert!(other["run/bins/prefix.parquet"] != probed["run/bins/prefix.parquet"], "{parameter}");
        }
    }
}
