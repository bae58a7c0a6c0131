//! Players that need no model, on the published items.

use std::collections::BTreeMap;

use crate::golden::published;
use crate::truth::chess_of_fen;
use crate::truth::tactics::mating_moves;
use crate::truth::uci::moves_text;
use crate::truth::{Keys, grid, nearest, rules};
use crate::{Category, answer_at_random, answer_by_rules};

/// The counts of right answers by task, or of all themes together, that were measured with python-chess.
#[test]
fn mates_and_material_solve_as_many_items_as_measured() {
    let Some(items) = published() else { return };
    let mut right: BTreeMap<String, u32> = BTreeMap::new();
    for item in items {
        let answer = match item.task().unwrap().category() {
            Category::ShortTactics => {
                let (position, _) = chess_of_fen(&item.input).unwrap();
                mating_moves(&position).into_iter().min().map(|mate| moves_text(vec![mate]))
            }
            Category::PositionJudgement => {
                let material = rules::material(&item.input).unwrap();
                nearest(&grid(&item).unwrap(), material).map(|option| option.to_string())
            }
            _ => continue,
        };
        let kind = item.task_type.rsplit('_').next().unwrap();
        let kind = if item.task_type.contains("theme") { "theme" } else { kind };
        *right.entry(kind.to_owned()).or_default() += u32::from(answer.as_deref() == Some(&item.correct_answer));
    }
    let measured = [
        ("advanced", 5),
        ("advantage", 10),
        ("beginner", 39),
        ("disadvantage", 31),
        ("expert", 1),
        ("intermediate", 17),
        ("losing", 28),
        ("neutral", 76),
        ("theme", 57),
        ("winning", 4),
    ];
    assert_eq!(right, measured.map(|(kind, count)| (kind.to_owned(), count)).into());
}

#[test]
fn rules_know_all_structural_items_and_motifs_and_win_material_elsewhere() {
    let Some(items) = published() else { return };
    let mut right: BTreeMap<Category, usize> = BTreeMap::new();
    for item in &items {
        let answer = answer_by_rules(item, Keys::Published).unwrap();
        let entries = |list: &str| {
            let mut entries: Vec<_> = list.split(", ").map(str::to_owned).collect();
            entries.sort();
            entries
        };
        let is_right = entries(&answer) == entries(&item.correct_answer);
        *right.entry(item.task().unwrap().category()).or_default() += usize::from(is_right);
    }
    println!("right by rules: {right:?}");
    assert_eq!((right[&Category::Structural], right[&Category::Motifs]), (1_100, 600));
    // 119 are mates in one.
    assert!(right[&Category::ShortTactics] > 200);
}

#[test]
fn random_answers_are_at_chance_level() {
    let Some(items) = published() else { return };
    let mut right: BTreeMap<Category, usize> = BTreeMap::new();
    for item in &items {
        let answer = answer_at_random(item, 0, 0).unwrap();
        assert_eq!(answer, answer_at_random(item, 0, 0).unwrap());
        *right.entry(item.task().unwrap().category()).or_default() += usize::from(answer == item.correct_answer);
    }
    println!("right at random: {right:?}");
    assert_eq!((right[&Category::Structural], right[&Category::Motifs]), (0, 0));
    // 100 of 500 and 41 of 900 are expected, with standard deviations of 9 and 6.
    assert!((73..127).contains(&right[&Category::PositionJudgement]));
    assert!((23..60).contains(&right[&Category::ShortTactics]));
}
