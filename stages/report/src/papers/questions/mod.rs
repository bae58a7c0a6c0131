//! "ChessQA: Evaluating Large Language Models for Chess Understanding" (arXiv 2510.23948): the understanding of chess
//! in language models.
//!
//! `measured` reads tallies, `tables` and `figures` define what is shown, `facts` are the paper's numbers, and
//! `failures` shows answers that are not correct.

pub(crate) mod facts;
mod failures;
mod figures;
mod measured;
mod tables;

use cwm_contract::{Context, Failure, Format, Input};
use cwm_page::{Block, Chapter, Section, number};

use crate::Config;
use crate::papers::Paper;
use facts::Facts;
use measured::Measurements;

/// The paper.
pub(crate) struct Questions;

impl Paper for Questions {
    fn title(&self) -> &'static str {
        "Questions"
    }

    fn inputs(&self) -> Vec<Input> {
        vec![
            Input::optional_many("tallies", Format::TALLIES, "sums of grades"),
            Input::optional_many("grades", Format::GRADES, "grades of answers, to show some of them"),
            Input::optional_many("items", Format::ITEMS, "the items of these grades"),
            Input::optional_many("answers", Format::ANSWERS, "the answers of these grades"),
        ]
    }

    fn decisive_inputs(&self) -> &'static [&'static str] {
        &["tallies", "grades"]
    }

    fn check_inputs(&self, inputs: &[&str]) -> Option<String> {
        let shown = ["grades", "items", "answers"];
        let missing: Vec<&str> = shown.into_iter().filter(|input| !inputs.contains(input)).collect();
        let some = !missing.is_empty() && missing.len() < shown.len();
        some.then(|| format!("needs {} as well, to show answers with their questions and verdicts", missing.join(", ")))
    }

    fn chapter(&self, context: &Context, config: &Config) -> Result<Option<Chapter>, Failure> {
        let measured = Measurements::read(context.group("tallies"))?;
        let failures = failures::failures(context, config.answer_bytes)?;
        if measured.runs.is_empty() && failures.is_none() {
            return Ok(None);
        }
        let facts = Facts::load();
        let mut sections = sections(&measured, &facts);
        let failures = failures.into_iter().map(Block::Widget).collect();
        sections.push(Section::new(&id("failures"), "Answers that are not correct", "Answers", failures));
        sections.push(Section::new(&id("paper"), "What the paper says in words", "The paper", words(&facts)));
        Ok(Some(Chapter {
            title: self.title().to_owned(),
            summary: summary(&measured),
            warnings: warnings(&measured),
            highlight: None,
            comparison_note: NOTE.to_owned(),
            sections,
            labels: measured.labels,
        }))
    }
}

/// The source of the numbers beside ours.
const NOTE: &str = "Beside our numbers stand those of \"ChessQA: Evaluating Large Language Models for Chess Understanding\" (arXiv 2510.23948), \
     where a run has the paper's name (a star marks reasoning) and was asked the published items; elsewhere the paper's rows stand by \
     themselves. Most numbers of its figures are in pictures alone, which our copy lacks.";

/// Returns true for a category of this paper, and for one that no paper of ours has. Answers of judges are no answers
/// to questions of chess.
fn is_question(category: &str) -> bool {
    ![cwm_reasoning::CATEGORY, cwm_reasoning::JUDGES].contains(&category)
}

/// A name of a table, figure or section, with the word of this paper before it.
fn id(name: &str) -> String {
    format!("questions-{name}")
}

fn summary(measured: &Measurements) -> String {
    let items: u64 = measured.items.iter().map(|(_, count)| count.items).sum();
    format!(
        "What does a language model understand of chess: rules, patterns, short calculation, judgement and commentary? This page has {} on {} \
         items of {}.",
        number::plural(measured.runs.len(), "run"),
        number::count(items),
        number::plural(measured.items.len(), "task"),
    )
}

/// Returns the warnings that a reader should see before any number.
fn warnings(measured: &Measurements) -> Vec<String> {
    let mut warnings = vec![
        "An answer is correct if it is the item's key, by the published rule; it is sound if a chess player who follows the prompt would be \
         right. Intervals are over items within tasks."
            .to_owned(),
    ];
    if measured.runs.iter().any(|run| !measured.is_published(run, None)) {
        warnings.push(
            "Not all items are the published ones: of other items the paper's rows stand by themselves.".to_owned(),
        );
    }
    let scripted = ["oracle", "random", "rules", "engine", "world_model"];
    let is_scripted =
        |run: &&measured::MeasuredRun| run.settings.player.as_deref().is_some_and(|kind| scripted.contains(&kind));
    if measured.runs.iter().any(|run| is_scripted(&run)) {
        warnings.push(
            "Scripted players do not read prompts: context and examples change none of their answers.".to_owned(),
        );
    }
    warnings
}

/// The sections of what was measured, whether there is anything for them or not.
fn sections(measured: &Measurements, facts: &Facts) -> Vec<Section> {
    let accuracy = vec![
        Block::Figure(figures::accuracy(measured, facts)),
        Block::Table(tables::categories(measured, facts)),
        Block::Table(tables::tasks(measured)),
    ];
    let verdicts = vec![
        Block::Figure(figures::verdicts(measured)),
        Block::Table(tables::verdicts(measured)),
        Block::Table(tables::sound(measured)),
    ];
    let cost = vec![
        Block::Figure(figures::tokens_and_accuracy(measured)),
        Block::Figure(figures::cost_and_accuracy(measured)),
        Block::Figure(figures::tokens(measured, facts)),
        Block::Table(tables::tokens(measured, facts)),
        Block::Table(tables::cost(measured, facts)),
    ];
    let prompts =
        vec![Block::Table(tables::context(measured, facts)), Block::Table(tables::reasoning(measured, facts))];
    let agreement = vec![Block::Figure(figures::agreement(measured)), Block::Table(tables::agreement(measured))];
    let items = vec![Block::Figure(figures::items(measured)), Block::Table(tables::items(measured, facts))];
    vec![
        Section::new(&id("accuracy"), "Right answers by category and task", "Accuracy", accuracy),
        Section::new(&id("kinds"), "What wrong answers are", "Verdicts", verdicts),
        Section::new(&id("prices"), "Tokens and dollars", "Cost", cost),
        Section::new(&id("prompts"), "What prompts and reasoning change", "Prompts", prompts),
        Section::new(&id("pairs"), "Two runs on the same items", "Agreement", agreement),
        Section::new(&id("asked"), "The items", "Items", items),
    ]
}

fn words(facts: &Facts) -> Vec<Block> {
    let table = facts::words_of_table;
    vec![
        Block::Table(facts.words()),
        Block::Table(table("1", "prior", "Earlier benchmarks", "Table 1, Section 2")),
        Block::Table(table("2", "structural", "Structural tasks", "Table 2, Section 3.3")),
        Block::Table(table("3", "motifs", "Motifs", "Table 3, Section 3.3")),
        Block::Table(facts::parameters()),
    ]
}
