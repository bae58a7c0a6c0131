//! The chapter of questions, on made-up tallies and answers.

mod failures;
mod tables;

use std::path::{Path, PathBuf};

use cwm_answers::{
    Answer, AnswersWriter, Grade, GradesDescription, GradesWriter, ItemCount, PairTally, PlayerSettings, Tallies, Tally,
};
use cwm_contract::testing::Trial;

use super::{label, lines, names, read, run};
use crate::papers::questions::facts::PUBLISHED;

/// A task of each category.
const TASKS: [(&str, &str); 5] = [
    ("Structural", "structural_check_in_1"),
    ("Motifs", "motifs_pin"),
    ("Short Tactics", "short_tactics_rating_expert"),
    ("Position Judgement", "position_judgement_winning"),
    ("Semantic", "semantic_keyword"),
];

/// A run of the paper's model, asked in this way.
fn gpt(reasoning: &str, context: &str) -> PlayerSettings {
    PlayerSettings {
        name: "GPT-5".into(),
        player: Some("server".into()),
        model: Some("gpt-5".into()),
        context: Some(context.into()),
        examples: Some(1),
        max_tokens: Some(if reasoning == "none" { 8_192 } else { 32_768 }),
        reasoning: Some(reasoning.into()),
        ..PlayerSettings::default()
    }
}

/// A tally of 100 items.
fn tally(run: &PlayerSettings, correct: u64) -> Tally {
    let accuracy = correct as f64 / 100.0;
    Tally {
        run: run.full_name(),
        items: 100,
        correct,
        accuracy,
        low: accuracy - 0.01,
        high: accuracy + 0.01,
        sound: correct + 2,
        format_cost: 3,
        key_cost: 1,
        wrong_answer: 90 - correct,
        format_error: 10,
        illegal_move: 4,
        with_tokens: 100,
        prompt_tokens: Some(30_000),
        completion_tokens: Some(20_000),
        total_tokens: Some(50_000),
        with_cost: 100,
        cost: Some(0.5),
        ..Tally::default()
    }
}

/// Tallies of these runs with their numbers of correct answers of 100, overall and in each category; of the published
/// items, or of others.
fn tallies(runs: &[(PlayerSettings, u64)], published: bool) -> Tallies {
    let digest = |digest: &str| if published { digest.to_owned() } else { "0".repeat(64) };
    let mut tallies = Tallies {
        graded: GradesDescription {
            runs: runs.iter().map(|(run, _)| (run.full_name(), run.clone())).collect(),
            items: PUBLISHED.iter().map(|(category, known)| ((*category).to_owned(), digest(known))).collect(),
            ..GradesDescription::default()
        },
        ..Tallies::default()
    };
    for (at, (run, correct)) in runs.iter().enumerate() {
        tallies.overall.push(tally(run, *correct));
        for (category, task) in TASKS {
            let of_category = Tally { category: Some(category.into()), ..tally(run, *correct) };
            tallies.tasks.push(Tally { task: Some(task.into()), ..of_category.clone() });
            tallies.categories.push(of_category);
        }
        for (other, other_correct) in &runs[at + 1..] {
            let difference = (*correct as f64 - *other_correct as f64) / 100.0;
            tallies.pairs.push(PairTally {
                run: run.full_name(),
                other: other.full_name(),
                items: 100,
                agreement: 75,
                both_correct: 25,
                difference,
                low: difference - 0.02,
                high: difference + 0.01,
            });
        }
    }
    tallies.items = TASKS
        .map(|(category, task)| ItemCount {
            task: task.into(),
            category: category.into(),
            items: 20,
            positions: 19,
            chance: 0.25,
        })
        .into();
    tallies
}

fn report_of(folder: &Path, tallies: &Tallies) -> PathBuf {
    let path = folder.join("tallies");
    tallies.write(&path).unwrap();
    run(Trial::new(folder.join("trial")).labelled("tallies", label("grades"), path)).unwrap()
}
