//! An engine: a program that is started, queried about positions, and ended.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cwm_contract::Failure;
use shakmaty_uci::{UciMessage, UciOptionConfig};

use crate::failure::{EngineRequest, quoted};
use crate::options::{self, Settings};
use crate::process::{Process, RequestError, RequestLimits, check_program};
use crate::search::{Limit, Reports, SearchResult};
use crate::search_root::SearchRoot;

/// The time until `uciok`.
const START_TIME: Duration = Duration::from_secs(10);

/// The time until `readyok`; some engines load a network meanwhile.
const READY_TIME: Duration = Duration::from_secs(120);

/// The most bytes of output until `uciok` or `readyok`.
const START_BYTES: u64 = 1 << 20;

/// The most bytes of output of one search.
const SEARCH_BYTES: u64 = 16 << 20;

/// A running UCI engine. Dropping it sends `quit`, and then kills it with all that it started.
///
/// It ends as well when this process ends, in whatever way.
pub struct Engine {
    program: PathBuf,
    settings: Settings,
    process: Process,
    name: String,
    options: Vec<UciOptionConfig>,
}

impl Engine {
    /// Starts an engine and sets its options.
    ///
    /// # Errors
    /// The program cannot be started, does not write `uciok` within 10 s and 1 MiB of output, or lacks an option.
    pub fn start(program: &Path, settings: Settings) -> Result<Self, Failure> {
        Self::start_within(program, settings, START_TIME)
    }

    pub(crate) fn start_within(program: &Path, settings: Settings, time: Duration) -> Result<Self, Failure> {
        settings.check_lines()?;
        check_program(program)?;
        let process = Process::start(program).map_err(|error| {
            Failure::input(format!("the engine {} cannot be started: {error}", program.display()))
                .hint("name a program for this machine, or a script that begins with `#!`")
        })?;
        let mut engine =
            Engine { program: program.to_owned(), settings, process, name: String::new(), options: Vec::new() };
        engine.identify(time)?;
        engine.set_options()?;
        Ok(engine)
    }

    /// The name by which the engine identifies itself, such as `Stockfish 15.1`; empty if it has none.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Queries the engine about a position that it has not seen yet.
    ///
    /// # Errors
    /// The engine ends, takes too long, writes too much, is not understood, or answers with an illegal move; or the
    /// stage was cancelled. Then the engine has been killed, and every further query fails.
    pub fn query(&mut self, root: &SearchRoot, limit: &Limit) -> Result<SearchResult, Failure> {
        let fen = root.fen();
        let ready = self.ready("ucinewgame\nisready\n", Some(&fen));
        let result = ready.and_then(|()| self.search(root, &fen, limit));
        if result.is_err() {
            self.process.kill();
        }
        result
    }

    /// The ids of the program and of its guard.
    #[cfg(test)]
    pub(crate) fn processes(&self) -> Vec<u32> {
        self.process.ids()
    }

    fn search(&mut self, root: &SearchRoot, fen: &str, limit: &Limit) -> Result<SearchResult, Failure> {
        let sent = format!("{}\n{}\n", root.command(), limit.command());
        let exchange = EngineRequest {
            terminator: "bestmove",
            sent: &sent,
            position: Some(fen),
            time: limit.time,
            bytes: SEARCH_BYTES,
        };
        let mut reports = Reports::default();
        let mut unread = None;
        let mut best = None;
        self.exchange(&exchange, |line| {
            match line.split_whitespace().next() {
                Some("info") if has_score(line) => match line.parse() {
                    Ok(UciMessage::Info(info)) => reports.push(info),
                    _ => unread = unread.take().or_else(|| Some(line.to_owned())),
                },
                Some("bestmove") => {
                    best = Some(match line.parse() {
                        Ok(UciMessage::BestMove { best_move, .. }) => Ok(best_move),
                        _ => Err(line.to_owned()),
                    });
                }
                _ => {}
            }
            best.is_some()
        })?;
        let wrong = |what: String| Err(exchange.wrong(&self.program, &self.process, &what));
        if let Some(line) = unread {
            let failure = wrong(format!("wrote {}, which is not understood", quoted([line.as_str()].into_iter())));
            return failure.map_err(|failure| failure.hint("switch off options that add words, such as UCI_ShowWDL"));
        }
        match best {
            Some(Ok(best)) => match reports.result(root.chess(), best) {
                Ok(result) => Ok(result),
                Err(illegal) => wrong(format!("answered `{illegal}`, which is no legal move")),
            },
            Some(Err(line)) => wrong(format!("answered {}, which is no move", quoted([line.as_str()].into_iter()))),
            None => wrong("did not answer".to_owned()),
        }
    }

    /// The first exchange, which reads the engine's name and options.
    fn identify(&mut self, time: Duration) -> Result<(), Failure> {
        let exchange = EngineRequest { terminator: "uciok", sent: "uci\n", position: None, time, bytes: START_BYTES };
        let (mut found_name, mut found_options) = (String::new(), Vec::new());
        self.exchange(&exchange, |line| {
            match line.parse() {
                Ok(UciMessage::UciOk) => return true,
                Ok(UciMessage::Id { name: Some(name), .. }) => found_name = name,
                Ok(UciMessage::Option(option)) => found_options.push(option),
                _ => {}
            }
            false
        })?;
        (self.name, self.options) = (found_name, found_options);
        Ok(())
    }

    /// Sets the options, and waits until the engine is ready with them.
    fn set_options(&mut self) -> Result<(), Failure> {
        let mut commands = String::new();
        for (name, value, is_needed) in self.settings.all() {
            let program = self.program.display();
            match options::find(&self.options, name) {
                None if is_needed => {
                    let names: Vec<&str> = self.options.iter().map(UciOptionConfig::get_name).collect();
                    let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                    return Err(Failure::input(format!("the engine {program} has no option `{name}`"))
                        .hint(format!("its options: {names}")));
                }
                None => {}
                Some(option) => {
                    if let Some(fault) = options::fault(option, &value) {
                        let option = option.get_name();
                        return Err(Failure::input(format!(
                            "option `{option}` of the engine {program}: `{value}` {fault}"
                        )));
                    }
                    let name = option.get_name().to_owned();
                    commands += &format!("{}\n", UciMessage::SetOption { name, value: Some(value) });
                }
            }
        }
        self.ready(&format!("{commands}isready\n"), None)
    }

    /// Sends commands, the last of which is `isready`, and waits for its reply.
    fn ready(&mut self, commands: &str, position: Option<&str>) -> Result<(), Failure> {
        let exchange =
            EngineRequest { terminator: "readyok", sent: commands, position, time: READY_TIME, bytes: START_BYTES };
        self.exchange(&exchange, |line| line == "readyok")
    }

    /// Sends commands and reads lines up to the one for which `is_last` is true.
    fn exchange(&mut self, exchange: &EngineRequest<'_>, is_last: impl FnMut(&str) -> bool) -> Result<(), Failure> {
        let end = Instant::now() + exchange.time;
        let limits = RequestLimits { end, bytes: exchange.bytes, cancellation: &self.settings.cancellation };
        let done = lines_until(&mut self.process, exchange.sent, &limits, is_last);
        done.map_err(|error| exchange.failure(&self.program, &self.process, error))
    }
}

fn lines_until(
    process: &mut Process,
    commands: &str,
    limits: &RequestLimits<'_>,
    mut is_last: impl FnMut(&str) -> bool,
) -> Result<(), RequestError> {
    process.send(commands, limits)?;
    while !is_last(&process.line(limits)?) {}
    Ok(())
}

/// True if an `info` has a score, and is no remark (`info string`).
fn has_score(line: &str) -> bool {
    let mut words = line.split_whitespace().take_while(|word| *word != "string");
    words.any(|word| word == "score")
}
