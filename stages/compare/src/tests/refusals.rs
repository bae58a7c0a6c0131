//! Failures: expectations that do not hold, and scores that do not belong together.

use super::*;

#[test]
fn what_is_expected_and_does_not_hold_fails_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let mut scores = [
        (BASELINE.0, BASELINE.1, games(90, 0.0)),
        ("e[family=slice,seed=0,test=held_out]", "slice", games(90, -0.1)),
        ("e[family=mamba2,seed=0,test=held_out]", "mamba2", games(90, 0.1)),
    ];
    assert_eq!(lines(&run(folder.path(), &scores, "nothing").unwrap()).len(), 2, "a fault of nobody's");
    let message = run(folder.path(), &scores, "lower").err().unwrap().message;
    assert!(
        message
            .starts_with("1 of 2 models are not below transformer, as was expected: mamba2 d64/l1 on held_out: +0.1"),
        "{message}"
    );
    // A loss that is not finite is not lower, and has no interval.
    scores[2].2 = games(90, f64::NEG_INFINITY);
    let line = &lines(&run(folder.path(), &scores, "nothing").unwrap())[0];
    assert_eq!((line["family"].as_str(), line["difference"].as_str()), (Some("mamba2"), Some("-inf")));
    assert!(line["high"].is_null());
    assert!(run(folder.path(), &scores, "lower").is_err());
}

#[test]
fn scores_that_do_not_belong_together_are_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |scores: &[Scored<'_>]| run(folder.path(), scores, "nothing").err().unwrap().message;
    let slice = "e[family=slice,seed=0,test=held_out]";
    let baseline = (BASELINE.0, BASELINE.1, games(9, 0.0));
    assert_eq!(
        refused(&[baseline.clone(), (slice, "slice", games(8, 0.0))]),
        format!("{} and {slice} were not scored on the same games", BASELINE.0)
    );
    assert_eq!(
        refused(&[(slice, "slice", games(9, 0.0))]),
        "there are no scores of transformer d64/l1 on held_out to compare with"
    );
    assert_eq!(refused(&[baseline]), "all scores are of transformer: nothing to compare it with");
    let unsorted = vec![(1, vec![0.5]), (0, vec![0.5])];
    assert!(refused(&[(slice, "slice", unsorted)]).ends_with("are not sorted by game"));
    assert!(refused(&[(slice, "slice", Vec::new())]).ends_with("hold no positions"));
}

/// Predictions need not have losses.
#[test]
fn models_without_losses_are_left_out_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let [baseline, slice, gru] = ["transformer", "slice", "gru"].map(|family| folder.path().join(family));
    let of = |family: &str| format!("e[family={family},seed=0,test=held_out]").parse().unwrap();
    let run = |paths: &[&Path], expect: &str| {
        let trial = Trial::new(folder.path().join("work")).with("expect", Value::Text(expect.into()));
        let scores = paths.iter().map(|path| (of(path.file_name().unwrap().to_str().unwrap()), path));
        let trial = scores.fold(trial, |trial, (label, path)| trial.labelled("scores", label, path));
        trial.with("resamples", Value::Int(100)).run(&Compare)
    };
    write(&baseline, "transformer", &games(30, 0.0));
    write(&slice, "slice", &games(30, -0.1));
    write_first(&gru, "gru", &games(30, -0.2), 0);
    let outcome = run(&[&baseline, &gru, &slice], "nothing").unwrap();
    let without = std::fs::read(&outcome.outputs["differences"]).unwrap();
    let left_out = "e[family=gru,seed=0,test=held_out] is left out: its predictions have no losses";
    assert!(outcome.events.iter().any(|event| matches!(event, Event::Note(line) if line == left_out)));
    let outcome = run(&[&baseline, &slice], "nothing").unwrap();
    assert_eq!(without, std::fs::read(&outcome.outputs["differences"]).unwrap());
    let message = |paths: &[&Path], expect: &str| run(paths, expect).err().unwrap().message;
    assert_eq!(
        message(&[&baseline, &gru, &slice], "lower"),
        "e[family=gru,seed=0,test=held_out] holds no losses, so it cannot be below transformer"
    );
    assert_eq!(message(&[&baseline, &gru], "nothing"), "none of the models beside transformer has losses");
    write_first(&baseline, "transformer", &games(30, 0.0), 0);
    assert_eq!(
        message(&[&baseline, &slice], "nothing"),
        "the scores of transformer d64/l1 on held_out hold no losses to compare with"
    );
    write_first(&baseline, "transformer", &games(30, 0.0), 9);
    let some = message(&[&baseline, &slice], "nothing");
    assert!(some.contains(" lack the loss of ") && some.ends_with(" positions"), "{some}");
}

/// The seed of a label without one is the file's, which is 0.
#[test]
fn one_seed_of_one_model_is_not_two_runs() {
    let folder = tempfile::tempdir().unwrap();
    let of = |label: &'static str, family: &'static str| (label, family, games(9, 0.0));
    let (first, again) = ("e[family=slice,seed=0,test=held_out]", "other[family=slice,seed=0,test=held_out]");
    let bare = "third[family=slice,test=held_out]";
    let refused = |slices: [&'static str; 2]| {
        let scores = [of(BASELINE.0, BASELINE.1), of(slices[0], "slice"), of(slices[1], "slice")];
        run(folder.path(), &scores, "nothing").err().unwrap().message
    };
    for (one, other) in [(first, again), (first, bare)] {
        let message = format!("{one} and {other} are scores of one model, seed 0, on one test set");
        assert_eq!(refused([one, other]), message);
    }
    // Seeds and test sets that differ are what they were.
    for other in ["other[family=slice,seed=1,test=held_out]", "other[family=slice,seed=0,sort=x,test=random]"] {
        let scores = [
            of(BASELINE.0, BASELINE.1),
            of("e[family=transformer,seed=0,sort=x,test=random]", "transformer"),
            of(first, "slice"),
            of(other, "slice"),
        ];
        run(folder.path(), &scores, "nothing").unwrap();
    }
}
