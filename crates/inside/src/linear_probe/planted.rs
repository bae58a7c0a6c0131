//! Rows in which boards were planted.

use cwm_models::parameters::{Init, InitRng};

use super::*;

/// For each square and class a direction; a row is the sum of those of its squares' classes.
#[test]
fn differences_find_planted_directions() {
    let (classes, width, rows) = (3, 256, 4_000);
    let mut random = InitRng::seeded(5);
    let mut planted = vec![0.0; SQUARES * classes * width];
    Init::Normal(1.0).fill(&mut planted, &mut random);
    let planted = LinearProbe::new(classes, width, planted);
    let labels: Vec<u8> = (0..rows * SQUARES).map(|_| random.uniform(0.0, classes as f64) as u8).collect();
    let mut sums = DifferenceSums::new(classes, width);
    for labels in labels.chunks_exact(SQUARES) {
        let mut x = vec![0.0; width];
        for (square, &class) in labels.iter().enumerate() {
            x.iter_mut().zip(planted.direction(square, usize::from(class))).for_each(|(x, value)| *x += value);
        }
        sums.add(&x, labels);
    }
    let found = sums.probe();
    for square in 0..SQUARES {
        for class in 0..classes {
            // Whatever all classes of a square share cancels in a difference: what is planted of a class is what it has more
            // than the others.
            let others = (0..classes).filter(|other| *other != class);
            let mut wanted = planted.direction(square, class).to_vec();
            for other in others {
                let share = 1.0 / (classes - 1) as f32;
                wanted.iter_mut().zip(planted.direction(square, other)).for_each(|(w, o)| *w -= share * o);
            }
            let cosine = cosine(found.direction(square, class), &wanted);
            assert!(cosine > 0.95, "square {square}, class {class}: {cosine}");
        }
    }
}

#[test]
fn a_square_of_one_class_is_predicted_and_a_class_that_never_occurs_is_not() {
    let labels: Vec<u8> =
        (0..4).flat_map(|row| (0..SQUARES).map(move |square| u8::from(square != 0 && row % 2 == 1))).collect();
    let mut sums = DifferenceSums::new(3, 1);
    sums.add(&[1.0, -1.0, 1.0, -1.0], &labels);
    let found = sums.probe().predict(&[9.0, -9.0], &labels[..2 * SQUARES]).classes;
    assert_eq!(found, labels[..2 * SQUARES]);
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}
