//! Properties of every form.

use cwm_contract::testing::probe;
use cwm_sequences::NO_LOSS;
use proptest::prelude::*;

use super::*;
use crate::probe::{evaluations_of, shuffle};

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn rows_follow_the_input_on_any_number_of_cores(lengths in proptest::collection::vec(0usize..60, 0..5), keep in 1usize..4) {
        let sample = sample::games();
        let games: Vec<_> = sample.iter().zip(&lengths).map(|(game, &length)| game[..length.min(game.len())].to_vec()).collect();
        let labels: Vec<_> = (0..).zip(&games).flat_map(|(index, game)| evaluations_of(index, game).unwrap()).collect();
        let count = labels.iter().step_by(keep).count();
        let bench = Bench::new().games(&games).evaluations(labels.into_iter().step_by(keep));
        for form in FORMS.iter().filter(|form| form.name != "speech") {
            let runs = [1, 2].map(|cores| {
                let outcome = bench.run_on(form.name, cores).unwrap();
                (bytes(&outcome.outputs["sequences"]), counts(&outcome), rows(&outcome))
            });
            prop_assert!(runs[0] == runs[1], "{}", form.name);
            let targets = runs[0].2.iter().flat_map(|row| &row.2).filter(|target| **target != NO_LOSS).count();
            match form.name {
                "board" | "moves" => prop_assert_eq!(targets, count),
                "prompt" => prop_assert!(targets >= 5 * runs[0].2.len()),
                _ => prop_assert_eq!(runs[0].2.len(), games.iter().filter(|game| !game.is_empty()).count()),
            }
        }
    }
}

#[test]
fn vocabularies_and_names_are_those_of_the_forms() {
    let games = [sample::games()[5].clone()];
    let bench = Bench::new().games(&games).evaluations(evaluations_of(0, &games[0]).unwrap());
    let found = |form: &str| {
        let outcome = bench.run(form);
        let Vocabulary { form, version, inputs, targets, longest } = vocabulary(&outcome);
        (form, version, inputs, targets, longest, rows(&outcome)[0].0.clone())
    };
    assert_eq!(found("board"), ("board".into(), 1, 1968, 1968, 78, "sample_0000:0".into()));
    assert_eq!(found("prompt"), ("prompt".into(), 1, 36, 36, 444, "sample_0000:0".into()));
    assert_eq!(found("characters"), ("characters".into(), 1, 32, 32, 1023, "sample_0000".into()));
    assert_eq!(found("moves"), ("moves".into(), 1, 1969, 1968, 512, "sample_0000".into()));
    assert_eq!(found("words"), ("words".into(), 1, 72, 72, 512, "sample_0000".into()));
}

#[test]
fn long_games_are_cut_and_counted() {
    let games = [shuffle(600), Vec::new(), shuffle(2)];
    let labels = evaluations_of(0, &games[0]).unwrap();
    let bench = Bench::new().games(&games).evaluations(labels);
    let outcome = bench.run("moves");
    assert_eq!(
        counts(&outcome),
        "{\"cut\":1,\"dropped\":{\"positions_beyond_context\":88,\"unlabelled_games\":2},\"form\":\"moves\",\"rows\":1,\
         \"stage\":\"encode\",\"targets\":512,\"tokens\":512}\n"
    );
    let outcome = bench.run("characters");
    let found = rows(&outcome);
    assert_eq!(found.iter().map(|row| row.1.len()).collect::<Vec<_>>(), [1023, ";1.Nf3 Nf6".len() - 1]);
    let counts: serde_json::Value = serde_json::from_str(&counts(&outcome)).unwrap();
    let number = |value: &serde_json::Value| value.as_u64().unwrap();
    assert_eq!((number(&counts["cut"]), number(&counts["dropped"]["empty_games"])), (1, 1));
    assert!(number(&counts["dropped"]["moves_beyond_context"]) > 400);
}

#[test]
fn each_form_has_a_probe_that_is_the_same_twice() {
    for form in FORMS {
        let probe = || probe(&Encode, values(form.name), tempdir().unwrap().path()).unwrap().unwrap();
        let probed = probe();
        assert!(probed.contains_key("run/sequences/sequences-00000.arrow"), "{}: {:?}", form.name, probed.keys());
        assert!(probe() == probed, "{}", form.name);
    }
}

#[test]
fn code_and_inputs_are_those_of_the_form() {
    for form in FORMS {
        let parts = Encode.code_parts(&values(form.name)).unwrap();
        assert!(parts.contains(&form.name.to_owned()));
        assert_eq!(Encode.check_inputs_for(&values(form.name), form.inputs), None);
    }
    assert_eq!(Encode.check_inputs(&["games"]), None);
    assert!(Encode.check_inputs(&[]).unwrap().starts_with("has nothing to encode"));
    let message = Encode.check_inputs_for(&values("moves"), &["games"]);
    assert_eq!(message.unwrap(), "needs an input `evaluations`, which the form `moves` reads");
}
