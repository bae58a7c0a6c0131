//! The stage: plays the games in blocks and writes them in order.

use std::io::Write;
use std::path::Path;

use cwm_contract::{Context, Failure, Fault, Format, Input, Needs, Output, ParameterSpec, Parameters, Stage, Values};
use rayon::prelude::*;

use crate::config::{self, Config, Policy};
use crate::ending::Ending;
use crate::engine::{self, EngineGame, Finish, Openings, Rules};
use crate::pgn::{self, Headers};
use crate::random::{GameStream, MersenneTwister};
use crate::seed::Seed;
use crate::uniform::{self, UniformGame};

/// Games are played side by side in blocks of this many for each core: small enough to show progress and to stop
/// soon, large enough that the cores seldom wait for the last game of a block.
const BLOCK: u64 = 64;

/// Enough to pay, fast enough not to be noticed beside the playing.
const ZSTD_LEVEL: i32 = 9;

/// The stage `play`: makes chess games.
pub struct Play;

impl Stage for Play {
    fn kind(&self) -> &'static str {
        "play"
    }

    fn about(&self) -> &'static str {
        "Makes chess games, random or like people's, to a compressed PGN file"
    }

    fn inputs(&self) -> Vec<Input> {
        Vec::new()
    }

    fn outputs(&self) -> Vec<Output> {
        vec![Output::file("pgn", Format::PGN, "pgn.zst", "The games, numbered from 0 in their Site")]
    }

    fn parameters(&self) -> Vec<ParameterSpec> {
        Config::specs()
    }

    fn check(&self, values: &Values) -> Vec<Fault> {
        config::faults(values)
    }

    fn needs(&self, values: &Values) -> Needs {
        let sequential = Config::read(values).is_ok_and(|config| matches!(config.policy(), Policy::UniformAuthors));
        Needs { cpu: if sequential { Some(1) } else { None }, ..Needs::default() }
    }

    fn run(&self, context: &Context) -> Result<(), Failure> {
        let config: Config = context.parameters()?;
        let output = context.output("pgn")?;
        let (path, seed) = (output, &config.seed);
        match config.policy() {
            Policy::Engine(rules) => {
                let openings = Openings::new()?;
                write(context, path, config.games, |pool, block| {
                    side_by_side(context, pool, block, |number| engine_game(&rules, &openings, seed, number))
                })
            }
            Policy::UniformParallel => write(context, path, config.games, |pool, block| {
                side_by_side(context, pool, block, |number| {
                    let game = uniform::game(&mut GameStream::new("uniform", seed, number));
                    uniform_game(&game, number)
                })
            }),
            Policy::UniformAuthors => {
                let mut random = MersenneTwister::new(seed);
                write(context, path, config.games, |_, block| {
                    block
                        .map(|number| {
                            context.check_cancelled()?;
                            Ok(uniform_game(&uniform::game(&mut random), number))
                        })
                        .collect()
                })
            }
        }
    }
}

/// A game as text, and what the metrics count of it.
struct Written {
    text: String,
    plies: usize,
    /// `1-0`, `0-1` or `1/2-1/2`.
    result: &'static str,
    mated: bool,
}

/// Plays the games of a block on all cores; their order is that of their numbers.
fn side_by_side(
    context: &Context,
    pool: &rayon::ThreadPool,
    block: std::ops::Range<u64>,
    game: impl Fn(u64) -> Written + Sync,
) -> Result<Vec<Written>, Failure> {
    pool.install(|| {
        block
            .into_par_iter()
            .map(|number| {
                context.check_cancelled()?;
                Ok(game(number))
            })
            .collect()
    })
}

fn engine_game(rules: &Rules, openings: &Openings, seed: &Seed, number: u64) -> Written {
    let game = engine::play(rules, openings, &mut GameStream::new("engine", seed, number));
    let EngineGame { moves, players, finish, result } = game;
    let name = |rating: u32| (format!("cwm-engine-{rating}"), Some(rating));
    let headers = Headers {
        event: "cwm engine game",
        site: format!("cwm_engine_{}_{number:06}", seed.as_str()),
        white: name(players.white.rating),
        black: name(players.black.rating),
        result,
        termination: match finish {
            Finish::Rule(_) | Finish::Resignation | Finish::Agreement => "Normal",
            Finish::TimeForfeit => "Time forfeit",
            Finish::Adjudication => "Adjudication",
        },
    };
    Written {
        text: pgn::text(&headers, &moves),
        plies: moves.len(),
        result,
        mated: finish == Finish::Rule(Ending::Checkmate),
    }
}

/// The site is the id that the authors give their random games, made of the number of the *generated* game.
fn uniform_game(game: &UniformGame, number: u64) -> Written {
    let headers = Headers {
        event: "cwm random game",
        site: format!("cwm_random_{number:05}"),
        white: ("cwm-random".into(), None),
        black: ("cwm-random".into(), None),
        result: game.result,
        termination: "Normal",
    };
    Written {
        text: pgn::text(&headers, &game.moves),
        plies: game.moves.len(),
        result: game.result,
        mated: game.ending == Ending::Checkmate,
    }
}

/// Has blocks of games played one after the other, writes them, and tells how it goes.
fn write(
    context: &Context,
    path: &Path,
    games: u64,
    mut play: impl FnMut(&rayon::ThreadPool, std::ops::Range<u64>) -> Result<Vec<Written>, Failure>,
) -> Result<(), Failure> {
    let cannot = |error| Failure::io("write", path, error);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(context.cores())
        .build()
        .map_err(|error| Failure::system(format!("cannot start {} threads: {error}", context.cores())))?;
    let file = std::fs::File::create(path).map_err(cannot)?;
    let mut writer = zstd::Encoder::new(file, ZSTD_LEVEL).map_err(cannot)?;
    writer.include_checksum(true).map_err(cannot)?;
    let (mut plies, mut mates, mut draws) = (0usize, 0u64, 0u64);
    let block = BLOCK * context.cores() as u64;
    for start in (0..games).step_by(block as usize) {
        context.progress(start, Some(games), "games");
        for game in play(&pool, start..games.min(start + block))? {
            writer.write_all(game.text.as_bytes()).map_err(cannot)?;
            plies += game.plies;
            mates += u64::from(game.mated);
            draws += u64::from(game.result == "1/2-1/2");
        }
    }
    writer.finish().map_err(cannot)?;
    context.progress(games, Some(games), "games");
    context.metric("games", games as f64);
    context.metric("plies_per_game", plies as f64 / games as f64);
    context.metric("mates", mates as f64 / games as f64);
    context.metric("draws", draws as f64 / games as f64);
    Ok(())
}
