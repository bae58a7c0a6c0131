//! What the data path costs, as ratios beside its peers in one run: `cargo bench -p cwm-benches --bench data`.
//!
//! Times are CPU seconds of all threads (the least of several repeats), on the sample of Lichess games below `CWM_SHARED`
//! (`../shared` unless set). Peers: a bare pgn-reader and shakmaty replay of the same compressed file, a plain program that
//! computes all labels with shakmaty, python-chess (`CWM_PYTHON`, `python3` unless set) and `zstd -d` where they are
//! installed. The last table is in seconds by the clock, with more and more cores. Machines are noisy: compare figures of
//! one run, not runs.

mod clock;
mod peers;
mod scaling;

use std::fs::File;
use std::hint::black_box;
use std::io::{BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use cwm_chess::pgn::{Block, Blocks, Meter, PgnSource};
use cwm_chess::{Dataset, Games, GamesWriter};
use cwm_contract::testing::{Outcome, Trial};
use cwm_contract::{Stage, Value};
use cwm_encoding::{EnPassant, LABELS, replay_into};
use cwm_parse::Parse;
use cwm_play::Play;
use cwm_tokenize::Tokenize;

use self::clock::{children, cpu, output_of};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const REPEATS: usize = 7;
/// Games that the slow peers read.
const FEW: usize = 999;
const RANDOM_GAMES: i64 = 10_000;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.iter().any(|argument| argument == "--list") {
        return;
    }
    if let [_, parse, file, cores] = &arguments[..]
        && parse == "--parse"
    {
        return scaling::parse_file(Path::new(file), cores.parse().expect("a number of cores"));
    }
    let shared = std::env::var_os("CWM_SHARED").map_or_else(|| Path::new("..").join("shared"), PathBuf::from);
    // `cargo bench` starts in the folder of this package.
    let sample =
        [shared.clone(), Path::new("..").join(&shared)].map(|shared| shared.join("data/lichess-sample.pgn.zst"));
    let Some(sample) = sample.into_iter().find(|sample| sample.exists()) else {
        println!("skipped: there is no data/lichess-sample.pgn.zst below {}", shared.display());
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let text = whole_text(&sample);
    println!("{:<58} {:>10} {:>10} {:>7}", "what (CPU seconds unless said)", "cwm", "peer", "ratio");
    let (parse, games) = parsing(&sample, folder.path());
    parts(&sample, &text, &games, parse);
    let tokens = dataset(&games, folder.path());
    labels(&tokens);
    random_games(folder.path());
    outside(&sample, &text, parse / games_of(&games));
    scaling::table(&text, folder.path());
}

fn row(what: &str, ours: Option<f64>, peer: Option<f64>) {
    let number = |value: Option<f64>| value.map_or_else(|| "-".into(), |value| format!("{value:.4}"));
    let ratio = ours.zip(peer).map_or_else(|| "-".into(), |(ours, peer)| format!("{:.2}", ours / peer));
    println!("{what:<58} {:>10} {:>10} {ratio:>7}", number(ours), number(peer));
}

/// `parse` beside the bare replay, in turns; its seconds, and the folder of games.
fn parsing(sample: &Path, folder: &Path) -> (f64, PathBuf) {
    let (mut ours, mut peer) = (f64::INFINITY, f64::INFINITY);
    let mut outcome = None;
    let mut played = 0;
    for _ in 0..REPEATS {
        ours = ours.min(cpu(|| outcome = Some(run(&Parse, folder, "pgn", sample, &[]))));
        peer = peer.min(cpu(|| played = peers::replay(File::open(sample).expect("the sample"))));
    }
    let games = outcome.expect("it ran").outputs["games"].clone();
    let kept = folder.join("games");
    std::fs::rename(&games, &kept).expect("a new name");
    row("parse beside pgn-reader + shakmaty, the same zst", Some(ours), Some(peer));
    println!(
        "  games per CPU second: {:.0} of {played} read, beside {:.0}: {:.0} %",
        played as f64 / ours,
        played as f64 / peer,
        100.0 * peer / ours
    );
    (ours, kept)
}

/// What `parse` spends where; reading the games is what is left.
fn parts(sample: &Path, text: &[u8], games: &Path, parse: f64) {
    let decode = decompressing(sample);
    let cut = least(|| {
        let mut blocks = Blocks::new(Cursor::new(text));
        let mut block = Block::default();
        while blocks.next(&mut block).expect("games") {}
    });
    let rows = peers::owned(games);
    let mut write = f64::INFINITY;
    for _ in 0..REPEATS {
        let folder = tempfile::tempdir().expect("a folder");
        write = write.min(cpu(|| {
            let mut writer = GamesWriter::create(folder.path(), 1_000_000).expect("a folder");
            rows.iter().for_each(|game| writer.push(game.row()).expect("room"));
            writer.finish().expect("room");
        }));
    }
    row("  of this: decompressing", Some(decode), None);
    for (kind, bytes) in scaling::members(text) {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), bytes).expect("room");
        row(&format!("           (if it were {kind}: decompressing)"), Some(decompressing(file.path())), None);
    }
    row("           cutting into games", Some(cut), None);
    row("           writing", Some(write), None);
    let read = parse - decode - cut - write;
    row("           the rest: reading games, passing them on", Some(read), None);
    let megabytes = text.len() as f64 / 1e6;
    let rate = |seconds: f64| megabytes / seconds;
    println!(
        "  MB of text a CPU second: decompressing {:.0}, cutting {:.0}, reading {:.0}, writing {:.0}",
        rate(decode),
        rate(cut),
        rate(read),
        rate(write)
    );
}

fn decompressing(file: &Path) -> f64 {
    let mut buffer = vec![0; 1 << 18];
    least(|| {
        let mut source = PgnSource::open(file, &Arc::<Meter>::default()).expect("a file");
        while source.read(&mut buffer).expect("text") > 0 {}
    })
}

/// Writes the dataset and tells its size; the tokens of all games.
fn dataset(games: &Path, folder: &Path) -> Vec<Vec<u16>> {
    let outcome = run(&Tokenize, &folder.join("tokenize"), "games", games, &[]);
    let folder = &outcome.outputs["dataset"];
    let bytes: u64 = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.and_then(|entry| entry.metadata()).expect("a file").len())
        .sum();
    let dataset = Dataset::open(folder).expect("a dataset");
    let tokens_of = |game| dataset.tokens(game).expect("a dataset").expect("a game").to_vec();
    let tokens: Vec<Vec<u16>> = (0..dataset.len()).map(tokens_of).collect();
    let (games, plies) = (tokens.len() as f64, tokens.iter().map(|game| game.len() - 1).sum::<usize>() as f64);
    println!(
        "dataset on disk: {:.1} bytes a game, {:.2} a ply: 2 a ply and {:.1} a game",
        bytes as f64 / games,
        bytes as f64 / plies,
        (bytes as f64 - 2.0 * plies) / games
    );
    tokens
}

/// From tokens to labels, in nanoseconds a position.
fn labels(games: &[Vec<u16>]) {
    let positions: usize = games.iter().map(Vec::len).sum();
    let longest = games.iter().map(Vec::len).max().unwrap_or_default();
    let mut rows = vec![0u8; longest * LABELS];
    let mut ours = || {
        for tokens in games {
            let rows = &mut rows[..tokens.len() * LABELS];
            replay_into(tokens, EnPassant::Always, rows).expect("legal games");
            black_box(rows);
        }
    };
    let mut other = vec![0u8; longest * LABELS];
    let mut plain = |labels: fn(&[u16], &mut [u8])| {
        for tokens in games {
            let rows = &mut other[..tokens.len() * LABELS];
            labels(tokens, rows);
            black_box(rows);
        }
    };
    let (mut first, mut trusting, mut checking) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
    for _ in 0..REPEATS {
        first = first.min(cpu(&mut ours));
        trusting = trusting.min(cpu(|| plain(peers::labels_trusting)));
        checking = checking.min(cpu(|| plain(peers::labels_checking)));
    }
    let nanoseconds = |seconds: f64| Some(seconds * 1e9 / positions as f64);
    row("tokens to labels, ns a position; peer trusts the tokens", nanoseconds(first), nanoseconds(trusting));
    row("tokens to labels, ns a position; peer checks the moves", nanoseconds(first), nanoseconds(checking));
}

fn random_games(folder: &Path) {
    let parameters = [
        ("policy", Value::Text("uniform".into())),
        ("games", Value::Int(RANDOM_GAMES.into())),
        ("seed", Value::Int(0)),
    ];
    let trial = parameters
        .into_iter()
        .fold(Trial::new(folder.join("play")).cores(1), |trial, (name, value)| trial.with(name, value));
    let seconds = cpu(|| {
        trial.run(&Play).expect("it plays");
    });
    row(&format!("play: {RANDOM_GAMES} uniform games, generator authors"), Some(seconds), None);
}

/// Programs that may be installed. `parse` is given in CPU seconds a game.
fn outside(sample: &Path, text: &[u8], parse: f64) {
    let mut zstd = Command::new("zstd");
    zstd.arg("-dc").arg(sample);
    match children(|| output_of(&mut zstd, b"")) {
        (Some(_), seconds) => row("zstd -d of the same file", None, Some(seconds)),
        _ => println!("zstd -d: skipped, it is not installed"),
    }
    let python = std::env::var_os("CWM_PYTHON").unwrap_or_else(|| "python3".into());
    if output_of(Command::new(&python).args(["-c", "import chess"]), b"").is_none() {
        println!("python-chess: skipped, `{} -c 'import chess'` does not work", Path::new(&python).display());
        return;
    }
    let few = first_games(text, FEW);
    let script = include_str!("python_chess.py");
    for (mode, what) in [("read", "python-chess replaying"), ("label", "python-chess writing labels as JSON")] {
        let (written, seconds) = children(|| output_of(Command::new(&python).args(["-c", script, mode]), few));
        let Some(written) = written else {
            println!("{what}: skipped, it failed");
            continue;
        };
        row(&format!("{what}, ms a game ({FEW} games)"), None, Some(1e3 * seconds / FEW as f64));
        print!("  {:.0} times parse", seconds / FEW as f64 / parse);
        println!("{}", if written > 0 { format!("; {} bytes a game", written / FEW) } else { String::new() });
    }
}

fn run(stage: &dyn Stage, folder: &Path, input: &str, path: &Path, parameters: &[(&str, Value)]) -> Outcome {
    let trial = Trial::new(folder).input(input, path).cores(1);
    let trial = parameters.iter().fold(trial, |trial, (name, value)| trial.with(name, value.clone()));
    trial.run(stage).expect("the stage runs")
}

fn whole_text(sample: &Path) -> Vec<u8> {
    let mut text = Vec::new();
    let source = PgnSource::open(sample, &Arc::default()).expect("the sample");
    BufReader::new(source).read_to_end(&mut text).expect("text");
    text
}

fn first_games(text: &[u8], games: usize) -> &[u8] {
    let mut starts = text.windows(7).enumerate().filter(|(_, window)| window == b"[Event ").map(|(at, _)| at);
    &text[..starts.nth(games).unwrap_or(text.len())]
}

fn games_of(folder: &Path) -> f64 {
    Games::open(folder).expect("games").len() as f64
}

fn least(mut work: impl FnMut()) -> f64 {
    (0..REPEATS).map(|_| cpu(&mut work)).fold(f64::INFINITY, f64::min)
}
