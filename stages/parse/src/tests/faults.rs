//! Bad input, each told in words, none a panic.

use cwm_contract::testing::Trial;
use cwm_contract::{Cancellation, Event, FailureKind, Value};
use proptest::prelude::*;
use tempfile::tempdir;

use super::{counts, dropped, games, parse, parse_text, shared};
use crate::Parse;

const MOVES: &str =
    "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O 9. h3 Nb8 10. d4 Nbd7";

fn game(site: &str, moves: &str) -> String {
    format!("[Event \"x\"]\n[Site \"{site}\"]\n[Result \"1-0\"]\n\n{moves} 1-0\n\n")
}

#[test]
fn a_cut_file_is_a_located_error() {
    let Some(shared) = shared() else { return };
    let folder = tempdir().unwrap();
    let cut = shared.join("data/awkward/34-ten-cut.pgn.zst");
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
    let text: String = (0..20_000).map(|at| game(&format!("https://lichess.org/{at}"), MOVES)).collect();
    let mut compressed = zstd::encode_all(text.as_bytes(), 1).unwrap();
    compressed.truncate(compressed.len() / 2);
    let folder = tempdir().unwrap();
    let failure = parse_text(folder.path(), &compressed, &[]).err().unwrap();
    let place = failure.message.split_once("; that is in ").unwrap().1;
    let numbers: Vec<u64> =
        place.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect();
    let [number, offset] = numbers[..] else { panic!("{place}") };
    assert!(number > 1_000, "{place}");
    let games_before = text[..offset as usize].matches("[Event").count() as u64;
    assert!(games_before == number || games_before + 1 == number, "{place}: {games_before}");

    let folder = tempdir().unwrap();
    let outcome = parse_text(folder.path(), &compressed, &[("limit", Value::Int(1_000))]).unwrap();
    assert_eq!(games(&outcome).len(), 1_000);
}

#[test]
fn damaged_and_unread_compression_is_told() {
    let mut damaged = zstd::encode_all(game("a", MOVES).repeat(500).as_bytes(), 1).unwrap();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0xff;
    for (bytes, words) in [
        (&damaged[..], "its zstd data are damaged within the first"),
        (b"\x1f\x8b\x08\0\0\0\0\0", "it is compressed with gzip; only plain and zstd-compressed PGN are read"),
        (b"BZh91AY&SY", "it is compressed with bzip2; only plain and zstd-compressed PGN are read"),
    ] {
        let folder = tempdir().unwrap();
        let failure = parse_text(folder.path(), bytes, &[]).err().unwrap();
        assert!(failure.message.contains(words), "{failure}");
        assert_eq!(failure.kind, FailureKind::Input);
    }
}

#[test]
fn zstd_is_known_by_its_first_bytes_and_may_come_in_several_frames() {
    let mut frames = zstd::encode_all(game("a", MOVES).as_bytes(), 1).unwrap();
    // A skippable frame in between, as parallel compressors write.
    frames.extend([0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 7, 7]);
    frames.extend(zstd::encode_all(game("b", MOVES).as_bytes(), 1).unwrap());
    let folder = tempdir().unwrap();
    let outcome = parse_text(folder.path(), &frames, &[]).unwrap();
    assert_eq!(games(&outcome).len(), 2);
}

#[test]
fn faulty_games_are_left_out_and_named() {
    let mut text = game("a", MOVES) + &game("b", "1. e4 e5 2. Ke3 Ke7") + &game("c", "1. e4 --");
    text += &game("d", MOVES).replace("[Result", "[Variant \"Atomic\"]\n[Result");
    let mut bytes = text.clone().into_bytes();
    bytes.extend(game("e", MOVES).replace("[Event \"x\"]", "[Event \"Z\u{fc}\"]").chars().map(|c| c as u8));
    bytes.extend(game("f", "1. e4").into_bytes());
    let folder = tempdir().unwrap();
    let outcome = parse_text(folder.path(), &bytes, &[]).unwrap();
    assert_eq!(dropped(&outcome), "illegal_move 1, not_utf8 1, null_move 1, short 1, variant 1");
    let log: Vec<&str> = outcome
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Log(line) => Some(&line[..]),
            _ => None,
        })
        .collect();
    let place = |needle: &str| text.find(needle).unwrap();
    assert_eq!(
        log[..3],
        [
            format!("left out game 2: illegal_move at byte {} of the text, `Ke3` at ply 3", place("Ke3")),
            format!("left out game 3: null_move at byte {} of the text, `--` at ply 2", place("--")),
            format!("left out game 5: not_utf8 at byte {} of the text", text.len() + 9),
        ]
    );
    assert_eq!(outcome.metrics["games_read"], 6.0);
    assert_eq!(outcome.metrics["dropped_short"], 1.0);

    let folder = tempdir().unwrap();
    let failure = parse_text(folder.path(), &bytes, &[("on_error", Value::Text("fail".into()))]).err().unwrap();
    assert!(failure.message.contains("holds a faulty game: game 2: illegal_move at byte"), "{failure}");
}

#[test]
fn the_log_stays_short() {
    let text = game("a", "1. e5").repeat(3_000);
    let folder = tempdir().unwrap();
    let outcome = parse_text(folder.path(), text.as_bytes(), &[]).unwrap();
    let lines = outcome.events.iter().filter(|event| matches!(event, Event::Log(_))).count();
    assert_eq!(lines, 22);
    assert!(outcome.events.contains(&Event::Log("left out 2980 more faulty games".into())));
    assert_eq!(dropped(&outcome), "illegal_move 3000");
}

#[test]
fn generated_games_are_named_by_their_site() {
    let text = game("cwm_random_00000", MOVES) + &MOVES.replace("1. e4", "\n1. e4") + "\n\n" + &game("", MOVES);
    let folder = tempdir().unwrap();
    let outcome = parse_text(folder.path(), text.as_bytes(), &[("ids", Value::Text("site".into()))]).unwrap();
    let found = games(&outcome);
    assert_eq!(found.iter().map(|game| game.id.to_owned()).collect::<Vec<_>>(), ["cwm_random_00000"]);
    assert_eq!(dropped(&outcome), "no_site 2");
}

#[test]
fn the_least_length_counts_plies() {
    let text = game("a", MOVES) + &game("b", &MOVES[..MOVES.len() - 5]);
    for (fullmoves, kept) in [(10, 1), (9, 2), (0, 2), (11, 0)] {
        let folder = tempdir().unwrap();
        let parameters = [("min_fullmoves", Value::Int(fullmoves))];
        let outcome = parse_text(folder.path(), text.as_bytes(), &parameters).unwrap();
        assert_eq!(counts(&outcome)["kept"], kept, "{fullmoves}");
    }
}

#[test]
fn bad_parameters_are_refused_and_cancellation_is_heard() {
    let folder = tempdir().unwrap();
    let failure = parse_text(folder.path(), b"", &[("limit", Value::Int(0))]).err().unwrap();
    assert_eq!(failure.message, "parameter `limit` must be at least 1");
    let cancelled = Cancellation::default();
    cancelled.cancel();
    std::fs::write(folder.path().join("games.pgn"), game("a", MOVES)).unwrap();
    let trial = Trial::new(folder.path()).input("pgn", folder.path().join("games.pgn"));
    let failure = trial.run_until(&Parse, cancelled).err().unwrap();
    assert_eq!(failure.kind, FailureKind::Cancelled);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn mutated_pgn_never_panics(
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 1..40),
        compress in any::<bool>(),
    ) {
        let mut bytes = (game("a", MOVES) + "[Site \"?\"]\n\n1. d4 {x} (1. c4 (1. g4)) ; y\n1... d5 $1 *\n\n" + &game("b", MOVES)).into_bytes();
        if compress {
            bytes = zstd::encode_all(&bytes[..], 1).unwrap();
        }
        for (place, byte, kind) in edits {
            let at = place.index(bytes.len().max(1)).min(bytes.len());
            match kind {
                0 if at < bytes.len() => bytes[at] = byte,
                1 if at < bytes.len() => drop(bytes.remove(at)),
                2 => bytes.insert(at, b"\n{}[]();%\"\\ \xef"[usize::from(byte) % 12]),
                3 if at < bytes.len() => bytes[at] ^= 1 << (byte % 8),
                _ => bytes.insert(at, byte),
            }
        }
        let folder = tempdir().unwrap();
        let outcomes = [1, 2].map(|cores| parse_text(folder.path(), &bytes, &[("cores", Value::Int(cores))]).map(|outcome| {
            (counts(&outcome), std::fs::read(outcome.outputs["games"].join("games-00000.arrow")).unwrap())
        }).map_err(|failure| failure.message));
        prop_assert_eq!(&outcomes[0], &outcomes[1]);
    }
}
