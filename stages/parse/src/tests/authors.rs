//! `rules: authors` against what the authors' program makes of the same files.

use cwm_contract::Value;
use cwm_contract::testing::{Outcome, shared};
use cwm_encoding::{EnPassant, LABELS, PlainMove, START, replay_into};
use tempfile::tempdir;

use super::{KeptGame, MOVES, counts, dropped, game, games, golden, parse, parse_text};

fn rules(name: &str) -> (&'static str, Value) {
    ("rules", Value::Text(name.into()))
}

fn tokens(game: &KeptGame) -> Vec<u16> {
    let moves = game.moves.iter().map(|&packed| PlainMove::from_packed(packed).unwrap().token());
    std::iter::once(START).chain(moves).collect()
}

/// The labels that the game carries, else those of a replay.
fn labels(game: &KeptGame) -> Vec<u8> {
    let tokens = tokens(game);
    game.labels.clone().unwrap_or_else(|| {
        let mut labels = vec![0; tokens.len() * LABELS];
        replay_into(&tokens, EnPassant::Always, &mut labels).unwrap();
        labels
    })
}

fn run(folder: &std::path::Path, text: &str) -> (Outcome, Vec<KeptGame>) {
    let outcome = parse_text(folder, text.as_bytes(), &[rules("authors")]).unwrap();
    let games = games(&outcome);
    (outcome, games)
}

/// Files at which the authors' program stops, and what ours then does: drops for it, and games kept behind it.
const STOPS: &[(&str, &str, &[&str])] = &[
    ("05-latin1-header.pgn", "not_utf8 1", &["https://lichess.org/test0502"]),
    ("06-cp1251-real.pgn", "not_utf8 11", &[]),
    ("21-empty-site.pgn", "no_site 1", &["https://lichess.org/test2103"]),
    ("28-illegal-then-paren.pgn", "exception 1", &["https://lichess.org/test2803"]),
];

#[test]
fn every_awkward_file_gives_the_golden_games_ids_tokens_and_labels() {
    let (Some(golden), Some(awkward)) = (golden::awkward(), shared("data/awkward")) else { return };
    let mut files = 0;
    for entry in std::fs::read_dir(awkward).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        // Two hold no game, which is an error of the stage; one is cut in the middle of its compression.
        if name.starts_with("23") || name.starts_with("24") || name.starts_with("34") {
            continue;
        }
        files += 1;
        let folder = tempdir().unwrap();
        let outcome = parse(folder.path(), &path, &[rules("authors")]).unwrap();
        // The compressed files hold the games of the plain one.
        let plain = if name.starts_with('3') { "30-ten.pgn" } else { name };
        let expected: Vec<_> = golden.iter().filter(|game| game.file == plain).collect();
        let found = games(&outcome);
        let mut found = found.iter();
        for expected in expected.iter().filter(|game| game.kept) {
            let game = found.next().unwrap();
            assert_eq!([&game.site, &game.id, &game.result], [&expected.site, &expected.id, &expected.result]);
            assert_eq!(game.moves.len(), expected.plies, "{name} {}", game.site);
            assert_eq!(tokens(game), expected.tokens, "{name} {}", game.site);
            assert!(labels(game) == expected.labels, "{name} {}", game.site);
        }
        let (short, error) = (count(&expected, "short"), count(&expected, "error: ValueError"));
        assert_eq!(counts(&outcome)["dropped"]["short"], short, "{name}");
        assert_eq!(counts(&outcome)["dropped"]["unplayable"], error, "{name}");
        let behind: Vec<&str> = found.map(|game| &game.site[..]).collect();
        match STOPS.iter().find(|(file, ..)| *file == name) {
            Some((_, drops, kept)) => {
                assert_eq!(dropped(&outcome), *drops, "{name}");
                assert_eq!(behind, *kept, "{name}");
                let parameters = [rules("authors"), ("on_error", Value::Text("fail".into()))];
                let failure = parse(folder.path(), &path, &parameters).err().unwrap();
                assert!(failure.message.contains("holds a faulty game: game"), "{failure}");
                assert!(failure.message.contains("at byte"), "{failure}");
            }
            None => {
                assert!(behind.is_empty(), "{name}: {behind:?}");
                assert_eq!(counts(&outcome)["read"], expected.len(), "{name}");
            }
        }
    }
    assert_eq!(files, 30);
}

fn count(games: &[&golden::AwkwardGame], reason: &str) -> usize {
    games.iter().filter(|game| game.reason == reason).count()
}

#[test]
fn the_sample_is_the_same_by_either_rules() {
    let Some(sample) = shared("data/lichess-sample.pgn.zst") else { return };
    let folders = [tempdir().unwrap(), tempdir().unwrap()];
    let [ours, theirs] = ["cwm", "authors"].map(|name| {
        let folder = &folders[usize::from(name == "authors")];
        let outcome = parse(folder.path(), &sample, &[rules(name)]).unwrap();
        (counts(&outcome), games(&outcome))
    });
    assert_eq!(ours.0, theirs.0);
    assert_eq!(ours.1.len(), 14_100);
    // No game of it needs labels of its own.
    assert!(ours.1 == theirs.1);
}

#[test]
fn a_game_carries_labels_only_if_no_replay_gives_them() {
    let folder = tempdir().unwrap();
    let passing = MOVES.replace("10. d4 Nbd7", "10. -- Nbd7");
    let set_up = game("c", MOVES)
        .replace("[Result", "[FEN \"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 3 9\"]\n[Result");
    let three_check = game("d", MOVES).replace("[Result", "[Variant \"3check\"]\n[Result");
    let chess960 = game("e", MOVES).replace("[Result", "[Variant \"Chess960\"]\n[Result");
    let (_, found) =
        run(folder.path(), &(game("a", MOVES) + &game("b", &passing) + &set_up + &three_check + &chess960));
    let carried: Vec<(&str, bool)> = found.iter().map(|game| (&game.site[..], game.labels.is_some())).collect();
    assert_eq!(carried, [("a", false), ("b", true), ("c", true), ("d", false), ("e", true)]);
    let passing = &found[1];
    assert_eq!(tokens(passing)[19], 0);
    let rows: Vec<&[u8]> = passing.labels.as_ref().unwrap().chunks(LABELS).collect();
    assert_eq!(rows[18][..64], rows[19][..64]);
    assert_eq!((rows[18][64], rows[19][64]), (0, 1));
    let castling = tokens(&found[4])[9];
    assert_eq!(PlainMove::from_token(castling).unwrap().to_string(), "e1h1");
}

#[test]
fn clocks_end_where_two_bytes_do() {
    let folder = tempdir().unwrap();
    let text = game("a", MOVES).replace(
        "[Result",
        "[FEN \"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 99999999999999999999 65534\"]\n[Result",
    );
    let (_, found) = run(folder.path(), &text);
    let clocks: Vec<&[u8]> = found[0].labels.as_ref().unwrap().chunks(LABELS).map(|row| &row[71..]).collect();
    assert_eq!(clocks[0], [255, 255, 255, 254]);
    assert_eq!(clocks[1], [0, 0, 255, 254]);
    assert_eq!(clocks[20][2..], [255, 255]);
}

#[test]
fn an_illegal_move_cuts_the_game_and_one_in_a_variation_spoils_it() {
    let folder = tempdir().unwrap();
    let cut = game("a", &format!("{MOVES} 11. Ke8 a5"));
    // The variation's board stays: Black's third move is then tried after 3. Bc4, where no a-pawn move is missing.
    let spoilt = game("b", &MOVES.replace("3. Bb5", "3. Bb5 (3. Bc4 Ke4)"));
    let (outcome, found) = run(folder.path(), &(cut + &spoilt));
    assert_eq!(found.iter().map(|game| (&game.site[..], game.moves.len())).collect::<Vec<_>>(), [("a", 20)]);
    assert_eq!(dropped(&outcome), "short 1");
}

#[test]
fn text_that_is_too_much_costs_one_game() {
    let folder = tempdir().unwrap();
    let long = game("a", &"-- ".repeat((1 << 18) + 1));
    let wide = game("b", &format!("{MOVES}{}", " ".repeat(17 << 20)));
    // Comments are not held, however long they are.
    let remark = game("c", &format!("{{{}}} {MOVES}", "é".repeat(17 << 20)));
    let tall = game("d", &format!("{{{}}} {MOVES}", "xyz\n\n".repeat(4 << 20)));
    let (outcome, found) = run(folder.path(), &(long + &wide + &remark + &tall + &game("e", MOVES)));
    assert_eq!(found.iter().map(|game| &game.site[..]).collect::<Vec<_>>(), ["c", "d", "e"]);
    assert_eq!(dropped(&outcome), "too_long 2");
}

#[test]
fn faults_name_the_game_and_the_byte() {
    let bad = game("b", &MOVES.replace("9. h3", "9. h3 Ke4 ) )").replace("Nb8", "$1"));
    let text = game("a", MOVES) + &bad;
    let folder = tempdir().unwrap();
    let parameters = [rules("authors"), ("on_error", Value::Text("fail".into()))];
    let failure = parse_text(folder.path(), text.as_bytes(), &parameters).err().unwrap();
    // The first parenthesis closes the game itself; the glyph behind it finds nothing to annotate.
    let place = text.find("$1").unwrap();
    let told = format!("game 2: exception at byte {place} of the text, at which python-chess fails");
    assert!(failure.message.ends_with(&told), "{failure}");
}
