//! The probe: the player answers an item of every form; of a server, what would be sent and what would be read.

use cwm_contract::{Failure, Label, Parameters, ProbeContext, ProbeOutput};
use cwm_questions::prompt::prompt;
use cwm_questions::truth::chess_of_fen;
use cwm_questions::{AnswerType, Form, Item, Metadata, Task, write_line};
use cwm_reasoning::values::Values;
use cwm_reasoning::{RandomChoices, ReasoningTask, TaskOptions, build_item};
use serde_json::json;
use shakmaty::{CastlingMode, Position};

use crate::Answer;
use crate::config::Config;
use crate::question::Prompt;
use crate::server;

/// A position of every kind of item.
const FEN: &str = "r1bqk2r/pppp1ppp/2n2n2/2b1p3/2B1P3/2N2N2/PPPP1PPP/R1BQK2R w KQkq - 6 5";

/// Runs it.
pub fn probe(context: &ProbeContext) -> Result<Option<ProbeOutput>, Failure> {
    let config = Config::read(context.values())
        .map_err(|fault| Failure::input(format!("parameter `{}` {}", fault.parameter, fault.message)))?;
    if config.is_server() {
        let items = Task::published().map(item).chain(graded_items()?);
        let prompts: Result<Vec<Prompt>, Failure> =
            items.map(|item| Ok(Prompt::new(&item, prompt(&item, config.variant())?))).collect();
        return server::probe(&config, &prompts?).map(Some);
    }
    if config.player == "world_model" {
        return Ok(None);
    }
    let path = context.folder().join("items.jsonl");
    let mut file = fs_err::File::create(&path)?;
    for task in Task::published() {
        write_line(&mut file, &item(task))?;
    }
    for item in graded_items()? {
        write_line(&mut file, &item)?;
    }
    let values =
        context.values_with([("nodes", context.at_most("nodes", 100)), ("depth", context.at_most("depth", 2))]);
    context.run(&Answer, "run", &values, &[("items", Label::stage("items"), path)]).map(Some)
}

/// An item of each task of *Reasoning through chess*; the moves are worth the more the later their texts stand in the alphabet.
///
/// # Errors
/// There is none.
pub fn graded_items() -> Result<Vec<Item>, Failure> {
    let (position, _) = chess_of_fen(FEN).map_err(Failure::internal)?;
    let mut moves: Vec<String> =
        position.legal_moves().iter().map(|played| played.to_uci(CastlingMode::Standard).to_string()).collect();
    moves.sort_unstable();
    let last = (moves.len() - 1) as f64;
    let worth = |(place, uci): (usize, String)| (uci, place as f64 / last);
    let values = Values::new(moves.into_iter().enumerate().map(worth).collect()).map_err(Failure::internal)?;
    let mut items = Vec::new();
    for task in ReasoningTask::ALL {
        let draws = &mut RandomChoices::new("probe", 0, 0);
        let item = build_item(task, &position, &values, &TaskOptions::default(), draws);
        let item = item.ok_or_else(|| Failure::internal(format!("no item of {}", task.name())))?;
        items.push(Item { task_id: format!("{}_0000", task.name()), ..item });
    }
    Ok(items)
}

/// An item of the task.
pub fn item(task: Task) -> Item {
    let mut metadata = Metadata::default();
    metadata.insert("target_square", "c4");
    metadata.insert("piece", "White Bishop");
    metadata.insert("move_uci", "c4f7");
    if task.form() == Form::Centipawns {
        metadata.insert("options", json!([-400, -200, 0, 200, 400]));
    }
    if task.form() == Form::Letter {
        metadata.insert("options", json!(["White's bishop takes on f7", "A quiet move", "Black castles", "The end"]));
    }
    let input = if task.form() == Form::Fen { format!("{FEN} | e1g1 e8g8") } else { FEN.to_owned() };
    Item {
        task_id: format!("{task}_0000"),
        task_type: task.name().to_owned(),
        task_category: task.category().name().to_owned(),
        input,
        question: format!("Of {task}.\nCONTEXT_PLACEHOLDER\nAs FORMAT_EXAMPLE_PLACEHOLDER"),
        format_examples: vec!["one".to_owned(), "two".to_owned()],
        correct_answer: if task.answer_type() == AnswerType::Multi {
            "e1g1, d2d3".to_owned()
        } else {
            "e1g1".to_owned()
        },
        answer_type: task.answer_type(),
        metadata,
    }
}
