//! The run of `parse`.

use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use cwm_chess::pgn::Meter;
use cwm_chess::{CorpusStats, DropReason as _, GameRow, GamesWriter, IdKey};
use cwm_contract::{Context, Failure};
use serde_json::json;

use crate::authors;
use crate::config::Config;
use crate::corpus::Corpus;
use crate::parsed_block::{GameOutcome, ParsedBlock};
use crate::pipeline::{ReadErrorKind, ReadFailure, read_all};
use crate::rules::{DroppedGame, IdScheme, Reason, Rules};

/// Reads the input and writes `games`, `counts` and `faults`.
pub fn run(context: &Context) -> Result<(), Failure> {
    let config: Config = context.parameters()?;
    let ids = match config.ids.as_str() {
        "site" => IdScheme::Site,
        _ => IdScheme::Hmac(IdKey::new(&context.secret("id_key_file")?)),
    };
    let rules = Rules { min_plies: 2 * config.min_fullmoves as usize, ids };
    let authors = config.rules == "authors";
    let corpus = Corpus::find(context)?;
    let meter = Arc::new(Meter::default());
    let mut writer = OutputWriter {
        context,
        corpus: &corpus,
        limit: config.limit.unwrap_or(u64::MAX),
        fail: config.on_error == "fail",
        games: GamesWriter::create(context.output("games")?, config.shard_games)?.labelled(authors),
        stats: CorpusStats::create(context.output("faults")?)?,
        file: FileProgress::default(),
        pgn_files: 0,
    };
    context.activity("reading games");
    let take = |file, parsed: &ParsedBlock| {
        context.progress(meter.consumed(), corpus.size(), "bytes");
        writer.write_block(file, parsed)
    };
    let stopped = if authors {
        authors::read_all(corpus.files(), &meter, &rules, take)
    } else {
        read_all(corpus.files(), &meter, &rules, context.cores(), take)
    };
    match stopped {
        Ok(ControlFlow::Break(Some(failure))) => return Err(failure),
        Ok(ControlFlow::Break(None)) => {}
        Ok(ControlFlow::Continue(())) => writer.finish_files_before(corpus.files().len())?,
        Err(failure) => return Err(unreadable(&corpus.files()[failure.file], &failure, config.limit)),
    }
    for ignored in meter.ignored() {
        context.note(ignored);
    }
    writer.finish(config.limit)
}

fn unreadable(path: &Path, failure: &ReadFailure, limit: Option<u64>) -> Failure {
    let (kind, message) = match &failure.kind {
        ReadErrorKind::Open(error) => (error.kind(), format!("cannot read {}: {error}", path.display())),
        ReadErrorKind::Text(error) => (error.source.kind(), format!("cannot read {}: {error}", path.display())),
    };
    match (kind, &failure.kind) {
        (ErrorKind::UnexpectedEof, _) => Failure::input(message).hint(match limit {
            None => "get the whole file, or set `limit` to stop before its end",
            Some(_) => "get more of the file, or lower `limit`: it was not met before the end",
        }),
        (ErrorKind::Unsupported, _) => Failure::input(message).hint("convert it first"),
        (_, ReadErrorKind::Open(_)) => Failure::system(message),
        (_, ReadErrorKind::Text(_)) => Failure::input(message),
    }
}

fn not_pgn(message: String) -> Failure {
    Failure::input(message).hint("give PGN text in UTF-8, plain or compressed with zstd, gzip or bzip2")
}

/// Progress of the file that is being read.
#[derive(Default)]
struct FileProgress {
    file: usize,
    games: u64,
    looks_like_pgn: bool,
}

/// Writes the parsed blocks, in the order of the files.
struct OutputWriter<'a> {
    context: &'a Context,
    corpus: &'a Corpus,
    limit: u64,
    fail: bool,
    games: GamesWriter,
    stats: CorpusStats<Reason>,
    file: FileProgress,
    /// Files read to their end that look like PGN.
    pgn_files: u64,
}

impl OutputWriter<'_> {
    /// Takes one block's games; breaks off with a failure, or without one when the limit is reached.
    fn write_block(&mut self, file: usize, parsed: &ParsedBlock) -> ControlFlow<Option<Failure>> {
        let stop = |failure: Failure| ControlFlow::Break(Some(failure));
        if let Err(failure) = self.context.check_cancelled().and_then(|()| self.finish_files_before(file)) {
            return stop(failure);
        }
        self.file.looks_like_pgn |= parsed.looks_like_pgn();
        let of_file = self.corpus.of_file(file);
        for outcome in parsed.outcomes() {
            self.file.games += 1;
            match outcome {
                GameOutcome::Row(game) => {
                    if let Err(error) = self.games.push(GameRow { index: self.stats.kept, ..game }) {
                        return stop(error.into());
                    }
                    self.stats.count_kept(game.moves.len());
                    if self.stats.kept == self.limit {
                        return ControlFlow::Break(None);
                    }
                }
                GameOutcome::Drop(number, drop) => {
                    if !drop.reason.is_fault() {
                        self.stats.count_dropped(drop.reason);
                    } else if self.fail {
                        let path = self.corpus.files()[file].display();
                        let failure =
                            Failure::input(format!("{path} holds a faulty game: {}", describe(number, "", drop)));
                        return stop(failure.hint("set `on_error: drop` to drop such games"));
                    } else {
                        let place = [
                            ("file", json!(file + 1)),
                            ("game", json!(number)),
                            ("byte", json!(drop.offset)),
                            ("detail", json!(drop.detail)),
                        ];
                        let words = describe(number, &of_file, drop);
                        if let Err(failure) = self.stats.record_fault(drop.reason, place, &words, self.context) {
                            return stop(failure);
                        }
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Finishes each file before `next`: notes or refuses those without games and those that are not PGN.
    fn finish_files_before(&mut self, next: usize) -> Result<(), Failure> {
        while self.file.file < next {
            let FileProgress { file, games, looks_like_pgn } = self.file;
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
            self.file = FileProgress { file: file + 1, ..FileProgress::default() };
        }
        Ok(())
    }

    fn finish(self, limit: Option<u64>) -> Result<(), Failure> {
        let CorpusStats { read, kept, .. } = self.stats;
        let name = self.corpus.name();
        if read == 0 {
            let failure = Failure::input(format!("there is no game in {name}"));
            return Err(failure.hint("an empty download or pipe is a usual reason"));
        }
        if kept == 0 && self.pgn_files == 0 {
            return Err(not_pgn(format!("{name} are not PGN: none of them has a tag or a legal move")));
        }
        if let Some(limit) = limit.filter(|&limit| kept < limit) {
            let message = format!("`limit` is {limit} games, and of the {read} in {name} only {kept} are kept");
            return Err(Failure::input(message).hint("lower `limit`, or give more games"));
        }
        if kept == 0 {
            self.context.note(format!("none of the {read} games in {name} is kept"));
        }
        self.games.finish()?;
        self.stats.finish("parse", self.context.output("counts")?, self.context)
    }
}

/// A game that is dropped: its number, place, and what is wrong with it.
fn describe(number: u64, of_file: &str, drop: &DroppedGame) -> String {
    let detail = drop.detail.as_deref().map(|detail| format!(", {detail}")).unwrap_or_default();
    format!("game {number}{of_file}: {} at byte {} of the text{detail}", drop.reason.name(), drop.offset)
}
