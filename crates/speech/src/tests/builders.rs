//! The language has words for all that the builders of examples write.

use std::convert::Infallible;

use cwm_reasoning::board::BoardForm;
use cwm_reasoning::{Example, FactKind, RandomChoices, ScoredMove, Wording, factual, verbalised};
use shakmaty::{Chess, Position};

use crate::{PositionForm, example_words, position, text};

const FENS: [&str; 3] = [
    "r3k2r/pppq1ppp/2n1bn2/3pp3/1b1PP3/2N1BN2/PPPQ1PPP/R3K2R w KQkq - 4 9",
    "8/2P1k3/5q2/8/8/1K6/3p4/8 w - - 0 1",
    "rnb1kbnr/pppp1ppp/8/4p3/4P2q/3P1P2/PPP3PP/RNBQKBNR w KQkq - 1 4",
];

/// The words of an example's answer, as text.
fn answer(example: &Example) -> String {
    let user = &example.messages[1].content;
    let words = example_words(&example.meta, user, example.target(), PositionForm::Squares);
    text(&words.unwrap_or_else(|wrong| panic!("{wrong}: {example:?}")).answer)
}

#[test]
fn answers_about_facts_come_back_as_they_were() {
    let mut built = 0;
    for (fen, draw) in FENS.into_iter().flat_map(|fen| (0..40).map(move |draw| (fen, draw))) {
        let mut draws = RandomChoices::new("factual", 0, draw);
        let position = position::position(fen).unwrap();
        let example = factual(&position, None, BoardForm::UniformVisual, &FactKind::PUBLISHED, &mut draws);
        let Some(example) = example else { continue };
        assert_eq!(answer(&example), example.target());
        built += 1;
    }
    assert!(built > 100, "{built}");
}

#[test]
fn of_searches_the_moves_and_values_are_kept() {
    for (fen, draw) in FENS.into_iter().flat_map(|fen| (0..20).map(move |draw| (fen, draw))) {
        let lines = |position: &Chess| {
            let scored = |(place, &played)| ScoredMove { played, centipawns: 300 - 20 * place as i32 };
            Ok::<_, Infallible>(position.legal_moves().iter().enumerate().map(scored).collect())
        };
        let mut draws = RandomChoices::new("verbalised", 0, draw);
        let position = position::position(fen).unwrap();
        let built = verbalised(&position, BoardForm::UniformVisual, Wording::Varied, &mut draws, lines);
        let example = built.unwrap().unwrap().example;
        let (written, target) = (answer(&example), example.target());
        assert!(written.starts_with("<think> "), "{written}");
        assert!(written.ends_with(&format!("</think> <answer> {} </answer>", example.meta.text("move").unwrap())));
        for part in ["[v", "[mm", "|"] {
            assert_eq!(written.matches(part).count(), target.matches(part).count(), "{part}: {target}");
        }
        assert!(
            written.matches("[v").count()
                <= written.split(' ').filter(|part| part.len() >= 4 && !part.contains(['<', '['])).count()
        );
    }
}
