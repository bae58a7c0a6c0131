//! Choices made by hand, and those that another family takes over.

use super::*;

/// `{ slice: { d128/l1: entry } }`
fn override_of(entry: &[(&str, Value)]) -> Value {
    let map = |entries: Vec<(&str, Value)>| {
        Value::Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    };
    map(vec![("slice", map(vec![("d128/l1", map(entry.to_vec()))]))])
}

#[test]
fn an_override_is_one_of_the_group() {
    let folder = tempfile::tempdir().unwrap();
    let mut trainings =
        [training("lr=0.003", 0.1, 0.1, 0.5), training("lr=0.001", 0.2, 0.1, 0.5), training("lr=0.01", 0.3, 0.1, 0.5)];
    trainings[2].1["status"] = "diverged".into();
    let with =
        |entry: &[(&str, Value)]| trial(folder.path(), &trainings).with("overrides", override_of(entry)).run(&Select);
    for entry in [("rank", Value::Int(2)), ("lr", Value::Float(0.001))] {
        let outcome = with(&[entry]).unwrap();
        assert!(choice(&outcome).contains("\"lr\":0.001,"), "{}", choice(&outcome));
        let chosen: Vec<_> = candidates(&outcome).into_iter().filter(|line| line["chosen"] == true).collect();
        assert_eq!((chosen.len(), &chosen[0]["rank"]), (1, &json!(2)));
        assert!(chosen[0]["why"].as_str().unwrap().starts_with("override: "), "{chosen:?}");
    }
    assert_eq!(
        refused(with(&[("rank", Value::Int(3))])),
        "`overrides` takes the training of rank 3 for slice d128/l1, and only 2 of 3 have a rank"
    );
    assert_eq!(
        refused(with(&[("lr", Value::Float(0.5))])),
        "`overrides` takes lr 0.5 for slice d128/l1, and no training has these"
    );
    assert_eq!(
        refused(with(&[("lr", Value::Float(0.01))])),
        "`overrides` takes lr 0.01 for slice d128/l1, and sweep[lr=0.01] was excluded: diverged"
    );
    for wrong in [&[][..], &[("rank", Value::Int(0))], &[("rank", Value::Int(1)), ("lr", Value::Int(1))]] {
        assert!(refused(with(wrong)).contains("parameter `overrides` must give slice d128/l1 "), "{wrong:?}");
    }
    // One for another cell changes nothing.
    let other = trial(folder.path(), &trainings).with("size", Value::Text("d128/l1".into()));
    assert!(choice(&other.run(&Select).unwrap()).contains("\"lr\":0.003,"));
}

#[test]
fn an_ablation_takes_the_choice_of_its_parent() {
    let folder = tempfile::tempdir().unwrap();
    let trainings = [training("lr=0.003", 0.1, 0.1, 0.5), training("lr=0.001", 0.2, 0.1, 0.5)];
    let ablation = |trial: Trial| {
        trial.with("family", Value::Text("slice_diag".into())).with("parent", Value::Text("slice".into()))
    };
    let own = choice(&trial(folder.path(), &trainings).run(&Select).unwrap());
    let taken = choice(&ablation(trial(folder.path(), &trainings)).run(&Select).unwrap());
    assert_eq!(taken, own.replace("\"slice\"", "\"slice_diag\""));
    // The parent's override too.
    let second = override_of(&[("rank", Value::Int(2))]);
    let taken = ablation(trial(folder.path(), &trainings)).with("overrides", second).run(&Select).unwrap();
    assert!(choice(&taken).contains("\"lr\":0.001,"));
}

#[test]
fn without_trainings_the_choice_is_what_is_given_by_hand_and_equals_that_of_a_sweep() {
    let folder = tempfile::tempdir().unwrap();
    let trainings = [training("lr=0.003", 0.1, 0.1, 0.5)];
    let chosen = choice(&trial(folder.path(), &trainings).run(&Select).unwrap());
    let given = || {
        let by_hand = override_of(&[
            ("lr", Value::Float(3e-3)),
            ("warmup", Value::Float(5e3)),
            ("beta2", Value::Float(0.95)),
            ("weight_decay", Value::Int(0)),
        ]);
        Trial::new(folder.path().join("given")).with("overrides", by_hand)
    };
    let cell = |trial: Trial, size: &str| {
        trial.with("family", Value::Text("slice".into())).with("size", Value::Text(size.into())).run(&Select)
    };
    let outcome = cell(given(), "d128/l1").unwrap();
    assert_eq!(choice(&outcome), chosen, "equal choices are equal bytes");
    assert_eq!(candidates(&outcome).len(), 0);
    assert_eq!(refused(cell(given(), "d256/l2")), "there is nothing to choose from for slice d256/l2");
    assert!(refused(given().run(&Select)).starts_with("without trainings, `family` must be given"));
}
