//! A model as a chess engine that speaks UCI, for any chess program.

use std::io::BufRead;

use cwm_contract::{Failure, UciRequest};
use cwm_game::StreamRng;
use cwm_models::device;
use cwm_player::{GamePrefix, PlayRules, Player};
use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Move, Position};
use shakmaty_uci::{UciInfo, UciMessage};

/// The answers that a model may give to a position where it is not held to legal moves, as in the stage `match`.
const ATTEMPTS: u32 = 5;

/// Receives a line of the engine.
pub type Report<'r> = dyn FnMut(&str) -> Result<(), Failure> + 'r;

/// Answers the commands of `input` until `quit` or its end.
///
/// # Errors
/// The model cannot be read, there is no such device, or `report` fails.
pub fn serve(request: &UciRequest, input: &mut dyn BufRead, report: &mut Report<'_>) -> Result<(), Failure> {
    let device = device::named(&request.device)?;
    device::catch_panics(&device, || {
        let player = Player::open(&request.model, &device)?;
        let attempts = (!request.is_masked).then_some(ATTEMPTS);
        let mut engine = Engine {
            player,
            rules: PlayRules { attempts, temperature: None },
            game: Ok(GamePrefix::default()),
            random: random(),
            pending_best_move: None,
        };
        let mut line = Vec::new();
        while input.read_until(b'\n', &mut line)? > 0 {
            if engine.answer(&String::from_utf8_lossy(&line), report)? {
                break;
            }
            line.clear();
        }
        Ok(())
    })
}

/// The numbers of a game: the same commands have the same answers.
fn random() -> StreamRng {
    StreamRng::new("uci", "0", 0)
}

/// The game of a command `position`, or why there is none.
fn game(fen: Option<Fen>, moves: &[UciMove]) -> Result<GamePrefix, String> {
    let start = match fen {
        Some(fen) => {
            fen.into_position(CastlingMode::Standard).map_err(|error| format!("the position is wrong: {error}"))?
        }
        None => Chess::default(),
    };
    let mut game = GamePrefix::new(start);
    for word in moves {
        let played = word.to_move(game.position());
        game.push(played.map_err(|_| format!("the move {word} of the last position is not legal"))?);
    }
    Ok(game)
}

struct Engine {
    player: Player,
    rules: PlayRules,
    /// The game of the last `position`; or why there is none.
    game: Result<GamePrefix, String>,
    random: StreamRng,
    /// The answer to a search that ends with `stop` or `ponderhit` alone.
    pending_best_move: Option<UciMessage>,
}

impl Engine {
    /// Answers a command; returns true if it is the last. Commands that are not understood are ignored, but for a position: a
    /// move in another one would be worse than none.
    fn answer(&mut self, line: &str, report: &mut Report<'_>) -> Result<bool, Failure> {
        let line = line.trim();
        let mut words = line.split_whitespace();
        let message = line.parse().ok();
        match (words.next(), message) {
            (Some("uci"), _) => {
                let size = self.player.description().architecture.size;
                let name = format!("cwm {} {size}", self.player.form().name());
                for message in [
                    UciMessage::Id { name: Some(name), author: None },
                    UciMessage::Id { name: None, author: Some("cwm".to_owned()) },
                    UciMessage::UciOk,
                ] {
                    report(&message.to_string())?;
                }
            }
            (Some("isready"), _) => report(&UciMessage::ReadyOk.to_string())?,
            (Some("ucinewgame"), _) => {
                self.game = Ok(GamePrefix::default());
                self.random = random();
            }
            (Some("position"), Some(UciMessage::Position { fen, moves, .. })) => {
                self.game = game(fen, &moves);
            }
            (Some("position"), _) => self.game = Err("the last position was not understood".to_owned()),
            (Some("go"), message) => {
                let searched = match message {
                    Some(UciMessage::Go { search_control: Some(control), .. }) => control.search_moves,
                    _ => Vec::new(),
                };
                let best_move = self.choose(&searched, report)?;
                let best = UciMessage::BestMove { best_move, ponder: None };
                if words.any(|word| ["infinite", "ponder"].contains(&word)) {
                    self.pending_best_move = Some(best);
                } else {
                    self.pending_best_move = None;
                    report(&best.to_string())?;
                }
            }
            (Some("stop" | "ponderhit"), _) => {
                if let Some(best) = self.pending_best_move.take() {
                    report(&best.to_string())?;
                }
            }
            (Some("quit"), _) => return Ok(true),
            _ => {}
        }
        Ok(false)
    }

    /// The model's move, which is reported, too; the null move where there is none, after the reason. `searched` are the
    /// moves that it may choose among; all, if there are none.
    fn choose(&mut self, searched: &[UciMove], report: &mut Report<'_>) -> Result<UciMove, Failure> {
        let word = |played: Move| played.to_uci(CastlingMode::Standard);
        let mut remark =
            |text: String| report(&UciMessage::Info(UciInfo { string: Some(text), ..UciInfo::default() }).to_string());
        let open = self.game.as_ref().map_err(String::clone).and_then(|game| {
            let is_over = game.position().legal_moves().is_empty();
            if is_over { Err("the game is over".to_owned()) } else { Ok(game) }
        });
        let game = match open {
            Ok(game) => game,
            Err(reason) => {
                remark(format!("no move: {reason}"))?;
                return Ok(UciMove::Null);
            }
        };
        let is_excluded = |played| !searched.is_empty() && !searched.contains(&word(played));
        let random = &mut self.random;
        match self.player.play(self.rules, game, &is_excluded, &mut || random.uniform()) {
            Ok(chosen) => {
                for answer in chosen.illegal {
                    remark(format!("the model's answer `{answer}` is no legal move"))?;
                }
                let Some(played) = chosen.played else {
                    remark(format!("no move: no answer of {ATTEMPTS} is a legal move"))?;
                    return Ok(UciMove::Null);
                };
                let info = UciInfo { depth: Some(1), nodes: Some(1), pv: vec![word(played)], ..UciInfo::default() };
                report(&UciMessage::Info(info).to_string())?;
                Ok(word(played))
            }
            Err(reason) => {
                remark(format!("no move: {reason}"))?;
                Ok(UciMove::Null)
            }
        }
    }
}

#[cfg(test)]
mod tests;
