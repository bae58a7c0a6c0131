//! The phrases of searches. All are our own; those of the published program are not copied.

use crate::draws::RandomChoices;

/// The choice of phrases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wording {
    /// The first phrase of each kind.
    Plain,
    /// Each phrase of a kind equally likely; those about the value of a board the likelier the better they fit.
    Varied,
}

/// The phrases for each place of a search. `{move}` is a move in words, `{moves}` a list of moves, `{value}` a value in brackets.
pub(super) struct Phrases {
    pub(super) opening: &'static [&'static str],
    pub(super) root_considered: &'static [&'static str],
    pub(super) root_written_off: &'static [&'static str],
    pub(super) own_first: &'static [&'static str],
    pub(super) own_sibling: &'static [&'static str],
    pub(super) opponent_first: &'static [&'static str],
    pub(super) opponent_sibling: &'static [&'static str],
    pub(super) own_best_leaf: &'static [&'static str],
    pub(super) own_best_branch: &'static [&'static str],
    pub(super) opponent_best_leaf: &'static [&'static str],
    pub(super) opponent_best_branch: &'static [&'static str],
    pub(super) own_pruned: &'static [&'static str],
    pub(super) opponent_pruned: &'static [&'static str],
    pub(super) last: &'static [&'static str],
    /// The phrase for a board of so many centipawns.
    pub(super) board_value: fn(i32, &mut RandomChoices) -> &'static str,
}

impl Wording {
    pub(super) fn phrases(self) -> Phrases {
        match self {
            Wording::Plain => plain(),
            Wording::Varied => VARIED,
        }
    }
}

fn plain() -> Phrases {
    let first = |phrases: &'static [&'static str]| &phrases[..1];
    Phrases {
        opening: first(VARIED.opening),
        root_considered: first(VARIED.root_considered),
        root_written_off: first(VARIED.root_written_off),
        own_first: first(VARIED.own_first),
        own_sibling: first(VARIED.own_sibling),
        opponent_first: first(VARIED.opponent_first),
        opponent_sibling: first(VARIED.opponent_sibling),
        own_best_leaf: first(VARIED.own_best_leaf),
        own_best_branch: first(VARIED.own_best_branch),
        opponent_best_leaf: first(VARIED.opponent_best_leaf),
        opponent_best_branch: first(VARIED.opponent_best_branch),
        own_pruned: first(VARIED.own_pruned),
        opponent_pruned: first(VARIED.opponent_pruned),
        last: first(VARIED.last),
        board_value: nearest,
    }
}

const VARIED: Phrases = Phrases {
    opening: &[
        "Let us look at a few moves.",
        "I will compare the moves that come to mind.",
        "Several moves deserve a closer look here.",
        "Before choosing, I work out a few lines.",
    ],
    root_considered: &[
        "First consider {move} {value}.",
        "One candidate is {move} {value}.",
        "Suppose we play {move} {value}.",
        "Another idea worth a look: {move} {value}.",
        "What happens after {move} {value}?",
    ],
    root_written_off: &[
        "This is much worse than the best line, so it is set aside {value}.",
        "Other moves give far more, so we drop it {value}.",
        "It does not compare with our best option {value}.",
        "There is no need to go deeper: it costs too much {value}.",
    ],
    own_first: &[
        "We can go on with {move} {value}.",
        "Our reply would be {move} {value}.",
        "Then {move} is possible for us {value}.",
        "We continue with {move} {value}.",
    ],
    own_sibling: &[
        "We can also play {move} {value}.",
        "A second choice for us is {move} {value}.",
        "There is also {move} for us {value}.",
        "Otherwise we have {move} {value}.",
        "We might prefer {move} {value}.",
    ],
    opponent_first: &[
        "They can answer with {move} {value}.",
        "A strong reply is {move} {value}.",
        "The opponent may respond with {move} {value}.",
    ],
    opponent_sibling: &[
        "They can also answer with {move} {value}.",
        "Another reply is {move} {value}.",
        "We must also reckon with {move} {value}.",
        "The opponent could choose {move} instead {value}.",
    ],
    own_best_leaf: &[
        "Our best here is {move} {value}.",
        "Of our two options, {move} is better {value}.",
        "We would choose {move} {value}.",
    ],
    own_best_branch: &[
        "Of {moves} our best is {move} {value}.",
        "Between {moves} we would choose {move} {value}.",
        "Comparing {moves}, we do best with {move} {value}.",
    ],
    opponent_best_leaf: &[
        "Their best here is {move} {value}.",
        "The opponent would prefer {move} {value}.",
        "Of these replies, {move} is the hardest for us {value}.",
    ],
    opponent_best_branch: &[
        "Of {moves} their best is {move} {value}.",
        "Between {moves} the opponent would choose {move} {value}.",
        "Comparing {moves}, {move} is the best reply {value}.",
    ],
    own_pruned: &["This falls behind, so we look no further.", "We have something better, so this line ends here."],
    opponent_pruned: &[
        "They have better, so we look no further.",
        "The opponent would not allow this, so we leave it.",
    ],
    last: &[
        "The best of these is {move} {value}.",
        "After this comparison we play {move} {value}.",
        "Our choice is therefore {move} {value}.",
    ],
    board_value: fitting,
};

/// The phrase of the nearest anchor, the first of equals.
fn nearest(minimax: i32, _: &mut RandomChoices) -> &'static str {
    PLAIN_BOARD.iter().min_by_key(|(anchor, _)| anchor.abs_diff(minimax)).map_or("", |(_, phrase)| phrase)
}

/// A phrase drawn with the weight exp(-distance / 10), where the distance is that of its anchor.
fn fitting(minimax: i32, draws: &mut RandomChoices) -> &'static str {
    let distances = || BOARD.iter().map(|(anchor, _)| anchor.abs_diff(minimax));
    let least = distances().min().unwrap_or_default();
    let weights: Vec<f64> = distances().map(|distance| (f64::from(distance - least) / -10.).exp()).collect();
    draws.weighted(&weights).map_or("", |at| BOARD[at].1)
}

const PLAIN_BOARD: [(i32, &str); 7] = [
    (600, "We are winning {value}."),
    (300, "We are much better {value}."),
    (100, "We are better {value}."),
    (0, "The game is level {value}."),
    (-100, "We are worse {value}."),
    (-300, "We are much worse {value}."),
    (-600, "We are losing {value}."),
];

const BOARD: [(i32, &str); 28] = [
    (675, "The game is as good as won for us {value}."),
    (625, "Our advantage is decisive {value}."),
    (575, "We should win this without trouble {value}."),
    (525, "We have a winning position {value}."),
    (475, "Little can go wrong for us now {value}."),
    (425, "We are close to winning {value}."),
    (375, "Our advantage is very large {value}."),
    (325, "We are ahead by a wide margin {value}."),
    (275, "We are clearly on top {value}."),
    (225, "We have a big advantage {value}."),
    (175, "We stand clearly better {value}."),
    (125, "Our position is pleasant {value}."),
    (75, "We have a small advantage {value}."),
    (25, "The chances are about equal, perhaps a little better for us {value}."),
    (-25, "The chances are about equal, perhaps a little better for them {value}."),
    (-75, "They have a small advantage {value}."),
    (-125, "Our position is somewhat uncomfortable {value}."),
    (-175, "They stand clearly better {value}."),
    (-225, "They have a big advantage {value}."),
    (-275, "They are clearly on top {value}."),
    (-325, "We are behind by a wide margin {value}."),
    (-375, "Their advantage is very large {value}."),
    (-425, "We are close to losing {value}."),
    (-475, "It would be hard to save this game {value}."),
    (-525, "They have a winning position {value}."),
    (-575, "They should win this without trouble {value}."),
    (-625, "Their advantage is decisive {value}."),
    (-675, "The game is as good as lost for us {value}."),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_phrase_has_its_slots_and_begins_a_sentence() {
        let with_move = [
            VARIED.root_considered,
            VARIED.own_first,
            VARIED.own_sibling,
            VARIED.opponent_first,
            VARIED.opponent_sibling,
            VARIED.own_best_leaf,
            VARIED.opponent_best_leaf,
            VARIED.last,
        ];
        let slots = |phrase: &str| ["{moves}", "{move}", "{value}"].map(|slot| phrase.matches(slot).count());
        let check = |phrases: &[&str], expected| {
            for phrase in phrases {
                assert_eq!(slots(phrase), expected, "{phrase}");
                assert!(phrase.starts_with(char::is_uppercase) && phrase.ends_with(['.', '?']), "{phrase}");
            }
        };
        with_move.iter().for_each(|phrases| check(phrases, [0, 1, 1]));
        [VARIED.own_best_branch, VARIED.opponent_best_branch].iter().for_each(|phrases| check(phrases, [1, 1, 1]));
        [VARIED.opening, VARIED.own_pruned, VARIED.opponent_pruned]
            .iter()
            .for_each(|phrases| check(phrases, [0, 0, 0]));
        check(VARIED.root_written_off, [0, 0, 1]);
        BOARD.iter().chain(&PLAIN_BOARD).for_each(|(_, phrase)| check(&[phrase], [0, 0, 1]));
    }

    #[test]
    fn a_board_is_called_what_it_is_worth() {
        assert_eq!(nearest(200, &mut RandomChoices::new("test", 0, 0)), "We are much better {value}.");
        for ordinal in 0..50 {
            let mut draws = RandomChoices::new("test", 0, ordinal);
            assert_eq!(fitting(10_000, &mut draws), BOARD[0].1);
            assert_eq!(fitting(-10_000, &mut draws), BOARD[27].1);
        }
    }
}
