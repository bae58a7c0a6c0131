//! Single edits, such as that of the paper's Figure 4.

use cwm_contract::Failure;
use cwm_encoding::{PlainMove, START};
use cwm_findings::{Finding, Kind};
use cwm_inside::edit::{RecordedGame, StreamEdit, board_direction, scaled};
use cwm_inside::{Model, ModelTask, TokenizedGame};
use cwm_models::worker_pool::WorkerPool;
use cwm_policy::inputs::words::word_of;
use cwm_policy::origins::WordSet;
use shakmaty::uci::UciMove;
use shakmaty::{Board, Chess, Piece, Position, Square};

use crate::comparison::{check_finite, class_of, label_of};
use crate::config::Config;
use crate::linear_probes::NamedLinearProbes;

/// A position, and the pieces on some of its squares after the edit.
#[derive(Clone, Debug)]
pub struct Study {
    text: String,
    /// Tokens of the moves, START first.
    tokens: Vec<u16>,
    position: Chess,
    changes: Vec<(Square, Option<Piece>)>,
}

impl Study {
    /// Reads `e2e4 d7d5: d5=. d7=p`.
    ///
    /// # Errors
    /// It has another form, an illegal move, an unknown piece, or a square twice; as a phrase.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = |what: String| format!("has the case `{text}`, {what}");
        let (moves, changes) =
            text.split_once(':').ok_or_else(|| wrong("without `:` between moves and squares".into()))?;
        let mut position = Chess::default();
        let mut tokens = vec![START];
        for one in moves.split_whitespace() {
            let played = one.parse::<UciMove>().ok().and_then(|uci| uci.to_move(&position).ok());
            let played = played.ok_or_else(|| wrong(format!("in which the move {one} is not legal")))?;
            tokens.push(PlainMove::from(played).token());
            position.play_unchecked(played);
        }
        let mut squares: Vec<(Square, Option<Piece>)> = Vec::new();
        for change in changes.split_whitespace() {
            let parsed = change.split_once('=').and_then(|(square, piece)| {
                let square: Square = square.parse().ok()?;
                let mut letters = piece.chars();
                let piece = match (letters.next()?, letters.next()) {
                    ('.', None) => None,
                    (letter, None) => Some(Piece::from_char(letter)?),
                    _ => return None,
                };
                Some((square, piece))
            });
            let (square, piece) =
                parsed.ok_or_else(|| wrong(format!("in which `{change}` is no square with a piece or `.`")))?;
            if squares.iter().any(|(known, _)| *known == square) {
                return Err(wrong(format!("which has {square} twice")));
            }
            squares.push((square, piece));
        }
        if squares.is_empty() {
            return Err(wrong("which changes no square".into()));
        }
        // Their order makes no difference.
        squares.sort_unstable_by_key(|(square, _)| *square);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let study = Study { text, tokens, position, changes: squares };
        if study.edited_board() == *study.position.board() {
            return Err(wrong("after which the board is as before".into()));
        }
        Ok(study)
    }

    /// True if `other` is the same edit of the same moves.
    pub fn is_same_edit(&self, other: &Study) -> bool {
        (&self.tokens, &self.changes) == (&other.tokens, &other.changes)
    }

    fn edited_board(&self) -> Board {
        let mut board = self.position.board().clone();
        for (square, piece) in &self.changes {
            match piece {
                Some(piece) => board.set_piece_at(*square, *piece),
                None => board.discard_piece_at(*square),
            }
        }
        board
    }
}

/// The probability of each square as origin, before and after each edit by each set of linear probes.
///
/// # Errors
/// The model answers with boards, or reads fewer tokens.
pub fn findings(
    model: &Model,
    workers: &WorkerPool,
    config: &Config,
    sites: &[usize],
    probes: &[NamedLinearProbes],
) -> Result<Vec<Finding>, Failure> {
    let studies = config.studies().map_err(Failure::input)?;
    if !studies.is_empty() && model.task() == ModelTask::State {
        return Err(Failure::input(format!(
            "`cases` are for models of moves, and {} answers with boards",
            model.name()
        )));
    }
    let batch_tokens = config.batch_tokens as usize;
    let mut findings = Vec::new();
    for study in &studies {
        let reading = TokenizedGame::of(model.task(), &study.tokens).map_err(Failure::internal)?;
        let tokens = reading.tokens.as_slice();
        if let Some(longest) = model.longest().filter(|longest| tokens.len() > *longest) {
            let (length, model) = (tokens.len(), model.name());
            let message = format!("the case `{}` has {length} tokens, and {model} reads {longest} at most", study.text);
            return Err(Failure::input(message));
        }
        let recorded = [RecordedGame { tokens, at: vec![tokens.len() - 1] }];
        let passes = model.record(workers, batch_tokens, sites, &recorded)?;
        let view = &passes.views[0][0];
        check_finite(&[], &view.logits, || format!("case `{}`, without an edit", study.text))?;
        let board = study.position.board();
        let class = |piece: Option<Piece>| piece.map_or(0, class_of);
        let changes: Vec<(usize, [u8; 2])> = study
            .changes
            .iter()
            .map(|(square, piece)| (label_of(*square), [class(board.piece_at(*square)), class(*piece)]))
            .collect();
        for (place, &site) in sites.iter().enumerate() {
            for (set, probe) in probes.iter().filter_map(|set| Some((set, set.probe(site)?))) {
                for &eta in &config.eta {
                    let direction = board_direction(probe, &changes);
                    let Some(vector) = scaled(&direction, eta, view.lengths[place]) else { continue };
                    let edit = StreamEdit { game: 0, place: 0, vector: vector.clone() };
                    let logits = model.edited(workers, batch_tokens, &passes, site, &[edit])?.remove(0);
                    let name = set.name;
                    check_finite(&vector, &logits, || {
                        format!("case `{}`, layer {site}, `{name}` with η {eta:?}", study.text)
                    })?;
                    let finding =
                        Finding::new(Kind::Case, model.name(), model.weights_source().name(), Some(site as u32), 1)
                            .name("task", model.task().name())
                            .name("case", &study.text)
                            .name("intervention", name)
                            .name("eta", eta)
                            .name("original", board)
                            .name("edited", study.edited_board());
                    let row = &view.rows[place];
                    let edited_row: Vec<f32> = row.iter().zip(&vector).map(|(value, added)| value + added).collect();
                    let predictions = [("predicted_before", row), ("predicted_after", &edited_row)];
                    let predictions = predictions.map(|(name, row)| Some((name, set.read_board(site, row)?)));
                    let finding = predictions
                        .into_iter()
                        .flatten()
                        .fold(finding, |finding, (name, board)| finding.name(name, board));
                    let squares = Square::ALL.into_iter().flat_map(|square| {
                        [("before", &view.logits), ("after", &logits)].map(|(when, logits)| {
                            let word = WordSet::from_iter([word_of(square)]);
                            (format!("{when}_{square}"), word.mass(logits))
                        })
                    });
                    findings.push(squares.fold(finding, |finding, (name, value)| finding.value(&name, value)));
                }
            }
        }
    }
    Ok(findings)
}
