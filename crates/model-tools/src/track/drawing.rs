//! Boards side by side, and next moves, as text.

use super::position_prediction::{
    BoardPrediction, HeadPrediction, LabelPrediction, MovePrediction, PositionPrediction, PositionView, StateField,
};

/// The width of a board that has another on its right.
const WIDTH: usize = 26;
/// The number of wrong labels that are listed; the board has the others.
const MAX_ERRORS: usize = 8;
/// A label with a lower probability than this has a line.
const LOW_PROBABILITY: f64 = 0.9;

/// Pieces of text, each with true if it is wrong.
pub type Pieces = Vec<(String, bool)>;

/// Draws what the model predicts, and what a linear probe reads in it, beside the true position. Errors have a `*` before them.
pub fn draw(position: &PositionPrediction) -> Pieces {
    let mut text = vec![(heading(position), false)];
    let mut boards = Vec::new();
    match &position.head {
        HeadPrediction::Board(board) => boards.push(("predicted".to_owned(), &board.predicted)),
        HeadPrediction::Moves(moves) => text.extend(next_moves(moves)),
    }
    boards.extend(position.probed.as_ref().map(|probed| (format!("layer {}", probed.layer), &probed.board)));
    if !boards.is_empty() {
        boards.push(("true".to_owned(), &position.truth));
        text.extend(side_by_side(&boards));
    }
    if let HeadPrediction::Board(board) = &position.head {
        text.extend(state(board, &position.truth, position.probed.is_some()));
        text.push((remarks(board), false));
    }
    // An empty line before the next position.
    text.push(("\n".to_owned(), false));
    text
}

/// `ply 3  2. Nf3 (g1f3)  74 of 75 right`, and with linear probes `, layer 4: 63 of 64 squares`.
fn heading(position: &PositionPrediction) -> String {
    let played = match &position.last_move {
        None => "start".to_owned(),
        Some(played) => format!("{} {} ({})", played.number, played.san, played.uci),
    };
    let right = match &position.head {
        HeadPrediction::Board(board) => Some(format!("{} of {} right", board.correct, board.labels)),
        HeadPrediction::Moves(_) => None,
    };
    let probed =
        position.probed.as_ref().map(|probed| format!("layer {}: {} of 64 squares", probed.layer, probed.correct));
    let right: Vec<String> = right.into_iter().chain(probed).collect();
    format!("{}\n", format!("ply {}  {played}  {}", position.ply, right.join(", ")).trim_end())
}

/// The likeliest moves; one that is not legal is an error.
fn next_moves(moves: &[MovePrediction]) -> Pieces {
    if moves.is_empty() {
        return vec![("   the game is over\n".to_owned(), false)];
    }
    let of = moves.iter().flat_map(|next| {
        let (name, mark, rest) = match &next.san {
            Some(san) => (format!("{san} ({})", next.uci), " ", ""),
            None => (next.uci.clone(), "*", "  not legal"),
        };
        let probability = format!("{:.2}{rest}\n", next.probability);
        [("  ".to_owned(), false), (format!("{mark}{name:<16}"), next.san.is_none()), (probability, false)]
    });
    of.collect()
}

/// Boards with their names above them.
fn side_by_side(boards: &[(String, &PositionView)]) -> Pieces {
    let plain = |text: String| vec![(text, false)];
    let mut text = line(boards.iter().map(|(name, _)| plain(format!("  {name}"))));
    for rank in 0..8 {
        text.extend(line(boards.iter().map(|(_, board)| rank_of(board, rank))));
    }
    text.extend(line(boards.iter().map(|_| plain("   a b c d e f g h".to_owned()))));
    text
}

/// The other fields of the predicted position and of the true one, below their boards; a probed board between them has none.
fn state(board: &BoardPrediction, truth: &PositionView, is_probed: bool) -> Pieces {
    let lines = board.predicted.state.iter().zip(&truth.state).flat_map(|(predicted, truth)| {
        let cell = |item: &StateField| {
            let mark = if item.wrong { "*" } else { " " };
            vec![(format!("  {:<10}", item.name), false), (format!("{mark}{}", item.value), item.wrong)]
        };
        let between = is_probed.then(Pieces::new);
        line([cell(predicted)].into_iter().chain(between).chain([cell(truth)]))
    });
    lines.collect()
}

fn rank_of(board: &PositionView, rank: usize) -> Pieces {
    let mut pieces = vec![(format!("{} ", 8 - rank), false)];
    let squares = board.squares.iter().skip(rank * 8).take(8);
    pieces.extend(squares.map(|(piece, wrong)| (format!("{}{piece}", if *wrong { "*" } else { " " }), *wrong)));
    pieces
}

/// A line of several boards. Each but the last is as wide as [`WIDTH`], and at least a blank wider than its text.
fn line(boards: impl IntoIterator<Item = Pieces>) -> Pieces {
    let mut text = Pieces::new();
    let mut gap = None;
    for pieces in boards {
        text.extend(gap.take().map(|gap: usize| (" ".repeat(gap), false)));
        let width: usize = pieces.iter().map(|(piece, _)| piece.chars().count()).sum();
        text.extend(pieces);
        gap = Some(WIDTH.saturating_sub(width).max(1));
    }
    text.push(("\n".to_owned(), false));
    text
}

/// Lists the wrong labels, and the one that the model is least sure of.
fn remarks(position: &BoardPrediction) -> String {
    let mut text = String::new();
    let errors = position.errors.iter().take(MAX_ERRORS).map(|one| {
        format!("{} {} for {}", one.label, value_and_probability(&one.predicted), value_and_probability(&one.truth))
    });
    let errors: Vec<String> = errors.collect();
    match position.errors.len() - errors.len() {
        _ if errors.is_empty() => {}
        0 => text += &format!("wrong: {}\n", errors.join(", ")),
        more => text += &format!("wrong: {} and {more} more\n", errors.join(", ")),
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
    use super::*;
    use crate::track::position_prediction::{LabelError, LeastConfident, MoveNotation, ProbedBoard};

    fn plain(position: &PositionPrediction) -> String {
        draw(position).into_iter().map(|(piece, _)| piece).collect()
    }

    fn wrong(position: &PositionPrediction) -> Vec<String> {
        draw(position).into_iter().filter(|(_, is_wrong)| *is_wrong).map(|(piece, _)| piece).collect()
    }

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
            truth: seen(false),
            head: HeadPrediction::Board(BoardPrediction {
                predicted: seen(true),
                correct: 73,
                labels: 75,
                errors: vec![LabelError {
                    label: "e4".into(),
                    predicted: prediction("P", 0.75),
                    truth: prediction(".", 0.25),
                }],
                joint_probability: 0.5,
                least_confident: LeastConfident { label: "e4".into(), prediction: prediction("P", 0.75) },
            }),
            probed: None,
        }
    }

    fn probed() -> ProbedBoard {
        let mut squares = vec![(".".to_owned(), false); 64];
        squares[63] = ("R".to_owned(), true);
        let board = PositionView { fen: "8/8/8/8/8/8/8/7R".into(), squares, state: Vec::new() };
        ProbedBoard { layer: 4, board, correct: 63 }
    }

    #[test]
    fn what_is_wrong_is_marked() {
        let drawn = plain(&tracked());
        assert!(drawn.starts_with("ply 3  2. Nf3 (g1f3)  73 of 75 right\n  predicted"), "{drawn}");
        assert!(drawn.contains("\n4  . . . .*P . . .        4  . . . . . . . .\n"), "{drawn}");
        assert!(drawn.contains("\n  castling  *KQ"), "{drawn}");
        assert!(drawn.ends_with("wrong: e4 P (0.75) for . (0.25)\nleast sure of e4: P (0.75)\n\n"), "{drawn}");
        assert_eq!(wrong(&tracked()), ["*P", "*KQ"]);
    }

    #[test]
    fn probabilities_that_are_no_numbers_are_shown_as_low() {
        let with = |probability| {
            let mut tracked = tracked();
            let HeadPrediction::Board(board) = &mut tracked.head else { panic!("a board") };
            board.least_confident.prediction.probability = probability;
            plain(&tracked)
        };
        assert!(with(f64::NAN).ends_with("least sure of e4: P (NaN)\n\n"));
        assert!(!with(0.95).contains("least sure"));
    }

    #[test]
    fn what_a_linear_probe_reads_stands_between_prediction_and_truth() {
        let drawn = plain(&PositionPrediction { probed: Some(probed()), ..tracked() });
        insta::assert_snapshot!(drawn, @"
        ply 3  2. Nf3 (g1f3)  73 of 75 right, layer 4: 63 of 64 squares
          predicted                 layer 4                   true
        8  . . . . . . . .        8  . . . . . . . .        8  . . . . . . . .
        7  . . . . . . . .        7  . . . . . . . .        7  . . . . . . . .
        6  . . . . . . . .        6  . . . . . . . .        6  . . . . . . . .
        5  . . . . . . . .        5  . . . . . . . .        5  . . . . . . . .
        4  . . . .*P . . .        4  . . . . . . . .        4  . . . . . . . .
        3  . . . . . . . .        3  . . . . . . . .        3  . . . . . . . .
        2  . . . . . . . .        2  . . . . . . . .        2  . . . . . . . .
        1  . . . . . . . .        1  . . . . . . .*R        1  . . . . . . . .
           a b c d e f g h           a b c d e f g h           a b c d e f g h
          to move    white                                    to move    white
          castling  *KQ                                       castling   -
        wrong: e4 P (0.75) for . (0.25)
        least sure of e4: P (0.75)

        ");
    }

    #[test]
    fn next_moves_are_marked_where_they_are_not_legal() {
        let next = |uci: &str, san: Option<&str>, probability| MovePrediction {
            uci: uci.into(),
            san: san.map(str::to_owned),
            probability,
        };
        let moves = vec![next("b8c6", Some("Nc6"), 0.5), next("e5e4", None, 0.25), next("d7d8q", None, 0.0625)];
        let mut tracked = PositionPrediction { head: HeadPrediction::Moves(moves), ..tracked() };
        insta::assert_snapshot!(plain(&tracked), @"
        ply 3  2. Nf3 (g1f3)
           Nc6 (b8c6)      0.50
          *e5e4            0.25  not legal
          *d7d8q           0.06  not legal

        ");
        assert_eq!(wrong(&tracked), ["*e5e4            ", "*d7d8q           "]);
        tracked.probed = Some(probed());
        insta::assert_snapshot!(plain(&tracked), @"
        ply 3  2. Nf3 (g1f3)  layer 4: 63 of 64 squares
           Nc6 (b8c6)      0.50
          *e5e4            0.25  not legal
          *d7d8q           0.06  not legal
          layer 4                   true
        8  . . . . . . . .        8  . . . . . . . .
        7  . . . . . . . .        7  . . . . . . . .
        6  . . . . . . . .        6  . . . . . . . .
        5  . . . . . . . .        5  . . . . . . . .
        4  . . . . . . . .        4  . . . . . . . .
        3  . . . . . . . .        3  . . . . . . . .
        2  . . . . . . . .        2  . . . . . . . .
        1  . . . . . . .*R        1  . . . . . . . .
           a b c d e f g h           a b c d e f g h

        ");
        tracked.head = HeadPrediction::Moves(Vec::new());
        assert!(plain(&tracked).contains("\n   the game is over\n"));
    }
}
