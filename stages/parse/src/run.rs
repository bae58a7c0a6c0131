//! The run of `parse`.

use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use cwm_chess::pgn::Meter;
use cwm_chess::{GameRow, GamesWriter, IdKey, Ledger, Reason as _};
use cwm_contract::{Context, Failure};
use serde_json::json;

use crate::authors;
use crate::config::Config;
use crate::corpus::Corpus;
use crate::harvest::{Harvest, Verdict};
use crate::pipeline::{Unread, Why, read_all};
use crate::rules::{Drop, Ids, Reason, Rules};

/// Reads the input and writes `games`, `counts` and `faults`.
pub fn run(context: &Context) -> Result<(), Failure> {
    let config: Config = context.parameters()?;
    let ids = match config.ids.as_str() {
        "site" => Ids::Site,
        _ => Ids::Hmac(IdKey::new(&context.secret("id_key_file")?)),
    };
    let rules = Rules { min_plies: 2 * config.min_fullmoves as usize, ids };
    let authors = config.rules == "authors";
    let corpus = Corpus::find(context)?;
    let meter = Arc::new(Meter::default());
    let mut clerk = Clerk {
        context,
        corpus: &corpus,
        limit: config.limit.unwrap_or(u64::MAX),
        fail: config.on_error == "fail",
        games: GamesWriter::create(context.output("games")?, config.shard_games)?.labelled(authors),
        ledger: Ledger::create(context.output("faults")?)?,
        file: FileAccount::default(),
        pgn_files: 0,
    };
    context.doing("reading games");
    let take = |file, harvest: &Harvest| {
        context.progress(meter.consumed(), corpus.size(), "bytes");
        clerk.take(file, harvest)
    };
    let stopped = if authors {
        authors::read_all(corpus.files(), &meter, &rules, take)
    } else {
        read_all(corpus.files(), &meter, &rules, context.cores(), take)
    };
    match stopped {
        Ok(ControlFlow::Break(Some(failure))) => return Err(failure),
        Ok(ControlFlow::Break(None)) => {}
        Ok(ControlFlow::Continue(())) => clerk.go_to_file(corpus.files().len())?,
        Err(unread) => return Err(unreadable(&corpus.files()[unread.file], &unread, config.limit)),
    }
    for ignored in meter.ignored() {
        context.note(ignored);
    }
    clerk.finish(config.limit)
}

fn unreadable(path: &Path, unread: &Unread, limit: Option<u64>) -> Failure {
    let (kind, message) = match &unread.why {
        Why::Closed(error) => (error.kind(), format!("cannot read {}: {error}", path.display())),
        Why::Cut(error) => (error.source.kind(), format!("cannot read {}: {error}", path.display())),
    };
    match (kind, &unread.why) {
        (ErrorKind::UnexpectedEof, _) => Failure::input(message).hint(match limit {
            None => "get the whole file, or set `limit` to stop before its end",
            Some(_) => "get more of the file, or lower `limit`: it was not met before the end",
        }),
        (ErrorKind::Unsupported, _) => Failure::input(message).hint("convert it first"),
        (_, Why::Closed(_)) => Failure::system(message),
        (_, Why::Cut(_)) => Failure::input(message),
    }
}

fn not_pgn(message: String) -> Failure {
    Failure::input(message).hint("give PGN text in UTF-8, plain or compressed with zstd, gzip or bzip2")
}

/// What was seen of the file that is being read.
#[derive(Default)]
struct FileAccount {
    file: usize,
    games: u64,
    looks_like_pgn: bool,
}

/// Writes what the readers hand over, in the order of the files.
struct Clerk<'a> {
    context: &'a Context,
    corpus: &'a Corpus,
    limit: u64,
    fail: bool,
    games: GamesWriter,
    ledger: Ledger<Reason>,
    file: FileAccount,
    /// Files read to their end that look like PGN.
    pgn_files: u64,
}

impl Clerk<'_> {
    /// Takes one block's games; breaks off with a failure, or without one when the limit is reached.
    fn take(&mut self, file: usize, harvest: &Harvest) -> ControlFlow<Option<Failure>> {
        let stop = |failure: Failure| ControlFlow::Break(Some(failure));
        if let Err(failure) = self.context.check_cancelled().and_then(|()| self.go_to_file(file)) {
            return stop(failure);
        }
        self.file.looks_like_pgn |= harvest.looks_like_pgn();
        let of_file = self.corpus.of_file(file);
        for verdict in harvest.verdicts() {
            self.file.games += 1;
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
                Verdict::Dropped(number, drop) => {
                    if !drop.reason.is_fault() {
                        self.ledger.leave_out(drop.reason);
                    } else if self.fail {
                        let path = self.corpus.files()[file].display();
                        let failure =
                            Failure::input(format!("{path} holds a faulty game: {}", describe(number, "", drop)));
                        return stop(failure.hint("set `on_error: drop` to leave such games out"));
                    } else {
                        let place = [
                            ("file", json!(file + 1)),
                            ("game", json!(number)),
                            ("byte", json!(drop.offset)),
                            ("seen", json!(drop.seen)),
                        ];
                        let words = describe(number, &of_file, drop);
                        if let Err(failure) = self.ledger.fault(drop.reason, place, &words, self.context) {
                            return stop(failure);
                        }
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Closes the account of each file before `next`.
    fn go_to_file(&mut self, next: usize) -> Result<(), Failure> {
        while self.file.file < next {
            let FileAccount { file, games, looks_like_pgn } = self.file;
            let path = self.corpus.files()[file].display();
            if games == 0 {
                self.context.note(format!("{path} holds no game"));
            } else if !looks_like_pgn {
                let message = format!("{path} is not PGN: it has neither a tag nor a legal move");
                if self.fail || self.corpus.files().len() == 1 {
                    return Err(not_pgn(message));
                }
                self.context.note(message);
            } else {
                self.pgn_files += 1;
            }
            self.file = FileAccount { file: file + 1, ..FileAccount::default() };
        }
        Ok(())
    }

    fn finish(self, limit: Option<u64>) -> Result<(), Failure> {
        let Ledger { read, kept, .. } = self.ledger;
        let name = self.corpus.name();
        if read == 0 {
            let failure = Failure::input(format!("there is no game in {name}"));
            return Err(failure.hint("an empty download or pipe is a usual reason"));
        }
        if kept == 0 && self.pgn_files == 0 {
            return Err(not_pgn(format!("{name} are not PGN: none of them has a tag or a legal move")));
        }
        if let Some(limit) = limit.filter(|&limit| kept < limit) {
            let message = format!("`limit` asks for {limit} games, and of the {read} in {name} only {kept} are kept");
            return Err(Failure::input(message).hint("lower `limit`, or give more games"));
        }
        if kept == 0 {
            self.context.note(format!("none of the {read} games in {name} is kept"));
        }
        self.games.finish()?;
        self.ledger.finish("parse", self.context.output("counts")?, self.context)
    }
}

/// A game that is dropped: its number, place, and what is wrong with it.
fn describe(number: u64, of_file: &str, drop: &Drop) -> String {
    let seen = drop.seen.as_deref().map(|seen| format!(", {seen}")).unwrap_or_default();
    format!("game {number}{of_file}: {} at byte {} of the text{seen}", drop.reason.name(), drop.offset)
}
