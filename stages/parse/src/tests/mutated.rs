//! Files that were damaged at random. `CWM_MUTATIONS=1000000 cargo test --release -p cwm-parse mutated` tries a million;
//! `CWM_MUTATIONS_FROM=n` begins with the one numbered n.

use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cwm_chess::DropReason as _;
use cwm_chess::pgn::{Block, Blocks, MAX_GAME_BYTES, Meter, PgnSource, Text};
use cwm_contract::testing::shared;
use cwm_encoding::{LABELS, PlainMove};
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Position};

use super::{MOVES, game};
use crate::authors;
use crate::parsed_block::{GameOutcome, ParsedBlock};
use crate::pipeline::{ReadErrorKind, read_all};
use crate::rules::{IdScheme, Rules};

const MUTATIONS: u64 = 4_000;
/// Larger files are left out, so that there is time for many.
const LARGEST: u64 = 12_000;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) % bound.max(1) as u64) as usize
    }

    fn range(&mut self, length: usize) -> std::ops::Range<usize> {
        let start = self.below(length + 1);
        start..start + self.below((length - start).min(400) + 1)
    }
}

/// Fragments that mean something somewhere.
const PIECES: &[&[u8]] = &[
    b"\0",
    b"\x07",
    b"\x1a",
    b"\x7f",
    b"\x80",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\xef\xbb",
    b"\n",
    b"\n\n",
    b"\n\n\n",
    b"\r",
    b"\r\r",
    b"\r\n",
    b" ",
    b"\t",
    b"{",
    b"}",
    b"{}",
    b"(",
    b")",
    b"((((((((((",
    b"))))))))))",
    b";",
    b"\n;",
    b"%",
    b"\n%",
    b"\n% {\n",
    b"*",
    b"$",
    b"$1",
    b"$99999999999999999999",
    b"!",
    b"?!",
    b"...",
    b"1.",
    b"12...",
    b"99999999999999999999.",
    b"1-0",
    b"0-1",
    b"1/2-1/2",
    b"1/2",
    "½-½".as_bytes(),
    "1–0".as_bytes(),
    "♘f3".as_bytes(),
    "Ñ".as_bytes(),
    b"--",
    b"Z0",
    b"0000",
    b"@@@@",
    b"e4",
    b"e4e5",
    b"e2e4",
    b"1.e4e5",
    b"e8Q",
    b"e8=Q",
    b"exd6e.p.",
    b"O-O",
    b"O-O-O",
    b"O-O-O+",
    b"0-0",
    b"o-o",
    b"Nbd2",
    b"N1f3",
    b"Qxe4#",
    b"P@e4",
    b"e.p.",
    b"ep",
    b"[",
    b"]",
    b"[]",
    b"[Site \"x\"]\n",
    b"[Site \"\"]\n",
    b"[Site \"a\\\"b\"]\n",
    b"\n[Event \"x\"]\n",
    b"[Result \"*\"]\n",
    b"[Variant \"Chess960\"]\n",
    b"[Variant \"Standard\"]\n",
    b"[SetUp \"1\"]\n",
    b"[FEN \"8/8/8/8/8/8/8/8 w - - 0 1\"]\n",
    b"[FEN \"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\"]\n",
    b"\"",
    b"\\",
    b"<1>",
    b"\x28\xb5\x2f\xfd",
    b"\x1f\x8b\x08",
    b"BZh9",
];

fn mutate(bytes: &mut Vec<u8>, others: &[Vec<u8>], random: &mut Random) {
    for _ in 0..1 + random.below(6) {
        let at = random.below(bytes.len() + 1);
        let range = random.range(bytes.len());
        match random.below(11) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = random.below(256) as u8,
            2 => drop(bytes.drain(range)),
            3 => {
                let copy = bytes[range].to_vec();
                bytes.splice(at..at, copy);
            }
            4 => {
                let other = &others[random.below(others.len())];
                bytes.truncate(at);
                bytes.extend_from_slice(&other[random.below(other.len() + 1)..]);
            }
            5 => bytes.truncate(at),
            6 => {
                *bytes =
                    bytes.split(|&byte| byte == b'\n').collect::<Vec<_>>().join([&b"\r\n"[..], b"\r"][random.below(2)])
            }
            _ => {
                let piece = PIECES[random.below(PIECES.len())];
                let piece = piece.repeat(1 + random.below(3) * random.below(3));
                bytes.splice(at..at, piece);
            }
        }
    }
}

fn compress(bytes: Vec<u8>, random: &mut Random) -> Vec<u8> {
    match random.below(16) {
        0 => zstd::encode_all(&bytes[..], 1).unwrap(),
        1 => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(&bytes).unwrap();
            encoder.finish().unwrap()
        }
        2 => {
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            encoder.write_all(&bytes).unwrap();
            encoder.finish().unwrap()
        }
        _ => bytes,
    }
}

/// All results of reading a file: the outcome of each game, and the error at the end.
#[derive(Debug, Default, PartialEq)]
struct FileOutcome {
    games: Vec<OwnedOutcome>,
    end: Option<String>,
}

#[derive(Debug, PartialEq)]
enum OwnedOutcome {
    Kept { id: String, site: String, result: String, moves: Vec<u16> },
    Dropped { number: u64, reason: &'static str, offset: u64, detail: Option<Box<str>> },
}

impl FileOutcome {
    fn add(&mut self, parsed: &ParsedBlock) {
        self.games.extend(parsed.outcomes().map(|outcome| match outcome {
            GameOutcome::Row(game) => {
                assert!(game.labels.is_none());
                let [id, site, result] = [game.id, game.site, game.result].map(str::to_owned);
                OwnedOutcome::Kept { id, site, result, moves: game.moves.to_vec() }
            }
            GameOutcome::Drop(number, drop) => {
                let (reason, detail) = (drop.reason.name(), drop.detail.clone());
                OwnedOutcome::Dropped { number, reason, offset: drop.offset, detail }
            }
        }));
    }
}

fn rules() -> Rules {
    Rules { min_plies: 4, ids: IdScheme::Site }
}

fn read_with(path: &Path, cores: usize) -> FileOutcome {
    let mut said = FileOutcome::default();
    let files = [path.to_owned()];
    let ended = read_all(&files, &Arc::default(), &rules(), cores, |_, parsed| {
        said.add(parsed);
        ControlFlow::<()>::Continue(())
    });
    said.end = ended.err().map(|unread| match unread.kind {
        ReadErrorKind::Open(error) => error.to_string(),
        ReadErrorKind::Text(error) => error.to_string(),
    });
    said
}

/// The same on one thread with blocks of another size, and how long the text is that was read.
fn read_in_small_blocks(path: &Path, block_bytes: usize) -> (FileOutcome, u64) {
    let mut said = FileOutcome::default();
    let source = match PgnSource::open(path, &Arc::<Meter>::default()) {
        Ok(source) => source,
        Err(error) => return (FileOutcome { end: Some(error.to_string()), ..said }, 0),
    };
    std::thread::scope(|scope| {
        let mut blocks = Blocks::with_sizes(Text::spawn(scope, source, 1), block_bytes, MAX_GAME_BYTES);
        let (mut block, mut parsed) = (Block::default(), ParsedBlock::default());
        let (mut games, mut length) = (0, 0);
        loop {
            match blocks.next(&mut block) {
                Ok(false) => break,
                Ok(true) => {
                    games += block.games().count();
                    for game in block.games() {
                        assert!(game.offset >= length, "games overlap");
                        length = game.offset + game.text.len() as u64;
                    }
                    parsed.parse(&block, &rules());
                    said.add(&parsed);
                }
                Err(error) => {
                    said.end = Some(error.to_string());
                    break;
                }
            }
        }
        assert_eq!(said.games.len(), games, "every game read is kept or dropped");
        (said, length)
    })
}

fn check(path: &Path, random: &mut Random) {
    let said = read_with(path, 1);
    let (small, length) = read_in_small_blocks(path, 1 + random.below(300));
    assert_eq!(small, said, "in small blocks");
    assert_eq!(read_with(path, 3), said, "with three threads");
    for told in &said.games {
        match told {
            OwnedOutcome::Dropped { number, offset, .. } => {
                assert!(*number >= 1 && *number <= said.games.len() as u64);
                assert!(*offset <= length, "offset {offset} in {length} bytes");
            }
            OwnedOutcome::Kept { moves, .. } => {
                let mut position = Chess::default();
                for packed in moves {
                    let PlainMove { from, to, promotion } = PlainMove::from_packed(*packed).unwrap();
                    let played = UciMove::Normal { from, to, promotion }.to_move(&position).expect("a legal move");
                    position.play_unchecked(played);
                }
                assert!(moves.len() >= 4);
            }
        }
    }
}

/// By the authors' rules any text is read too, and a game that carries labels has those of all its positions.
fn check_by_the_authors_rules(path: &Path) {
    let read = authors::read_all(&[path.to_owned()], &Arc::default(), &rules(), |_, parsed| {
        for outcome in parsed.outcomes() {
            if let GameOutcome::Row(game) = outcome {
                assert!(game.labels.is_none_or(|labels| labels.len() == (game.moves.len() + 1) * LABELS));
                assert!(game.moves.iter().all(|&packed| PlainMove::from_packed(packed).is_some()));
            }
        }
        ControlFlow::<()>::Continue(())
    });
    drop(read);
}

fn originals() -> Vec<Vec<u8>> {
    let mut files = vec![
        (game("a", MOVES) + "[Site \"?\"]\n\n1. d4 {x} (1. c4 (1. g4)) ; y\n1... d5 $1 *\n\n" + &game("b", MOVES))
            .into_bytes(),
    ];
    if let Some(folder) = shared("data/awkward") {
        let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths.retain(|path| path.metadata().unwrap().len() <= LARGEST);
        files.extend(paths.iter().map(|path| fs::read(path).unwrap()));
    }
    files
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{variable}={text}")))
}

#[test]
fn mutated_files_are_read_without_a_panic_and_alike_by_any_number_of_threads() {
    let originals = originals();
    let first = number("CWM_MUTATIONS_FROM", 0);
    let count = number("CWM_MUTATIONS", MUTATIONS);
    let next = std::sync::atomic::AtomicU64::new(first);
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let folder = tempfile::tempdir().unwrap();
                let path = folder.path().join("games.pgn");
                loop {
                    let seed = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    if seed >= first + count {
                        return;
                    }
                    let mut random = Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
                    let mut bytes = originals[random.below(originals.len())].clone();
                    mutate(&mut bytes, &originals, &mut random);
                    let mut bytes = compress(bytes, &mut random);
                    if random.below(24) == 0 {
                        mutate(&mut bytes, &originals, &mut random);
                    }
                    fs::write(&path, &bytes).unwrap();
                    let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                        check(&path, &mut random);
                        check_by_the_authors_rules(&path);
                    }));
                    if let Err(panic) = checked {
                        let kept = std::env::temp_dir().join(format!("cwm-mutation-{seed}.pgn"));
                        fs::write(&kept, &bytes).unwrap();
                        println!("mutation {seed} (kept at {})", kept.display());
                        std::panic::resume_unwind(panic);
                    }
                }
            });
        }
    });
}
