//! A position, its legal moves and the best one as text: `board|move,move,…>best$`.
//!
//! The moves are in UCI, in the order of their ids. The further words of the paper's templates are left out: a model
//! that was not trained on language before cannot use them.

use super::board::Board;
use crate::actions::{legal_actions, move_of};

/// The characters by id: those of a board, then what separates its parts.
pub const SYMBOLS: &str = "0123456789abcdefghpnrkqPBNRQKw.|,>$";

/// The id that fills a batch on the right.
pub const PADDING: u8 = 35;

/// Number of ids.
pub const VOCABULARY: usize = 36;

/// The id of `$`, which ends an answer.
pub const END: u16 = 34;

/// Characters of an answer with its end, at most.
pub const MOST_ANSWER: usize = 6;

/// Legal moves that a prompt has room for.
pub const MOST_MOVES: usize = 60;

/// Characters of the longest prompt with its answer: 77, `|`, 60 moves with what separates them, a move and `$`.
pub const CONTEXT: usize = 444;

/// The text up to `>`, after which the answer stands; `None` with more than [`MOST_MOVES`] legal moves.
pub fn question(board: &Board) -> Option<String> {
    let actions = legal_actions(board.position());
    (actions.len() <= MOST_MOVES).then(|| list(board, &actions))
}

/// Returns [`question`] with the first 60 moves where there are more, for play.
pub fn question_in_play(board: &Board) -> String {
    let mut actions = legal_actions(board.position());
    actions.truncate(MOST_MOVES);
    list(board, &actions)
}

fn list(board: &Board, actions: &[u16]) -> String {
    let moves: Vec<String> =
        actions.iter().map(|&action| move_of(action).expect("a legal move is an action").to_string()).collect();
    format!("{}|{}>", board.text(), moves.join(","))
}

/// The ids of a text; the error is the first character that has none.
pub fn ids(text: &str) -> Result<Vec<u8>, char> {
    super::ids_of(SYMBOLS, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden;

    #[test]
    fn golden_positions_have_golden_prompts() {
        for position in golden::positions() {
            let board = Board::parse(&position.fen).unwrap();
            let (Some(best), Some(prompt)) = (&position.best, &position.prompt) else {
                let has_ended = position.legal.is_empty();
                assert!(has_ended || question(&board).is_none(), "{}", position.fen);
                continue;
            };
            let text = format!("{}{best}$", question(&board).unwrap());
            assert_eq!(&text, prompt);
            assert!(text.len() <= CONTEXT);
            assert_eq!(&ids(&text).unwrap(), position.prompt_tokens.as_ref().unwrap());
        }
    }

    #[test]
    fn a_prompt_in_play_has_the_first_sixty_moves() {
        let fen = "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1";
        let board = Board::parse(fen).unwrap();
        assert_eq!(question(&board), None);
        assert_eq!(question_in_play(&board).matches(',').count(), MOST_MOVES - 1);
        assert_eq!(SYMBOLS.len(), usize::from(PADDING));
        assert_eq!(ids("x"), Err('x'));
    }
}
