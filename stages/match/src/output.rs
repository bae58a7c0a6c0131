//! Writes the outputs of `match`.

use std::collections::BTreeMap;
use std::io::Write;

use cwm_contract::{Context, Failure};
use cwm_game::{Headers, pgn_text};
use cwm_journal::Journal;
use cwm_matches::{End, EngineName, Game, MatchesWriter, Participant, Players};
use cwm_player::Player;
use cwm_policy::replay::replay;
use serde_json::{Value, json};
use shakmaty::Move;

use crate::config::Config;
use crate::kind::Kind;
use crate::side::Side;
use crate::table::MatchSetup;

/// High enough for small files, and low enough that compression takes little time beside the games.
const ZSTD_LEVEL: i32 = 9;

/// Returns the players, their rules and the engine.
///
/// # Errors
/// The engine's program cannot be read.
pub fn players(config: &Config, table: &MatchSetup<'_>, sides: &[Side<'_>; 2]) -> Result<Players, Failure> {
    let engine = match (&config.engine, sides.iter().find_map(Side::engine_name)) {
        (Some(program), Some(name)) => Some(EngineName { name: name.to_owned(), digest: cwm_uci::digest(&program.0)? }),
        _ => None,
    };
    let of_models = |rule: &String| config.has_model().then(|| rule.clone());
    let participant = |kind: Kind| match table.model(kind) {
        Some(player) => model(kind, player),
        None => Participant { kind: kind.to_string(), ..Participant::default() },
    };
    Ok(Players {
        first: participant(config.first),
        second: participant(config.second),
        legality: of_models(&config.rule_of_moves()),
        repetition: of_models(&config.repetition),
        engine,
    })
}

fn model(kind: Kind, player: &Player) -> Participant {
    let description = player.description();
    Participant {
        kind: kind.to_string(),
        arm: Some(arm(player)),
        size: Some(description.architecture.size.to_string()),
        parameters: Some(description.parameters),
        steps: description.training.get("steps").and_then(Value::as_u64),
        seed: description.training.get("seed").and_then(Value::as_u64),
    }
}

/// The form and the mask of a model, such as `board/none`.
fn arm(player: &Player) -> String {
    format!("{}/{}", player.form().name(), if player.is_causal() { "causal" } else { "none" })
}

/// Returns the identity of a match, which distinguishes its games from those of the same number in another match: the
/// players, with all that is known of the training of models, and the rules. The number of games is not part of it.
pub fn identity(config: &Config, table: &MatchSetup<'_>, players: &Players) -> Value {
    let models = [config.first, config.second].map(|kind| table.model(kind).map(Player::description));
    let Config { colours, opening_plies, attempts, temperature, max_plies, seed, .. } = config;
    json!([players, models, colours, opening_plies, attempts, temperature, max_plies, seed])
}

/// The `Site` of a game: unique, since ids are made of it. `identity` is that of the match.
fn site(config: &Config, identity: &Value, game: &Game) -> String {
    let digest = blake3::hash(json!([identity, game.opening]).to_string().as_bytes()).to_hex();
    let Config { first, second, seed, .. } = config;
    format!("cwm_match_{first}_{second}_{seed}_{}_{:06}", &digest[..8], game.game)
}

/// Counts of the games.
#[derive(Default)]
struct Counts {
    wins: u64,
    draws: u64,
    losses: u64,
    plies: u64,
    illegal_attempts: u64,
    ends: BTreeMap<&'static str, u64>,
}

impl Counts {
    fn add(&mut self, game: &Game) {
        let of_score = if game.score > 0.5 {
            &mut self.wins
        } else if game.score < 0.5 {
            &mut self.losses
        } else {
            &mut self.draws
        };
        *of_score += 1;
        self.plies += u64::from(game.plies);
        self.illegal_attempts += u64::from(game.illegal_attempts);
        *self.ends.entry(game.end.word()).or_default() += 1;
    }
}

/// Writes all outputs from the finished games.
///
/// # Errors
/// An operation on the disk fails.
pub fn write(
    context: &Context,
    config: &Config,
    players: &Players,
    identity: &Value,
    journal: &Journal<Game>,
) -> Result<(), Failure> {
    let mut counts = Counts { ends: End::ALL.map(|end| (end.word(), 0)).into(), ..Counts::default() };
    let mut matches = MatchesWriter::create(context.output("matches")?, players)?;
    let mut pgn = zstd::Encoder::new(fs_err::File::create(context.output("games")?)?, ZSTD_LEVEL)?;
    pgn.include_checksum(true)?;
    journal.for_each(|number, game| {
        let game = game.ok_or_else(|| Failure::internal(format!("game {number} was not played")))?;
        pgn.write_all(text(site(config, identity, &game), &game)?.as_bytes())?;
        counts.add(&game);
        matches.push(game)
    })?;
    pgn.finish()?;
    matches.finish()?;
    let Counts { wins, draws, losses, plies, illegal_attempts, ends } = counts;
    let mut counted: BTreeMap<&str, Value> = BTreeMap::from([
        ("stage", json!("match")),
        ("first", json!(players.first.kind)),
        ("second", json!(players.second.kind)),
        ("games", json!(config.games)),
        ("wins", json!(wins)),
        ("draws", json!(draws)),
        ("losses", json!(losses)),
        ("plies", json!(plies)),
        ("illegal_attempts", json!(illegal_attempts)),
        ("ends", json!(ends)),
    ]);
    counted.extend(players.engine.as_ref().map(|engine| ("engine", json!(engine.name))));
    fs_err::write(context.output("counts")?, format!("{}\n", json!(counted)))?;
    context.metric("games", config.games as f64);
    context.metric("score", (wins as f64 + draws as f64 / 2.0) / config.games as f64);
    Ok(())
}

/// A game as PGN.
fn text(site: String, game: &Game) -> Result<String, Failure> {
    let mut moves: Vec<Move> = Vec::with_capacity(game.moves.len());
    let replayed = replay(&game.moves, |_, _, played| {
        moves.extend(played);
        Ok(())
    });
    replayed.map_err(|fault| {
        Failure::system(format!("game {} as it was kept: {fault}", game.game))
            .hint("the disk lost data: remove the work folder of this run, and run again")
    })?;
    let headers = Headers {
        event: "cwm match",
        site,
        white: (game.white.clone(), None),
        black: (game.black.clone(), None),
        result: &game.result,
        termination: match game.end {
            End::Mate | End::Stalemate | End::Material | End::Threefold | End::Fifty => "Normal",
            End::MaxPlies | End::Context => "Adjudication",
            End::Attempts => "Rules infraction",
        },
    };
    Ok(pgn_text(&headers, &moves))
}
