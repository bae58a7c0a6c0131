//! Choices of words, worked out by hand.

use proptest::prelude::*;

use crate::Sampling;

/// Logits of four words with the probabilities 0.5, 0.25, 0.15 and 0.1.
fn logits() -> Vec<f32> {
    [0.25f32, 0.5, 0.1, 0.15].iter().map(|share| share.ln()).collect()
}

fn plain() -> Sampling {
    Sampling::plain(0, 10)
}

/// The word at each of these numbers.
fn chosen(sampling: &Sampling, answer: &[u16], uniforms: &[f64]) -> Vec<u16> {
    uniforms.iter().map(|&uniform| sampling.choose(&logits(), answer, || uniform).unwrap()).collect()
}

#[test]
fn the_likeliest_word_comes_first() {
    // Sums of probabilities: word 1 up to 0.5, word 0 up to 0.75, word 3 up to 0.9, word 2 up to 1.
    assert_eq!(
        chosen(&plain(), &[], &[0.0, 0.499, 0.501, 0.749, 0.751, 0.899, 0.901, 0.999]),
        [1, 1, 0, 0, 3, 3, 2, 2]
    );
}

#[test]
fn a_temperature_raises_the_differences() {
    // Squares of the probabilities: 0.25, 0.0625, 0.0225, 0.01 of 0.345, so that word 1 has 0.7246 and word 0 0.1812.
    let cold = Sampling { temperature: 0.5, ..plain() };
    assert_eq!(chosen(&cold, &[], &[0.724, 0.725, 0.905, 0.907]), [1, 0, 0, 3]);
}

#[test]
fn without_temperature_the_likeliest_is_chosen_and_nothing_drawn() {
    let greedy = Sampling { temperature: 0.0, ..plain() };
    let choose = |logits: &[f32]| greedy.choose(logits, &[], || panic!("drawn")).unwrap();
    assert_eq!(choose(&logits()), 1);
    assert_eq!(choose(&[0.0, 2.0, 2.0]), 1);
}

#[test]
fn top_k_min_p_and_top_p_leave_out_the_unlikely() {
    // Of two words: 2/3 and 1/3.
    let two = Sampling { top_k: Some(2), ..plain() };
    assert_eq!(chosen(&two, &[], &[0.666, 0.667, 0.999]), [1, 0, 0]);
    // Words below 0.29 of 0.5, that is 0.145, are left out: 0.5, 0.25, 0.15 of 0.9.
    let three = Sampling { min_p: 0.29, ..plain() };
    assert_eq!(chosen(&three, &[], &[0.833, 0.834, 0.999]), [0, 3, 3]);
    assert_eq!(chosen(&Sampling { min_p: 0.31, ..plain() }, &[], &[0.667, 0.999]), [0, 0]);
    // 0.5 and 0.25 reach 0.74; a share of 0.76 needs a third word.
    assert_eq!(chosen(&Sampling { top_p: 0.74, ..plain() }, &[], &[0.999]), [0]);
    assert_eq!(chosen(&Sampling { top_p: 0.76, ..plain() }, &[], &[0.999]), [3]);
    assert_eq!(chosen(&Sampling { top_p: 0.0, ..plain() }, &[], &[0.999]), [1]);
    // 0.6 of what top-k left: 2/3 is enough.
    assert_eq!(chosen(&Sampling { top_k: Some(2), top_p: 0.6, ..plain() }, &[], &[0.999]), [1]);
}

#[test]
fn words_of_the_answer_are_penalised() {
    let penalised = Sampling { repetition_penalty: 2.0, temperature: 0.0, ..plain() };
    let choose = |logits: &[f32], answer: &[u16]| penalised.choose(logits, answer, || 0.0).unwrap();
    // A positive logit is halved, a negative one doubled.
    assert_eq!(choose(&[3.0, 2.0, 1.0], &[0]), 1);
    assert_eq!(choose(&[3.0, 2.0, 1.0], &[0, 1, 0]), 0);
    assert_eq!(choose(&[-1.0, -1.5, -4.0], &[0]), 1);
    assert_eq!(choose(&[-1.0, -2.5, -4.0], &[0]), 0);
}

#[test]
fn a_logit_that_is_not_finite_gives_no_word() {
    assert_eq!(plain().choose(&[0.0, f32::NAN], &[], || 0.0), None);
    assert_eq!(plain().choose(&[f32::INFINITY, 0.0], &[], || 0.0), None);
}

proptest! {
    #[test]
    fn a_word_is_chosen_for_any_numbers(
        logits in prop::collection::vec(-1e30f32..1e30, 1..30),
        answer in prop::collection::vec(0u16..40, 0..9),
        (temperature, min_p, top_p) in (0.0f64..3.0, 0.0f64..=1.0, 0.0f64..=1.0),
        top_k in prop::option::of(1usize..40),
        (repetition_penalty, uniform) in (0.1f64..3.0, 0.0f64..1.0),
    ) {
        let sampling = Sampling { repetition_penalty, temperature, min_p, top_k, top_p, ..plain() };
        let word = sampling.choose(&logits, &answer, || uniform).unwrap();
        prop_assert!(usize::from(word) < logits.len());
        // No rule leaves out the likeliest.
        let likeliest = Sampling { temperature: 0.0, ..sampling.clone() }.choose(&logits, &answer, || uniform).unwrap();
        prop_assert_eq!(sampling.choose(&logits, &answer, || 0.0).unwrap(), likeliest);
    }
}
