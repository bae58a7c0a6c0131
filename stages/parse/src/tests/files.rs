//! Several files and folders, and files that are no PGN.

use std::fs;

use cwm_contract::{Event, FailureKind, Value};
use tempfile::tempdir;

use super::{MOVES, counts, dropped, game, games, parse, parse_files, parse_text};

fn sites(outcome: &cwm_contract::testing::Outcome) -> Vec<(u64, String)> {
    games(outcome).iter().map(|game| (game.index, game.site.to_owned())).collect()
}

#[test]
fn files_are_read_in_the_order_given_and_folders_by_name() {
    let folder = tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("many/inner")).unwrap();
    fs::write(at("z.pgn"), game("z", MOVES)).unwrap();
    fs::write(at("many/b.pgn"), game("b", MOVES)).unwrap();
    fs::write(at("many/a.pgn"), zstd::encode_all(game("a", MOVES).as_bytes(), 1).unwrap()).unwrap();
    fs::write(at("many/inner/c.pgn"), game("c", MOVES)).unwrap();
    fs::write(at("many/.hidden"), "no PGN").unwrap();
    fs::write(at("last.pgn"), game("y", MOVES) + &game("x", MOVES)).unwrap();
    let files = ["z.pgn", "many", "last.pgn"].map(at);
    let files = files.each_ref().map(|file| file.as_path());
    let all = ["z", "a", "b", "c", "y", "x"];
    for (limit, cores) in [(None, 1), (None, 3), (Some(1), 2), (Some(3), 1), (Some(5), 2), (Some(6), 2)] {
        let run = tempdir().unwrap();
        let mut parameters = vec![("cores", Value::Int(cores))];
        parameters.extend(limit.map(|limit| ("limit", Value::Int(limit))));
        let outcome = parse_files(run.path(), &files, &parameters).unwrap();
        let kept = limit.map_or(all.len(), |limit| limit as usize);
        assert_eq!(sites(&outcome), (0..).zip(all[..kept].iter().map(|site| site.to_string())).collect::<Vec<_>>());
        assert_eq!(counts(&outcome)["read"], kept);
    }
    let run = tempdir().unwrap();
    let failure = parse_files(run.path(), &files, &[("limit", Value::Int(7))]).err().unwrap();
    assert_eq!(failure.message, "`limit` is 7 games, and of the 6 in the 5 files only 6 are kept");
}

#[test]
fn faults_name_the_file_and_the_game_in_it() {
    let folder = tempdir().unwrap();
    let (first, second) = (folder.path().join("a.pgn"), folder.path().join("b.pgn"));
    fs::write(&first, game("a", MOVES)).unwrap();
    fs::write(&second, game("b", MOVES) + &game("c", "1. e4 e5 2. Ke3")).unwrap();
    let run = tempdir().unwrap();
    let outcome = parse_files(run.path(), &[&first, &second], &[]).unwrap();
    let place = fs::read_to_string(&second).unwrap().find("Ke3").unwrap();
    let told =
        format!("dropped game 2 of {}: illegal_move at byte {place} of the text, `Ke3` at ply 3", second.display());
    assert!(outcome.events.contains(&Event::Log(told)), "{:?}", outcome.events);
    let fail = [("on_error", Value::Text("fail".into()))];
    let failure = parse_files(run.path(), &[&first, &second], &fail).err().unwrap();
    let words = format!("{} holds a faulty game: game 2: illegal_move at byte", second.display());
    assert!(failure.message.starts_with(&words), "{failure}");
    fs::write(&second, &zstd::encode_all(game("b", MOVES).as_bytes(), 1).unwrap()[..50]).unwrap();
    let failure = parse_files(run.path(), &[&first, &second], &[]).err().unwrap();
    assert!(failure.message.starts_with(&format!("cannot read {}: the file is cut", second.display())), "{failure}");
    // What comes after the limit is not looked at.
    assert_eq!(games(&parse_files(run.path(), &[&first, &second], &[("limit", Value::Int(1))]).unwrap()).len(), 1);
}

#[test]
fn an_input_without_games_is_an_error_and_an_empty_file_among_others_a_warning() {
    for text in ["", " \r\n\t\n", "\u{feff}", "\0\0\n"] {
        let folder = tempdir().unwrap();
        let failure = parse_text(folder.path(), text.as_bytes(), &[]).err().unwrap();
        assert!(failure.message.starts_with("there is no game in "), "{failure}");
        assert_eq!(failure.kind, FailureKind::Input);
        let (empty, full) = (folder.path().join("empty.pgn"), folder.path().join("full.pgn"));
        fs::write(&empty, text).unwrap();
        fs::write(&full, game("a", MOVES)).unwrap();
        for files in [[&empty, &full], [&full, &empty]] {
            let outcome = parse_files(folder.path(), &files.map(|file| file.as_path()), &[]).unwrap();
            assert_eq!(games(&outcome).len(), 1);
            let told = format!("{} holds no game", empty.display());
            assert!(outcome.events.contains(&Event::Note(told)), "{:?}", outcome.events);
        }
    }
    let folder = tempdir().unwrap();
    let failure = parse(folder.path(), folder.path(), &[]).err();
    // The key lies in that folder, and is no PGN.
    assert!(failure.unwrap().message.contains("is not PGN"));
    fs::create_dir(folder.path().join("none")).unwrap();
    let failure = parse(folder.path(), &folder.path().join("none"), &[]).err().unwrap();
    assert_eq!(failure.message, "the input has no files");
}

#[test]
fn what_is_no_pgn_is_reported() {
    let mut noise = Vec::new();
    let mut state = 1u64;
    while noise.len() < 300_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        noise.extend((state >> 16).to_le_bytes());
    }
    for bytes in [
        &noise[..],
        b"<html>\n<body>404</body>\n</html>\n",
        b"{\"id\": 1, \"moves\": \"e4 e5\"}\n",
        b"id,white,black\n1,a,b\n",
        b"1 2 3\n",
    ] {
        let folder = tempdir().unwrap();
        let failure = parse_text(folder.path(), bytes, &[]).err().unwrap();
        assert!(failure.message.ends_with("is not PGN: it has neither a tag nor a legal move"), "{failure}");
        // Beside a good file it is told; that it be an error can be asked for.
        let (good, bad) = (folder.path().join("good.pgn"), folder.path().join("games.pgn"));
        fs::write(&good, game("a", MOVES)).unwrap();
        for files in [[&good, &bad], [&bad, &good]] {
            let files = files.map(|file| file.as_path());
            let outcome = parse_files(folder.path(), &files, &[]).unwrap();
            assert_eq!(games(&outcome).len(), 1);
            assert!(outcome.events.contains(&Event::Note(failure.message.clone())), "{:?}", outcome.events);
            assert!(parse_files(folder.path(), &files, &[("on_error", Value::Text("fail".into()))]).is_err());
        }
        let failure = parse_files(folder.path(), &[&bad, &bad], &[]).err().unwrap();
        assert!(failure.message.contains("the 2 files are not PGN"), "{failure}");
    }
    let text: Vec<u16> = game("a", MOVES).encode_utf16().collect();
    let little: Vec<u8> = text.iter().flat_map(|unit| unit.to_le_bytes()).collect();
    let big: Vec<u8> = text.iter().flat_map(|unit| unit.to_be_bytes()).collect();
    let marked = |mark: &[u8], text: &[u8]| [mark, text].concat();
    for bytes in [marked(b"\xff\xfe", &little), marked(b"\xfe\xff", &big), little, big] {
        let folder = tempdir().unwrap();
        let failure = parse_text(folder.path(), &bytes, &[]).err().unwrap();
        assert!(failure.message.contains("it is UTF-16 text; PGN is read in UTF-8"), "{failure}");
        assert!(failure.hint.is_some());
    }
}

#[test]
fn files_put_together_are_still_games() {
    let mark = "\u{feff}";
    let crlf = game("b", MOVES).replace('\n', "\r\n");
    let cr = game("c", MOVES).replace('\n', "\r");
    // Without the blank line at its end.
    let open = game("d", MOVES).trim_end().to_owned() + "\n";
    let text = [mark, &game("a", MOVES), mark, &crlf, mark, &cr, &open, mark, &game("e", MOVES)].concat();
    let folder = tempdir().unwrap();
    let outcome = parse_text(folder.path(), text.as_bytes(), &[]).unwrap();
    assert_eq!(sites(&outcome).into_iter().map(|(_, site)| site).collect::<String>(), "abcde", "{}", dropped(&outcome));
}

#[test]
fn what_is_long_or_deep_is_read_like_anything_else() {
    let deep = format!("1. e4 {}{}", "(1. d4 ".repeat(100_000), ")".repeat(100_000));
    let unclosed = format!("1. e4 {}", "(".repeat(100_000));
    let comment = format!("1. e4 {{ {} }}", "x ( [ ; \n\n[A \"b\"]\n".repeat(50_000));
    let comments = format!("1. e4 {}", "{x} ; y\n".repeat(100_000));
    let spaces = format!("1. e4{}", " ".repeat(1_000_000));
    let dots = format!("1{} e4", ".".repeat(1_000_000));
    for (begin, kept) in
        [(deep, true), (unclosed, false), (comment, true), (comments, true), (spaces, true), (dots, true)]
    {
        let text = game("a", &MOVES.replacen("1. e4", &begin, 1)) + &game("b", MOVES);
        let folder = tempdir().unwrap();
        let outcome = parse_text(folder.path(), text.as_bytes(), &[]).unwrap();
        let found: String = sites(&outcome).into_iter().map(|(_, site)| site).collect();
        assert_eq!(found, if kept { "ab" } else { "b" }, "{:.20}: {}", begin, dropped(&outcome));
    }
}
