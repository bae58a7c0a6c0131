//! The item that shows a teacher a line, and the example that its answer becomes.

use cwm_contract::Failure;
use cwm_questions::truth::chess_of_fen;
use cwm_questions::{AnswerType, Item, Metadata};
use shakmaty::{Chess, Move, Position};

use super::GuidedMode;
use crate::board::{BoardForm, board_text};
use crate::example::{Example, Message};
use crate::pieces::{move_in_words, uci};
use crate::reading::last_answer;
use crate::task::CATEGORY;
use crate::texts;

/// A line to explain. Gains are centipawns of the side that begins it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuidedLine {
    /// Its moves, at least one, each legal after those before it.
    pub moves: Vec<Move>,
    /// The gain of the first move.
    pub first_gain: i32,
    /// The gain of the whole line.
    pub gain: i32,
}

/// The item in which a teacher is shown a line from `position`; none if the line has no move. It has no `task_id` yet.
pub fn guided_item(position: &Chess, form: BoardForm, mode: GuidedMode, line: &GuidedLine) -> Option<Item> {
    let first = *line.moves.first()?;
    let mut metadata = Metadata::default();
    metadata.insert("system", texts::TASK);
    metadata.insert("mode", mode.name());
    metadata.insert("line", line.moves.iter().map(|&played| uci(played)).collect::<Vec<_>>());
    metadata.insert("gain", line.gain);
    Some(Item {
        task_id: String::new(),
        task_type: format!("guided_{}", mode.name()),
        task_category: CATEGORY.to_owned(),
        input: board_text(position, BoardForm::Fen),
        question: teachers_question(position, form, mode, line, first),
        format_examples: Vec::new(),
        correct_answer: String::new(),
        answer_type: AnswerType::Graded,
        metadata,
    })
}

/// The example that a teacher's answer to an item of this module is, with the position in a form; none without a text in answer
/// tags.
///
/// # Errors
///
/// The item is none of this module.
pub fn guided_example(item: &Item, answer: &str, form: BoardForm) -> Result<Option<Example>, Failure> {
    let wrong = |what: &str| Failure::input(format!("{}: {what}", item.task_id));
    let (position, _) = chess_of_fen(&item.input).map_err(|what| wrong(&what))?;
    let line = item.metadata.get("line").and_then(|line| line.as_array());
    let first = line.and_then(|line| line.first()?.as_str());
    let first = first.ok_or_else(|| wrong("not of `guided`: its metadata lack a `line`"))?;
    let Some(explanation) = last_answer(answer).filter(|text| !text.is_empty()) else { return Ok(None) };
    let user = format!(
        "Here is a chess position. It is your turn.\n\n{}\n\nShould you play {first}?",
        board_text(&position, form)
    );
    let messages = Message::conversation(texts::EXPLAIN, user, explanation.to_owned());
    let mut example = Example::new("guided", &position, messages);
    example.meta.insert("mode", item.metadata.text("mode").unwrap_or_default());
    example.meta.insert("move", first);
    Ok(Some(example))
}

fn teachers_question(position: &Chess, form: BoardForm, mode: GuidedMode, line: &GuidedLine, first: Move) -> String {
    let mut after = position.clone();
    let mut sentences = String::new();
    for (at, &played) in line.moves.iter().enumerate() {
        let player = if at % 2 == 0 { "You" } else { "Your opponent" };
        sentences += &format!("{}. {player}: {}.\n", at + 1, move_in_words(&after, played));
        after.play_unchecked(played);
    }
    format!(
        "Here is a chess position. It is your turn.\n\n{}\n\n{} A strong engine expects this line, of which the first move changes the \
         value of the position by {:+} centipawns for you:\n{sentences}\nAfter it the position is:\n\n{}\n\nExplain to a player who sees \
         only the first position whether {} should be played. First give reasons from the line and from both positions, then your \
         verdict. Do not mention an engine, centipawns, or that you were shown a line. Write the explanation inside <answer> </answer>.",
        board_text(position, form),
        introduction(mode, line),
        line.first_gain,
        board_text(&after, form),
        uci(first)
    )
}

/// The sentence that introduces the first move by its kind.
fn introduction(mode: GuidedMode, line: &GuidedLine) -> &'static str {
    match (mode, line.first_gain) {
        (GuidedMode::Good, _) => "You consider a move that is strong.",
        (GuidedMode::Blunder, _) if line.gain < 0 => "You consider a move that is a blunder.",
        (GuidedMode::Blunder, _) => "You consider a move after which much changes in your favour.",
        (GuidedMode::Reasonable, ..-50) => "You consider a move that is a little worse than others.",
        (GuidedMode::Reasonable, -50..=50) => "You consider a move that keeps the balance.",
        (GuidedMode::Reasonable, 51..=150) => "You consider a move that gains something.",
        (GuidedMode::Reasonable, _) => "You consider a move that gains much.",
    }
}
