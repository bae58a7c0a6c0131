//! Bad input.

use super::{comments, counts, on_pgn};

const GOOD: &str = "[White \"A\"]\n\n1. e4 {Takes the centre and opens lines for the bishop.} e5 *\n\n";

#[test]
fn faulty_games_are_dropped_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let games: [(&[u8], &str); 7] = [
        (b"[Variant \"Chess960\"]\n\n1. e4 {Takes the centre at once, of course.} *\n\n", "variant"),
        (
            b"[FEN \"8/8/8/8/8/8/8/8 w - - 0 1\"]\n\n1. e4 {Takes the centre at once, of course.} *\n\n",
            "setup_position",
        ),
        (b"[White \"B\"]\n\n1. e5 {Takes the centre at once, of course.} *\n\n", "illegal_move"),
        (b"[White \"B\"]\n\n1. Nf3 d5 2. Na3 d4 3. Nb5 d3 4. Nd4 {Takes the centre at once.} *\n\n", "ambiguous_move"),
        (b"[White \"B\"]\n\n1. e4 e5 2. Sf3 Sc6 3. d4 {Takes the centre at once, of course.} *\n\n", "unreadable_move"),
        (b"[White \"B\xe9\"]\n\n1. e4 {Takes the centre at once, of course.} *\n\n", "not_utf8"),
        (b"[White \"B\"]\n\n1. e4 {Takes the centre at once, of course. *\n\n", "unterminated_comment"),
    ];
    let mut pgn = GOOD.as_bytes().to_vec();
    for (game, _) in games {
        pgn.extend_from_slice(game);
    }
    let outcome = on_pgn(folder.path(), pgn, &[]).unwrap();
    assert_eq!(comments(&outcome).len(), 1);
    let counts = counts(&outcome);
    assert_eq!(counts["games"], 8);
    for (_, reason) in games {
        assert_eq!(counts["games_dropped"][reason], 1, "{reason}: {counts}");
    }
}

#[test]
fn comments_are_dropped_for_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let pgn = "[White \"Marble\"]\n[FEN \"r3k3/8/8/8/8/8/4P3/4K3 w KQq - 0 7\"]\n\n7. e4 {Marble goes to the centre now.} {And so on.} Kf7 {No!} \
               8. Ke2 {Just a move like many others.} Kf6 {A plan of Nimzowitsch in the endgame.} 9. Ke3 {; a plan (of { a kind) for all}\n";
    let outcome = on_pgn(folder.path(), pgn, &[("min_characters", "x")]);
    assert!(outcome.is_err());
    let outcome = on_pgn(folder.path(), pgn, &[]).unwrap();
    let kept: Vec<_> = comments(&outcome).into_iter().map(|comment| (comment.ply, comment.cleaned)).collect();
    let expected = [(13, "White goes to the centre now. And so on."), (17, "; a plan (of { a kind) for all")];
    assert_eq!(kept, expected.map(|(ply, text)| (ply, text.to_owned())));
    let dropped = &counts(&outcome)["dropped"];
    assert_eq!([&dropped["few_words"], &dropped["no_keyword"], &dropped["other_name"]], [1, 1, 1]);
    let outcome = on_pgn(folder.path(), pgn, &[("names", "keep")]).unwrap();
    assert_eq!(comments(&outcome).len(), 3);
}

#[test]
fn a_megabyte_of_comment_is_one_comment() {
    let folder = tempfile::tempdir().unwrap();
    let long = "an attack of great length ".repeat(40_000);
    let outcome = on_pgn(folder.path(), format!("[White \"A\"]\n\n1. e4 {{{long}}} e5 *\n"), &[]).unwrap();
    assert_eq!(comments(&outcome)[0].cleaned, long.trim());
}

#[test]
fn without_comments_there_is_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let failure = on_pgn(folder.path(), "1. e4 {Best by test, I am told.} e5 *", &[]).map(|_| ()).unwrap_err();
    assert_eq!(failure.message, "none of 1 comments on the moves of 1 games is kept (no_keyword: 1)");
    let keywords = folder.path().join("keywords.txt");
    std::fs::write(&keywords, "# nothing\n\n").unwrap();
    let failure = on_pgn(folder.path(), GOOD, &[("keywords", &keywords.to_string_lossy())]).map(|_| ()).unwrap_err();
    assert!(failure.message.ends_with("keywords.txt has no phrase"), "{}", failure.message);
    std::fs::write(&keywords, "half-open FILE\nopens lines\n").unwrap();
    let outcome = on_pgn(folder.path(), GOOD, &[("keywords", &keywords.to_string_lossy())]).unwrap();
    assert_eq!(comments(&outcome)[0].keywords, ["opens lines"]);
}
