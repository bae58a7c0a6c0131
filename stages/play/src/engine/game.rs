//! One game between two players.

use shakmaty::{ByColor, Chess, Color, Move, Position};

use super::evaluation::Valued;
use super::openings::Openings;
use super::player::{self, Player};
use super::search;
use crate::ending::{Draws, Ending, Play, won_by};
use crate::random::Random;

/// How games are played.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Plies that a player looks ahead before following captures, at least 1.
    pub depth: u32,
    /// Centipawns: see [`player::pair`].
    pub temperature: u32,
    /// A game that is still going on after so many plies is adjudicated.
    pub max_plies: u32,
}

/// How a game finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// By the rules of chess.
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
    /// Who played.
    pub players: ByColor<Player>,
    /// How it finished.
    pub finish: Finish,
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

/// What the players remember of how the game went.
#[derive(Default)]
struct Mood {
    /// For how many of its moves in a row each side has been hopeless.
    hopeless: ByColor<u32>,
    /// For how many plies in a row the game has been level.
    level: u32,
}

impl Mood {
    /// Notes that the side to move thinks its best move is worth `value`.
    fn note(&mut self, to_move: Color, value: i32) {
        let hopeless = self.hopeless.get_mut(to_move);
        *hopeless = if value <= -HOPELESS { *hopeless + 1 } else { 0 };
        self.level = if value.abs() <= LEVEL { self.level + 1 } else { 0 };
    }

    /// Whether the game stops here without being over.
    fn stops(&self, to_move: Color, player: &Player, plies: usize, random: &mut impl Random) -> Option<Finish> {
        if self.hopeless[to_move] >= 2 && random.below(1_000) < player.resigns {
            Some(Finish::Resignation)
        } else if plies >= EARLIEST_FORFEIT && random.below(FORFEITS) < plies as u32 {
            Some(Finish::TimeForfeit)
        } else if plies >= EARLIEST_AGREEMENT && self.level >= 8 && random.below(8) == 0 {
            Some(Finish::Agreement)
        } else {
            None
        }
    }
}

/// Plays one game, drawing from `random` only.
pub fn play(rules: &Rules, openings: &Openings, random: &mut impl Random) -> EngineGame {
    let players = player::pair(random, rules.temperature);
    let mut play = Play::new();
    let mut moves: Vec<Move> = Vec::new();
    let mut mood = Mood::default();
    let mut in_book = true;
    let (finish, result) = loop {
        let legal = play.position().legal_moves();
        let to_move = play.position().turn();
        if let Some(ending) = play.ending(&legal, Draws::Reached) {
            break (Finish::Rule(ending), play.result(ending));
        }
        if moves.len() >= rules.max_plies as usize {
            break (Finish::Adjudication, adjudicate(play.position()));
        }
        let book = if in_book { openings.choose(&moves, random) } else { None };
        in_book = book.is_some();
        let chosen = match book {
            Some(m) => m,
            None => {
                let player = players[to_move];
                let depth =
                    if random.below(1_000) < player.lapses { 1 } else { rules.depth + extension(play.position()) };
                let candidates = search::candidates(&play, &legal, depth, player.margin());
                mood.note(to_move, candidates[0].value);
                match mood.stops(to_move, &player, moves.len(), random) {
                    Some(Finish::Agreement) => break (Finish::Agreement, "1/2-1/2"),
                    // Who cannot win by any series of moves does not win on time either.
                    Some(Finish::TimeForfeit) if play.position().has_insufficient_material(!to_move) => {
                        break (Finish::TimeForfeit, "1/2-1/2");
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

/// How many plies further players look where few pieces are left.
fn extension(position: &Chess) -> u32 {
    let board = position.board();
    u32::from((board.occupied() & !board.pawns() & !board.kings()).count() <= 4)
}

/// The result that the material on the board deserves.
fn adjudicate(position: &Chess) -> &'static str {
    let value = Valued::new(position.clone()).value();
    match position.turn().fold_wb(value, -value) {
        ahead if ahead >= CLEARLY_AHEAD => won_by(Color::White),
        behind if behind <= -CLEARLY_AHEAD => won_by(Color::Black),
        _ => "1/2-1/2",
    }
}
