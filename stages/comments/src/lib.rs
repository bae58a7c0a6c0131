//! The stage `comments`: comments on moves, from annotated games, or written by rules.
//!
//! - `annotated`: the comments of the main line of a PGN's games. `sentences`: what rules see of a move, as sentences.
//! - `comment_filter`: which comments are kept. `clean`, `names`: what is taken out of them, by rules.
//! - `by_model`: the items about comments for a model, and the results of its answers.
//!
//! It must not depend on what comments are used for.

mod annotated;
mod by_model;
mod clean;
mod comment_filter;
mod config;
mod facts;
mod keywords;
mod names;
mod output;
mod probe;
mod run;
mod sentences;
mod written;

use cwm_contract::{
    Context, Failure, Format, Input, Needs, Output, ParameterSpec, Parameters, ProbeContext, ProbeOutput, Stage, Values,
};

use config::Config;

/// The stage `comments`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Comments;

impl Stage for Comments {
    fn kind(&self) -> &'static str {
        "comments"
    }

    fn description(&self) -> &'static str {
        "Collects the comments on moves of annotated games, or writes some by rules."
    }

    fn inputs(&self) -> Vec<Input> {
        vec![
            Input::optional_many("pgn", Format::PGN, "Annotated games: files, plain or compressed."),
            Input::optional("games", Format::GAMES, "In place of `pgn`: games whose comments are written by rules."),
            Input::optional(
                "answers",
                Format::ANSWERS,
                "With `clean: model`: a model's answers to the output `items` of this stage.",
            ),
        ]
    }

    fn check_inputs(&self, inputs: &[&str]) -> Option<String> {
        match ["pgn", "games"].map(|name| inputs.contains(&name)) {
            [false, false] => Some("has no games: it needs an input `pgn`, or `games`".into()),
            [true, true] => Some("has two sources: it takes an input `pgn` or `games`, not both".into()),
            [false, true] if inputs.contains(&"answers") => {
                Some("takes an input `answers` only with `pgn`: what rules write needs no cleaning".into())
            }
            _ => None,
        }
    }

    fn check_inputs_for(&self, values: &Values, inputs: &[&str]) -> Option<String> {
        Config::read(values).ok()?.problem_with(inputs.contains(&"answers"))
    }

    fn outputs(&self) -> Vec<Output> {
        vec![
            Output::file("comments", Format::COMMENTS, "jsonl", "The kept comments in the order of the games."),
            Output::file("items", Format::ITEMS, "jsonl", "What a model is to be asked about the comments of `pgn`."),
            Output::file("counts", Format::COUNTS, "json", "How many comments were kept, and dropped for what."),
        ]
    }

    fn parameters(&self) -> Vec<ParameterSpec> {
        Config::specs()
    }

    fn needs(&self, _values: &Values) -> Needs {
        Needs { cpu: Some(1), gpu: 0.0, memory: 512 << 20 }
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
