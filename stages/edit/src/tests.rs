//! The stage on fresh models and the sample's games.

use std::path::PathBuf;

use cwm_chess::sample;
use cwm_contract::testing::{Trial, probe};
use cwm_contract::{Stage, Value, Values};
use cwm_findings::{Finding, Kind};
use cwm_inside::ModelTask;
use cwm_inside::linear_probe::{LinearProbe, LinearProbes};
use cwm_inside::sample::write_checkpoint;
use cwm_models::checkpoint;
use cwm_table::TableReader;
use tempfile::tempdir;

use crate::EditStage;
use crate::probe::write_probes;
use crate::row::EditRow;

struct Setup {
    folder: tempfile::TempDir,
    checkpoint: PathBuf,
    games: PathBuf,
    probes: PathBuf,
}

fn setup(task: ModelTask, family: &str) -> Setup {
    let folder = tempdir().unwrap();
    let [checkpoint, games, probes] = ["checkpoint", "games", "probes"].map(|name| folder.path().join(name));
    write_checkpoint(&checkpoint, task, family, "d16/l2", 7).unwrap();
    write_probes(&probes, &checkpoint).unwrap();
    sample::write_dataset(&games, &sample::games()).unwrap();
    Setup { folder, checkpoint, games, probes }
}

fn ints(values: &[i128]) -> Value {
    Value::List(values.iter().copied().map(Value::Int).collect())
}

fn floats(values: &[f64]) -> Value {
    Value::List(values.iter().copied().map(Value::Float).collect())
}

fn texts(values: &[&str]) -> Value {
    Value::List(values.iter().map(|text| Value::Text((*text).to_owned())).collect())
}

impl Setup {
    fn trial(&self, name: &str) -> Trial {
        Trial::new(self.folder.path().join(name))
            .with("plies", ints(&[4, 9]))
            .with("resamples", Value::Int(100))
            .with("games", Value::Int(6))
            .input("checkpoint", &self.checkpoint)
            .input("games", &self.games)
    }

    fn run(&self, trial: Trial) -> (Vec<EditRow>, Vec<Finding>, crate::row::EditDescription) {
        let outputs = trial.run(&EditStage).unwrap().outputs;
        let table = TableReader::<EditRow>::open(&outputs["edits"]).unwrap();
        let about = table.description().clone();
        (table.map(Result::unwrap).collect(), cwm_findings::read(&outputs["findings"]).unwrap(), about)
    }

    fn refused(&self, trial: Trial) -> String {
        trial.run(&EditStage).err().unwrap().message
    }
}

fn find<'a>(findings: &'a [Finding], intervention: &str, layer: Option<u32>) -> &'a Finding {
    let is = |finding: &&Finding| {
        let is_whole = ["ply", "piece", "square"].iter().all(|name| finding.named(name).is_empty());
        let is_one = finding.named("intervention") == intervention && finding.layer == layer;
        finding.kind == Kind::Edit && is_whole && is_one && ["", "0.5"].contains(&finding.named("eta"))
    };
    findings.iter().find(is).unwrap()
}

#[test]
fn every_case_has_a_row_for_each_layer_intervention_and_eta_and_masses_are_shares() {
    let given = setup(ModelTask::Moves, "gpt");
    let trial = given.trial("trial").input("probes", &given.probes).with("eta", floats(&[0.5, 2.0]));
    let (rows, findings, about) = given.run(trial);
    let unedited = rows.iter().filter(|row| row.layer.is_none()).count();
    assert_eq!(rows.len(), unedited * (1 + 3 * 3 * 2));
    let (cases, games) = (about.cases + about.dropped.values().sum::<u64>(), sample::games().len().min(6) as u64);
    assert_eq!((about.cases, cases), (unedited as u64, 2 * games), "{about:?}");
    for row in &rows {
        let masses = [row.mass_original, row.mass_target, row.mass_future, row.mass_both].map(Option::unwrap);
        masses.iter().for_each(|mass| assert!((0.0..=1.0 + 1e-12).contains(mass), "{row:?}"));
        assert!(masses[3] <= masses[0].min(masses[1]) && row.right_target.is_none(), "{row:?}");
        assert!(row.layer.is_some() || (row.intervention == "none" && row.same_argmax == Some(true)), "{row:?}");
    }
    let of = |intervention: &str, layer: Option<u8>| -> Vec<f64> {
        let is = |row: &&EditRow| {
            let is_eta = row.eta.is_none_or(|eta| eta == 0.5);
            row.intervention == intervention && is_eta && (layer.is_none() || row.layer == layer)
        };
        rows.iter().filter(is).filter_map(|row| row.mass_target).collect()
    };
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    for (layer, of_row) in [(None, None), (Some(1), Some(1))] {
        let finding = find(&findings, "probe", layer);
        let expected = mean(&of("probe", of_row));
        assert!((finding.get("target").unwrap() - expected).abs() < 1e-12);
        let over = finding.get("target_over_none").unwrap();
        assert!((over - (expected - mean(&of("none", None)))).abs() < 1e-12, "{over}");
        let over = finding.get("target_over_random").unwrap();
        assert!((over - (expected - mean(&of("random", of_row)))).abs() < 1e-12, "{over}");
        let (low, high) = finding.interval("target_over_none").unwrap();
        assert!(low <= high && finding.n == of("probe", of_row).len() as u64);
    }
    assert_eq!(find(&findings, "none", None).get("target"), find(&findings, "none", Some(2)).get("target"));
    assert_eq!(["none", "probe"].map(|name| find(&findings, name, None).named("layers")), ["", "0 to 2"]);
    let densities: Vec<&Finding> = findings.iter().filter(|finding| finding.kind == Kind::Density).collect();
    assert_eq!(densities.len(), (1 + 3 * 2) * 3);
    densities.iter().for_each(|density| assert!((density.values.values().sum::<f64>() - 1.0).abs() < 1e-12));
}

#[test]
fn models_that_answer_with_boards_are_judged_by_their_labels() {
    let given = setup(ModelTask::State, "transformer");
    let (rows, findings, about) = given.run(given.trial("trial").input("probes", &given.probes));
    assert_eq!((about.task.as_str(), rows.is_empty()), ("state", false));
    for row in &rows {
        let (target, original) = (row.right_target.unwrap(), row.right_original.unwrap());
        let (others, right) = (row.others.unwrap(), row.right_others.unwrap());
        assert!(target.max(original) <= 75 && right <= others && (72..=74).contains(&others), "{row:?}");
        // What differs between the boards is right for one of them at most.
        assert!(target + original <= 75 + right && row.mass_target.is_none(), "{row:?}");
    }
    let finding = find(&findings, "probe", Some(0));
    assert!(finding.get("square_empty").is_some() && finding.get("square_empty_over_random").is_some());
    assert!(findings.iter().all(|finding| finding.kind == Kind::Edit));
    let message =
        given.refused(given.trial("case").input("probes", &given.probes).with("cases", texts(&["e2e4: e4=."])));
    assert_eq!(message, "`cases` are for models of moves, and transformer d16/l2 answers with boards");
}

#[test]
fn bytes_do_not_depend_on_cores_or_windows_of_tokens() {
    let given = setup(ModelTask::Moves, "gpt");
    let bytes = |name: &str, cores: usize| {
        let trial = given.trial(name).input("probes", &given.probes).cores(cores);
        let outputs = trial.run(&EditStage).unwrap().outputs;
        ["edits", "findings"].map(|output| std::fs::read(&outputs[output]).unwrap())
    };
    assert_eq!(bytes("one", 1), bytes("two", 2));
}

#[test]
fn rows_come_by_game_and_ply_in_whatever_order_plies_are_given() {
    let given = setup(ModelTask::Moves, "gpt");
    let rows = |name: &str, plies: &[i128]| given.run(given.trial(name).with("plies", ints(plies))).0;
    let found = rows("descending", &[9, 4]);
    assert!(found.is_sorted_by_key(|row| (row.game, row.ply)));
    assert_eq!(found, rows("ascending", &[4, 9]));
}

#[test]
fn a_single_edit_has_the_probability_of_each_origin_before_and_after() {
    let given = setup(ModelTask::Moves, "gpt");
    let cases = texts(&["e2e4  d7d5: d5=. d7=p e7=. e5=p"]);
    let (_, findings, _) = given.run(given.trial("trial").input("probes", &given.probes).with("cases", cases));
    let cases: Vec<&Finding> = findings.iter().filter(|finding| finding.kind == Kind::Case).collect();
    assert_eq!((cases.len(), cases[0].values.len()), (3, 128));
    assert_eq!(cases[0].named("case"), "e2e4 d7d5: d5=. d7=p e7=. e5=p");
    assert_eq!(cases[0].named("original"), "rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR");
    assert_eq!(cases[0].named("edited"), "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR");
    let believed = |case: &Finding, when: &str| case.named(&format!("predicted_{when}")).to_owned();
    assert_eq!(believed(cases[0], "before").split('/').count(), 8);
    let before: Vec<_> = cases.iter().map(|case| believed(case, "before")).collect();
    assert!(cases.iter().zip(&before).any(|(case, before)| believed(case, "after") != *before), "{before:?}");
    let sum = |when: &str| -> f64 {
        cases[0].values.iter().filter(|(name, _)| name.starts_with(when)).map(|(_, value)| value).sum()
    };
    assert!(sum("before_") < 1.0 && sum("after_") < 1.0 && sum("before_") > 0.0);
    assert_ne!(cases[0].get("before_e4"), cases[0].get("after_e4"));
    assert_eq!(cases[0].get("before_e4"), cases[2].get("before_e4"));
}

#[test]
fn layers_are_by_default_those_of_the_linear_probes() {
    let given = setup(ModelTask::Moves, "gpt");
    let mut probes = LinearProbes::read(&given.probes).unwrap();
    probes.description.layers = vec![1, 2];
    probes.layers.remove(&0);
    probes.write(&given.probes).unwrap();
    let trial = |name: &str| given.trial(name).input("probes", &given.probes);
    let (rows, findings, about) = given.run(trial("default"));
    let message = given.refused(trial("asked").with("layers", ints(&[0])));
    assert_eq!(message, "the linear probes of probes have no layer 0; they have [1, 2]");
    assert_eq!((about.layers, find(&findings, "probe", None).named("layers")), (vec![1, 2], "1 to 2"));
    assert!(rows.iter().all(|row| row.layer != Some(0)));
    probes.description.classes.reverse();
    probes.write(&given.probes).unwrap();
    let message = given.refused(trial("reversed"));
    assert_eq!(message, "the linear probes of probes have the classes k q r b n p K Q R B N P .");
    probes.description.classes.reverse();
    probes.description.last = "normed".to_owned();
    probes.write(&given.probes).unwrap();
    let message = given.refused(trial("normed"));
    assert!(message.ends_with("read the last layer behind the final norm, and edits are before it"), "{message}");
    probes.description.last = "raw".to_owned();
    probes.description.training.insert("labels".to_owned(), "shuffled".into());
    probes.write(&given.probes).unwrap();
    assert!(given.refused(trial("shuffled")).ends_with("were trained on shuffled boards"));
}

#[test]
fn what_does_not_fit_is_an_error_in_words() {
    let given = setup(ModelTask::Moves, "gpt");
    let other = self::setup(ModelTask::Moves, "transformer");
    let message = given.refused(given.trial("other").input("probes", &other.probes));
    assert_eq!(message, "the linear probes of probes are of another model than the checkpoint, gpt d16/l2");
    let message = given.refused(given.trial("layer").with("layers", ints(&[13])));
    assert_eq!(message, "`layers` has layer 13, and gpt d16/l2 has layers 0 to 2");
    let message = given.refused(given.trial("plies").with("plies", ints(&[60_000])));
    assert!(message.starts_with("no prefix of the games can be edited; dropped: too_few_plies 6"), "{message}");
    let check = |name: &str, value: Value| {
        let message = given.refused(given.trial("check").with(name, value));
        message.strip_prefix(&format!("parameter `{name}` ")).unwrap_or(&message).to_owned()
    };
    assert_eq!(check("eta", floats(&[0.0])), "must be numbers above 0, at least one");
    assert_eq!(check("eta", floats(&[f64::NAN])), "must be numbers above 0, at least one");
    assert_eq!(check("plies", ints(&[4, 70_000])), "must be numbers from 1 to 65,535, at least one");
    assert_eq!(check("plies", ints(&[4, 4])), "has a value twice");
    assert_eq!(check("layers", ints(&[1, 0, 1])), "has a value twice");
    assert_eq!(check("cases", texts(&["e2e4"])), "has the case `e2e4`, without `:` between moves and squares");
    let case = |text: &str| check("cases", texts(&[text])).split_once("`, ").unwrap().1.to_owned();
    assert_eq!(case("e2e5: e4=."), "in which the move e2e5 is not legal");
    assert_eq!(case("e2e4: e4=x"), "in which `e4=x` is no square with a piece or `.`");
    assert_eq!(case("e2e4: e4=. e4=p"), "which has e4 twice");
    assert_eq!(case("e2e4:"), "which changes no square");
    assert_eq!(case("e2e4: e4=P e2=."), "after which the board is as before");
    let twice = check("cases", texts(&["e2e4: e4=. d7=.", "e2e4 : d7=. e4=."]));
    assert_eq!(twice, "has the case `e2e4 : d7=. e4=.` twice");
    assert_eq!(check("interventions", texts(&[])), "must be one at least");
    let needs = |name: &str, value: Value| {
        let specs = EditStage.parameters().into_iter().filter_map(|spec| Some((spec.name.to_owned(), spec.default?)));
        let values = specs.chain([(name.to_owned(), value)]).collect();
        assert_eq!(EditStage.check_inputs_for(&values, &["checkpoint", "games", "probes"]), None);
        EditStage.check_inputs_for(&values, &["checkpoint", "games"]).unwrap_or_default()
    };
    let adds = |reader: &str| format!("needs an input `probes`, whose directions {reader} adds");
    assert_eq!(needs("interventions", texts(&["probe"])), adds("`interventions: [probe]`"));
    assert_eq!(needs("cases", texts(&["e2e4: e4=."])), adds("`cases`"));
    assert_eq!(needs("interventions", texts(&["random", "probe"])), "");
    // 256 half moves are 513 words.
    let moves = "g1f3 g8f6 f3g1 f6g8 ".repeat(64);
    let long = texts(&[&format!("{moves}: a2=.")]);
    let message = given.refused(given.trial("long").input("probes", &given.probes).with("cases", long));
    let end = "` has 513 tokens, and gpt d16/l2 reads 512 at most";
    assert!(message.starts_with("the case `g1f3 g8f6 ") && message.ends_with(end), "{message}");
    let mut narrow = LinearProbes::read(&given.probes).unwrap();
    narrow.description.width = 15;
    narrow.layers.values_mut().for_each(|layer| layer.probe = LinearProbe::initial(13, 15, 1));
    narrow.write(&given.probes).unwrap();
    let message = given.refused(given.trial("narrow").input("probes", &given.probes));
    assert_eq!(message, "the linear probes of probes are of rows of 15 channels, and gpt d16/l2 has 16");
}

#[test]
fn edits_that_overflow_are_an_error_that_names_them() {
    let given = setup(ModelTask::Moves, "gpt");
    for eta in [1e30, 1e300] {
        let trial = given.trial("overflow").with("interventions", texts(&["random"])).with("eta", floats(&[eta]));
        let message = given.refused(trial);
        let place = format!("input `games`, game 0 (sample_0000), ply 4, layer 0, `random` with η {eta:?}: ");
        assert!(
            message.starts_with(&place) && message.ends_with("the square of the vector's length is not finite"),
            "{message}"
        );
    }
}

#[test]
fn a_model_that_overflows_is_an_error_at_its_first_case() {
    let given = setup(ModelTask::Moves, "gpt");
    let (description, _, mut weights) = checkpoint::read(&given.checkpoint, 72).unwrap();
    weights.values_mut().fill(1e38);
    checkpoint::write(&given.checkpoint, &description, &weights).unwrap();
    let message = given.refused(given.trial("overflow"));
    let place = "input `games`, game 0 (sample_0000), ply 4, without an edit: the model's logits are not finite";
    assert_eq!(message, place);
}

#[test]
fn without_linear_probes_there_are_controls_alone_and_the_probe_comes_out_the_same_twice() {
    let given = setup(ModelTask::Moves, "gpt");
    let (rows, ..) = given.run(given.trial("trial"));
    let mut names: Vec<&str> = rows.iter().map(|row| row.intervention.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names, ["none", "patch", "random"]);
    let probed = || {
        let folder = tempdir().unwrap();
        let values = Values::from([("family".to_owned(), Value::Text("gpt".to_owned()))]);
        probe(&EditStage, values, folder.path()).unwrap().unwrap()
    };
    let names = ["gpt-moves/edits", "gpt-moves/findings", "gpt-state/edits", "gpt-state/findings"];
    assert_eq!(probed().keys().collect::<Vec<_>>(), names);
    assert_eq!(probed(), probed());
}
