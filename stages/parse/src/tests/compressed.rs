//! Files as they come: compressed in every way, in pieces, cut, damaged.

use std::io::Write;

use cwm_contract::testing::shared;
use cwm_contract::{Event, FailureKind, Value};
use tempfile::tempdir;

use super::{MOVES, game, games, parse, parse_text};

/// Makes a compressed copy.
type Compress = fn(&[u8]) -> Vec<u8>;

/// The kinds of compression, with the name of a piece of each.
const KINDS: [(&str, &str, Compress); 3] =
    [("zstd", "frame", zstd_frame), ("gzip", "member", gzip_member), ("bzip2", "stream", bzip2_stream)];

fn zstd_frame(text: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn gzip_member(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn bzip2_stream(text: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn many_games(games: usize) -> String {
    (0..games).map(|at| game(&format!("https://lichess.org/{at}"), MOVES)).collect()
}

#[test]
fn the_cut_file_is_a_located_error() {
    let Some(cut) = shared("data/awkward/34-ten-cut.pgn.zst") else { return };
    let folder = tempdir().unwrap();
    let failure = parse(folder.path(), &cut, &[]).err().unwrap();
    assert_eq!(failure.kind, FailureKind::Input);
    let told = failure.message.split_once("34-ten-cut.pgn.zst: ").unwrap().1;
    assert_eq!(
        told,
        "the file is cut: its zstd data end in the middle of a frame, after 4366 bytes; \
         that is in game 1, after byte 0 of the text"
    );
    assert!(failure.hint.is_some());
}

#[test]
fn a_cut_after_many_games_names_the_game_and_a_limit_before_it_is_met() {
    let text = many_games(20_000);
    for (kind, unit, compress) in KINDS {
        // In one piece, and in two of which the second is cut.
        let (first, second) = text.as_bytes().split_at(text.len() * 2 / 5);
        for mut compressed in [compress(text.as_bytes()), [compress(first), compress(second)].concat()] {
            compressed.truncate(compressed.len() * 2 / 3);
            let folder = tempdir().unwrap();
            let failure = parse_text(folder.path(), &compressed, &[]).err().unwrap();
            assert_eq!(failure.kind, FailureKind::Input);
            let told = format!(
                "the file is cut: its {kind} data end in the middle of a {unit}, after {} bytes",
                compressed.len()
            );
            let (before, place) = failure.message.split_once("; that is in ").unwrap();
            assert!(before.ends_with(&told), "{failure}");
            let numbers: Vec<u64> =
                place.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect();
            let [number, offset] = numbers[..] else { panic!("{place}") };
            assert!(number > 5_000, "{kind}: {place}");
            let games_before = text[..offset as usize].matches("[Event").count() as u64;
            assert!(games_before == number || games_before + 1 == number, "{place}: {games_before}");

            let folder = tempdir().unwrap();
            let outcome = parse_text(folder.path(), &compressed, &[("limit", Value::Int(5_000))]).unwrap();
            assert_eq!(games(&outcome).len(), 5_000);
        }
    }
}

#[test]
fn a_cut_at_any_byte_is_reported() {
    let text = many_games(3);
    for (kind, _, compress) in KINDS {
        let compressed = compress(text.as_bytes());
        // What is shorter than the first bytes that tell the kind is not PGN.
        for length in 6..compressed.len() {
            let folder = tempdir().unwrap();
            let failure = parse_text(folder.path(), &compressed[..length], &[]).err().unwrap();
            assert!(failure.message.contains("the file is cut"), "{kind} {length}: {failure}");
        }
    }
}

#[test]
fn damage_is_reported() {
    for (kind, _, compress) in KINDS {
        let mut damaged = compress(many_games(500).as_bytes());
        let middle = damaged.len() / 2;
        damaged[middle] ^= 0xff;
        let folder = tempdir().unwrap();
        let failure = parse_text(folder.path(), &damaged, &[]).err().unwrap();
        assert!(failure.message.contains(&format!("its {kind} data are damaged within the first")), "{failure}");
        assert_eq!(failure.kind, FailureKind::Input);
    }
}

#[test]
fn what_is_not_read_is_reported_by_name() {
    for (bytes, name) in
        [(&b"\xfd7zXZ\0\0\x04"[..], "xz"), (b"PK\x03\x04\x14\0\0\0", "zip"), (b"7z\xbc\xaf\x27\x1c", "7-Zip")]
    {
        let folder = tempdir().unwrap();
        let failure = parse_text(folder.path(), bytes, &[]).err().unwrap();
        let words = format!("it is compressed with {name}; PGN is read plain or compressed with zstd, gzip or bzip2");
        assert!(failure.message.ends_with(&words), "{failure}");
        assert_eq!(failure.kind, FailureKind::Input);
    }
}

#[test]
fn pieces_follow_each_other() {
    for (kind, _, compress) in KINDS {
        let mut bytes = compress(game("a", MOVES).as_bytes());
        if kind == "zstd" {
            // A skippable frame in between, as parallel compressors write.
            bytes.extend([0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 7, 7]);
        }
        bytes.extend(compress(b""));
        bytes.extend(compress(game("b", MOVES).as_bytes()));
        let folder = tempdir().unwrap();
        let outcome = parse_text(folder.path(), &bytes, &[]).unwrap();
        let sites: Vec<String> = games(&outcome).iter().map(|game| game.site.to_owned()).collect();
        assert_eq!(sites, ["a", "b"], "{kind}");
    }
}

#[test]
fn many_frames_give_the_text_in_order() {
    // Frames of many sizes, some of them larger than what is read at a time, that end in the middle of games.
    let text = many_games(30_000);
    let whole = tempdir().unwrap();
    let expected = parse_text(whole.path(), text.as_bytes(), &[]).map(|outcome| games(&outcome)).unwrap();
    let (mut bytes, mut at, mut length) = (Vec::new(), 0, 1);
    while at < text.len() {
        let end = (at + length).min(text.len());
        bytes.extend(zstd::encode_all(&text.as_bytes()[at..end], -7).unwrap());
        (at, length) = (end, length * 3 % 2_000_003);
    }
    for cores in [1, 4, 12] {
        let folder = tempdir().unwrap();
        let outcome = parse_text(folder.path(), &bytes, &[("cores", Value::Int(cores))]).unwrap();
        assert!(games(&outcome).iter().eq(expected.iter()));
    }
}

#[test]
fn what_follows_the_last_member_is_passed_over_as_gzip_does() {
    for (kind, _, compress) in &KINDS[1..] {
        for (tail, told) in
            [(&[0; 700][..], None), (b"garbage", Some(7)), (b"\0\0x", Some(3)), (&compress(b"")[..1], Some(1))]
        {
            let bytes = [&compress(game("a", MOVES).as_bytes()), tail].concat();
            let folder = tempdir().unwrap();
            let outcome = parse_text(folder.path(), &bytes, &[]).unwrap();
            assert_eq!(games(&outcome).len(), 1);
            let warning = outcome.events.iter().find_map(|event| match event {
                Event::Note(line) if line.contains("ignored") => Some(line.clone()),
                _ => None,
            });
            let words = told.map(|bytes| format!("ignored {bytes} bytes after the end of its {kind} data"));
            assert_eq!(warning.is_some(), words.is_some(), "{kind} {warning:?}");
            assert!(words.is_none_or(|words| warning.unwrap().ends_with(&words)));
        }
    }
    // zstd takes it for damage.
    let bytes = [&zstd_frame(game("a", MOVES).as_bytes())[..], b"garbage"].concat();
    let folder = tempdir().unwrap();
    let failure = parse_text(folder.path(), &bytes, &[]).err().unwrap();
    assert!(failure.message.contains("its zstd data are damaged"), "{failure}");
}

#[test]
fn a_window_beyond_reason_is_refused_in_words() {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(29).unwrap();
    encoder.write_all(many_games(10).as_bytes()).unwrap();
    let bytes = encoder.finish().unwrap();
    let folder = tempdir().unwrap();
    let failure = parse_text(folder.path(), &bytes, &[]).err().unwrap();
    assert!(failure.message.contains("its zstd data need a window of more than 128 MiB"), "{failure}");
}
