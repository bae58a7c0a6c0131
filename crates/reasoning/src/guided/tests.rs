use cwm_questions::Metadata;
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Move, Position};

use super::*;
use crate::board::BoardForm;
use crate::draws::RandomChoices;
use crate::search::ScoredMove;

fn line(position: &Chess, uci: &[&str]) -> Vec<Move> {
    let mut position = position.clone();
    uci.iter()
        .map(|uci| {
            let played = uci.parse::<UciMove>().unwrap().to_move(&position).unwrap();
            position.play_unchecked(played);
            played
        })
        .collect()
}

fn scored(values: &[(&str, i32)]) -> Vec<ScoredMove> {
    let position = Chess::default();
    let one =
        |(uci, centipawns): &(&str, i32)| ScoredMove { played: line(&position, &[uci])[0], centipawns: *centipawns };
    values.iter().map(one).collect()
}

#[test]
fn first_moves_follow_their_values() {
    let lines = scored(&[("a2a3", -60), ("e2e4", 40), ("d2d4", 30), ("h2h4", -300)]);
    let firsts = |mode: GuidedMode| -> Vec<String> {
        let first = |ordinal| mode.first_moves(&lines, &mut RandomChoices::new("guided", 0, ordinal))[0];
        (0..4_000).map(|ordinal| crate::pieces::uci(first(ordinal))).collect()
    };
    let share = |firsts: &[String], uci: &str| firsts.iter().filter(|first| *first == uci).count() as f64 / 4_000.;
    assert!(firsts(GuidedMode::Good).iter().all(|uci| uci == "e2e4"));
    // Of moves of at least -50, with weights exp(cp / 50).
    let reasonable = firsts(GuidedMode::Reasonable);
    let expected = (0.2_f64).exp() / ((0.2_f64).exp() + 1.);
    assert!((share(&reasonable, "e2e4") - expected).abs() < 0.03, "{}", share(&reasonable, "e2e4"));
    assert!((share(&reasonable, "e2e4") + share(&reasonable, "d2d4") - 1.).abs() < 1e-9);
    // Of all, with weights exp(-cp / 500).
    let blunder = firsts(GuidedMode::Blunder);
    let weight = |cp: f64| (-cp / 500.).exp();
    let expected = weight(-300.) / (weight(-300.) + weight(-60.) + weight(30.) + weight(40.));
    assert!((share(&blunder, "h2h4") - expected).abs() < 0.03, "{}", share(&blunder, "h2h4"));
    let all = GuidedMode::Blunder.first_moves(&lines, &mut RandomChoices::new("guided", 0, 0));
    assert_eq!(all.len(), 4);
    assert!(
        GuidedMode::Reasonable
            .first_moves(&scored(&[("a2a3", -60)]), &mut RandomChoices::new("guided", 0, 0))
            .is_empty()
    );
}

#[test]
fn lines_are_kept_by_what_they_gain() {
    let kept = |mode: GuidedMode| [-200, 49, 50, 199].map(|gained| mode.keeps(gained));
    assert_eq!(kept(GuidedMode::Good), [false, false, true, true]);
    assert_eq!(kept(GuidedMode::Reasonable), [true; 4]);
    assert_eq!(kept(GuidedMode::Blunder), [true, false, false, false]);
}

#[test]
fn a_teachers_answer_becomes_an_example() {
    let position = Chess::default();
    let moves = line(&position, &["e2e4", "d7d5", "e4d5"]);
    let shown = GuidedLine { moves, first_gain: 10, gain: 90 };
    let item = guided_item(&position, BoardForm::Visual, GuidedMode::Good, &shown).unwrap();
    for part in [
        "1. You: white pawn moves to e4 (e2e4).\n2. Your opponent: black pawn moves to d5 (d7d5).\n",
        "3. You: white pawn captures the pawn on d5 (e4d5).",
        "by +10 centipawns",
        "whether e2e4 should be played",
    ] {
        assert!(item.question.contains(part), "{part}: {}", item.question);
    }
    let example = guided_example(&item, "<think>x</think><answer> It wins a pawn. </answer>", BoardForm::UniformVisual);
    let example = example.unwrap().unwrap();
    assert_eq!(example.target(), "It wins a pawn.");
    assert!(example.messages[1].content.ends_with("Should you play e2e4?"));
    assert_eq!(guided_example(&item, "It wins a pawn.", BoardForm::Fen).unwrap(), None);
    let other = cwm_questions::Item { task_id: "x".into(), metadata: Metadata::default(), ..item };
    let failure = guided_example(&other, "", BoardForm::Fen).unwrap_err().message;
    assert_eq!(failure, "x: not of `guided`: its metadata lack a `line`");
}
