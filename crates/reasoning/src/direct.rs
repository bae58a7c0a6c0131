//! Examples whose target is the bare answer.

use shakmaty::Chess;

use crate::board::{BoardForm, board_text};
use crate::example::{Example, Message};
use crate::texts;

/// An example of `builder`: questions about a position, and their bare answers, separated by spaces. It has no id yet.
pub(crate) fn direct(builder: &str, position: &Chess, form: BoardForm, questions: &[String], answers: &str) -> Example {
    let user = format!(
        "Here is a chess position:\n\n{}\n\nAnswer the following; separate several answers by a space.\n{}",
        board_text(position, form),
        questions.join("\n")
    );
    Example::new(builder, position, Message::conversation(texts::DIRECT, user, answers.to_owned()))
}

/// The builder `best_move`: a question for the best move; the target is `best` (UCI).
pub fn best_move(position: &Chess, form: BoardForm, best: &str) -> Example {
    direct("best_move", position, form, &["What is the best move?".to_owned()], best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_is_the_best_move() {
        let example = best_move(&Chess::default(), BoardForm::Fen, "d2d4");
        assert_eq!(example.target(), "d2d4");
        let line = serde_json::to_string(&example.numbered(7)).unwrap();
        assert_eq!(
            line,
            concat!(
                r#"{"id":"best_move-000007","messages":[{"role":"system","content":"You are a strong chess player. "#,
                r#"Answer the question at once, and write nothing but the answer."},{"role":"user","content":"#,
                r#""Here is a chess position:\n\nrnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\n\n"#,
                r#"Answer the following; separate several answers by a space.\nWhat is the best move?"},"#,
                r#"{"role":"assistant","content":"d2d4"}],"meta":{"builder":"best_move","#,
                r#""fen":"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"}}"#
            )
        );
    }
}
