//! The probability that a difference is chance.

use super::*;

/// Losses of one position a game; each list is a model.
fn of_single_positions(models: &[&[f64]]) -> Vec<Vec<(u32, Vec<f64>)>> {
    models.iter().map(|losses| (0..).zip(*losses).map(|(game, loss)| (game, vec![*loss])).collect()).collect()
}

/// With eight games there are 256 ways to set the signs, and each can be looked at.
#[test]
fn the_probability_is_that_of_all_signs() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = ([0.5, 0.4, 0.75, 0.5, 0.25, 0.6, 0.5, 0.3], [0.6, 0.5, 0.5, 0.75, 0.5, 0.7, 0.75, 0.2]);
    let differences: Vec<f64> = one.iter().zip(other).map(|(one, other)| one - other).collect();
    let sum = |signs: u32| -> f64 {
        (0..)
            .zip(&differences)
            .map(|(game, difference)| if signs >> game & 1 == 0 { *difference } else { -difference })
            .sum()
    };
    let extreme = (0..256).filter(|signs| sum(*signs).abs() >= sum(0).abs() - 1e-12).count();
    let expected = extreme as f64 / 256.0;
    assert!((0.1..0.4).contains(&expected), "{expected}");
    let games = of_single_positions(&[&other, &one]);
    let scores =
        [(BASELINE.0, BASELINE.1, games[0].clone()), ("e[family=slice,test=held_out]", "slice", games[1].clone())];
    let outcome = trial(folder.path(), &scores).with("resamples", Value::Int(20_000)).run(&Compare).unwrap();
    let found = lines(&outcome)[0]["p"].as_f64().unwrap();
    // The deviation of such a share is 0.003.
    assert!((found - expected).abs() < 0.015, "{found} {expected}");
}

/// Models that differ by chance alone: a probability below a tenth comes about a tenth of the times.
#[test]
fn where_there_is_no_difference_the_probability_is_anything() {
    let folder = tempfile::tempdir().unwrap();
    let mut state = 1u64;
    let mut loss = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let models: Vec<Vec<f64>> = (0..30).map(|_| (0..40).map(|_| loss()).collect()).collect();
    let labels: Vec<String> = (0..30).map(|number| format!("e[family=f{number:02},test=held_out]")).collect();
    let families: Vec<String> = (0..30).map(|number| format!("f{number:02}")).collect();
    let games = of_single_positions(&models.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let scores: Vec<Scored<'_>> =
        (0..30).map(|number| (labels[number].as_str(), families[number].as_str(), games[number].clone())).collect();
    let outcome = trial(folder.path(), &scores).with("pairs", Value::Text("all".into())).run(&Compare).unwrap();
    let found = lines(&outcome);
    assert_eq!(found.len(), 30 * 29 / 2);
    let below = |limit: f64| found.iter().filter(|line| line["p"].as_f64().unwrap() < limit).count() as f64 / 435.0;
    assert!((0.03..0.2).contains(&below(0.1)) && (0.35..0.65).contains(&below(0.5)), "{} {}", below(0.1), below(0.5));
}
