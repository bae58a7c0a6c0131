//! Boards: in each position that is shown the best move and every arm's answer.

use askama::Template;
use cwm_contract::Failure;
use cwm_page::{Widget, escape_controls};
use cwm_policy::actions::move_of;
use cwm_policy::answers::{MoveReading, Notation, read};
use cwm_policy::inputs::board::Board;

use super::groups::Group;
use super::shown::{ArmAnswer, ShownPosition, shown};
use crate::papers::board::{Drawings, Piece, SIDE, drawings, placed};

/// Half the width of an arrow's shaft and head, the head's length, in the order of [`KINDS`].
const WIDTHS: [[f64; 3]; 3] = [[5.0, 12.0, 18.0], [2.5, 8.0, 14.0], [3.5, 9.0, 14.0]];
/// The kinds of arrows, by the move that each marks.
const KINDS: [&str; 3] = ["best", "legal", "illegal"];

/// The style of a board, and of what stands around it.
const STYLE: &str = concat!(include_str!("../board.css"), include_str!("boards.css"));

#[derive(Template)]
#[template(path = "board_vs_moves/boards.html")]
struct View {
    drawings: Drawings,
    /// Class, meaning and outline of each kind of arrow.
    key: Vec<(&'static str, &'static str, String)>,
    /// Heading and boards.
    groups: Vec<(String, Vec<DrawnBoard>)>,
}

/// A board.
struct DrawnBoard {
    /// Ply and side to move.
    heading: String,
    fen: String,
    pieces: Vec<Piece>,
    /// The best move first, so that thinner ones lie upon it.
    arrows: Vec<Arrow>,
    /// A sign, the arm, its answer, and the answer's class.
    answers: Vec<[String; 4]>,
    best: String,
}

struct Arrow {
    kind: &'static str,
    path: String,
    note: String,
}

/// The boards of all groups; nothing without positions.
///
/// # Errors
/// A mistake of ours.
pub(crate) fn boards(groups: &[Group]) -> Result<Option<Widget>, Failure> {
    let drawn = |group: &Group| {
        let heading = format!("{}, {}", group.test, group.kind.name());
        (heading, shown(group).map(drawn).collect::<Vec<_>>())
    };
    let groups: Vec<_> = groups.iter().map(drawn).filter(|(_, boards)| !boards.is_empty()).collect();
    if groups.is_empty() {
        return Ok(None);
    }
    let words = ["the best move", "a legal answer", "an illegal answer"];
    let sample = |kind: usize| (KINDS[kind], words[kind], outline((4.0, 12.0), (44.0, 12.0), kind));
    let view = View { drawings: drawings()?, key: (0..KINDS.len()).map(sample).collect(), groups };
    let html = view.render().map_err(|error| Failure::internal(format!("cannot draw the boards: {error}")))?;
    Ok(Some(Widget { html, style: STYLE, script: "" }))
}

fn drawn(shown: ShownPosition) -> DrawnBoard {
    let asked = shown.position();
    let turn = if asked.fen.split(' ').nth(1) == Some("b") { "Black" } else { "White" };
    let ply = asked.t.map_or(String::new(), |t| format!("Ply {t}, "));
    let answers: Vec<ArmAnswer> = shown.answers().collect();
    let best = shown.best();
    let named = |answer: &ArmAnswer| {
        let sign = match answer.class() {
            "best" => "★",
            "legal" => "·",
            _ => "✗",
        };
        [sign.to_owned(), answer.arm.clone(), escape_controls(answer.text), answer.class().to_owned()]
    };
    DrawnBoard {
        heading: format!("{ply}{turn} to move"),
        fen: escape_controls(&asked.fen),
        pieces: placed(&asked.fen),
        arrows: arrows(&asked.fen, best.as_deref(), &answers),
        answers: answers.iter().map(named).collect(),
        best: best.unwrap_or_default(),
    }
}

/// Returns an arrow for each move that is best, or that an arm chose.
fn arrows(fen: &str, best: Option<&str>, answers: &[ArmAnswer]) -> Vec<Arrow> {
    let mut moves: Vec<(usize, String, Vec<&str>)> =
        best.map(|best| (0, best.to_owned(), Vec::new())).into_iter().collect();
    for answer in answers {
        let (kind, uci) = match (answer.class(), best) {
            ("best", Some(best)) => (0, Some(best.to_owned())),
            ("legal" | "best", _) => (1, in_uci(fen, answer.text)),
            _ => (2, in_uci(fen, answer.text)),
        };
        let Some(uci) = uci else { continue };
        match moves.iter_mut().find(|(_, known, _)| *known == uci) {
            Some((.., arms)) => arms.push(&answer.arm),
            None => moves.push((kind, uci, vec![&answer.arm])),
        }
    }
    let arrow = |(kind, uci, arms): &(usize, String, Vec<&str>)| {
        let (from, to) = ends(uci)?;
        let by = if arms.is_empty() { "no arm".to_owned() } else { arms.join(", ") };
        let note = format!("{uci}, {}: chosen by {by}", KINDS[*kind]);
        Some(Arrow { kind: KINDS[*kind], path: outline(from, to, *kind), note })
    };
    moves.iter().filter_map(arrow).collect()
}

/// The answer in UCI, if it names two squares; SAN does in a position where it is legal.
fn in_uci(fen: &str, text: &str) -> Option<String> {
    if ends(text).is_some() {
        return Some(text.to_owned());
    }
    let board = Board::parse(fen).ok()?;
    match read(board.position(), Notation::San, text) {
        MoveReading::Legal(action) => move_of(action).map(|found| found.to_string()),
        MoveReading::Illegal | MoveReading::Unreadable => None,
    }
}

/// The middles of the squares of a move in UCI.
fn ends(uci: &str) -> Option<((f64, f64), (f64, f64))> {
    let &[file, rank, to_file, to_rank, ..] = uci.as_bytes() else { return None };
    let middle = |file: u8, rank: u8| {
        let is_square = (b'a'..=b'h').contains(&file) && (b'1'..=b'8').contains(&rank);
        let at = |place: u8| f64::from(place) * SIDE as f64 + SIDE as f64 / 2.0;
        is_square.then(|| (at(file - b'a'), at(b'8' - rank)))
    };
    Some((middle(file, rank)?, middle(to_file, to_rank)?)).filter(|(from, to)| from != to && uci.len() <= 5)
}

/// The outline of an arrow of this kind.
fn outline(from: (f64, f64), to: (f64, f64), kind: usize) -> String {
    let [shaft, head, length] = WIDTHS[kind];
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let long = dx.hypot(dy);
    let points = [
        (0.0, shaft),
        (long - length, shaft),
        (long - length, head),
        (long, 0.0),
        (long - length, -head),
        (long - length, -shaft),
        (0.0, -shaft),
    ];
    let at = |(along, beside): (f64, f64)| {
        let x = from.0 + (dx * along - dy * beside) / long;
        let y = from.1 + (dy * along + dx * beside) / long;
        format!("{x:.1} {y:.1}")
    };
    format!("M{}Z", points.map(at).join("L"))
}
