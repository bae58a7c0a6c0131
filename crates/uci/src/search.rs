//! The limit of a search, and the engine's result.

use std::time::Duration;

use cwm_evaluations::Score;
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Move, Position};
use shakmaty_uci::{UciInfo, UciMessage, UciSearchControl};

/// The limit of a search, and the time after which an engine that has not answered counts as lost. The time changes no
/// result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    search: UciSearchControl,
    /// The longest time that the search may take.
    pub time: Duration,
}

impl Limit {
    /// A search of so many nodes. The time is a minute, and a second more for every 1,000 nodes.
    pub fn nodes(nodes: u64) -> Self {
        Limit { search: UciSearchControl::nodes(nodes), time: Duration::from_secs(60 + nodes / 1000) }
    }

    /// A search of so many plies. The time is ten minutes.
    pub fn depth(plies: u8) -> Self {
        Limit { search: UciSearchControl::depth(plies), time: Duration::from_secs(600) }
    }

    /// Sets the time and returns the limit.
    pub fn within(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }

    /// The command, such as `go nodes 1000`.
    pub(crate) fn command(&self) -> String {
        UciMessage::Go { time_control: None, search_control: Some(self.search.clone()) }.to_string()
    }
}

/// The side on which the true score is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The true score is at least the score (`lowerbound`).
    Lower,
    /// The true score is at most the score (`upperbound`).
    Upper,
}

/// A line of play as an engine reported it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Plies of the search; 0 if the engine did not report them.
    pub depth: u32,
    /// Its value for the side to move in the position of the query.
    pub score: Score,
    /// Nothing if the score is exact.
    pub bound: Option<Bound>,
    /// The moves, as far as they are legal. At least the first is, if the engine reported any.
    pub moves: Vec<Move>,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchResult {
    /// The move that the engine plays.
    pub best: Move,
    /// The last report of the best line whose score is exact: the score of a label. There may be none after few nodes.
    pub exact: Option<Line>,
    /// The lines of the last report of as many lines as any report had, the best first. Where the search ended within an
    /// iteration, one of them may be a bound. (Taking the last exact report of each line apart can give a move twice.)
    pub lines: Vec<Line>,
    /// Nodes that the engine had searched when it reported the move that it plays as the best, and no other since; none if it
    /// reported no nodes, or another move last.
    pub best_since_nodes: Option<u64>,
}

/// One `info` with a score.
#[derive(Clone, Debug)]
struct Report {
    /// The number of the line, from 1.
    line: u16,
    depth: u8,
    score: Score,
    bound: Option<Bound>,
    moves: Vec<UciMove>,
}

impl Report {
    fn new(info: UciInfo) -> Option<Self> {
        let reported = info.score?;
        let score = match (reported.cp, reported.mate) {
            (Some(centipawns), _) => Score::Centipawns(centipawns),
            (None, mate) => Score::Mate(mate?.into()),
        };
        let bound = match (reported.lower_bound, reported.upper_bound) {
            (true, _) => Some(Bound::Lower),
            (_, true) => Some(Bound::Upper),
            _ => None,
        };
        let (line, depth) = (info.multi_pv.unwrap_or(1), info.depth.unwrap_or(0));
        Some(Report { line, depth, score, bound, moves: info.pv })
    }

    /// The line with its moves on the board, or the first move if that is illegal.
    fn line(self, position: &Chess) -> Result<Line, UciMove> {
        let mut moves = Vec::with_capacity(self.moves.len());
        let mut board = position.clone();
        for word in self.moves {
            match word.to_move(&board) {
                Ok(legal) => {
                    board.play_unchecked(legal);
                    moves.push(legal);
                }
                Err(_) if moves.is_empty() => return Err(word),
                Err(_) => break,
            }
        }
        Ok(Line { depth: self.depth.into(), score: self.score, bound: self.bound, moves })
    }
}

/// The reports of one search, as they arrive.
#[derive(Default)]
pub struct Reports {
    exact: Option<Report>,
    /// The last of the longest groups of reports that are complete.
    longest: Vec<Report>,
    /// The group that is arriving: its lines are in rising order.
    group: Vec<Report>,
    /// The best move of the last reports, and the nodes searched at the first of them.
    last_best: Option<(UciMove, Option<u64>)>,
}

impl Reports {
    /// Takes one `info`.
    pub fn push(&mut self, info: UciInfo) {
        let nodes = info.nodes;
        let Some(report) = Report::new(info) else { return };
        if let Some(&best) = report.moves.first().filter(|_| report.line == 1)
            && self.last_best.is_none_or(|(last_best, _)| last_best != best)
        {
            self.last_best = Some((best, nodes));
        }
        if self.group.last().is_some_and(|last| report.line <= last.line) {
            self.end_group();
        }
        if report.line == 1 && report.bound.is_none() {
            self.exact = Some(report.clone());
        }
        self.group.push(report);
    }

    fn end_group(&mut self) {
        let group = std::mem::take(&mut self.group);
        if group.len() >= self.longest.len() {
            self.longest = group;
        }
    }

    /// The result with this best move, or the move that is illegal.
    pub fn result(mut self, position: &Chess, best: UciMove) -> Result<SearchResult, UciMove> {
        self.end_group();
        let best_since_nodes = self.last_best.filter(|(last_best, _)| *last_best == best).and_then(|(_, nodes)| nodes);
        let best = best.to_move(position).map_err(|_| best)?;
        let exact = self.exact.map(|report| report.line(position)).transpose()?;
        let lines = self.longest.into_iter().map(|report| report.line(position)).collect::<Result<_, _>>()?;
        Ok(SearchResult { best, exact, lines, best_since_nodes })
    }
}
