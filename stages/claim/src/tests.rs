use std::path::{Path, PathBuf};

use cwm_answers::{Grade, GradesDescription, GradesWriter};
use cwm_choices::{Choice, ChoicesWriter, Chooser, Correctness};
use cwm_contract::testing::{Outcome, Trial};
use cwm_contract::{Failure, Value};
use cwm_findings::{Finding, Kind};

use crate::Claim;

/// Choices of an arm in 30 games of 10 positions, ten plies apart; legal where `legal` has it, by record and ply.
fn write(folder: &Path, name: &str, mask: &str, legal: impl Fn(u64, u32) -> bool) -> PathBuf {
    let path = folder.join(format!("{name}-{mask}"));
    let (form, mask) = (Some(name.to_owned()), Some(mask.to_owned()));
    let chooser = Chooser { name: "gpt".into(), size: Some("d64/l2".into()), form, mask, ..Chooser::default() };
    let mut writer = ChoicesWriter::create(&path, &chooser).unwrap();
    for record in 0..300 {
        let t = record as u32 % 10 * 10;
        let free = Correctness { valid: true, legal: legal(record, t), best: record % 5 == 0 };
        let choice = Choice {
            record,
            game: Some(record / 10),
            t: Some(t),
            fen: format!("fen {record}"),
            legal_moves: 30,
            best: 1,
            loss: Some(f64::from(t)),
            tokens: Some(1),
            free,
            ..Choice::default()
        };
        writer.push(choice).unwrap();
    }
    writer.finish().unwrap();
    path
}

fn claim(folder: &Path, expect: &[&str]) -> Result<Outcome, Failure> {
    let expect = expect.iter().map(|claim| Value::Text((*claim).to_owned())).collect();
    // The board is legal more often from ply 40 on, less often before.
    let board = write(folder, "board", "none", |record, t| t >= 40 || record % 3 == 0);
    let moves = write(folder, "moves", "causal", |record, t| t < 40 || record % 4 == 0);
    let trial = Trial::new(folder.join("trial")).with("expect", Value::List(expect));
    let labelled = |trial: Trial, label: &str, path| trial.labelled("choices", label.parse().unwrap(), path);
    labelled(labelled(trial, "c[arm=board,seed=0]", board), "c[arm=moves,seed=0]", moves).run(&Claim)
}

fn refused(folder: &Path, expect: &[&str]) -> String {
    claim(folder, expect).map(|_| ()).unwrap_err().message
}

#[test]
fn what_holds_is_written_with_what_was_found() {
    let folder = tempfile::tempdir().unwrap();
    let expect = ["board/none.legal > moves/causal.legal from ply 40", "moves/causal.valid > moves/causal.legal"];
    let outcome = claim(folder.path(), &expect).unwrap();
    let lines = std::fs::read_to_string(&outcome.outputs["claims"]).unwrap();
    let found: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(found.len(), 2);
    assert_eq!(
        (&found[0]["claim"], &found[0]["positions"], &found[0]["games"]),
        (&expect[0].into(), &180.into(), &30.into())
    );
    assert_eq!((&found[0]["left"]["mean"], &found[0]["left"]["arm"]), (&1.0.into(), &"board/none".into()));
    let number = |name: &str| found[0][name].as_f64().unwrap();
    assert!((number("difference") - 0.75).abs() < 1e-12 && number("low") > 0.6 && number("high") < 0.9, "{lines}");
}

#[test]
fn what_does_not_hold_is_an_error_with_both_values_and_the_interval() {
    let folder = tempfile::tempdir().unwrap();
    let message = refused(
        folder.path(),
        &["board/none.legal > moves/causal.legal from ply 40", "board/none.best > moves/causal.best"],
    );
    assert_eq!(
        message,
        "1 of 2 claims do not hold with their whole intervals: `board/none.best > moves/causal.best`: 20.00 % and 20.00 % in 300 \
         positions of 30 games, a difference of +0.00 points, 95 % interval +0.00 to +0.00"
    );
    let message = refused(
        folder.path(),
        &["board/none.legal > moves/causal.legal from ply 90", "moves/causal.loss > board/none.loss"],
    );
    assert!(
        message.contains("45.00 nats and 45.00 nats in 300 positions of 30 games, a difference of +0.00 nats"),
        "{message}"
    );
}

#[test]
fn claims_about_nothing_are_errors_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |claim| refused(folder.path(), &[claim]);
    assert_eq!(
        refused("prompt/causal.best > board/none.best"),
        "there are no choices of the arm `prompt/causal`, only of board/none, moves/causal"
    );
    assert!(
        refused("board/none.mask_best > moves/causal.best")
            .ends_with("there is no position in which both arms have a value")
    );
    assert!(refused("board/none.legal > moves/causal.legal from ply 91").contains("no position"));
    let form = refused("board/none.legal");
    assert!(
        form.contains("`expect` has `board/none.legal`, which is not of the form ARM.MEASURE > ARM.MEASURE"),
        "{form}"
    );
    assert!(refused("board > moves.legal").contains("`board` is not of the form ARM.MEASURE"));
    assert!(refused("board/none.wins > moves.legal").contains("has `wins`, which is none of valid, legal, best, "));
    assert!(refused("a.legal > b.legal from ply x").contains("has `from ply x`, which is not a number"));
    assert!(refused("a.loss > b.legal").contains("compares a share of positions with a loss"));
    for other in [
        "board/none.legal >= moves/causal.legal",
        "board/none.legal > 0.1",
        "board/none.legal > moves/causal.legal + 0.1",
    ] {
        assert!(refused(other).contains("claims about choices have no `>=` and no number"));
    }
    for other in ["probes.occupied > 0.5", "legal.legal[of=all] > 0.75"] {
        assert!(refused(other).contains("those about findings begin with `legality`, `probe`, "));
    }
    assert!(refused_without_claims(folder.path()).contains("must have at least one claim"));
}

#[test]
fn a_claim_about_a_training_that_diverged_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("diverged");
    let mut chooser =
        Chooser { name: "gpt".into(), form: Some("board".into()), mask: Some("none".into()), ..Chooser::default() };
    chooser.training.insert("status".into(), "diverged".into());
    let mut writer = ChoicesWriter::create(&path, &chooser).unwrap();
    writer.push(Choice { game: Some(0), legal_moves: 30, best: 1, ..Choice::default() }).unwrap();
    writer.finish().unwrap();
    let expect = Value::List(vec![Value::Text("board/none.valid > board/none.best".into())]);
    let trial = Trial::new(folder.path().join("trial")).with("expect", expect);
    let failure = trial.labelled("choices", "c[arm=board]".parse().unwrap(), path).run(&Claim).map(|_| ()).unwrap_err();
    assert!(
        failure.message.ends_with("the training behind c[arm=board] diverged, which shows nothing"),
        "{}",
        failure.message
    );
}

fn refused_without_claims(folder: &Path) -> String {
    refused(folder, &[])
}

#[test]
fn the_probe_has_a_claim_that_holds_and_one_that_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let values = [("expect".to_owned(), Value::List(vec![Value::Text("a.best > b.best".into())]))].into();
    let probed = cwm_contract::testing::probe(&Claim, values, folder.path()).unwrap().unwrap();
    assert_eq!(probed.keys().collect::<Vec<_>>(), ["fails/refused", "falls/refused", "holds/claims", "rises/claims"]);
}

fn probe(layer: u32, network: &str, occupied: f64) -> Finding {
    let interval = Some((occupied - 0.02, occupied + 0.02));
    Finding::new(Kind::Probe, "gpt d64/l4", network, Some(layer), 100).estimate("occupied", occupied, interval)
}

/// The output of these claims about linear probes, or the message of the failure.
fn of_findings(expect: &[&str]) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("findings");
    // A square may be read better than all of them, and a value without a number is none.
    let square = probe(1, "trained", 0.99).name("square", "a8");
    let unknown = probe(3, "trained", 0.5).value("occupied", f64::NAN);
    let layers = [probe(1, "trained", 0.6), probe(2, "trained", 0.7), probe(1, "untrained", 0.62)];
    cwm_findings::write(&path, layers.into_iter().chain([square, unknown])).unwrap();
    let expect = expect.iter().map(|claim| Value::Text((*claim).to_owned())).collect();
    let trial = Trial::new(folder.path().join("trial")).with("expect", Value::List(expect));
    let outcome = trial.labelled("findings", "probes".parse().unwrap(), path).run(&Claim);
    outcome
        .map(|outcome| std::fs::read_to_string(&outcome.outputs["claims"]).unwrap())
        .map_err(|failure| failure.message)
}

#[test]
fn the_largest_number_of_all_layers_counts_with_its_interval() {
    let holds = [
        "probe.occupied[network=trained] > probe.occupied[network=untrained] + 0.05",
        "probe.occupied[network=trained] > 0.67",
        "probe.occupied[network=trained, square=a8] > 0.9",
        "probe.occupied[network=untrained] < 0.65",
    ];
    let lines = of_findings(&holds).unwrap();
    let first: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!((lines.lines().count(), &first["left"]["layer"], &first["left"]["value"]), (4, &2.into(), &0.7.into()));
    assert_eq!((&first["claim"], &first["number"]), (&holds[0].into(), &0.05.into()));
    for fails in [
        "probe.occupied[network=trained] > probe.occupied[network=untrained] + 0.09",
        "probe.occupied[network=trained] > 0.69",
        "probe.occupied[network=untrained] < 0.63",
        // The intervals overlap.
        "probe.occupied[layer=1, network=untrained] > probe.occupied[layer=1, network=trained]",
    ] {
        let message = of_findings(&[fails]).unwrap_err();
        assert!(
            message.starts_with(&format!("1 of 1 claims do not hold with their whole intervals: `{fails}`: 0.")),
            "{message}"
        );
    }
}

#[test]
fn claims_about_numbers_that_are_not_there_are_refused() {
    let absent = of_findings(&["probe.accuracy[layer=1] > 0"]).unwrap_err();
    assert_eq!(absent, "`probe.accuracy[layer=1] > 0`: there is no `probe.accuracy[layer=1]`");
    for wrong in
        ["probe.occupied", "probe.occupied[layer] > 0", "probe. > 0", "probe.occupied > NaN", "probe.a[b=c > 1"]
    {
        let message = of_findings(&[wrong]).unwrap_err();
        assert!(message.contains("which is not of the form KIND.VALUE[NAME=TEXT, ...]"), "{wrong}: {message}");
    }
}

/// Two checkpoints before and after: of 60 items of two tasks, `legal` of those of `moves` are legal, and `right` of those of
/// `choice` right.
fn of_grades(expect: &[&str]) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grades");
    let mut writer = GradesWriter::create(&path, &GradesDescription::default()).unwrap();
    let runs =
        [("after[data=a]", 50, 20), ("after[data=b]", 40, 22), ("before[data=a]", 20, 21), ("before[data=b]", 10, 21)];
    for (run, legal, right) in runs.into_iter().chain([("oracle", 60, 60)]) {
        for item in 0..60 {
            for (task, good, verdicts) in
                [("choice", right, ["right", "wrong"]), ("moves", legal, ["legal", "illegal"])]
            {
                let is_good = item * 7 % 60 < good;
                writer
                    .push(Grade {
                        run: run.into(),
                        task_id: format!("{task}_{item}"),
                        task: task.into(),
                        verdict: verdicts[usize::from(!is_good)].into(),
                        score: is_good.then_some(1.0),
                        reward: Some(if is_good { 1.0 } else { 0.0 }),
                        ..Grade::default()
                    })
                    .unwrap();
            }
        }
    }
    writer.finish().unwrap();
    let expect = expect.iter().map(|claim| Value::Text((*claim).to_owned())).collect();
    let trial = Trial::new(folder.path().join("trial")).with("expect", Value::List(expect)).input("grades", path);
    let outcome = trial.run(&Claim).map_err(|failure| failure.message)?;
    Ok(std::fs::read_to_string(&outcome.outputs["claims"]).unwrap())
}

#[test]
fn claims_about_grades_hold_for_every_two_runs_of_equal_coordinates() {
    let claims = [
        "after.reward > before.reward on moves",
        "after.legal > before.legal on moves",
        "after.reward >= before.reward on every task",
        "oracle.score >= 1 on every task",
        "after.right > 0.1 on choice",
        "after[data=b].reward > before[data=a].reward on moves",
        "after[data=a].legal > 0.7 on moves",
    ];
    let lines = of_grades(&claims).unwrap();
    let found: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(found.len(), 2 + 2 + 4 + 2 + 2 + 1 + 1);
    let (first, last, selected) = (&found[0], &found[11], &found[12]);
    assert_eq!(
        (&selected["left"]["run"], &selected["right"]["run"]),
        (&"after[data=b]".into(), &"before[data=a]".into())
    );
    assert_eq!(found[13]["left"]["run"], "after[data=a]");
    assert_eq!((&first["left"]["run"], &first["right"]["run"]), (&"after[data=a]".into(), &"before[data=a]".into()));
    // 50 of 60 and 20 of 60, and the 20 are among the 50: the deviation of the mean of 30 ones in 60 is 0.065.
    assert_eq!((&first["difference"], &first["items"]), (&0.5.into(), &60.into()));
    let [low, high] = ["low", "high"].map(|end| first[end].as_f64().unwrap());
    assert!((0.5 - low - 1.96 * 0.065).abs() < 0.03 && (high - 0.5 - 1.96 * 0.065).abs() < 0.03, "{low} {high}");
    assert_eq!((&last["right"]["run"], &last["right"]["mean"]), (&serde_json::Value::Null, &0.1.into()));
}

#[test]
fn claims_about_grades_that_do_not_hold_or_cannot_are_refused() {
    let no_rise = of_grades(&["after.right > before.right on choice"]).unwrap_err();
    assert!(no_rise.starts_with("2 of 2 claims do not hold with their whole intervals: `after.right > before.right on choice`, after[data=a] on choice: 0.3333 and 0.3500 on 60 items, a difference of -0.0167, 95 % interval -0.0"), "{no_rise}");
    let lower = of_grades(&["before.reward >= after.reward on moves"]).unwrap_err();
    assert!(lower.starts_with("2 of 2 claims"), "{lower}");
    for (claim, wrong) in [
        ("trained.reward > before.reward on moves", "there are no grades of a run `trained`, only of after[data=a], "),
        ("oracle.reward > before.reward on moves", "no run `before` has the coordinates of oracle"),
        ("oracle.reward > before[data=a].reward on moves", "no run `before[data=a]` has the coordinates of oracle"),
        ("after[data=c].reward > 0 on moves", "there are no grades of a run `after[data=c]`, only of after[data=a], "),
        ("after.legal > before.legal on choice", "after[data=a] has no such number on choice"),
        ("after.reward > before.reward on none", "after[data=a] has no such number on none; its tasks are "),
        ("after.reward > before.reward", "has `reward` of grades: such a claim ends with `on TASK` or `on every task`"),
        ("after.speed > before.reward on moves", "has `speed`, which is none of reward, score, legal, right"),
        ("after.reward < before.reward on moves", "which is not of the form STAGE.MEASURE > STAGE.MEASURE on TASK"),
    ] {
        let message = of_grades(&[claim]).unwrap_err();
        assert!(message.contains(wrong), "{claim}: {message}");
    }
}
