//! One answer as markup.

use askama::Template;
use cwm_contract::Failure;
use cwm_page::{escape_controls, number};
use cwm_reasoning::{ClaimRule, Claims, Verifier};

use super::marked::{Part, marked};
use crate::papers::board::{Piece, SIDE, placed};
use crate::papers::shown_answers::{ShownAnswer, beginning};

/// Moves with an arrow: the best ones.
const ARROWS: usize = 3;

#[derive(Template)]
#[template(path = "reasoning/answer.html")]
struct View {
    task_id: String,
    verdict: String,
    reward: String,
    board: Board,
    arrows: Vec<Arrow>,
    answer: Option<String>,
    key: String,
    /// The best moves with their win probabilities, in percent.
    values: Vec<(String, String)>,
    question: String,
    thinking: Vec<Part>,
    /// The number of characters left out of the thinking, if any.
    cut: Option<String>,
    claims: String,
}

struct Board {
    fen: String,
    pieces: Vec<Piece>,
}

/// An arrow between the middles of two squares.
struct Arrow {
    class: &'static str,
    from: (usize, usize),
    to: (usize, usize),
}

/// Draws the answer as markup.
///
/// # Errors
/// The item is none of this paper's tasks, or a mistake of ours.
pub(super) fn draw(shown: &ShownAnswer) -> Result<String, Failure> {
    let ShownAnswer { item, grade, answer, .. } = shown;
    let verifier = Verifier::new(item)?;
    let text = answer.whole_text();
    // The rule by which the grade counted: `line` accepts all that the other rule does, so equal counts mean equal
    // claims.
    let of_grade = |claims: &Claims| grade.true_move_claims.is_none_or(|count| count == claims.true_moves() as u64);
    let by_rule = ClaimRule::ALL.map(|rule| verifier.claims(&text, rule));
    let claims = by_rule.iter().find(|claims| of_grade(claims)).unwrap_or(&by_rule[0]);
    let (thinking, cut) = marked(&text, claims);
    let mut best: Vec<(&str, f64)> = verifier.values().map_or_else(Vec::new, |values| values.iter().collect());
    best.sort_by(|one, other| other.1.total_cmp(&one.1));
    best.truncate(ARROWS);
    let read = grade.extracted.as_deref();
    let mut arrows: Vec<Arrow> = best.iter().filter_map(|(uci, _)| arrow("arrow-best", uci)).collect();
    arrows.extend(read.and_then(|uci| arrow("arrow-answer", uci)));
    let of_claims = claims.moves.len() + claims.pieces.len();
    let view = View {
        task_id: escape_controls(&grade.task_id),
        verdict: escape_controls(&grade.verdict),
        reward: grade.reward.map_or("–".to_owned(), number::two_decimals),
        board: Board { fen: escape_controls(&item.input), pieces: placed(&item.input) },
        arrows,
        answer: read.map(beginning),
        key: beginning(&item.correct_answer),
        values: best.iter().map(|(uci, win)| ((*uci).to_owned(), number::percent(*win))).collect(),
        question: beginning(&item.question),
        thinking,
        cut: (cut > 0).then(|| number::count(cut as u64)),
        claims: format!("{} of {of_claims} claims are true", claims.true_moves() + claims.true_pieces()),
    };
    view.render().map_err(|error| Failure::internal(format!("cannot draw an answer: {error}")))
}

/// The arrow of a move; `None` for other text.
fn arrow(class: &'static str, uci: &str) -> Option<Arrow> {
    let square = |at: usize| {
        let bytes = uci.as_bytes().get(at..at + 2)?;
        let file = usize::from(bytes[0].checked_sub(b'a').filter(|file| *file < 8)?);
        let rank = usize::from(bytes[1].checked_sub(b'1').filter(|rank| *rank < 8)?);
        Some((file * SIDE + SIDE / 2, (7 - rank) * SIDE + SIDE / 2))
    };
    let (from, to) = (square(0)?, square(2)?);
    (uci.len() <= 5 && from != to).then_some(Arrow { class, from, to })
}
