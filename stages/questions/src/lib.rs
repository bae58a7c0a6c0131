//! The stage `questions`: builds the items of the tasks that its inputs allow.
//!
//! - `puzzles`, `games`, `evaluations`: rows of an input, candidates of the tasks. `comments`, `embeddings`: what
//!   Semantic is made of.
//! - `reasoning`: the tasks of Reasoning, and `judges`: those about answers to them. Their items are the work of `cwm-reasoning`.
//!   `wanted`: which tasks are built.
//! - `counts`: what was read, dropped and found. Which rows become items, and the items, are the work of `cwm-questions`.

mod comments;
mod config;
mod counts;
mod embeddings;
mod evaluations;
mod files;
mod games;
mod judges;
mod probe;
mod puzzles;
mod reasoning;
mod run;
mod wanted;

use cwm_contract::{
    Context, Failure, Format, Input, Needs, Output, ParameterError, ParameterSpec, Parameters, ProbeContext,
    ProbeOutput, Stage, Values,
};
use cwm_questions::Task;
use cwm_reasoning::{JudgeTask, ReasoningTask};

use config::Config;

/// The stage `questions`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Questions;

/// The inputs that rows are from.
const SOURCES: [&str; 5] = ["puzzles", "games", "evaluations", "comments", "answers"];

impl Stage for Questions {
    fn kind(&self) -> &'static str {
        "questions"
    }

    fn description(&self) -> &'static str {
        "Builds questions about chess with their true answers: from puzzles, games, evaluated positions and comments; and questions about answers."
    }

    fn inputs(&self) -> Vec<Input> {
        vec![
            Input::optional(
                "puzzles",
                Format::ANY,
                "Puzzles, for Short Tactics, Structural and Motifs: of `analyse`, or Lichess's file, such as `download` fetches it.",
            ),
            Input::optional(
                "games",
                Format::GAMES,
                "Games, for state tracking, and with `positions: games` for the rest of Structural and Motifs.",
            ),
            Input::optional(
                "evaluations",
                Format::ANY,
                "Evaluated positions: for Position Judgement, of `analyse`, or Lichess's JSON lines, such as `download` fetches them; for \
                 Reasoning, of `analyse` with `multipv: all`.",
            ),
            Input::optional_many(
                "apart",
                Format::ITEMS,
                "Items whose boards get no item of Reasoning, such as those that models are judged by.",
            ),
            Input::optional("comments", Format::COMMENTS, "Comments on moves, for Semantic."),
            Input::optional(
                "embeddings",
                Format::EMBEDDINGS,
                "A vector for each comment: for `semantic_embedding`, in place of `semantic_lexical`.",
            ),
            Input::optional("items", Format::ITEMS, "Items of Reasoning, for judges of the answers to them."),
            Input::optional_many("answers", Format::ANSWERS, "The answers of each run that a judge is to judge."),
            Input::optional_many(
                "wording",
                Format::ITEMS,
                "Items whose questions say how each task is worded, such as the published ones; our own wording without them.",
            ),
        ]
    }

    fn check_inputs(&self, inputs: &[&str]) -> Option<String> {
        if inputs.contains(&"embeddings") && !inputs.contains(&"comments") {
            return Some("has embeddings of no comments: it needs an input `comments`".into());
        }
        if inputs.contains(&"apart") && !inputs.contains(&"evaluations") {
            return Some("drops boards of no source: `apart` needs an input `evaluations`".into());
        }
        if inputs.contains(&"answers") != inputs.contains(&"items") {
            return Some("has one of the inputs `items` and `answers`: judges need both".into());
        }
        let has_source = SOURCES.iter().any(|source| inputs.contains(source));
        (!has_source).then(|| format!("has no source: it needs an input {}", SOURCES.join(", or ")))
    }

    fn check_inputs_for(&self, values: &Values, inputs: &[&str]) -> Option<String> {
        let config = Config::read(values).ok()?;
        let wanted = config.wanted().ok()?;
        match (JudgeTask::ALL.into_iter().find(|task| wanted.has(*task)), inputs.contains(&"answers")) {
            (Some(task), false) => {
                return Some(format!("is to build {task}, and needs the inputs `items` and `answers` for it"));
            }
            (None, true) => return Some("has answers, but its `tasks` name none of a judge, such as `judge_*`".into()),
            _ => {}
        }
        // Without them, all of Structural and Motifs would be missing in silence.
        if config.positions == "games" && !inputs.contains(&"games") {
            return Some("has `positions: games`, and needs an input `games` for it".into());
        }
        let tasks = Task::all().map(|task| (task.name(), config.source(task)));
        let reasoned = ReasoningTask::ALL.map(|task| (task.name(), "evaluations"));
        let mut named = tasks.chain(reasoned).filter(|(task, _)| wanted.names(task));
        let (missing, source) = named.find(|(_, source)| !inputs.contains(source))?;
        Some(format!("is to build {missing}, and needs an input `{source}` for it"))
    }

    fn outputs(&self) -> Vec<Output> {
        vec![
            Output::file("items", Format::ITEMS, "jsonl", "The items, by category and task."),
            Output::file("counts", Format::COUNTS, "json", "How much was read, dropped for what, and found."),
        ]
    }

    fn parameters(&self) -> Vec<ParameterSpec> {
        Config::specs()
    }

    fn check(&self, values: &Values) -> Vec<ParameterError> {
        Config::read(values).map_or_else(|fault| vec![fault], |config| config.validate())
    }

    fn unused_parameters(&self, values: &Values) -> Vec<&'static str> {
        Config::read(values).map_or_else(|_| Vec::new(), |config| config.unused_parameters())
    }

    fn needs(&self, _values: &Values) -> Needs {
        Needs { cpu: Some(1), gpu: 0.0, memory: 256 << 20 }
    }

    fn probe(&self, context: &ProbeContext) -> Result<Option<ProbeOutput>, Failure> {
        probe::probe(context).map(Some)
    }

    fn run(&self, context: &Context) -> Result<(), Failure> {
        run::run(context)
    }
}

#[cfg(test)]
mod tests;
