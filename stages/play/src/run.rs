//! The stage: plays the games in blocks and writes them in order.

use std::collections::BTreeMap;
use std::io::Write;

use cwm_contract::{
    Context, Failure, Format, Input, Needs, Output, ParameterError, ParameterSpec, Parameters, ProbeContext,
    ProbeOutput, Stage, Values, Work,
};
use cwm_game::{Ending, Headers, StreamRng, pgn_text};
use cwm_random::MersenneTwister;
use rayon::prelude::*;
use shakmaty::Move;

use crate::config::{self, Config, Policy};
use crate::engine::{self, EngineGame, GameEnd, Openings, Rules};
use crate::game_stats::GameStats;
use crate::probe;
use crate::random_game::RandomGame;
use crate::seed::Seed;
use crate::uniform;
use crate::weighted::{self, Preference};

/// Games are played side by side in blocks of this many for each core: small enough to show progress and to stop
/// soon, large enough that the cores seldom wait for the last game of a block.
const BLOCK: u64 = 64;

/// High enough for small files, and low enough that compression takes little time beside the games.
const ZSTD_LEVEL: i32 = 9;

/// The stage `play`: makes chess games.
pub struct Play;

impl Stage for Play {
    fn kind(&self) -> &'static str {
        "play"
    }

    fn description(&self) -> &'static str {
        "Makes chess games, random or like people's, to a compressed PGN file"
    }

    fn inputs(&self) -> Vec<Input> {
        Vec::new()
    }

    fn outputs(&self) -> Vec<Output> {
        vec![
            Output::file("pgn", Format::PGN, "pgn.zst", "The games, numbered from 0 in their Site"),
            Output::file("counts", Format::COUNTS, "json", "What happens in them: captures, castlings, promotions"),
        ]
    }

    fn parameters(&self) -> Vec<ParameterSpec> {
        Config::specs()
    }

    fn check(&self, values: &Values) -> Vec<ParameterError> {
        config::validate(values)
    }

    fn needs(&self, values: &Values) -> Needs {
        let sequential = Config::read(values).is_ok_and(|config| matches!(config.policy(), Policy::UniformAuthors));
        Needs { cpu: if sequential { Some(1) } else { None }, ..Needs::default() }
    }

    fn work(&self, values: &Values, _inputs: &BTreeMap<String, Option<u64>>) -> Option<Work> {
        let config = Config::read(values).ok()?;
        // Games of one policy are of like length; each more ply of looking ahead is another kind of player.
        let group = format!("{} {:?} {:?}", config.policy, config.depth, config.generator);
        Some(Work::new(group, config.games as f64))
    }

    fn probe(&self, context: &ProbeContext) -> Result<Option<ProbeOutput>, Failure> {
        probe::probe(context).map(Some)
    }

    fn run(&self, context: &Context) -> Result<(), Failure> {
        let config: Config = context.parameters()?;
        let (games, seed) = (config.games, &config.seed);
        let stats = match config.policy() {
            Policy::Engine(rules) => {
                let openings = Openings::new()?;
                write(context, games, |pool, block| {
                    side_by_side(context, pool, block, |number| engine_game(&rules, &openings, seed, number))
                })
            }
            Policy::Weighted(preference, max_plies) => write(context, games, |pool, block| {
                side_by_side(context, pool, block, |number| {
                    let mut stream = StreamRng::new(preference.name(), seed.as_str(), number);
                    weighted_game(preference, &weighted::game(preference, max_plies, &mut stream), seed, number)
                })
            }),
            Policy::UniformParallel => write(context, games, |pool, block| {
                side_by_side(context, pool, block, |number| {
                    let game = uniform::game(&mut StreamRng::new("uniform", seed.as_str(), number));
                    uniform_game(&game, number)
                })
            }),
            Policy::UniformAuthors => {
                let mut random = MersenneTwister::new(&seed.to_words());
                write(context, games, |_, block| {
                    block
                        .map(|number| {
                            context.check_cancelled()?;
                            Ok(uniform_game(&uniform::game(&mut random), number))
                        })
                        .collect()
                })
            }
        }?;
        for (name, value) in stats.metrics() {
            context.metric(name, value);
        }
        let counts = context.output("counts")?;
        std::fs::write(counts, stats.json(&config.policy)).map_err(|error| Failure::io("write", counts, error))
    }
}

/// A game as text, and what is counted of it.
struct WrittenGame {
    text: String,
    stats: GameStats,
}

impl WrittenGame {
    fn new(headers: &Headers<'_>, moves: &[Move], mated: bool) -> Self {
        WrittenGame { text: pgn_text(headers, moves), stats: GameStats::of(moves, headers.result, mated) }
    }
}

/// Plays the games of a block on all cores; their order is that of their numbers.
fn side_by_side(
    context: &Context,
    pool: &rayon::ThreadPool,
    block: std::ops::Range<u64>,
    game: impl Fn(u64) -> WrittenGame + Sync,
) -> Result<Vec<WrittenGame>, Failure> {
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

fn engine_game(rules: &Rules, openings: &Openings, seed: &Seed, number: u64) -> WrittenGame {
    let game = engine::play(rules, openings, &mut StreamRng::new("engine", seed.as_str(), number));
    let EngineGame { moves, players, finish, result } = game;
    let name = |rating: u32| (format!("cwm-engine-{rating}"), Some(rating));
    let headers = Headers {
        event: "cwm engine game",
        site: format!("cwm_engine_{}_{number:06}", seed.as_str()),
        white: name(players.white.rating),
        black: name(players.black.rating),
        result,
        termination: match finish {
            GameEnd::Rule(_) | GameEnd::Resignation | GameEnd::Agreement => "Normal",
            GameEnd::TimeForfeit => "Time forfeit",
            GameEnd::Adjudication => "Adjudication",
        },
    };
    WrittenGame::new(&headers, &moves, finish == GameEnd::Rule(Ending::Checkmate))
}

/// The site is the id that the authors give their random games, made of the number of the *generated* game.
fn uniform_game(game: &RandomGame, number: u64) -> WrittenGame {
    random_game("cwm random game", "cwm-random", format!("cwm_random_{number:05}"), game)
}

fn weighted_game(preference: Preference, game: &RandomGame, seed: &Seed, number: u64) -> WrittenGame {
    let (policy, seed) = (preference.name(), seed.as_str());
    random_game("cwm weighted game", &format!("cwm-{policy}"), format!("cwm_{policy}_{seed}_{number:06}"), game)
}

fn random_game(event: &'static str, player: &str, site: String, game: &RandomGame) -> WrittenGame {
    let headers = Headers {
        event,
        site,
        white: (player.to_owned(), None),
        black: (player.to_owned(), None),
        result: game.result,
        termination: if game.ending.is_some() { "Normal" } else { "Unterminated" },
    };
    WrittenGame::new(&headers, &game.moves, game.ending == Some(Ending::Checkmate))
}

/// Has blocks of games played one after the other, writes them, and reports progress.
fn write(
    context: &Context,
    games: u64,
    mut play: impl FnMut(&rayon::ThreadPool, std::ops::Range<u64>) -> Result<Vec<WrittenGame>, Failure>,
) -> Result<GameStats, Failure> {
    let path = context.output("pgn")?;
    let cannot = |error| Failure::io("write", path, error);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(context.cores())
        .build()
        .map_err(|error| Failure::system(format!("cannot start {} threads: {error}", context.cores())))?;
    let file = std::fs::File::create(path).map_err(cannot)?;
    let mut writer = zstd::Encoder::new(file, ZSTD_LEVEL).map_err(cannot)?;
    writer.include_checksum(true).map_err(cannot)?;
    let mut stats = GameStats::default();
    let block = BLOCK * context.cores() as u64;
    for start in (0..games).step_by(block as usize) {
        context.progress(start, Some(games), "games");
        for game in play(&pool, start..games.min(start + block))? {
            writer.write_all(game.text.as_bytes()).map_err(cannot)?;
            stats.add(&game.stats);
        }
    }
    writer.finish().map_err(cannot)?;
    context.progress(games, Some(games), "games");
    Ok(stats)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five digits at least, as Python's `%05d`.
    #[test]
    fn random_games_are_numbered_beyond_five_digits() {
        let game = RandomGame { moves: Vec::new(), ending: None, result: "*" };
        for (number, id) in [(7, "cwm_random_00007"), (99_999, "cwm_random_99999"), (100_000, "cwm_random_100000")] {
            let text = uniform_game(&game, number).text;
            assert!(text.contains(&format!("[Site \"{id}\"]")), "{text}");
        }
    }
}
