use std::path::Path;

use cwm_bootstrap::{Draws, confidence_interval};
use cwm_choices::{Choice, ChoicesWriter, Chooser, Correctness};
use cwm_contract::testing::shared;
use cwm_contract::{Failure, GroupInput};
use proptest::prelude::*;

use super::*;

/// A legal choice, of a game with two positions.
fn choice(record: u64, best: bool) -> Choice {
    Choice {
        record,
        game: Some(record / 2),
        t: Some(record as u32 % 2 * 50),
        fen: format!("fen {record}"),
        legal_moves: 20,
        best: 77,
        seen: None,
        loss: Some(if best { 0.5 } else { 2.5 }),
        tokens: Some(1),
        forced_text: None,
        forced: None,
        text: "e2e4".into(),
        free: Correctness { valid: true, legal: true, best },
        mask_best: Some(best),
        mask_loss: None,
    }
}

fn run(label: &str, mask: &str, seed: u64, choices: Vec<Choice>) -> ModelChoices {
    let chooser = Chooser {
        name: "gpt".into(),
        size: Some("d64/l2".into()),
        form: Some("board".into()),
        mask: Some(mask.into()),
        seed: Some(seed),
        ..Chooser::default()
    };
    ModelChoices { label: label.parse().unwrap(), chooser, choices }
}

fn choices(best: &[bool]) -> Vec<Choice> {
    best.iter().enumerate().map(|(record, best)| choice(record as u64, *best)).collect()
}

fn compared(runs: &[ModelChoices]) -> Result<Comparison, Failure> {
    Comparison::new(&by_arm(runs)?, 200, 7)
}

#[test]
fn an_arm_is_the_mean_of_its_seeds_on_the_positions_that_all_were_asked() {
    let runs = [
        run("a[seed=0]", "none", 0, choices(&[true, true, false, false])),
        run("a[seed=1]", "none", 1, choices(&[true, false, false, true, true, true])),
        run("b", "causal", 0, choices(&[false, false, true])),
    ];
    let compared = compared(&runs).unwrap();
    let names: Vec<String> = compared.arms.iter().map(|arm| arm.arm.full_name()).collect();
    assert_eq!(names, ["board/causal d64/l2", "board/none d64/l2"]);
    assert_eq!((compared.positions.len(), compared.arms[1].position_count, compared.arms[1].labels.len()), (3, 6, 2));
    let of = |arm, measure| compared.mean(|place| compared.value(arm, measure, place)).map(|found| found.mean);
    assert_eq!((of(1, Measure::Best), of(0, Measure::Best)), (Some(1.5 / 3.0), Some(1.0 / 3.0)));
    assert_eq!(of(1, Measure::Loss), Some((0.5 + 1.5 + 2.5) / 3.0));
    assert_eq!((of(1, Measure::ForcedBest), of(1, Measure::MaskLoss)), (None, None));
    let difference = compared.difference((1, Measure::Best), (0, Measure::Best), |_| true).unwrap();
    assert!((difference.mean - 0.5 / 3.0).abs() < 1e-15);
    assert_eq!((difference.positions, difference.games), (3, 2));
    let late = compared.difference((1, Measure::Best), (0, Measure::Best), |at| compared.positions[at].t >= Some(40));
    assert_eq!(
        late.map(|late| (late.mean, late.positions, late.interval)),
        Some((0.5, 1, None)),
        "one game bounds nothing"
    );
}

#[test]
fn axes_name_an_arm_only_where_name_and_size_do_not() {
    let some = || choices(&[true]);
    let full = |runs: &[ModelChoices]| by_arm(runs).unwrap().iter().map(|(arm, _)| arm.full_name()).collect::<Vec<_>>();
    assert_eq!(full(&[run("a[arm=x,seed=3]", "none", 0, some())]), ["board/none d64/l2"]);
    let two = [run("a[lr=1,seed=0]", "none", 0, some()), run("a[lr=2,seed=0]", "none", 0, some())];
    assert_eq!(full(&two), ["board/none d64/l2 (lr=1)", "board/none d64/l2 (lr=2)"]);
    let same = [run("a[seed=0]", "none", 0, some()), run("b[seed=0]", "none", 0, some())];
    let failure = by_arm(&same).unwrap_err();
    assert!(failure.message.starts_with("a[seed=0] and b[seed=0] are the same arm with the same seed"), "{failure}");
    let sizes = ["d512/l16", "d64/l2", "d512/l8", ""].map(|size| Arm::new("a", size, ""));
    let mut sorted = sizes.to_vec();
    sorted.sort();
    assert_eq!(sorted.iter().map(|arm| arm.size.as_str()).collect::<Vec<_>>(), ["", "d64/l2", "d512/l8", "d512/l16"]);
}

#[test]
fn other_positions_under_one_record_are_an_error() {
    let mut others = choices(&[true, false]);
    others[1].fen = "another".into();
    let runs = [run("a", "none", 0, choices(&[true, true])), run("b", "causal", 0, others)];
    let failure = compared(&runs).unwrap_err();
    assert!(failure.message.contains("b and a have different positions, or best moves, under record 1"), "{failure}");
}

fn write(path: &Path, choices: &[Choice]) {
    let mut writer = ChoicesWriter::create(path, &Chooser { name: "llama".into(), ..Chooser::default() }).unwrap();
    choices.iter().for_each(|choice| writer.push(choice.clone()).unwrap());
    writer.finish().unwrap();
}

#[test]
fn files_are_read_by_record_and_each_record_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("choices");
    let input = |label: &str| GroupInput { label: label.parse().unwrap(), path: path.clone() };
    write(&path, &[choice(2, true), choice(1, false)]);
    let read = ModelChoices::read(&input("llama[test=bench,seed=4]")).unwrap();
    assert_eq!(read.choices.iter().map(|choice| choice.record).collect::<Vec<_>>(), [1, 2]);
    assert_eq!((read.test(), read.seed().as_deref()), ("bench", Some("4")));
    write(&path, &[choice(2, true), choice(2, false)]);
    assert_eq!(ModelChoices::read(&input("x")).unwrap_err().message, "the choices of x have record 2 twice");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
    /// The interval is that of the means of resampled games, computed here one by one.
    #[test]
    fn intervals_are_those_of_resampled_games(games in proptest::collection::vec(proptest::collection::vec(0.0..1.0f64, 1..4), 2..9)) {
        let values = || games.iter().enumerate().flat_map(|(game, values)| values.iter().map(move |value| (game, *value)));
        let found = Resamples::draw(games.len(), 100, 3).estimate(values()).unwrap();
        let all: Vec<f64> = values().map(|(_, value)| value).collect();
        prop_assert!((found.mean - all.iter().sum::<f64>() / all.len() as f64).abs() < 1e-12);
        let draws = Draws::new(3, games.len());
        let mean = |number| {
            let mut drawn = Vec::new();
            draws.resample(number, |game| drawn.extend(&games[game]));
            drawn.iter().sum::<f64>() / drawn.len() as f64
        };
        let (low, high) = confidence_interval(&mut (0..100).map(mean).collect::<Vec<_>>(), CONFIDENCE).unwrap();
        let (found_low, found_high) = found.interval.unwrap();
        prop_assert!((found_low - low).abs() < 1e-12 && (found_high - high).abs() < 1e-12);
        prop_assert!(Resamples::draw(5, 10, 0).estimate(std::iter::empty()).is_none());
    }
}

/// Answers and rates that an independent program computed.
#[test]
fn rates_and_loss_are_those_of_the_golden_answers() {
    let Some(folder) = shared("systems/board-vs-moves-golden") else { return };
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let golden: serde_json::Value = serde_json::from_str(&read("answers.json")).unwrap();
    let answers = read("answers.jsonl");
    let answers = answers.lines().enumerate().map(|(record, line)| {
        let answer: serde_json::Value = serde_json::from_str(line).unwrap();
        let correctness = |way: &str| {
            let is = |what: &str| answer[way][what].as_bool().unwrap();
            Correctness { valid: is("valid"), legal: is("legal"), best: is("best") }
        };
        let loss = answer["loss_sum"].as_f64();
        Choice {
            game: None,
            loss,
            forced: Some(correctness("forced")),
            free: correctness("free"),
            ..choice(record as u64, false)
        }
    });
    let compared = compared(&[run("answers", "causal", 0, answers.collect())]).unwrap();
    let names = ["free_valid", "free_legal", "free_best", "forced_valid", "forced_legal", "forced_best", "loss_a_move"];
    for (measure, name) in Measure::ALL.into_iter().zip(names) {
        let found = compared.mean(|place| compared.value(0, measure, place)).unwrap();
        assert!((found.mean - golden[name].as_f64().unwrap()).abs() < 1e-9, "{name}: {}", found.mean);
        assert_eq!((found.positions, found.games), (120, 120));
    }
}
