//! Our own wording.

use super::wording::Template;
use super::{CONTEXT, EXAMPLE};
use crate::truth::Keys;
use crate::{Form, Task};

/// The question of a task.
pub(super) fn template(task: Task, keys: Keys) -> Template {
    let question = match task {
        Task::StateTrackingShort | Task::StateTrackingMid | Task::StateTrackingLong => format!(
            "A chess position is given as a FEN, and moves in UCI notation that are played from it, one after another.\n\
             FEN: {{fen}}\n\
             Moves: {{moves}}\n\
             Which position results? Give its FEN with all six fields. Name an en passant square only if a capture there is legal.\n\
             {END}For example, of another position: {EXAMPLE}"
        ),
        Task::Semantic(_) => format!(
            "A chess position is given as a FEN, and a move in UCI notation that is played in it.\n\
             FEN: {{fen}}\n\
             Move: {{move}}\n\
             One of these comments was written about this move. Which one?\n\
             {{options}}\n\
             {END}Answer with its letter, for example: {EXAMPLE}"
        ),
        _ => format!(
            "A chess position is given as a FEN: {{fen}}\n{CONTEXT}{}\n{END}{}",
            find(task, keys),
            form(task, keys)
        ),
    };
    Template { question, examples: examples(task).iter().map(|&example| example.to_owned()).collect() }
}

/// The instruction for the end of an answer.
const END: &str = "Work through the position step by step and write down your reasoning.\n\
                   End with one line that has exactly this form:\n\
                   FINAL ANSWER: <answer>\n";

/// The part of the question before the form of the answer.
fn find(task: Task, keys: Keys) -> String {
    let sound = keys == Keys::Sound;
    let pin = match sound {
        true => "If it is pinned to its own king, only squares along the line of the pin count.",
        false => "A piece that is pinned to its own king has none, unless it stands beside that king.",
    };
    // Sound keys are what the piece may do if its side moves.
    let in_check = "While that king is in check, only moves that end the check count.";
    let about_piece = |squares: &str| {
        format!("This is about the {{piece}} on {{square}}, whichever side is to move. {squares} {pin}")
    };
    match task {
        Task::PieceArrangement => "Which pieces stand where? Name the kinds of pieces of White, then those of Black, each side in \
             the order King, Queen, Rook, Bishop, Knight, Pawn, and pass over kinds that are not on the board."
            .to_owned(),
        Task::LegalMovePiece => "Which legal moves does the piece on {square} have?".to_owned(),
        Task::LegalMoveAll => "Which legal moves does the side to move have?".to_owned(),
        Task::CheckDetection => "The king of the side to move is in check. By which piece or pieces?".to_owned(),
        Task::CheckIn1 => "Which legal moves give check? Mates, discovered checks and checks by castling count.".to_owned(),
        Task::CaptureSquares if sound => {
            let question = about_piece("On which squares could it capture a piece? A king cannot be captured.");
            format!("{question} {in_check}")
        }
        Task::CaptureSquares => about_piece("On which squares does it attack a piece of the other side, the king included?"),
        Task::ControlSquares if sound => format!("{} {in_check}", about_piece("To which empty squares could it go?")),
        Task::ControlSquares => about_piece("Which empty squares does it attack?"),
        Task::ProtectSquares => about_piece("On which squares does it protect a piece of its own side? The king does not count."),
        Task::Pin => "Which pins are there, by pieces of either side? In a pin, a bishop, rook or queen attacks a piece along a \
             line, and the next piece behind it on that line is that piece's own king."
            .to_owned(),
        Task::Skewer => "Which skewers are there, by pieces of either side? In a skewer, a bishop, rook or queen attacks a piece \
             along a line, and the next piece behind it on that line is of the same side and of less value (king 100, queen 9, \
             rook 5, bishop and knight 3, pawn 1)."
            .to_owned(),
        Task::Fork => "Which forks are there, by pieces of either side? A piece of any kind forks if it attacks two or more pieces \
             of the other side, whatever they are worth and whether or not they are protected."
            .to_owned(),
        Task::Battery => "Which batteries are there, of either side? A battery is a row of two or more bishops, rooks or queens of \
             one side on a rank, file or diagonal along which each of them moves, with nothing else between them; take each \
             row as long as it is."
            .to_owned(),
        Task::DiscoveredCheck => "Which legal moves give a discovered check, that is: open a line along which a bishop, rook or \
             queen that did not itself move gives check?"
            .to_owned(),
        Task::DoubleCheck => "After which legal moves do two pieces give check at once?".to_owned(),
        Task::Rating(_) | Task::Theme(_) => "Which move is the best for the side to move?".to_owned(),
        Task::Judgement(_) => "How would a strong engine value this position after a deep search, in centipawns from White's side? \
             Consider how play is likely to go on. Choose the nearest of these values: {options}."
            .to_owned(),
        Task::StateTrackingShort | Task::StateTrackingMid | Task::StateTrackingLong | Task::Semantic(_) => String::new(),
    }
}

/// The instructions for the form of the answer.
fn form(task: Task, keys: Keys) -> String {
    let sound = keys == Keys::Sound;
    let list = "Separate several with a comma and a space.";
    let example = format!("For example: {EXAMPLE}");
    match (task.form(), task) {
        (Form::Arrangement, _) => format!(
            "Write each kind with its color, a colon, and its squares in brackets: quoted, and sorted by file and then by rank. \
             Separate kinds, and squares, with a comma and a space. {example}"
        ),
        (Form::Moves, Task::DiscoveredCheck | Task::DoubleCheck) if !sound => {
            format!("Write moves in UCI notation, those of a promotion once and without its letter. {list} {example}")
        }
        (Form::Moves, _) => {
            format!("Write moves in UCI notation, a promotion as one move for each piece. {list} {example}")
        }
        (Form::Move, _) => {
            format!("Write the move in UCI notation. For example, of moves: {EXAMPLE}")
        }
        (Form::Squares, _) => format!("{list} {example}"),
        (Form::Checkers, _) => {
            format!("Write each piece with its color, kind and square, such as {EXAMPLE}. {list}")
        }
        (Form::Lines, _) => {
            format!(
                "Write each as the squares of the attacker, of the piece in front and of the one behind, with > between. {list} {example}"
            )
        }
        (Form::ForkLines, _) => format!(
            "Write each as the square of the forking piece, >, and the attacked squares sorted by file and then by rank, with - \
             between. {list} {example}"
        ),
        (Form::Battery, _) => {
            let order = if sound {
                "sorted by file and then by rank"
            } else {
                "from the a-file on (on a file from the first rank on; on a diagonal that falls towards the h-file, from the h-file on)"
            };
            format!("Write each as its squares {order}, with > between. {list} {example}")
        }
        (Form::Centipawns, _) => example,
        (Form::Fen | Form::Letter, _) => String::new(),
    }
}

/// Examples of the answer's form: the two of the release, and where a key may be among them one of ours.
fn examples(task: Task) -> &'static [&'static str] {
    match (task.form(), task) {
        (_, Task::LegalMovePiece) => &["e2e3, e2e4", "d7d5, d7d6", "a7a8q, a7a8r"],
        (Form::Move | Form::Moves, _) => &["e2e4, c2b1q", "g1f3, a2a1q", "b8c6, h7h8n"],
        (Form::Squares, _) => &["e4, f5", "a1, b2, c3", "g6, h2"],
        (Form::Checkers, _) => &["White Queen at e5", "Black Rook at d5", "White Knight at f7"],
        (Form::Lines, _) => &["d1>d7>d8, a2>e2>h2", "a5>e5>h5, h1>h4>h7", "c1>c4>c6, b3>d5>g8"],
        (Form::ForkLines, _) => &["e5>e7-f6, f3>e1-g1", "e4>b1-g2, c4>b2-d6", "d4>b6-g7, a4>a6-c4"],
        (Form::Battery, _) => &["b2>e5>h8, h1>h7", "h1>h4, a1>a4>a8", "c1>f4, d2>d5"],
        (Form::Centipawns, _) => &["400", "-200"],
        (Form::Letter, _) => &["A", "D"],
        (Form::Fen, _) => &[
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "r2qr1k1/1b1p1ppp/p2Q1n2/1p6/8/1BN2n2/PPP2PPP/R1B1R1K1 w - - 1 15",
        ],
        (Form::Arrangement, _) => &[
            "White King: ['e1'], White Queen: ['d1'], White Rook: ['a1', 'h1'], White Bishop: ['c1', 'f1'], White Knight: ['b1', \
             'g1'], White Pawn: ['a2', 'b2', 'c2', 'd2', 'e2', 'f2', 'g2', 'h2'], Black King: ['e8'], Black Queen: ['d8'], Black \
             Rook: ['a8', 'h8'], Black Bishop: ['c8', 'f8'], Black Knight: ['b8', 'g8'], Black Pawn: ['a7', 'b7', 'c7', 'd7', \
             'e7', 'f7', 'g7', 'h7']",
            "White King: ['g1'], White Queen: ['d6'], White Rook: ['a1', 'e1'], White Bishop: ['b3', 'c1'], White Knight: ['c3'], \
             White Pawn: ['a2', 'b2', 'c2', 'f2', 'g2', 'h2'], Black King: ['g8'], Black Queen: ['d8'], Black Rook: ['a8', 'e8'], \
             Black Bishop: ['b7'], Black Knight: ['f3', 'f6'], Black Pawn: ['a6', 'b5', 'd7', 'f7', 'g7', 'h7']",
        ],
    }
}
