//! What the data stages of the later papers cost, beside their peers in one run: `cargo bench -p cwm-benches --bench papers`.
//!
//! Times are CPU seconds (the least of several repeats) on the sample of Lichess games below `CWM_SHARED` (`../shared` unless
//! set). Peers: a plain Python program that encodes boards, python-chess (`CWM_PYTHON`, `python3` unless set), blake3 of the
//! same file, and a loop that pipes the same positions to the same engine (`CWM_ENGINE`, `/usr/games/stockfish` unless set).
//! Machines are noisy: compare figures of one run, not runs.

mod clock;
mod sample;

use std::fmt::Write as _;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cwm_analyse::Analyse;
use cwm_bag::Bag;
use cwm_chess::{Dataset, Games};
use cwm_contract::Value;
use cwm_encode::Encode;
use cwm_encoding::PlainMove;
use cwm_evaluations::Evaluations;
use cwm_parse::Parse;
use cwm_policy::inputs::board::Board;
use cwm_tokenize::Tokenize;
use cwm_transpositions::Transpositions;
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess};

use self::clock::{children, cpu, output_of};
use self::sample::{kept, positions, run, sample, shared};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const REPEATS: usize = 3;
/// Records of the bag, and boards that are encoded.
const RECORDS: usize = 200_000;
/// Boards and games for the slow peers.
const FEW_BOARDS: usize = 20_000;
const FEW_GAMES: usize = 300;
/// Moves of a prefix, at most.
const MAX_PLIES: usize = 60;
/// Positions for the engine: of so many games, from ply 30 on.
const ENGINE_GAMES: i128 = 6;
const NODES: u64 = 10_000;

fn main() {
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    let Some(shared) = shared() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let games = kept(&run(&Parse, folder.path(), ("pgn", &sample(&shared)), &[]), "games", folder.path());
    println!("{:<62} {:>10} {:>10} {:>7}", "what (CPU seconds unless stated)", "cwm", "peer", "ratio");
    transpositions(folder.path(), &games);
    boards(folder.path(), &games);
    engine(folder.path(), &games);
}

fn row(what: &str, ours: f64, peer: Option<f64>) {
    let (peer, ratio) = peer
        .map_or_else(|| ("-".to_owned(), "-".to_owned()), |peer| (format!("{peer:.4}"), format!("{:.2}", peer / ours)));
    println!("{what:<62} {ours:>10.4} {peer:>10} {ratio:>7}");
}

fn least(mut work: impl FnMut() -> f64) -> f64 {
    (0..REPEATS).map(|_| work()).fold(f64::INFINITY, f64::min)
}

/// The seconds of a mode of `papers.py` on this input; `None`, with a line that states so, if it cannot run.
fn python(mode: &str, input: &str) -> Option<f64> {
    let python = std::env::var_os("CWM_PYTHON").unwrap_or_else(|| "python3".into());
    let script = include_str!("papers.py");
    let seconds = |_| {
        let (written, seconds) =
            children(|| output_of(Command::new(&python).args(["-c", script, mode]), input.as_bytes()));
        written.map(|_| seconds)
    };
    let least = (0..REPEATS)
        .map(seconds)
        .collect::<Option<Vec<f64>>>()
        .map(|all| all.into_iter().fold(f64::INFINITY, f64::min));
    if least.is_none() {
        println!("{mode}: its peer is skipped, `{}` cannot import chess", Path::new(&python).display());
    }
    least
}

/// Classes of all prefixes of the sample; python-chess on some games, by prefixes.
fn transpositions(folder: &Path, games: &Path) {
    let tokens = kept(&run(&Tokenize, folder, ("games", games), &[]), "dataset", folder);
    let dataset = Dataset::open(&tokens).expect("a dataset");
    let prefixes =
        |game: usize| dataset.tokens(game).expect("a dataset").map_or(0, |tokens| tokens.len() - 1).min(MAX_PLIES);
    let ours = least(|| cpu(|| _ = run(&Transpositions, folder, ("games", &tokens), &[])));
    let ours = ours / (0..dataset.len()).map(prefixes).sum::<usize>() as f64;
    let opened = Games::open(games).expect("games");
    let mut input = String::new();
    for game in 0..FEW_GAMES {
        let moves = opened.get(game).expect("games").expect("a game").row().moves.to_vec();
        let moves = moves.iter().take(MAX_PLIES).filter_map(|packed| PlainMove::from_packed(*packed));
        moves.for_each(|one| write!(input, "{one} ").expect("text"));
        input.push('\n');
    }
    let few: usize = (0..FEW_GAMES).map(prefixes).sum();
    let peer = python("transpositions", &input).map(|seconds| seconds / few as f64);
    row("transpositions: a million prefixes, beside python-chess", ours * 1e6, peer.map(|peer| peer * 1e6));
}

/// A bag of positions, and their boards as sequences.
fn boards(folder: &Path, games: &Path) {
    let positions = positions(games, RECORDS);
    let (mut records, mut ends) = (Vec::new(), Vec::new());
    for (fen, best) in &positions {
        records.push(u8::try_from(fen.len()).expect("a FEN is shorter than 128 bytes"));
        records.extend_from_slice(fen.as_bytes());
        records.extend_from_slice(best.to_string().as_bytes());
        ends.extend_from_slice(&(records.len() as u64).to_le_bytes());
    }
    let bag = folder.join("positions.bag");
    std::fs::write(&bag, [records, ends].concat()).expect("room");
    let bytes = std::fs::read(&bag).expect("the bag");
    let read = least(|| cpu(|| _ = run(&Bag, folder, ("bag", &bag), &[])));
    let hash = least(|| cpu(|| _ = black_box(blake3::hash(&bytes))));
    row(
        "bag: a million records, beside blake3 of them",
        read * 1e6 / positions.len() as f64,
        Some(hash * 1e6 / positions.len() as f64),
    );
    let evaluations = kept(&run(&Bag, folder, ("bag", &bag), &[]), "evaluations", folder);
    let form = [("form", Value::Text("board".into()))];
    let ours = least(|| cpu(|| _ = run(&Encode, folder, ("evaluations", &evaluations), &form)));
    let ours = ours * 1e6 / positions.len() as f64;
    let few = &positions[..FEW_BOARDS];
    let beside = |mode, input: String| python(mode, &input).map(|seconds| seconds * 1e6 / FEW_BOARDS as f64);
    let unchecked = beside("boards", few.iter().map(|(fen, _)| format!("{fen}\n")).collect());
    let boards: Vec<Board> = positions.iter().map(|(fen, _)| Board::parse(fen).expect("a position")).collect();
    let alone = least(|| cpu(|| boards.iter().for_each(|board| _ = black_box(board.ids()))));
    row("encode: a million boards in memory, beside plain Python", alone * 1e6 / boards.len() as f64, unchecked);
    row("encode: a million boards, checked, beside plain Python unchecked", ours, unchecked);
    let checked = beside("checked-boards", few.iter().map(|(fen, best)| format!("{fen} {best}\n")).collect());
    row("encode: a million boards, checked, beside python-chess", ours, checked);
}

/// `analyse` beside a bare loop, with the time of the engine in both.
fn engine(folder: &Path, games: &Path) {
    let program = std::env::var_os("CWM_ENGINE").map_or_else(|| PathBuf::from("/usr/games/stockfish"), PathBuf::from);
    if !program.exists() {
        println!("analyse: skipped, there is no {}", program.display());
        return;
    }
    let text = |path: &Path| Value::Text(path.to_string_lossy().into_owned());
    let parameters = [
        ("engine", text(&program)),
        ("nodes", Value::Int(NODES.into())),
        ("from_ply", Value::Int(30)),
        ("limit", Value::Int(ENGINE_GAMES)),
    ];
    let outcome = run(&Analyse, folder, ("games", games), &parameters);
    let analysed = folder.join("analysed");
    std::fs::create_dir(&analysed).expect("a folder");
    let evaluations = kept(&outcome, "evaluations", &analysed);
    let fens: Vec<String> =
        Evaluations::open(&evaluations).expect("evaluations").map(|row| row.expect("a row").fen).collect();
    let both = |work: &mut dyn FnMut()| {
        let mut of_children = 0.0;
        let own = cpu(|| of_children = children(&mut *work).1);
        own + of_children
    };
    let ours = least(|| both(&mut || _ = run(&Analyse, folder, ("games", games), &parameters)));
    let peer = least(|| both(&mut || pipe(&program, &fens)));
    row(&format!("analyse: {} positions, beside a loop that pipes them", fens.len()), ours, Some(peer));
}

/// The loop: what `analyse` sends, one position after the other.
fn pipe(program: &Path, fens: &[String]) {
    let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the engine");
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut ask = |commands: &str, until: &str| {
        stdin.write_all(commands.as_bytes()).expect("it reads");
        while !lines.next().expect("it runs").expect("text").starts_with(until) {}
    };
    ask("uci\nsetoption name Threads value 1\nsetoption name Hash value 1\nisready\n", "readyok");
    for fen in fens {
        Fen::from_ascii(fen.as_bytes())
            .expect("a FEN")
            .into_position::<Chess>(CastlingMode::Standard)
            .expect("a position");
        ask("ucinewgame\nisready\n", "readyok");
        ask(&format!("position fen {fen}\ngo nodes {NODES}\n"), "bestmove");
    }
    stdin.write_all(b"quit\n").expect("it reads");
    child.wait().expect("it ends");
}
