use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use shakmaty::uci::UciMove;

use super::builder::questions;
use super::*;
use crate::board::BoardForm;
use crate::draws::RandomChoices;
use crate::golden;
use crate::pieces::{color_word, uci};

#[derive(Deserialize)]
struct Golden {
    id: usize,
    in_check: Option<String>,
    legal: Vec<String>,
    material_white: i32,
    mobility: BTreeMap<String, usize>,
    capture_pairs: Vec<String>,
    their_capture_pairs: Vec<String>,
    only_capture: BTreeMap<String, String>,
    large_advantage: Option<String>,
    balanced: bool,
}

fn letters(pairs: &[CapturePair]) -> Vec<String> {
    let mut letters: Vec<String> =
        pairs.iter().map(|(own, victim)| format!("{}{}", own.char(), victim.char())).collect();
    letters.sort();
    letters
}

#[test]
fn golden_facts() {
    let (Some(rows), Some(fens)) = (golden::lines::<Golden>("facts.jsonl"), golden::fens()) else { return };
    assert!(!rows.is_empty());
    for row in rows {
        let position = golden::position(&fens[row.id]);
        let facts = Facts::of(&position, None);
        assert_eq!(facts.in_check().map(color_word), row.in_check.as_deref());
        let mut legal: Vec<String> = facts.moves.iter().map(|&played| uci(played)).collect();
        legal.sort();
        assert_eq!(legal, row.legal);
        assert_eq!(facts.material(), row.material_white);
        assert_eq!(facts.large_advantage().map(color_word), row.large_advantage.as_deref(), "{}", row.id);
        assert_eq!(facts.is_balanced(), row.balanced, "{}", row.id);
        let mobility = facts.mobility().into_iter().map(|(square, moves)| (square.to_string(), moves));
        assert_eq!(mobility.collect::<BTreeMap<_, _>>(), row.mobility, "{}", row.id);
        assert_eq!(letters(&facts.capture_pairs()), row.capture_pairs, "{}", row.id);
        assert_eq!(letters(&facts.their_capture_pairs()), row.their_capture_pairs, "{}", row.id);
        let only = facts.only_captures().into_iter().map(|(target, origin)| (target.to_string(), origin.to_string()));
        assert_eq!(only.collect::<BTreeMap<_, _>>(), row.only_capture, "{}", row.id);
    }
}

/// The answer of the golden row to a question of ours, from its text alone.
fn golden_answer(row: &Golden, question: &str) -> String {
    let yes = |yes: bool| if yes { "Yes" } else { "No" }.to_owned();
    let words: Vec<&str> = question.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let letter = |word: &str| match word {
        "knight" => 'n',
        other => other.chars().next().unwrap(),
    };
    match words[0] {
        "Is" => yes(row.in_check.as_deref() == Some(words[2])),
        "Can" if words[2] == "legally" => yes(row.legal.iter().any(|uci| uci == words[4])),
        "Can" => yes(row.capture_pairs.contains(&format!("{}{}", letter(words[2]), letter(words[5])))),
        "What" => (if words[2] == "white" { row.material_white } else { -row.material_white }).to_string(),
        "How" => row.mobility[words[8]].to_string(),
        "Which" => row.only_capture[*words.last().unwrap()].clone(),
        _ => panic!("{question}"),
    }
}

#[test]
fn answers_are_those_of_the_golden_facts() {
    let (Some(rows), Some(fens)) = (golden::lines::<Golden>("facts.jsonl"), golden::fens()) else { return };
    let (mut compared, mut openings) = (0, BTreeSet::new());
    for row in &rows {
        let position = golden::position(&fens[row.id]);
        for seed in 0..40 {
            let mut draws = RandomChoices::new("factual", seed, row.id as u64);
            let facts = Facts::of(&position, None);
            let Some(found) = questions(&facts, 6, &FactKind::PUBLISHED, &mut draws) else { continue };
            let texts: BTreeSet<&String> = found.iter().map(|one| &one.question).collect();
            assert_eq!(texts.len(), 6);
            for question in found {
                assert_eq!(question.answer, golden_answer(row, &question.question), "{} {}", row.id, question.question);
                openings.insert(question.question.split(' ').take(3).collect::<Vec<_>>().join(" "));
                compared += 1;
            }
        }
    }
    assert!(compared > 10_000, "{compared}");
    assert!(openings.len() >= 8, "{openings:?}");
}

/// In a middle-game position, where no pool is empty, the shares of answers are the weights of the scenarios.
#[test]
fn scenarios_have_their_weights() {
    let position = golden::position("r1bq1rk1/pp2bppp/2n1pn2/3p4/2PP4/2N2N2/PP2BPPP/R1BQ1RK1 w - - 0 9");
    let facts = Facts::of(&position, None);
    let (mut legal, mut theirs, mut total) = (0, 0, 0);
    for seed in 0..20_000 {
        let mut draws = RandomChoices::new("factual", seed, 0);
        let (question, answer) = FactKind::Legal.draw(&facts, &mut draws).unwrap();
        let uci: UciMove = question.split(' ').nth(4).unwrap().parse().unwrap();
        let UciMove::Normal { from, .. } = uci else { panic!("{question}") };
        assert_eq!(answer == "Yes", uci.to_move(&position).is_ok());
        legal += u32::from(answer == "Yes");
        theirs += u32::from(position.them().contains(from));
        total += 1;
    }
    let share = |count: u32| f64::from(count) / f64::from(total);
    assert!((share(legal) - 0.5).abs() < 0.015, "{}", share(legal));
    assert!((share(theirs) - 0.1).abs() < 0.01, "{}", share(theirs));
}

#[test]
fn in_check_four_of_five_answers_are_yes() {
    let position = golden::position("4k3/8/8/8/4r3/8/3P1PPP/3QKB1R w - - 0 1");
    let facts = Facts::of(&position, None);
    let answer = |seed| FactKind::Check.draw(&facts, &mut RandomChoices::new("factual", seed, 0)).unwrap().1;
    let yes = (0..10_000).filter(|seed| answer(*seed) == "Yes").count();
    assert!((7_800..8_200).contains(&yes), "{yes}");
}

#[test]
fn an_illegal_move_in_check_leaves_the_king_in_check() {
    let position = golden::position("4k3/8/8/8/4r3/8/3P1PPP/3QKB1R w - - 0 1");
    let moves = position.legal_moves();
    for seed in 0..500 {
        let played = illegal::illegal_move(&position, &moves, &mut RandomChoices::new("factual", seed, 0)).unwrap();
        let capture = position.board().role_at(played.to);
        let role = position.board().role_at(played.from).unwrap();
        let mut board = position.board().clone();
        board.discard_piece_at(played.from);
        board.set_piece_at(played.to, role.of(Color::White));
        assert!(capture.is_none() || position.them().contains(played.to));
        let king = board.king_of(Color::White).unwrap();
        assert!(board.attacks_to(king, Color::Black, board.occupied()).any(), "{played}");
    }
}

#[test]
fn an_example_has_four_to_six_answers() {
    let mut counts = BTreeMap::new();
    for seed in 0..300 {
        let example = factual(
            &Chess::default(),
            None,
            BoardForm::UniformVisual,
            &FactKind::PUBLISHED,
            &mut RandomChoices::new("factual", seed, 0),
        )
        .unwrap();
        *counts.entry(example.target().split(' ').count()).or_insert(0) += 1;
    }
    assert_eq!(counts.keys().copied().collect::<Vec<_>>(), [4, 5, 6]);
    assert!(counts.values().all(|count| (70..130).contains(count)), "{counts:?}");
}

#[test]
fn kinds_that_are_off_ask_about_material_and_values() {
    let position = golden::position("7k/8/8/8/8/8/1q6/K7 w - - 0 1");
    let values = Values::new(vec![("a1b2".to_owned(), 0.512_34)]).unwrap();
    let asked = |kind: FactKind, position: &Chess, values: Option<&Values>| {
        kind.draw(&Facts::of(position, values), &mut RandomChoices::new("factual", 0, 0))
    };
    let answer = |kind| asked(kind, &position, Some(&values)).unwrap().1;
    assert_eq!(
        [FactKind::LargeAdvantage, FactKind::Balanced, FactKind::WinProbability].map(answer),
        ["black", "No", "51.2"]
    );
    assert_eq!(asked(FactKind::WinProbability, &position, None), None);
    assert_eq!(asked(FactKind::WhichOfTwo, &position, Some(&values)), None);

    let position = golden::position("7k/8/8/8/8/8/1P6/K7 w - - 0 1");
    let wins = [("a1a2", 0.5), ("a1b1", 0.7), ("b2b3", 0.1), ("b2b4", 0.4)];
    let values = Values::new(wins.map(|(uci, win)| (uci.to_owned(), win)).to_vec()).unwrap();
    let (question, answer) = asked(FactKind::WhichOfTwo, &position, Some(&values)).unwrap();
    assert!(question.starts_with("Which square is better for your pawn at b2: b"), "{question}");
    assert_eq!(answer, "b4");
    let swapped = |kind: FactKind| kind.repeats("Is it your x at a1: b2 or a2?", "Is it your x at a1: a2 or b2?");
    assert!(swapped(FactKind::WhichOfTwo) && !swapped(FactKind::Capture));

    // A square is worth its best promotion: neither is much better here.
    let position = golden::position("k7/8/8/8/8/8/4Kp2/6B1 b - - 0 1");
    let wins = [("f2f1n", 0.1), ("f2f1q", 0.9), ("f2g1n", 0.2), ("f2g1q", 0.8)];
    let values = Values::new(wins.map(|(uci, win)| (uci.to_owned(), win)).to_vec()).unwrap();
    assert_eq!(asked(FactKind::WhichOfTwo, &position, Some(&values)), None);
    for kind in FactKind::ALL {
        assert_eq!(FactKind::of_name(kind.name()), Some(kind));
    }
}
