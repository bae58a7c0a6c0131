//! One answer as markup.

use askama::Template;
use cwm_contract::Failure;
use cwm_page::{escape_controls, number};
use cwm_questions::prompt::{PromptContext, Variant, prompt};
use cwm_questions::truth::{Keys, key};

use crate::papers::board::{Piece, placed};
use crate::papers::shown_answers::{LONGEST, ShownAnswer, beginning, lines};

#[derive(Template)]
#[template(path = "questions/failure.html")]
struct View {
    task_id: String,
    /// The verdict and the faults.
    verdict: String,
    board: Option<Board>,
    question: String,
    response: String,
    /// The number of characters left out of the response, if any.
    cut: Option<String>,
    extracted: Option<String>,
    key: String,
    /// The sound answer, where it differs from the key.
    sound_key: Option<String>,
    sound: &'static str,
}

struct Board {
    fen: String,
    pieces: Vec<Piece>,
}

/// Draws the answer as markup.
///
/// # Errors
/// A mistake of ours.
pub(super) fn draw(shown: &ShownAnswer) -> Result<String, Failure> {
    let ShownAnswer { item, grade, answer, .. } = shown;
    let (response, cut) = end(answer.response.as_deref().unwrap_or_default());
    let more = [grade.fault.as_deref(), answer.fault.as_deref()].into_iter().flatten();
    let view = View {
        task_id: escape_controls(&grade.task_id),
        verdict: std::iter::once(grade.verdict.as_str()).chain(more).map(beginning).collect::<Vec<_>>().join(", "),
        board: board(&item.input),
        question: beginning(&question(shown)),
        response,
        cut: (cut > 0).then(|| number::count(cut as u64)),
        extracted: grade.extracted.as_deref().map(beginning),
        key: beginning(&item.correct_answer),
        // An item of another benchmark has no sound answer.
        sound_key: key(item, Keys::Sound)
            .ok()
            .flatten()
            .filter(|key| *key != item.correct_answer)
            .map(|key| beginning(&key)),
        sound: match grade.sound {
            Some(true) => "sound",
            Some(false) => "not sound",
            None => "not known whether sound",
        },
    };
    view.render().map_err(|error| Failure::internal(format!("cannot draw an answer: {error}")))
}

/// The board of an input, which may have moves after a `|`; `None` where it is no position.
fn board(input: &str) -> Option<Board> {
    let fen = input.split(" | ").next().unwrap_or_default();
    let pieces = placed(fen);
    (!pieces.is_empty()).then(|| Board { fen: escape_controls(fen), pieces })
}

/// The prompt of the run, or the bare question where that cannot be made.
fn question(shown: &ShownAnswer) -> String {
    let run = shown.run.as_ref();
    let context = run.and_then(|run| PromptContext::of_name(run.context.as_deref()?)).unwrap_or_default();
    let variant = Variant { context, second_example: run.and_then(|run| run.examples) == Some(2) };
    prompt(&shown.item, variant).unwrap_or_else(|_| shown.item.question.clone())
}

/// Returns the end of a text, safe to show, and the number of characters left out.
fn end(text: &str) -> (String, usize) {
    let cut = text.chars().count().saturating_sub(LONGEST);
    (lines(&text.chars().skip(cut).collect::<String>()), cut)
}
