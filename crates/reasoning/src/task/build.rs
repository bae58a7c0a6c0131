//! Items from a position and the values of its moves.

use cwm_encoding::PlainMove;
use cwm_questions::truth::role_name;
use cwm_questions::{AnswerType, Item, Metadata};
use serde_json::Value;
use shakmaty::{Chess, Position, Square};

use super::wording::{list, question};
use super::{CATEGORY, ReasoningTask, TaskOptions};
use crate::board::{BoardForm, board_text};
use crate::draws::RandomChoices;
use crate::pieces::{color_word, uci};
use crate::texts;
use crate::values::Values;

/// The item of a task about a position, whose legal moves have these values; none if the position does not allow one. It has no
/// `task_id` yet.
pub fn build_item(
    task: ReasoningTask,
    position: &Chess,
    values: &Values,
    options: &TaskOptions,
    draws: &mut RandomChoices,
) -> Option<Item> {
    let asked = match task {
        ReasoningTask::PredictMove => predict_move(values, options),
        ReasoningTask::BestMove | ReasoningTask::WorstMove => among_candidates(task, values, options, draws),
        ReasoningTask::LegalMoves => legal_moves(position, options, draws),
    }?;
    Some(item(task, position, values, options, asked))
}

/// The parts in which items of a position differ.
struct ItemDetails {
    /// The subject of the question: candidates, or a piece.
    subject: String,
    correct_answer: String,
    metadata: Vec<(&'static str, Value)>,
}

fn item(task: ReasoningTask, position: &Chess, values: &Values, options: &TaskOptions, asked: ItemDetails) -> Item {
    let mut metadata = Metadata::default();
    metadata.insert("system", texts::TASK);
    for (name, value) in asked.metadata {
        metadata.insert(name, value);
    }
    metadata.insert("values", values.to_json());
    Item {
        task_id: String::new(),
        task_type: task.name().to_owned(),
        task_category: CATEGORY.to_owned(),
        input: board_text(position, BoardForm::Fen),
        question: question(task, &board_text(position, options.board), &asked.subject),
        format_examples: Vec::new(),
        correct_answer: asked.correct_answer,
        answer_type: AnswerType::Graded,
        metadata,
    }
}

/// Any move can be answered: the key lists the best ones.
fn predict_move(values: &Values, options: &TaskOptions) -> Option<ItemDetails> {
    let best = values.best().1;
    let all_best: Vec<&str> = values.iter().filter(|(_, win)| *win == best).map(|(uci, _)| uci).collect();
    let enough = values.len() >= options.min_moves;
    enough.then(|| ItemDetails { subject: String::new(), correct_answer: all_best.join(", "), metadata: Vec::new() })
}

/// The answer, and all moves that may stand beside it: those beyond the threshold.
pub(super) fn answer_and_pool(task: ReasoningTask, values: &Values, threshold: f64) -> (&str, Vec<&str>) {
    let wants_best = task == ReasoningTask::BestMove;
    let (answer, value) = if wants_best { values.best() } else { values.worst() };
    let is_beyond = |win: f64| if wants_best { win < value - threshold } else { win > value + threshold };
    (answer, values.iter().filter(|(_, win)| is_beyond(*win)).map(|(uci, _)| uci).collect())
}

fn among_candidates(
    task: ReasoningTask,
    values: &Values,
    options: &TaskOptions,
    draws: &mut RandomChoices,
) -> Option<ItemDetails> {
    let (answer, mut candidates) = answer_and_pool(task, values, options.threshold);
    let others = options.candidates.saturating_sub(1);
    if candidates.len() < others {
        return None;
    }
    draws.shuffle(&mut candidates);
    candidates.truncate(others);
    candidates.push(answer);
    draws.shuffle(&mut candidates);
    Some(ItemDetails {
        subject: list(&candidates),
        correct_answer: answer.to_owned(),
        metadata: vec![("candidates", candidates.into())],
    })
}

/// The legal moves of the pieces that have enough, by their squares, in the order of their texts.
pub(super) fn moves_of_pieces(position: &Chess, least: usize) -> Vec<(Square, Vec<String>)> {
    let legal = position.legal_moves();
    let moves_from = |square| {
        let from = legal.iter().filter(|played| PlainMove::from(**played).from == square);
        let mut moves: Vec<String> = from.map(|&played| uci(played)).collect();
        moves.sort_unstable();
        moves
    };
    let of_square = position.us().into_iter().map(|square| (square, moves_from(square)));
    of_square.filter(|(_, moves)| !moves.is_empty() && moves.len() >= least).collect()
}

fn legal_moves(position: &Chess, options: &TaskOptions, draws: &mut RandomChoices) -> Option<ItemDetails> {
    let pieces = moves_of_pieces(position, options.legal_min);
    let (square, moves) = draws.one_of(&pieces)?;
    let piece = position.board().piece_at(*square)?;
    let piece = format!("{} {}", color_word(piece.color), role_name(piece.role));
    Some(ItemDetails {
        subject: format!("{piece} at {square}"),
        correct_answer: moves.join(", "),
        metadata: vec![("square", square.to_string().into()), ("piece", piece.into())],
    })
}
