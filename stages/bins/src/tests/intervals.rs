//! The intervals, against a bootstrap done by other means.

use super::*;

/// The value that the share `share` of `sorted` does not exceed.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}

/// Games drawn one by one from the rows themselves, by another generator: the ends may differ by what 4,000 draws of
/// each leave open, a tenth of the interval.
#[test]
fn intervals_agree_with_a_bootstrap_over_the_rows() {
    let folder = tempfile::tempdir().unwrap();
    let mut positions = scores(5, 60);
    // Losses of one magnitude: otherwise a few games decide the mean, and its distribution is all corners.
    for (row, position) in (0u32..).zip(&mut positions) {
        position.loss = Some(f64::from(row % 7) + f64::from(position.game % 5) / 2.0);
    }
    let outcome = run_drawn(folder.path(), &[("e[test=held_out]", &positions)], 4_000).unwrap();
    let games: Vec<Vec<&Position>> =
        (0..60).map(|game| positions.iter().filter(|position| position.game == game).collect()).collect();
    let mut state = 1u64;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % 60
    };
    let draws: Vec<Vec<usize>> = (0..4_000).map(|_| (0..60).map(|_| draw()).collect()).collect();
    let check = |batch: &RecordBatch, row: usize, metric: &str, of: &dyn Fn(&[&Position]) -> Option<f64>| {
        let mut expected: Vec<f64> = draws
            .iter()
            .filter_map(|drawn| of(&drawn.iter().flat_map(|game| games[*game].iter().copied()).collect::<Vec<_>>()))
            .collect();
        expected.sort_by(f64::total_cmp);
        let (low, high) = (quantile(&expected, 0.025), quantile(&expected, 0.975));
        let found = ["low", "high"].map(|end| floats(batch, &format!("{metric}_{end}"))[row]);
        let near = (high - low) / 10.0;
        assert!(high > low, "{metric}");
        assert!((found[0] - low).abs() < near && (found[1] - high).abs() < near, "{metric}: {found:?} {low} {high}");
    };
    let mean = |drawn: &[&Position], from: u32, to: u32, of: &dyn Fn(&Position) -> f64| {
        let inside: Vec<_> = drawn.iter().filter(|position| (from..to).contains(&position.t)).collect();
        (!inside.is_empty()).then(|| inside.iter().map(|position| of(position)).sum::<f64>() / inside.len() as f64)
    };
    let loss = |position: &Position| position.loss.unwrap();
    let labelwise = |position: &Position| f64::from(position.correct()) / 75.0;
    let exact = |position: &Position| f64::from(u8::from(position.is_exact()));
    let metrics: [(&str, &dyn Fn(&Position) -> f64); 3] =
        [("loss", &loss), ("labelwise", &labelwise), ("exact", &exact)];
    let (overall, prefix) = (read(&outcome, "overall.parquet"), read(&outcome, "prefix.parquet"));
    for (metric, of) in metrics {
        check(&overall, 0, metric, &|drawn| mean(drawn, 0, 60, of));
        for (row, start) in [0, 20, 40].into_iter().enumerate() {
            check(&prefix, row, metric, &|drawn| mean(drawn, start, start + 20, of));
        }
    }
    let is_exact = |game: u32| games[game as usize].iter().all(|position| position.is_exact());
    check(&overall, 0, "trajectory", &|drawn| {
        let starts = drawn.iter().filter(|position| position.t == 0);
        Some(starts.filter(|position| is_exact(position.game)).count() as f64 / 60.0)
    });
}

#[test]
fn of_one_game_and_of_losses_that_are_not_finite_there_is_no_interval() {
    let folder = tempfile::tempdir().unwrap();
    let position = |game, t, loss| Position { game, t, right: 0, loss: Some(loss) };
    // Two games reach the first bin, one the second; the loss of a position in the first is infinite.
    let positions = [position(0, 0, f64::INFINITY), position(0, 1, 1.0), position(0, 2, 1.0), position(1, 0, 2.0)];
    let outcome = run(folder.path(), &[("e", &positions)], 2, 1).unwrap();
    let valid = |file: &str, column: &str| {
        let batch = read(&outcome, file);
        (0..batch.num_rows()).map(|row| batch[column].is_valid(row)).collect::<Vec<_>>()
    };
    for end in ["low", "high"] {
        assert_eq!(valid("prefix.parquet", &format!("loss_{end}")), [false, false]);
        assert_eq!(valid("prefix.parquet", &format!("exact_{end}")), [true, false]);
        assert_eq!(valid("prefix.parquet", &format!("labelwise_{end}")), [true, false]);
        assert_eq!(valid("overall.parquet", &format!("loss_{end}")), [false]);
        assert_eq!(valid("overall.parquet", &format!("trajectory_{end}")), [true]);
    }
    let alone = [position(7, 0, 1.0), position(7, 1, 2.0)];
    let overall = read(&run(folder.path(), &[("e", &alone)], 2, 1).unwrap(), "overall.parquet");
    let ends = ["loss_low", "labelwise_high", "exact_low", "trajectory_low"];
    assert_eq!(ends.map(|column| overall[column].null_count()), [1; 4]);
}

/// Models that were scored on the same games are drawn alike: what one has less of everywhere stays less at both ends.
#[test]
fn the_same_games_are_drawn_for_every_model() {
    let folder = tempfile::tempdir().unwrap();
    let one = scores(5, 90);
    let mut other = one.clone();
    other.iter_mut().for_each(|position| position.loss = position.loss.map(|loss| loss / 2.0));
    let outcome = run(folder.path(), &[("a", &one), ("b[test=b]", &other)], 20, 2).unwrap();
    for (file, rows) in [("overall.parquet", 1), ("prefix.parquet", 3)] {
        let batch = read(&outcome, file);
        for column in ["loss_low", "loss_high"] {
            let halves: Vec<f64> = floats(&batch, column)[..rows].iter().map(|loss| loss / 2.0).collect();
            assert_eq!(halves, floats(&batch, column)[rows..]);
        }
        assert_eq!(floats(&batch, "exact_low")[..rows], floats(&batch, "exact_low")[rows..]);
    }
}
