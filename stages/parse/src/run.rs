//! The run of `parse`.

use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::Ordering;

use cwm_chess::pgn::PgnSource;
use cwm_chess::{GameRow, GamesWriter, IdKey};
use cwm_contract::{Context, Failure};

use crate::config::Config;
use crate::harvest::{Harvest, Verdict};
use crate::ledger::Ledger;
use crate::pipeline::read_all;
use crate::rules::{Ids, Rules};

/// Reads the input and writes `games` and `counts`.
pub fn run(context: &Context) -> Result<(), Failure> {
    let config: Config = context.parameters()?;
    let ids = match config.ids.as_str() {
        "site" => Ids::Site,
        _ => Ids::Hmac(IdKey::new(&context.secret("id_key_file")?)),
    };
    let rules = Rules { min_plies: 2 * config.min_fullmoves as usize, ids };
    let path = context.input("pgn")?;
    let source = PgnSource::open(path).map_err(|error| unreadable(path, &error))?;
    let (size, consumed) = (source.size(), source.consumed());
    let mut clerk = Clerk {
        context,
        path,
        limit: config.limit.unwrap_or(u64::MAX),
        fail: config.on_error == "fail",
        games: GamesWriter::create(context.output("games")?, config.shard_games)?,
        ledger: Ledger::default(),
    };
    context.doing("reading games");
    let stopped = read_all(source, &rules, context.cores(), |harvest| {
        // A pipe has no size.
        let total = (size > 0).then_some(size);
        context.progress(consumed.load(Ordering::Relaxed), total, "bytes");
        clerk.take(harvest)
    });
    match stopped {
        Ok(ControlFlow::Break(Some(failure))) => return Err(failure),
        Ok(ControlFlow::Break(None) | ControlFlow::Continue(())) => {}
        Err(error) => {
            let failure = Failure::input(format!("cannot read {}: {error}", path.display()));
            return Err(match error.source.kind() {
                ErrorKind::UnexpectedEof => failure.hint("get the whole file, or set `limit` to stop before its end"),
                _ => failure,
            });
        }
    }
    clerk.finish(config.limit)
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    let message = format!("cannot read {}: {error}", path.display());
    match error.kind() {
        ErrorKind::Unsupported => Failure::input(message).hint("decompress it first"),
        _ => Failure::system(message),
    }
}

/// Writes what the readers hand over, in the order of the file.
struct Clerk<'a> {
    context: &'a Context,
    path: &'a Path,
    limit: u64,
    fail: bool,
    games: GamesWriter,
    ledger: Ledger,
}

impl Clerk<'_> {
    /// Takes one block's games; breaks off with a failure, or without one when the limit is reached.
    fn take(&mut self, harvest: &Harvest) -> ControlFlow<Option<Failure>> {
        let stop = |failure: Failure| ControlFlow::Break(Some(failure));
        if let Err(cancelled) = self.context.check_cancelled() {
            return stop(cancelled);
        }
        for verdict in harvest.verdicts() {
            match verdict {
                Verdict::Kept(game) => {
                    if let Err(error) = self.games.push(GameRow { index: self.ledger.kept, ..game }) {
                        return stop(error.into());
                    }
                    self.ledger.keep(game.moves.len());
                    if self.ledger.kept == self.limit {
                        return ControlFlow::Break(None);
                    }
                }
                Verdict::Dropped(drop) => {
                    self.ledger.drop(drop, self.context);
                    if self.fail && drop.reason.is_fault() {
                        let what = self.ledger.describe(drop);
                        let failure = Failure::input(format!("{} holds a faulty game: {what}", self.path.display()));
                        return stop(failure.hint("set `on_error: drop` to leave such games out"));
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn finish(self, limit: Option<u64>) -> Result<(), Failure> {
        let Ledger { read, kept, .. } = self.ledger;
        if let Some(limit) = limit.filter(|&limit| kept < limit) {
            let message = format!(
                "`limit` asks for {limit} games, and {} holds only {kept} that are kept (of {read})",
                self.path.display()
            );
            return Err(Failure::input(message).hint("lower `limit`, or give more games"));
        }
        self.games.finish()?;
        self.ledger.tell(self.context);
        fs_err::write(self.context.output("counts")?, self.ledger.to_json())?;
        Ok(())
    }
}
