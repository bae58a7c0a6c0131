//! The stage's tests.

use std::path::Path;

use cwm_contract::testing::{self, Trial};
use cwm_contract::{Failure, Value, Values};
use cwm_findings::Finding;
use cwm_inside::ModelTask;
use cwm_inside::sample::write_checkpoint;
use cwm_inside_rows::{Transposition, TranspositionsDescription, TranspositionsWriter};

use crate::AlignmentStage;
use crate::probe::write_inputs;

/// Classes of the inputs, of three sequences each.
const CLASSES: u32 = 30;

fn inputs(folder: &Path, task: ModelTask) {
    write_checkpoint(
        &folder.join("checkpoint"),
        task,
        if task == ModelTask::Moves { "gpt" } else { "transformer" },
        "d16/l2",
        7,
    )
    .unwrap();
    write_inputs(&folder.join("games"), &folder.join("transpositions"), CLASSES).unwrap();
}

fn trial(work: &Path, folder: &Path, more: &[(&str, Value)]) -> Trial {
    let mut trial = Trial::new(work).with("pairs", Value::Int(3000)).with("permutations", Value::Int(99));
    for input in ["checkpoint", "games", "transpositions"] {
        trial = trial.input(input, folder.join(input));
    }
    more.iter().fold(trial, |trial, (name, value)| trial.with(name, value.clone()))
}

fn findings(folder: &Path, more: &[(&str, Value)]) -> Vec<Finding> {
    let work = tempfile::tempdir().unwrap();
    let outcome = trial(work.path(), folder, more).run(&AlignmentStage).unwrap();
    cwm_findings::read(&outcome.outputs["findings"]).unwrap()
}

#[test]
fn each_layer_has_a_finding_of_each_population_and_of_suffixes() {
    for task in [ModelTask::Moves, ModelTask::State] {
        let folder = tempfile::tempdir().unwrap();
        inputs(folder.path(), task);
        let found = findings(folder.path(), &[]);
        let of = |population: &str| -> Vec<&Finding> {
            found.iter().filter(|finding| finding.named("population") == population).collect()
        };
        for population in ["all", "matched", "suffix"] {
            let layers: Vec<_> = of(population).iter().map(|finding| finding.layer).collect();
            assert_eq!(layers, [Some(0), Some(1), Some(2)], "{population}");
        }
        for finding in of("all").into_iter().chain(of("matched")) {
            let value = |name: &str| finding.get(name).unwrap();
            assert_eq!((finding.n, finding.named("same"), finding.network.as_str()), (30, "position", "trained"));
            assert!(
                value("within") <= 1.0 + 1e-9 && (0.01..=1.0).contains(&value("p")) && value("p_holm") >= value("p")
            );
            assert!((value("statistic") - (value("within") - value("between"))).abs() < 1e-12);
        }
        for finding in of("suffix") {
            // Of the three pairs of a class one has the same last moves.
            assert_eq!((finding.get("pairs_shared"), finding.get("pairs")), (Some(30.0), Some(60.0)));
            if finding.layer == Some(0) && task == ModelTask::Moves {
                // The embedding knows the last word and its place alone.
                assert!((finding.get("within_shared").unwrap() - 1.0).abs() < 1e-6, "{finding:?}");
                assert!(finding.get("within").unwrap() < 0.9, "{finding:?}");
            }
        }
        // All sequences have the same ply and phase.
        assert!(of("all").iter().zip(of("matched")).all(|(all, matched)| all.get("within") == matched.get("within")));
    }
}

#[test]
fn the_same_comes_of_any_number_of_cores_and_seeds_have_a_say() {
    let folder = tempfile::tempdir().unwrap();
    inputs(folder.path(), ModelTask::Moves);
    let expected = findings(folder.path(), &[]);
    let work = tempfile::tempdir().unwrap();
    let alone = trial(work.path(), folder.path(), &[]).cores(1).run(&AlignmentStage).unwrap();
    assert_eq!(cwm_findings::read(&alone.outputs["findings"]).unwrap(), expected);
    assert_ne!(findings(folder.path(), &[("seed", Value::Int(1))]), expected);
    let untrained = findings(folder.path(), &[("network", Value::Text("untrained".into()))]);
    assert!(untrained.iter().all(|finding| finding.network == "untrained") && untrained != expected);
    let normed =
        findings(folder.path(), &[("normed", Value::Bool(true)), ("layers", Value::List(vec![Value::Int(2)]))]);
    assert!(normed.iter().all(|finding| finding.layer == Some(2)));
    assert_ne!(normed[0].get("within"), expected[2].get("within"));
}

fn refused(folder: &Path, more: &[(&str, Value)]) -> Failure {
    let work = tempfile::tempdir().unwrap();
    trial(work.path(), folder, more).run(&AlignmentStage).err().unwrap()
}

fn write(path: &Path, rows: &[(u32, u32, u32)]) {
    let mut writer = TranspositionsWriter::create(path, &TranspositionsDescription::default()).unwrap();
    for &(class, game, ply) in rows {
        writer.push(Transposition { class, key: String::new(), game, ply }).unwrap();
    }
    writer.finish().unwrap();
}

#[test]
fn classes_that_cannot_be_compared_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    inputs(folder.path(), ModelTask::Moves);
    let path = folder.path().join("transpositions");
    for (rows, message) in [
        (&[][..], "the transpositions have no class"),
        (&[(0, 0, 6), (0, 1, 6), (4, 2, 6)], "class 4 of the transpositions has one sequence only"),
        (&[(0, 0, 6), (0, 90, 6)], "the transpositions name game 90, and there are 90 games"),
        (&[(0, 0, 6), (0, 1, 7)], "the transpositions name 7 plies of game 1 (made_0001), which has 6"),
        (&[(0, 0, 6), (0, 0, 6)], "the first 6 plies of game 0 twice"),
        (&[(0, 0, 6), (0, 1, 6)], "`population: all` has no two rows to compare"),
        (&[(0, 0, 6), (0, 1, 6), (1, 3, 4), (1, 4, 4)], "`population: matched` has no two rows to compare"),
        (&[(0, 0, 6), (0, 1, 6), (1, 2, 6), (1, 3, 6)], "game 3 (made_0003), which end on another board than others"),
    ] {
        write(&path, rows);
        let failure = refused(folder.path(), &[]);
        assert!(failure.message.contains(message), "{failure}, not {message}");
        assert!(!message.contains("`population: all`") || !failure.hint.unwrap().contains("population"));
    }
    let failure = refused(folder.path(), &[("layers", Value::List(vec![Value::Int(3)]))]);
    assert_eq!(failure.message, "`layers` has layer 3, and gpt d16/l2 has layers 0 to 2");
    let failure = refused(folder.path(), &[("family", Value::Text("slice".into()))]);
    assert_eq!(failure.message, "the checkpoint is of family `gpt`, but `family` is `slice`");
}

#[test]
fn the_probe_is_the_same_twice() {
    let probe = || {
        let folder = tempfile::tempdir().unwrap();
        let values = Values::from([("family".to_owned(), Value::Text("gpt".to_owned()))]);
        testing::probe(&AlignmentStage, values, folder.path()).unwrap().unwrap()
    };
    let found = probe();
    assert_eq!(found.keys().collect::<Vec<_>>(), ["gpt-moves/findings", "gpt-state/findings"]);
    assert_eq!(found, probe());
}
