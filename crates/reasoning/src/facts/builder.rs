//! The builder `factual`.

use shakmaty::Chess;

use super::Facts;
use super::question::Kind;
use crate::board::BoardForm;
use crate::direct::direct;
use crate::draws::Draws;
use crate::example::Example;

/// Asks 4, 5 or 6 questions about a position, drawn without replacement from a pot of tickets, no question twice. None if the
/// position has too few.
pub fn factual(position: &Chess, form: BoardForm, draws: &mut Draws) -> Option<Example> {
    let wanted = draws.between(4, 6) as usize;
    let asked = questions(&Facts::of(position), wanted, draws)?;
    let (questions, answers): (Vec<String>, Vec<String>) =
        asked.into_iter().map(|asked| (asked.question, asked.answer)).unzip();
    let mut example = direct("factual", position, form, &questions, &answers.join(" "));
    example.meta.insert("questions", wanted);
    Some(example)
}

pub(super) struct Asked {
    kind: Kind,
    pub(super) question: String,
    pub(super) answer: String,
}

/// A kind leaves the pot when it has no question, or as many as it may; a ticket that repeats a question is spent.
pub(super) fn questions(facts: &Facts, wanted: usize, draws: &mut Draws) -> Option<Vec<Asked>> {
    let tickets = |kind: Kind| std::iter::repeat_n(kind, kind.tickets_and_most().0);
    let mut pot: Vec<Kind> = Kind::ALL.into_iter().flat_map(tickets).collect();
    draws.shuffle(&mut pot);
    let mut asked: Vec<Asked> = Vec::with_capacity(wanted);
    let mut failed: Vec<Kind> = Vec::new();
    for kind in pot {
        if asked.len() == wanted {
            break;
        }
        let of_kind = asked.iter().filter(|asked| asked.kind == kind).count();
        if failed.contains(&kind) || of_kind == kind.tickets_and_most().1 {
            continue;
        }
        match kind.ask(facts, draws) {
            None => failed.push(kind),
            Some((question, answer)) if asked.iter().all(|asked| asked.question != question) => {
                asked.push(Asked { kind, question, answer });
            }
            Some(_) => (),
        }
    }
    (asked.len() == wanted).then_some(asked)
}
