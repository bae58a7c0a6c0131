//! "Reasoning Through Chess" (arXiv 2604.05134): the effect of fine-tuning and reinforcement learning on a
//! model's reasoning.
//!
//! `measured` reads tallies and mixtures and pairs runs before and after reinforcement learning, `gains` compares these
//! item by item, `curves` reads the curves of trainings, `predictors` fits lines; `tables` and `figures` define what is
//! shown, `facts` are the paper's numbers, `published` recognizes the paper's items, `answers` shows answers with their
//! claims marked, and `examples` some examples that models were fine-tuned on.

mod answers;
mod curves;
mod examples;
pub(crate) mod facts;
mod figures;
mod gains;
mod measured;
mod predictors;
mod published;
mod tables;

use cwm_contract::{Context, Failure, Format, Input};
use cwm_page::{Block, Chapter, Section, Widget, escape_controls, number};

use crate::Config;
use crate::papers::Paper;
use curves::Curve;
use facts::Facts;
use gains::Gain;
use measured::{Measurements, TASKS};

/// The paper.
pub(crate) struct Reasoning;

impl Paper for Reasoning {
    fn title(&self) -> &'static str {
        "Reasoning"
    }

    fn inputs(&self) -> Vec<Input> {
        vec![
            Input::optional_many("tallies", Format::TALLIES, "sums of grades"),
            Input::optional_many("grades", Format::GRADES, "grades of answers, to show some of them"),
            Input::optional_many("items", Format::ITEMS, "the items of these grades"),
            Input::optional_many("answers", Format::ANSWERS, "the answers of these grades"),
            Input::optional_many("curves", Format::CURVES, "curves that trainings recorded"),
            Input::optional_many("mixtures", Format::MIXTURE, "what mixes of examples took of their sources"),
            Input::optional_many("examples", Format::EXAMPLES, "data sets of examples, to show the first of each"),
        ]
    }

    fn decisive_inputs(&self) -> &'static [&'static str] {
        &["tallies", "grades"]
    }

    fn chapter(&self, context: &Context, config: &Config) -> Result<Option<Chapter>, Failure> {
        let facts = Facts::load();
        let measured = Measurements::read(context, &facts)?;
        let answers = answers::answers(context, config.answer_bytes)?;
        let examples = examples::examples(context)?;
        if measured.is_empty() && answers.is_none() && measured.mixtures.is_empty() && examples.is_none() {
            return Ok(None);
        }
        let gains = gains::gains(context, &measured)?;
        let curves = curves::read(context.group("curves"))?;
        let mut sections = sections(&measured, &gains, &curves, examples, &facts);
        let answers = answers.into_iter().map(Block::Widget).collect();
        sections.push(Section::new(&id("answers"), "Answers with their claims", "Answers", answers));
        sections.push(Section::new(&id("paper"), "What the paper prints besides", "The paper", paper(&facts)));
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
const NOTE: &str = "Beside our numbers stand those of \"Reasoning Through Chess: How Reasoning Evolves from Data Through Fine-Tuning and \
     Reinforcement Learning\" (arXiv 2604.05134), where a run has the name of the paper's row and was given the published items; elsewhere \
     the paper's rows stand by themselves.";

/// The share of the tokens that were wanted; a mix with a smaller one has a note.
const LEAST_SHARE: f64 = 0.95;

/// A name of a table, figure or section, with the word of this paper before it.
fn id(name: &str) -> String {
    format!("reasoning-{name}")
}

fn summary(measured: &Measurements) -> String {
    let pairs = 2 * measured.experiments.iter().filter(|one| one.before.is_some() && one.after.is_some()).count();
    format!(
        "What must a model be fine-tuned on so that reinforcement learning makes it reason: better moves, fewer false statements, an answer \
         that follows from what was written before? This page has {} of models and players; of these, {} are models before and after reinforcement learning.",
        number::plural(measured.runs().count(), "run"),
        pairs,
    )
}

/// Returns the warnings that a reader should see before any number.
fn warnings(measured: &Measurements) -> Vec<String> {
    let mut warnings = vec![
        "Rewards are exact: each legal move has the win probability that an engine gives it. Intervals are over items. Whether a claim is true \
         is decided by rule, in the position of the item: the later moves of a line count as false if they are not legal there, unless `grade` \
         has `claims: line`."
            .to_owned(),
    ];
    if !measured.is_empty() && !TASKS.iter().all(|task| measured.is_published(task)) {
        warnings.push(
            "Not all items are the published ones: of other items the paper's rows stand by themselves.".to_owned(),
        );
    }
    for (name, _, mixture) in &measured.mixtures {
        if (mixture.tokens as f64) < LEAST_SHARE * mixture.budget as f64 {
            let [tokens, budget] = [mixture.tokens, mixture.budget].map(number::count);
            let dry = mixture.sources.iter().find(|source| source.exhausted);
            let why =
                dry.map_or(String::new(), |source| format!(", since {} ran dry", escape_controls(&source.source)));
            warnings.push(format!("The mix of {name} has {tokens} tokens of the {budget} that were wanted{why}."));
        }
    }
    warnings
}

/// The sections of what was measured, whether there is anything for them or not.
fn sections(
    measured: &Measurements,
    gains: &[Gain],
    curves: &[Curve],
    examples: Option<Widget>,
    facts: &Facts,
) -> Vec<Section> {
    let results = vec![
        Block::Figure(figures::models(measured, facts)),
        Block::Table(tables::table_1(measured, facts)),
        Block::Table(tables::table_2(measured, facts)),
        Block::Figure(figures::data_sets(measured, facts)),
    ];
    let learning = vec![
        Block::Figure(figures::training(curves)),
        Block::Table(tables::gains(gains)),
        Block::Table(tables::rewards(measured)),
    ];
    let moves = vec![
        Block::Figure(figures::quality(measured, facts)),
        Block::Table(tables::quality(measured)),
        Block::Table(tables::gaming(measured)),
    ];
    let claims = vec![
        Block::Figure(figures::claims(measured, facts)),
        Block::Table(tables::claims(measured)),
        Block::Table(tables::grounded(measured)),
    ];
    let judges =
        vec![Block::Figure(figures::points(measured, facts)), Block::Figure(figures::strategies(measured, facts))];
    let lines = predictors::predictors(measured, facts);
    let predictors = vec![Block::Figure(figures::predictors(&lines)), Block::Table(tables::predictors(&lines))];
    let mut data = vec![Block::Figure(figures::mixtures(measured)), Block::Table(tables::mixtures(measured))];
    data.extend(examples.map(Block::Widget));
    vec![
        Section::new(&id("results"), "Models on the four tasks", "Results", results),
        Section::new(&id("learning"), "What reinforcement learning changes", "Learning", learning),
        Section::new(&id("moves"), "How good the moves are", "Moves", moves),
        Section::new(&id("statements"), "What thinking claims", "Claims", claims),
        Section::new(&id("judges"), "How a judge rates the thinking", "Judges", judges),
        Section::new(&id("forecasts"), "What foretells the final model", "Predictors", predictors),
        Section::new(&id("data"), "What models were fine-tuned on", "Data", data),
        Section::new(
            &id("reading"),
            "Two ways to read an answer",
            "Readings",
            vec![Block::Table(tables::readings(measured))],
        ),
    ]
}

fn paper(facts: &Facts) -> Vec<Block> {
    let [sft, rl] = facts.parameters();
    [facts.judges(), sft, rl, facts.words(), facts.settings()].map(Block::Table).into()
}
