//! The facts that rules find of a move, as sentences.

use cwm_game::StreamRng;
use cwm_random::Random;
use shakmaty::{Chess, Move};

use crate::facts::{Fact, facts};

/// Sentences of a comment, at most.
const SENTENCES: usize = 2;

/// A comment on a move that is legal in `before`, of the first facts that rules find; `None` if they find none.
pub fn sentence(before: &Chess, played: Move) -> Option<String> {
    let facts = facts(before, played);
    let sentences: Vec<String> = facts.iter().take(SENTENCES).map(worded).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// One of the wordings of a fact, the same for the same fact: two comments that say the same are the same text, so that they are no
/// two options of an item.
fn worded(fact: &Fact) -> String {
    let mut wordings = wordings(fact);
    let mut draws = StreamRng::new(&format!("comments by rules: {}", subject(fact)), "0", 0);
    wordings.swap_remove(draws.below(wordings.len() as u32) as usize)
}

/// The parts of a fact that all its wordings name.
fn subject(fact: &Fact) -> String {
    match fact {
        Fact::Mate { king } => format!("mate {king}"),
        Fact::Castling { side, wing, .. } => format!("castling {side} {wing}"),
        Fact::Promotion { to, role, .. } => format!("promotion {to} {role}"),
        Fact::EnPassant { side, .. } => format!("en passant {side}"),
        Fact::Capture { piece, to, taken, .. } => format!("capture {piece} {to} {taken}"),
        Fact::DoubleCheck { king } => format!("double check {king}"),
        Fact::Check { king, .. } => format!("check {king}"),
        Fact::Fork { piece, to, first, second } => format!("fork {piece} {to} {first} {second}"),
        Fact::Pin { pinned, by } => format!("pin {pinned} {by}"),
        Fact::PassedPawn { to, .. } => format!("passed pawn {to}"),
    }
}

/// The ways in which a fact is put into words. Each has a phrase of the keywords that are built in.
fn wordings(fact: &Fact) -> Vec<String> {
    match fact {
        Fact::Mate { king } => vec![
            format!("That is checkmate: the king on {king} has nowhere to go."),
            format!("The king on {king} is attacked and cannot escape, so it is mate."),
            format!("Checkmate to the king on {king}."),
        ],
        Fact::Castling { side, wing, to } => vec![
            format!("{side} castles on the {wing} and the king finds shelter on {to}."),
            format!("Castling: the king of {side} leaves the centre for {to}."),
            format!("{side} thinks of king safety and goes to the {wing}, with the king on {to}."),
        ],
        Fact::Promotion { side, to, role } => vec![
            format!("The pawn arrives on {to} and promotes to a {role}."),
            format!("A promotion: {side} puts a new {role} on {to}."),
            format!("{side} promotes on {to} and takes a {role}."),
        ],
        Fact::EnPassant { side, from, to } => vec![
            format!("{side} captures en passant with the pawn from {from}."),
            format!("The pawn from {from} takes en passant and stands on {to}."),
            format!("A capture en passant, which brings the pawn of {side} to {to}."),
        ],
        Fact::Capture { side, piece, from, to, taken } => vec![
            format!("{side} takes the {taken} on {to} with the {piece} from {from}."),
            format!("The {piece} leaves {from} and captures the {taken} on {to}."),
            format!("{side} captures a {taken}, and the {piece} now stands on {to}."),
        ],
        Fact::DoubleCheck { king } => vec![
            format!("A double check: two pieces at once look at the king on {king}."),
            format!("The king on {king} has to move, for this is double check."),
        ],
        Fact::Check { king, side } => vec![
            format!("{side} gives check to the king on {king}."),
            format!("The king on {king} has to answer this check."),
            format!("With this move comes a check to the king on {king}."),
        ],
        Fact::Fork { piece, to, first, second } => vec![
            format!("The {piece} on {to} forks the {first} and the {second}."),
            format!("A fork by the {piece} from {to}: the {first} and the {second} cannot both be helped."),
            format!("From {to} the {piece} makes a double attack, on the {first} and on the {second}."),
        ],
        Fact::Pin { pinned, by } => vec![
            format!("The {pinned} is pinned to its king by the {by}."),
            format!("Now there is a pin: the {by} holds the {pinned} in front of its king."),
            format!("The {by} pins the {pinned}."),
        ],
        Fact::PassedPawn { side, to } => vec![
            format!("{side} has a passed pawn on {to}."),
            format!("The pawn on {to} is a passed pawn, and no pawn of the other side can stop it."),
            format!("A passed pawn of {side} comes to {to}."),
        ],
    }
}
