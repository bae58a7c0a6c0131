//! Questions about who is better, which the published data have and do not use.

use super::Facts;
use super::question::yes_or_no;
use crate::draws::RandomChoices;
use crate::pieces::color_word;
use cwm_questions::truth::role_name;
use shakmaty::{Color, Position, Square};

/// The least difference of the win probabilities of two moves that a question compares.
const MIN_DIFFERENCE: f64 = 0.25;

pub(super) fn large_advantage(facts: &Facts) -> (String, String) {
    let question = "Which side is ahead by more than 300 centipawns of material (white, black or none)?";
    (question.to_owned(), facts.large_advantage().map_or("none", color_word).to_owned())
}

pub(super) fn balanced(facts: &Facts) -> (String, String) {
    let question = "Is the material balanced, with less than 120 centipawns between the sides (Yes or No)?";
    (question.to_owned(), yes_or_no(facts.is_balanced()))
}

/// In percent, with one decimal.
pub(super) fn win_probability(facts: &Facts) -> Option<(String, String)> {
    let question = "What is your probability of winning in percent, with one decimal?";
    Some((question.to_owned(), format!("{:.1}", 100. * facts.values?.best().1)))
}

/// Two squares that one piece goes to; one on which a pawn promotes is worth the best promotion.
pub(super) fn which_of_two(facts: &Facts, draws: &mut RandomChoices) -> Option<(String, String)> {
    let mut reached: Vec<(&str, &str, f64)> = Vec::new();
    for (uci, win) in facts.values?.iter() {
        let (from, to) = (uci.get(..2)?, uci.get(2..4)?);
        match reached.iter_mut().find(|(origin, target, _)| *origin == from && *target == to) {
            Some((_, _, best)) => *best = f64::max(*best, win),
            None => reached.push((from, to, win)),
        }
    }
    let mut pairs = Vec::new();
    for (at, &(from, to, win)) in reached.iter().enumerate() {
        for &(other_from, other_to, other_win) in &reached[at + 1..] {
            if from == other_from && (win - other_win).abs() >= MIN_DIFFERENCE {
                pairs.push((from, [(to, win), (other_to, other_win)]));
            }
        }
    }
    let (from, mut targets) = *draws.one_of(&pairs)?;
    draws.shuffle(&mut targets);
    let square = Square::from_ascii(from.as_bytes()).ok()?;
    let piece = role_name(facts.position.board().role_at(square)?);
    let [(first, first_win), (second, second_win)] = targets;
    let question = format!("Which square is better for your {piece} at {from}: {first} or {second}?");
    let better = if first_win > second_win { first } else { second };
    Some((question, better.to_owned()))
}

impl Facts<'_> {
    /// The side that is ahead by more than 300 centipawns of material.
    pub fn large_advantage(&self) -> Option<Color> {
        let material = self.material();
        (material.abs() > 300).then_some(Color::from_white(material > 0))
    }

    /// Returns true if less than 120 centipawns of material are between the sides.
    pub fn is_balanced(&self) -> bool {
        self.material().abs() < 120
    }
}
