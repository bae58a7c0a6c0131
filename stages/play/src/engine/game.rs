//! One game between two players.

use cwm_game::{DrawRules, Ending, GameState, won_by};
use cwm_random::Random;
use cwm_search::{EvaluatedPosition, candidates};
use shakmaty::{ByColor, Chess, Color, Move, Position};

use super::openings::Openings;
use super::player::{self, Player};

/// Settings of games between players.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Plies that a player looks ahead before following captures, at least 1.
    pub depth: u32,
    /// Centipawns: see [`player::pair`].
    pub temperature: u32,
    /// A game that is still going on after so many plies is adjudicated.
    pub max_plies: u32,
}

/// The reason for which a game finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GameEnd {
    /// The game ended by the rules of chess.
    Rule(Ending),
    /// The player to move gave up.
    Resignation,
    /// The player to move ran out of time.
    TimeForfeit,
    /// Both saw nothing to play for.
    Agreement,
    /// It had lasted [`Rules::max_plies`]; won where one side is clearly ahead, else drawn.
    Adjudication,
}

/// A finished game.
pub struct EngineGame {
    /// Its moves.
    pub moves: Vec<Move>,
    /// The players.
    pub players: ByColor<Player>,
    /// The reason for its end.
    pub finish: GameEnd,
    /// `1-0`, `0-1` or `1/2-1/2`.
    pub result: &'static str,
}

/// A side that is so many centipawns behind at two of its moves in a row thinks of giving up.
const HOPELESS: i32 = 400;
/// Within so many centipawns a game is level.
const LEVEL: i32 = 25;
/// Nobody offers a draw before so many plies have been played.
const EARLIEST_AGREEMENT: usize = 60;
/// Before this ply nobody is short of time; from then on the player to move runs out of it at ply p with chance p in
/// [`FORFEITS`], as many of Lichess's games end.
const EARLIEST_FORFEIT: usize = 30;
const FORFEITS: u32 = 11_000;
/// A side that is ahead by so many centipawns wins an adjudicated game.
const CLEARLY_AHEAD: i32 = 250;

/// Counters by which players resign or agree to a draw.
#[derive(Default)]
struct TerminationHeuristics {
    /// The number of its moves in a row for which each side has been losing.
    losing_streak: ByColor<u32>,
    /// The number of plies in a row for which the game has been level.
    drawish_plies: u32,
}

impl TerminationHeuristics {
    /// Notes that the side to move thinks its best move is worth `value`.
    fn note(&mut self, to_move: Color, value: i32) {
        let losing_streak = self.losing_streak.get_mut(to_move);
        *losing_streak = if value <= -HOPELESS { *losing_streak + 1 } else { 0 };
        self.drawish_plies = if value.abs() <= LEVEL { self.drawish_plies + 1 } else { 0 };
    }

    /// Returns the reason if the game stops here without being over.
    fn early_end(&self, to_move: Color, player: &Player, plies: usize, random: &mut impl Random) -> Option<GameEnd> {
        if self.losing_streak[to_move] >= 2 && random.below(1_000) < player.resign_permille {
            Some(GameEnd::Resignation)
        } else if plies >= EARLIEST_FORFEIT && random.below(FORFEITS) < plies as u32 {
            Some(GameEnd::TimeForfeit)
        } else if plies >= EARLIEST_AGREEMENT && self.drawish_plies >= 8 && random.below(8) == 0 {
            Some(GameEnd::Agreement)
        } else {
            None
        }
    }
}

/// Plays one game, drawing from `random` only.
pub fn play(rules: &Rules, openings: &Openings, random: &mut impl Random) -> EngineGame {
    let players = player::pair(random, rules.temperature);
    let mut play = GameState::new();
    let mut moves: Vec<Move> = Vec::new();
    let mut heuristics = TerminationHeuristics::default();
    let mut in_book = true;
    let (finish, result) = loop {
        let legal = play.position().legal_moves();
        let to_move = play.position().turn();
        if let Some(ending) = play.ending(&legal, DrawRules::OnBoard) {
            break (GameEnd::Rule(ending), play.result(ending));
        }
        if moves.len() >= rules.max_plies as usize {
            break (GameEnd::Adjudication, adjudicate(play.position()));
        }
        let book = if in_book { openings.choose(&moves, random) } else { None };
        in_book = book.is_some();
        let chosen = match book {
            Some(m) => m,
            None => {
                let player = players[to_move];
                let depth = if random.below(1_000) < player.lapse_permille {
                    1
                } else {
                    rules.depth + extension(play.position())
                };
                let candidates = candidates(&play, &legal, depth, player.margin());
                heuristics.note(to_move, candidates[0].value);
                match heuristics.early_end(to_move, &player, moves.len(), random) {
                    Some(GameEnd::Agreement) => break (GameEnd::Agreement, "1/2-1/2"),
                    // Who cannot win by any series of moves does not win on time either.
                    Some(GameEnd::TimeForfeit) if play.position().has_insufficient_material(!to_move) => {
                        break (GameEnd::TimeForfeit, "1/2-1/2");
                    }
                    Some(finish) => break (finish, won_by(!to_move)),
                    None => player.choose(&candidates, random),
                }
            }
        };
        moves.push(chosen);
        play.play(chosen);
    };
    EngineGame { moves, players, finish, result }
}

/// Returns the number of plies by which the search is extended where few pieces are left.
fn extension(position: &Chess) -> u32 {
    let board = position.board();
    u32::from((board.occupied() & !board.pawns() & !board.kings()).count() <= 4)
}

/// The result that the material on the board deserves.
fn adjudicate(position: &Chess) -> &'static str {
    let value = EvaluatedPosition::new(position.clone()).value();
    match position.turn().fold_wb(value, -value) {
        ahead if ahead >= CLEARLY_AHEAD => won_by(Color::White),
        behind if behind <= -CLEARLY_AHEAD => won_by(Color::Black),
        _ => "1/2-1/2",
    }
}
