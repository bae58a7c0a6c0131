//! Two boards side by side, as text.

use cwm_contract::{LabelPrediction, PositionPrediction, PositionView};
use owo_colors::{OwoColorize, Style};

use cwm_core::list_some;

/// The width of the left board, of the model.
const WIDTH: usize = 26;
/// The number of wrong labels that are listed; the board has the others.
const MAX_ERRORS: usize = 8;
/// A label with a lower probability than this has a line.
const LOW_PROBABILITY: f64 = 0.9;

/// Draws the position that the model predicts beside the true one. Errors have a `*` before them, and are red with `colour`.
pub fn draw(position: &PositionPrediction, colour: bool) -> String {
    let mut text = heading(position);
    text += &format!("{:<WIDTH$}{}\n", "  predicted", "  true");
    for rank in 0..8 {
        text += &line(&rank_of(&position.predicted, rank), &rank_of(&position.truth, rank), colour);
    }
    let files = "   a b c d e f g h";
    text += &format!("{files:<WIDTH$}{files}\n");
    for (predicted, truth) in position.predicted.state.iter().zip(&position.truth.state) {
        let cell = |item: &cwm_contract::StateField| {
            let mark = if item.wrong { "*" } else { " " };
            vec![(format!("  {:<10}", item.name), false), (format!("{mark}{}", item.value), item.wrong)]
        };
        text += &line(&cell(predicted), &cell(truth), colour);
    }
    text += &remarks(position);
    // An empty line before the next position.
    text + "\n"
}

/// `ply 3  2. Nf3 (g1f3)  74 of 75 right`.
fn heading(position: &PositionPrediction) -> String {
    let played = match &position.last_move {
        None => "start".to_owned(),
        Some(played) => format!("{} {} ({})", played.number, played.san, played.uci),
    };
    format!("ply {}  {played}  {} of {} right\n", position.ply, position.correct, position.labels)
}

/// Pieces of text, each with true if it is wrong.
type Pieces = Vec<(String, bool)>;

fn rank_of(board: &PositionView, rank: usize) -> Pieces {
    let mut pieces = vec![(format!("{} ", 8 - rank), false)];
    let squares = board.squares.iter().skip(rank * 8).take(8);
    pieces.extend(squares.map(|(piece, wrong)| (format!("{}{piece}", if *wrong { "*" } else { " " }), *wrong)));
    pieces
}

fn line(predicted: &Pieces, truth: &Pieces, colour: bool) -> String {
    let width: usize = predicted.iter().map(|(piece, _)| piece.chars().count()).sum();
    let painted =
        |pieces: &Pieces| pieces.iter().map(|(piece, wrong)| paint(piece, *wrong && colour)).collect::<String>();
    let line = format!("{}{}{}", painted(predicted), " ".repeat(WIDTH.saturating_sub(width).max(1)), painted(truth));
    format!("{}\n", line.trim_end())
}

fn paint(piece: &str, red: bool) -> String {
    if red { piece.style(Style::new().red().bold()).to_string() } else { piece.to_owned() }
}

/// Lists the wrong labels, and the one that the model is least sure of.
fn remarks(position: &PositionPrediction) -> String {
    let mut text = String::new();
    if !position.errors.is_empty() {
        let errors = position.errors.iter();
        let errors = errors.map(|one| {
            format!("{} {} for {}", one.label, value_and_probability(&one.predicted), value_and_probability(&one.truth))
        });
        text += &format!("wrong: {}\n", list_some(errors, MAX_ERRORS));
    }
    let least = &position.least_confident;
    // It is no number if the model computes NaN.
    if least.prediction.probability.is_nan() || least.prediction.probability < LOW_PROBABILITY {
        text += &format!("least sure of {}: {}\n", least.label, value_and_probability(&least.prediction));
    }
    text
}

/// `P (0.98)`.
fn value_and_probability(prediction: &LabelPrediction) -> String {
    format!("{} ({:.2})", prediction.value, prediction.probability)
}

#[cfg(test)]
mod tests {
    use cwm_contract::{LabelError, LeastConfident, MoveNotation, StateField};

    use super::*;

    fn tracked() -> PositionPrediction {
        let seen = |wrong: bool| {
            let mut squares = vec![(".".to_owned(), false); 64];
            squares[36] = (if wrong { "P" } else { "." }.to_owned(), wrong);
            let state = |name, value: &str, wrong| StateField { name, value: value.to_owned(), wrong };
            let state =
                vec![state("to move", "white", false), state("castling", if wrong { "KQ" } else { "-" }, wrong)];
            PositionView { fen: "8/8/8/8/8/8/8/8 w - - 0 1".into(), squares, state }
        };
        let prediction = |value: &str, probability| LabelPrediction { value: value.into(), probability };
        PositionPrediction {
            ply: 3,
            last_move: Some(MoveNotation { number: "2.".into(), san: "Nf3".into(), uci: "g1f3".into() }),
            predicted: seen(true),
            truth: seen(false),
            correct: 73,
            labels: 75,
            errors: vec![LabelError {
                label: "e4".into(),
                predicted: prediction("P", 0.75),
                truth: prediction(".", 0.25),
            }],
            joint_probability: 0.5,
            least_confident: LeastConfident { label: "e4".into(), prediction: prediction("P", 0.75) },
        }
    }

    #[test]
    fn what_is_wrong_is_marked_with_and_without_colour() {
        let plain = draw(&tracked(), false);
        assert!(plain.starts_with("ply 3  2. Nf3 (g1f3)  73 of 75 right\n  predicted"), "{plain}");
        assert!(plain.contains("\n4  . . . .*P . . .        4  . . . . . . . .\n"), "{plain}");
        assert!(plain.contains("\n  castling  *KQ"), "{plain}");
        assert!(plain.ends_with("wrong: e4 P (0.75) for . (0.25)\nleast sure of e4: P (0.75)\n\n"), "{plain}");
        assert!(!plain.contains('\u{1b}'));
        let coloured = draw(&tracked(), true);
        assert!(coloured.contains("\u{1b}["), "{coloured}");
        assert_eq!(coloured.lines().count(), plain.lines().count());
    }

    #[test]
    fn probabilities_that_are_no_numbers_are_shown_as_low() {
        let mut tracked = tracked();
        tracked.least_confident.prediction.probability = f64::NAN;
        assert!(draw(&tracked, false).ends_with("least sure of e4: P (NaN)\n\n"));
        tracked.least_confident.prediction.probability = 0.95;
        assert!(!draw(&tracked, false).contains("least sure"));
    }
}
