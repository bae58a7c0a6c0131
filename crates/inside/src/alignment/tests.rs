use cwm_models::parameters::InitRng;

use super::*;
use crate::golden::{Golden, assert_close};

/// The places of each class.
fn places(class: &[u32]) -> Vec<Vec<u32>> {
    let most = class.iter().max().map_or(0, |&most| most + 1);
    (0..most).map(|of| (0..).zip(class).filter(|(_, class)| **class == of).map(|(place, _)| place).collect()).collect()
}

fn random_rows(rows: usize, width: usize, seed: u64) -> Vec<f32> {
    let mut draws = InitRng::seeded(seed);
    (0..rows * width).map(|_| draws.normal() as f32).collect()
}

#[test]
fn statistics_equal_the_independent_program() {
    let Some(golden) = Golden::open("alignment.safetensors") else { return };
    let units = Units::new(&golden.floats("rows"), 24).unwrap();
    let class: Vec<u32> = golden.indices("class").into_iter().map(|class| class as u32).collect();
    let classes = places(&class);
    let within = golden.doubles("within");
    let found = cohesion(&units, &classes, None);
    assert_eq!((found.len(), units.rows()), (within.len(), 60));
    found.iter().zip(within).for_each(|(found, expected)| assert_close(*found, expected, 1e-9));
    let pairs: Vec<[u32; 2]> =
        golden.indices("pairs").as_chunks::<2>().0.iter().map(|pair| pair.map(|row| row as u32)).collect();
    let alignment = Alignment::new(&units, &classes, &pairs);
    for (found, name) in
        [(alignment.mu, "mu"), (alignment.sigma, "sigma"), (alignment.statistic, "T"), (alignment.effect, "d")]
    {
        assert_close(found, golden.number(name), 1e-9);
    }
    let orders: Vec<u32> = golden.indices("permutations").into_iter().map(|row| row as u32).collect();
    let null: Vec<f64> = orders.chunks(60).map(|order| alignment.permuted(&units, &classes, order)).collect();
    let expected = golden.doubles("null");
    assert_eq!(null.len(), expected.len());
    null.iter().zip(expected).for_each(|(found, expected)| assert_close(*found, expected, 1e-9));
    let null = Null::new(alignment.statistic, &null);
    for (found, name) in [(null.mean, "null_mean"), (null.deviation, "null_sd"), (null.p, "p")] {
        assert_close(found, golden.number(name), 1e-9);
    }
    let numbers = |name: &str| -> Vec<f64> {
        golden.manifest[name].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
    };
    let corrected = holm(&numbers("holm_of"));
    corrected.iter().zip(numbers("holm")).for_each(|(found, expected)| assert_close(*found, expected, 1e-12));
}

/// 40 classes of 2 to 4 rows.
fn sizes() -> Vec<u32> {
    (0..40u32).flat_map(|class| vec![class; 2 + class as usize % 3]).collect()
}

fn p_of(rows: &[f32], width: usize, population: &Population, class: &[u32], permutations: u128) -> (Alignment, Null) {
    let units = Units::new(rows, width).unwrap();
    let classes = places(class);
    let alignment = Alignment::new(&units, &classes, &population.pairs(2_000, 1));
    let permuted = |seed| alignment.permuted(&units, &classes, &population.shuffled(seed));
    let null: Vec<f64> = (0..permutations).map(|number| permuted(7 + number)).collect();
    (alignment, Null::new(alignment.statistic, &null))
}

#[test]
fn rows_that_are_a_function_of_the_position_have_cosine_one_and_the_least_p() {
    let class = sizes();
    let of_class = random_rows(40, 16, 3);
    // Lengths do not count.
    let scaled = |(row, &class): (usize, &u32)| {
        let row_of = &of_class[class as usize * 16..][..16];
        row_of.iter().map(|value| value * (1.0 + row as f32)).collect::<Vec<f32>>()
    };
    let rows: Vec<f32> = class.iter().enumerate().flat_map(scaled).collect();
    let (alignment, null) = p_of(&rows, 16, &Population::all(&class), &class, 1000);
    assert_close(alignment.within, 1.0, 1e-6);
    assert_eq!(null.p, 1.0 / 1001.0);
    assert!(alignment.effect > 3.0, "{alignment:?}");
}

#[test]
fn p_is_uniform_where_classes_mean_nothing() {
    let class = sizes();
    let population = Population::all(&class);
    let of = |seed| p_of(&random_rows(class.len(), 8, seed), 8, &population, &class, 99).1.p;
    let values: Vec<f64> = (0..200).map(of).collect();
    let below = values.iter().filter(|&&p| p < 0.05).count();
    assert!((2..=20).contains(&below), "{below} of 200 below 0.05");
    let mean = values.iter().sum::<f64>() / 200.0;
    assert!((0.42..0.58).contains(&mean), "{mean}");
}

/// Rows are alike by ply alone: without strata that looks like path independence.
#[test]
fn strata_take_away_what_comes_of_their_key() {
    let class = sizes();
    let plies: Vec<u32> = class.iter().map(|class| class % 5).collect();
    let (of_ply, noise) = (random_rows(5, 16, 3), random_rows(class.len(), 16, 4));
    let row = |(row, &ply): (usize, &u32)| {
        let values = of_ply[ply as usize * 16..][..16].iter().zip(&noise[row * 16..][..16]);
        values.map(|(ply, noise)| ply + noise).collect::<Vec<f32>>()
    };
    let rows: Vec<f32> = plies.iter().enumerate().flat_map(row).collect();
    let all = p_of(&rows, 16, &Population::all(&class), &class, 199);
    let matched = p_of(&rows, 16, &Population::strata(&class, &plies), &class, 199);
    assert_eq!(all.1.p, 1.0 / 200.0);
    assert!(matched.1.p > 0.05 && matched.0.effect.abs() < 0.3, "{matched:?}");
}

#[test]
fn pairs_are_of_one_stratum_and_different_classes_and_rows_stay_in_their_strata() {
    let class = [0, 0, 1, 1, 2, 2, 3, 3];
    let keys = [0, 1, 0, 1, 0, 1, 2, 2];
    let population = Population::strata(&class, &keys);
    assert_eq!((population.len(), population.is_empty()), (3, false));
    let pairs = population.pairs(500, 5);
    assert_eq!(pairs.len(), 500);
    for [a, b] in pairs.iter().map(|pair| pair.map(|row| row as usize)) {
        assert!(keys[a] == keys[b] && class[a] != class[b], "{a} {b}");
    }
    assert_eq!(pairs, population.pairs(500, 5));
    assert_ne!(pairs, population.pairs(500, 6));
    let order = population.shuffled(5);
    assert!(order.iter().enumerate().all(|(place, &row)| keys[place] == keys[row as usize]));
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, [0, 1, 2, 3, 4, 5, 6, 7]);
    assert!(Population::strata(&[0, 0, 1], &[0, 0, 1]).pairs(9, 1).is_empty());
}

#[test]
fn pairs_within_classes_are_parted_by_their_last_moves() {
    let units = Units::new(&[1.0, 0.0, 1.0, 0.0, 0.0, 2.0], 2).unwrap();
    let [shared, other] = by_suffix(&units, &[vec![0, 1, 2]], &["a", "a", "b"]);
    assert_eq!(shared, Cosines { pairs: 1, classes: 1, mean: 1.0 });
    assert_eq!(other, Cosines { pairs: 2, classes: 1, mean: 0.0 });
    assert_eq!(by_suffix(&units, &[vec![0, 2]], &["a", "a", "b"])[0], Cosines::default());
}

#[test]
fn a_row_without_a_direction_is_named() {
    assert_eq!(Units::new(&[1.0, 0.0, 0.0, 0.0], 2).unwrap_err(), 1);
    assert_eq!(Units::new(&[f32::NAN, 0.0], 2).unwrap_err(), 0);
}

#[test]
fn equal_cosines_have_no_deviation() {
    let units = Units::new(&random_rows(4, 3, 5), 3).unwrap();
    let alignment = Alignment::new(&units, &[vec![0, 1], vec![2, 3]], &[[0, 2], [2, 0], [0, 2]]);
    assert_eq!(alignment.sigma, 0.0);
    assert!(alignment.effect.is_infinite(), "{alignment:?}");
}

#[test]
fn rows_of_one_direction_have_no_effect() {
    // Rows as long as one another or not: the cosine of two of them is 1 but for rounding.
    let row = random_rows(1, 7, 3);
    let rows: Vec<f32> = (1..=6).flat_map(|times| row.iter().map(move |value| value * times as f32 / 3.0)).collect();
    let units = Units::new(&rows, 7).unwrap();
    let alignment = Alignment::new(&units, &[vec![0, 1], vec![2, 3], vec![4, 5]], &[[0, 2], [1, 4], [3, 5]]);
    assert!(alignment.sigma == 0.0 && alignment.effect.is_nan(), "{alignment:?}");
}
