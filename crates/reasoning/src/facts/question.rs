//! Questions of each kind, with their answers.

use cwm_questions::truth::role_name;
use shakmaty::{Chess, Color, Position, Role, Square};

use super::illegal::illegal_move;
use super::valued::{balanced, large_advantage, which_of_two, win_probability};
use super::{CapturePair, FactKind, Facts};
use crate::draws::RandomChoices;
use crate::pieces::{color_word, uci};

impl FactKind {
    /// A question of the kind with its answer; none if the board has none.
    pub(super) fn draw(self, facts: &Facts, draws: &mut RandomChoices) -> Option<(String, String)> {
        match self {
            FactKind::Check => Some(check(facts, draws)),
            FactKind::Legal => legal(facts, draws),
            FactKind::Capture => capture(facts, draws),
            FactKind::Material => Some(material(facts, draws)),
            FactKind::Mobility => mobility(facts, draws),
            FactKind::OnlyCapture => only_capture(facts, draws),
            FactKind::LargeAdvantage => Some(large_advantage(facts)),
            FactKind::Balanced => Some(balanced(facts)),
            FactKind::WinProbability => win_probability(facts),
            FactKind::WhichOfTwo => which_of_two(facts, draws),
        }
    }
}

pub(super) fn yes_or_no(yes: bool) -> String {
    if yes { "Yes" } else { "No" }.to_owned()
}

fn fair_color(draws: &mut RandomChoices) -> Color {
    Color::from_white(draws.chance(0.5))
}

fn check(facts: &Facts, draws: &mut RandomChoices) -> (String, String) {
    let checked = facts.in_check();
    let color = match checked {
        Some(color) if draws.chance(0.8) => color,
        Some(color) => !color,
        None => fair_color(draws),
    };
    (format!("Is the {} king in check (Yes or No)?", color_word(color)), yes_or_no(checked == Some(color)))
}

/// One of a legal move, a legal move of the opponent, and an illegal move.
fn legal(facts: &Facts, draws: &mut RandomChoices) -> Option<(String, String)> {
    let weights = if facts.in_check().is_some() { [0.1, 0.1, 0.8] } else { [0.5, 0.1, 0.4] };
    let pool = match draws.weighted(&weights)? {
        0 => Some((&facts.moves, true)),
        1 => Some((&facts.their_moves, false)),
        _ => None,
    };
    let drawn = pool.and_then(|(moves, is_legal)| Some((uci(*draws.one_of(moves)?), is_legal)));
    let (uci, is_legal) = match drawn {
        Some(drawn) => drawn,
        None => (illegal_move(facts.position, &facts.moves, draws)?.to_string(), false),
    };
    Some((format!("Can you legally play {uci} (Yes or No)?"), yes_or_no(is_legal)))
}

/// One of a pair that a legal capture has, one that only the opponent could have, and one that neither has.
fn capture(facts: &Facts, draws: &mut RandomChoices) -> Option<(String, String)> {
    let (own, theirs) = (facts.capture_pairs(), facts.their_capture_pairs());
    let neither = pairs_of_kinds(facts.position).filter(|pair| !own.contains(pair) && !theirs.contains(pair)).collect();
    let pools: [(Vec<CapturePair>, f64); 3] = [(own, 0.4), (theirs, 0.2), (neither, 0.4)];
    let weights = pools.each_ref().map(|(pool, weight)| if pool.is_empty() { 0. } else { *weight });
    let drawn = draws.weighted(&weights)?;
    let (attacker, victim) = *draws.one_of(&pools[drawn].0)?;
    let question = format!("Can your {} take their {} (Yes or No)?", role_name(attacker), role_name(victim));
    Some((question, yes_or_no(drawn == 0)))
}

/// Each kind that the side to move has, with each that the opponent has: the king only if he has nothing else.
fn pairs_of_kinds(position: &Chess) -> impl Iterator<Item = CapturePair> {
    let own = Role::ALL.into_iter().filter(|role| position.our(*role).any());
    let bare = position.them().count() == 1;
    let victims = move |role: &Role| position.their(*role).any() && (bare || *role != Role::King);
    own.flat_map(move |attacker| Role::ALL.into_iter().filter(victims).map(move |victim| (attacker, victim)))
}

fn material(facts: &Facts, draws: &mut RandomChoices) -> (String, String) {
    let color = fair_color(draws);
    let question = format!(
        "What is {}'s material less {}'s in centipawns, if a pawn is worth 100, a knight 320, a bishop 330, a rook 500, a queen 900 \
         and a king 0?",
        color_word(color),
        color_word(!color)
    );
    (question, (color.fold_wb(1, -1) * facts.material()).to_string())
}

fn mobility(facts: &Facts, draws: &mut RandomChoices) -> Option<(String, String)> {
    let mobility = facts.mobility();
    let &(square, moves) = by_kind(facts.position, &mobility, |(square, _)| *square, draws)?;
    let piece = role_name(facts.position.board().role_at(square)?);
    Some((format!("How many legal moves has your {piece} at {square}?"), moves.to_string()))
}

fn only_capture(facts: &Facts, draws: &mut RandomChoices) -> Option<(String, String)> {
    let captures = facts.only_captures();
    let &(target, origin) = by_kind(facts.position, &captures, |(_, origin)| *origin, draws)?;
    let piece = role_name(facts.position.board().role_at(target)?);
    let question = format!("Which of your squares holds the only piece that can take their {piece} on {target}?");
    Some((question, origin.to_string()))
}

/// One of `choices`: first the kind of the own piece by weight, among those that are there, then any of that kind.
fn by_kind<'a, T>(
    position: &Chess,
    choices: &'a [T],
    own_square: impl Fn(&T) -> Square,
    draws: &mut RandomChoices,
) -> Option<&'a T> {
    let of_role = |role: Role| {
        let has_role = |choice: &&T| position.board().role_at(own_square(choice)) == Some(role);
        choices.iter().filter(has_role).collect::<Vec<_>>()
    };
    let of_roles = Role::ALL.map(of_role);
    let weight = |role: Role| match role {
        Role::Pawn | Role::King => 1.,
        Role::Knight | Role::Bishop | Role::Rook => 3.,
        Role::Queen => 5.,
    };
    let mut weights = Role::ALL.map(weight);
    for (weight, choices) in weights.iter_mut().zip(&of_roles) {
        if choices.is_empty() {
            *weight = 0.;
        }
    }
    let drawn = draws.weighted(&weights)?;
    draws.one_of(&of_roles[drawn]).copied()
}
