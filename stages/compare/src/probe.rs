//! The probe: scores of made-up models on few games, in which each refusal and each of the figures has its case.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, UInt8Array, UInt32Array};
use cwm_contract::{Failure, Label, Parameters, ProbeContext, ProbeOutput, Value};
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use crate::Compare;
use crate::config::Config;

/// Games of the made-up test set: more than one block of resamples is drawn of.
const GAMES: u32 = 41;

/// Resamples, where the stage takes more: several blocks, and a last one that is not full.
const RESAMPLES: i128 = 211;

/// One scores file.
struct ScoresFile<'a> {
    label: &'a str,
    family: &'a str,
    size: &'a str,
    /// Added to the loss of each position, more in some games than in others.
    shift: f64,
    losses: LossKind,
    games: u32,
}

#[derive(Clone, Copy, PartialEq)]
enum LossKind {
    All,
    /// One is infinite.
    Infinite,
    Some,
    None,
}

/// Runs `compare` on made-up scores.
pub fn probe(context: &ProbeContext) -> Result<ProbeOutput, Failure> {
    let config = Config::read(context.values())
        .map_err(|fault| Failure::input(format!("parameter `{}` {}", fault.parameter, fault.message)))?;
    let baseline = config.baseline.as_str();
    let base =
        |label, size| ScoresFile { label, family: baseline, size, shift: 0.0, losses: LossKind::All, games: GAMES };
    let model =
        |label, family, size, shift| ScoresFile { label, family, size, shift, losses: LossKind::All, games: GAMES };
    let small = "d32/l1";
    let all = [
        base("e[seed=0,test=a]", small),
        base("e[seed=1,test=a]", small),
        base("e[seed=0,test=b]", "d64/l2"),
        model("e[family=probe_lower,seed=0,test=a]", "probe_lower", small, -0.05),
        model("e[family=probe_lower,seed=1,test=a]", "probe_lower", small, -0.03),
        model("e[family=probe_twin,test=a]", "probe_twin", small, 0.0),
        model("e[family=probe_higher,test=b]", "probe_higher", "d64/l2", 0.02),
        model("e[data=half,family=probe_lower,test=b]", "probe_lower", "d64/l2", 0.01),
        ScoresFile {
            losses: LossKind::Infinite,
            ..model("e[family=probe_infinite,test=a]", "probe_infinite", small, 0.0)
        },
        ScoresFile { losses: LossKind::None, ..model("e[family=probe_silent,test=a]", "probe_silent", small, 0.0) },
    ];
    // A variant has no baseline of its own: it is left to the runs that compare all.
    let with_baseline: Vec<&ScoresFile> = all.iter().filter(|one| !one.label.contains("data=")).collect();
    let everything: Vec<&ScoresFile> = all.iter().collect();
    let text = |text: &str| Value::Text(text.to_owned());
    let values = |pairs: &str, expect: &str| {
        let resamples = context.at_most("resamples", RESAMPLES);
        context.values_with([("pairs", text(pairs)), ("expect", text(expect)), ("resamples", resamples)])
    };
    let mut probed = ProbeOutput::new();
    let mut take = |name: &str, scored: &[&ScoresFile], pairs: &str, expect: &str| -> Result<(), Failure> {
        let given = written(&context.folder().join("scores").join(name), scored)?;
        probed.extend(context.run(&Compare, name, &values(pairs, expect), &given)?);
        Ok(())
    };
    take("baseline", &with_baseline, "baseline", "nothing")?;
    take("all", &everything, "all", "nothing")?;
    let (first, lower) = (&all[0], &all[3]);
    take("lower", &[first, lower], "baseline", "lower")?;
    take("not_lower", &[first, &all[5]], "baseline", "lower")?;
    take("silent", &[first, lower, &all[9]], "baseline", "lower")?;
    take("no_baseline", &everything, "baseline", "nothing")?;
    take("alone", &[first], "baseline", "nothing")?;
    take("twice", &[first, first, lower], "baseline", "nothing")?;
    let fewer = ScoresFile { games: GAMES - 1, ..model("e[family=probe_fewer,test=a]", "probe_fewer", small, 0.0) };
    take("other_games", &[first, &fewer], "baseline", "nothing")?;
    let partial =
        ScoresFile { losses: LossKind::Some, ..model("e[family=probe_some,test=a]", "probe_some", small, 0.0) };
    take("some_losses", &[first, &partial], "baseline", "nothing")?;
    Ok(probed)
}

/// The scores as files below `folder`.
fn written(folder: &Path, scored: &[&ScoresFile]) -> Result<Vec<(&'static str, Label, PathBuf)>, Failure> {
    fs::create_dir_all(folder).map_err(|error| Failure::io("make", folder, error))?;
    let mut given = Vec::new();
    for (number, one) in scored.iter().enumerate() {
        let path = folder.join(number.to_string());
        write(&path, one).map_err(|error| Failure::system(format!("cannot write {}: {error}", path.display())))?;
        let label = one.label.parse().map_err(Failure::internal)?;
        given.push(("scores", label, path));
    }
    Ok(given)
}

fn write(path: &Path, scored: &ScoresFile) -> Result<(), Box<dyn std::error::Error>> {
    // Games of 1 to 9 positions; numbers of games have gaps, as those of a sample have.
    let rows: Vec<(u32, u32)> = (0..scored.games).flat_map(|game| (0..=game % 9).map(move |t| (game, t))).collect();
    let loss = |(game, t): (u32, u32)| {
        0.5 + f64::from((game * 37 + t * 11) % 17) / 100.0 + scored.shift * f64::from(1 + game % 5) / 3.0
    };
    let loss_of = |(row, at): (usize, &(u32, u32))| match scored.losses {
        LossKind::None => None,
        LossKind::Some if row % 2 == 1 => None,
        LossKind::Infinite if row == 7 => Some(f64::INFINITY),
        _ => Some(loss(*at)),
    };
    let losses: ArrayRef = Arc::new(Float64Array::from_iter(rows.iter().enumerate().map(loss_of)));
    let games: ArrayRef = Arc::new(UInt32Array::from_iter_values(rows.iter().map(|(game, _)| game * 3)));
    let right = |at: (u32, u32)| (75.0 * (1.0 - loss(at).clamp(0.0, 1.0))).round() as u8;
    let correct: ArrayRef = Arc::new(UInt8Array::from_iter_values(rows.iter().map(|at| right(*at))));
    let exact: ArrayRef = Arc::new(BooleanArray::from_iter(rows.iter().map(|at| Some(loss(*at) < 0.55))));
    let columns =
        [("game", games, false), ("correct", correct, false), ("exact", exact, false), ("loss", losses, true)];
    let batch = RecordBatch::try_from_iter_with_nullable(columns)?;
    let model = serde_json::json!({ "family": scored.family, "size": scored.size });
    let properties = WriterProperties::builder()
        .set_key_value_metadata(Some(vec![KeyValue::new("cwm.model".to_owned(), model.to_string())]))
        .set_max_row_group_row_count(Some(50))
        .build();
    let mut writer = ArrowWriter::try_new(File::create(path)?, batch.schema(), Some(properties))?;
    writer.write(&batch)?;
    writer.close()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use cwm_contract::{Values, testing};

    use super::*;

    #[test]
    fn all_figures_and_refusals_have_their_case_and_the_same_comes_twice() {
        let folder = tempfile::tempdir().unwrap();
        let probe = |values: Values| testing::probe(&Compare, values, folder.path()).unwrap().unwrap();
        let probed = probe(Values::new());
        let lines = |name: &str| String::from_utf8(probed[name].clone()).unwrap();
        assert_eq!(lines("baseline/differences").lines().count(), 4);
        assert!(lines("baseline/differences").contains("\"inf\""));
        assert!(lines("all/differences").lines().count() > 4);
        assert_eq!(lines("lower/differences").lines().count(), 1);
        let refused = ["not_lower", "silent", "no_baseline", "alone", "twice", "other_games", "some_losses"];
        for refused in refused {
            assert!(!lines(&format!("{refused}/refused")).is_empty(), "{refused}");
        }
        std::fs::remove_dir_all(folder.path()).unwrap();
        assert!(probe(Values::new()) == probed);
        std::fs::remove_dir_all(folder.path()).unwrap();
        let other = probe(Values::from([("seed".to_owned(), Value::Int(1))]));
        assert!(other["baseline/differences"] != probed["baseline/differences"]);
    }
}
