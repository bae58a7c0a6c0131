//! The builder `factual`.

use shakmaty::Chess;

use super::{FactKind, Facts};
use crate::board::BoardForm;
use crate::direct::direct;
use crate::draws::RandomChoices;
use crate::example::Example;
use crate::values::Values;

/// An example of 4, 5 or 6 questions about a position, drawn without replacement from as many of each kind as its
/// weight (such as [`FactKind::PUBLISHED`]), no question twice. Two of the kinds need `values`. None if the position
/// has too few questions.
pub fn factual(
    position: &Chess,
    values: Option<&Values>,
    form: BoardForm,
    weights: &[(FactKind, usize)],
    draws: &mut RandomChoices,
) -> Option<Example> {
    let wanted = draws.between(4, 6) as usize;
    let drawn = questions(&Facts::of(position, values), wanted, weights, draws)?;
    let (questions, answers): (Vec<String>, Vec<String>) =
        drawn.into_iter().map(|one| (one.question, one.answer)).unzip();
    let mut example = direct("factual", position, form, &questions, &answers.join(" "));
    example.meta.insert("questions", wanted);
    Some(example)
}

/// A question about a position, with its answer.
pub(super) struct Question {
    pub(super) kind: FactKind,
    pub(super) question: String,
    pub(super) answer: String,
}

/// Draws the questions of an example. A kind leaves the pool when it has no question, or as many as it may; a draw
/// that repeats a question is spent.
pub(super) fn questions(
    facts: &Facts,
    wanted: usize,
    weights: &[(FactKind, usize)],
    draws: &mut RandomChoices,
) -> Option<Vec<Question>> {
    let mut pool: Vec<FactKind> =
        weights.iter().flat_map(|(kind, weight)| std::iter::repeat_n(*kind, *weight)).collect();
    draws.shuffle(&mut pool);
    let mut drawn: Vec<Question> = Vec::with_capacity(wanted);
    let mut failed: Vec<FactKind> = Vec::new();
    for kind in pool {
        if drawn.len() == wanted {
            break;
        }
        let of_kind = drawn.iter().filter(|one| one.kind == kind).count();
        if failed.contains(&kind) || of_kind == kind.most() {
            continue;
        }
        match kind.draw(facts, draws) {
            None => failed.push(kind),
            Some((question, answer)) if !drawn.iter().any(|one| kind.repeats(&one.question, &question)) => {
                drawn.push(Question { kind, question, answer });
            }
            Some(_) => (),
        }
    }
    (drawn.len() == wanted).then_some(drawn)
}
