use std::io::{BufReader, Cursor};
use std::ops::ControlFlow;
use std::sync::Arc;

use cwm_contract::testing::shared;
use proptest::prelude::*;
use shakmaty::san::{San, SanPlus};
use shakmaty::{Chess, Move, Position};

use super::*;

type Found = (u64, u64, String, Option<MalformedText>);

fn games_with(text: &[u8], block: usize, longest: usize) -> Vec<Found> {
    let mut blocks = Blocks::with_sizes(Cursor::new(text), block, longest);
    let mut block = Block::default();
    let mut found = Vec::new();
    while blocks.next(&mut block).unwrap() {
        found.extend(
            block.games().map(|game| {
                (game.number, game.offset, String::from_utf8_lossy(game.text).into_owned(), game.malformed)
            }),
        );
    }
    found
}

fn games(text: &str) -> Vec<String> {
    games_with(text.as_bytes(), 1 << 20, MAX_GAME_BYTES).into_iter().map(|game| game.2).collect()
}

#[test]
fn a_blank_line_after_the_moves_or_a_tag_line_ends_a_game() {
    assert_eq!(games(""), [""; 0]);
    assert_eq!(games(" \r\n\n\t\n"), [""; 0]);
    assert_eq!(games("[A \"1\"]\n\n1. e4\n\n[B \"2\"]\n\n1. d4"), ["[A \"1\"]\n\n1. e4\n", "[B \"2\"]\n\n1. d4"]);
    assert_eq!(games("[A \"1\"]\n1. e4\n[B \"2\"]\n"), ["[A \"1\"]\n1. e4\n", "[B \"2\"]\n"]);
    assert_eq!(games("[A \"1\"]\n\n[B \"2\"]\n\n1. e4\n"), ["[A \"1\"]\n\n[B \"2\"]\n\n1. e4\n"]);
    assert_eq!(games("[A \"1\"]\n\n\n[B \"2\"]\n\n\n\n1. e4"), ["[A \"1\"]\n\n\n", "[B \"2\"]\n\n\n\n1. e4"]);
    assert_eq!(games("1. e4\n\n1. d4\n"), ["1. e4\n", "1. d4\n"]);
    assert_eq!(games("\u{feff}1. e4\r\n \r\n1. d4\r\n"), ["1. e4\r\n", "1. d4\r\n"]);
    assert_eq!(games("[A \"1\"]\r\r1. e4\r\r[B \"2\"]\r\r1. d4\r"), ["[A \"1\"]\n\n1. e4\n", "[B \"2\"]\n\n1. d4\n"]);
    assert_eq!(games("[A \"1\"]\n\n1. e4\n\n[B \"2\"]\r\r1. d4\r\r1. c4").len(), 3);
}

#[test]
fn comments_and_escaped_lines_hide_what_would_end_a_game() {
    assert_eq!(games("1. e4 { a\n\n[B \"2\"]\n} e5\n\n2. d4").len(), 2);
    assert_eq!(games("1. e4 ; { not a comment\n\n1. d4").len(), 2);
    assert_eq!(games("[A \"{\"]\n\n1. e4\n\n1. d4").len(), 2);
    assert_eq!(games("1. e4\n% {\n\n1. d4").len(), 2);
    assert_eq!(games("; {\n% {\n[A \"1\"]\n; x\n\n1. e4"), ["[A \"1\"]\n; x\n\n1. e4"]);
}

#[test]
fn a_comment_without_end_costs_one_game() {
    let text = "[A \"1\"]\n\n1. e4 { oh\n\n[B \"2\"]\n\n1. d4 { also\n\n[C \"3\"]\n\n1. c4\n";
    let found = games_with(text.as_bytes(), 1 << 20, MAX_GAME_BYTES);
    let malformed: Vec<_> = found.iter().map(|game| (game.0, game.1, game.3)).collect();
    let open = Some(MalformedText::UnterminatedComment);
    assert_eq!(malformed, [(1, 0, open), (2, 21, open), (3, 44, None)]);
    assert_eq!(found[2].2, "[C \"3\"]\n\n1. c4\n");
}

#[test]
fn a_game_that_is_too_long_costs_only_itself() {
    let text = format!("[A \"1\"]\n\n1. e4 {}\n\n[B \"2\"]\n\n1. d4", "e5 ".repeat(100));
    for block in [7, 64, 1000] {
        let found = games_with(text.as_bytes(), block, 60);
        let last = found.last().unwrap();
        assert_eq!((&last.2[..], last.3), ("[B \"2\"]\n\n1. d4", None));
        assert_eq!(found[0].3, Some(MalformedText::TooLong), "{block}");
    }
}

#[test]
fn whatever_the_text_little_of_it_is_held() {
    for text in [
        "x".repeat(10_000),
        " ".repeat(10_000),
        "\n".repeat(10_000),
        "\n".to_owned() + &" ".repeat(10_000),
        "[A \"1\"]\n".repeat(1_000),
        "1. e4 {".to_owned() + &"x\n".repeat(5_000),
        "1. e4 { x\n\n[A \"1\"]\n".repeat(1_000),
        "%".repeat(10_000),
    ] {
        let mut blocks = Blocks::with_sizes(Cursor::new(&text), 16, 64);
        let mut block = Block::default();
        while blocks.next(&mut block).unwrap() {}
        assert!(block.text_capacity() <= 512, "{:?}… took {}", &text[..8], block.text_capacity());
    }
}

fn tags(text: &str) -> (Tags<'_>, usize) {
    Tags::read(text)
}

#[test]
fn tags_are_taken_as_written_and_the_last_counts() {
    let text = "[Site \"a\"]\n[Site  \" b \\\"c\\\" \" ] \r\n%[Site \"no\"]\n[Sites \"no\"]\n[Result \"1-0\"]\n[FEN x]\n\n1. e4";
    let (found, movetext) = tags(text);
    assert_eq!(found, Tags { site: Some(" b \\\"c\\\" "), result: Some("1-0"), ..Tags::default() });
    assert_eq!(&text[movetext..], "1. e4");
    assert_eq!(tags("[Site \"").0, Tags::default());
    assert_eq!(tags("[Site \"\"]").0.site, Some(""));
}

/// The end of a game's text: its result, or the word that could not be played and the reason.
type ReadEnd = Result<Option<&'static str>, (String, SanError)>;

fn read(movetext: &str) -> (Vec<String>, ReadEnd) {
    let mut moves = Vec::new();
    let result = read_moves(movetext.as_bytes(), &mut moves);
    let moves = moves.into_iter().map(|packed| cwm_encoding::PlainMove::from_packed(packed).unwrap().to_string());
    (moves.collect(), result.map_err(|fault| (movetext[fault.start..fault.end].to_owned(), fault.fault)))
}

#[test]
fn the_main_line_is_read_and_the_rest_passed_over() {
    let text = "{ c } 1. e4 $1 (1. d4 {)} (1. c4) ; )\n1... d5) 1... e5! 2.Nf3?! Nc6 ; 3. Qh5\n3. Bb5 a6\n% 4. Bxc6\n\
                4. Ba4 Nf6 5. 0-0+ Be7 1-0 0-1";
    let (moves, result) = read(text);
    assert_eq!(moves.join(" "), "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1 f8e7");
    assert_eq!(result, Ok(Some("1-0")));
    assert_eq!(read("1. e4 *").1, Ok(None));
    assert_eq!(read("1. e4 ½-½").1, Ok(Some("1/2-1/2")));
    assert_eq!(read("1. e4 (1. d4 1-0").1, Ok(None));
}

#[test]
fn styles_of_notation() {
    assert_eq!(read("e2-e4 e7e5 Ng1f3 Nb8-c6 Bf1b5 a7-a6 e1g1").0[3..], ["b8c6", "f1b5", "a7a6", "e1g1"]);
    assert_eq!(read("e4 d6 e5 f5 exf6e.p. Nxf6").0.len(), 6);
    assert_eq!(read("e4 d5 ed5 c6 dc6 Nf6 cb7 e6 ba8Q").0[8], "b7a8q");
    assert_eq!(read("e4 d5 exd5 c6 dxc6 Nf6 cxb7 e6 bxa8=n+").0[8], "b7a8n");
    assert_eq!(read("e4 e5 Nf3 Nf6 Bc4 Bc5 e1g1 e8h8").0[6..], ["e1g1", "e8g8"]);
    for word in ["Kg1", "Ke1g1", "Ke1-g1", "Kh1", "Ke1h1", "e1h1q", "e1c1", "e1a1"] {
        let (moves, end) = read(&format!("e4 e5 Nf3 Nf6 Bc4 Bc5 {word}"));
        assert_eq!((moves.len(), end), (6, Err((word.to_owned(), SanError::Illegal))));
    }
    assert_eq!(read("1. Pe4 Pe5").0, ["e2e4", "e7e5"]);
    assert_eq!(read("1e4 d5 2e:d5 Qd8:d5 3.Nc3").0[2..], ["e4d5", "d8d5", "b1c3"]);
}

#[test]
fn a_word_that_is_no_legal_move_is_a_fault_with_its_place() {
    for (text, word, fault) in [
        ("1. e4 e5 2. Ke3", "Ke3", SanError::Illegal),
        ("1. e4 e5 2. Bxb6", "Bxb6", SanError::Illegal),
        ("1. e4 e5 2. garbage", "garbage", SanError::Unreadable),
        ("1. e4 e5 2. Nf33", "Nf33", SanError::Unreadable),
        ("1. e4 --", "--", SanError::Null),
        ("1. e4 Z0", "Z0", SanError::Null),
        ("1. e4 0000", "0000", SanError::Null),
        ("1. e4 @@@@", "@@@@", SanError::Null),
        ("1. e4 1/2", "/2", SanError::Unreadable),
        ("1. Nf3 Nf6 2. Nd4 Nd5 3. Nc3 Nc6 4. Nb5", "Nb5", SanError::Ambiguous),
        ("1. O-O", "O-O", SanError::Illegal),
        ("1. O-O-O-O", "O-O-O-O", SanError::Unreadable),
        ("1. ♘f3", "♘f3", SanError::Unreadable),
        ("1. }", "}", SanError::Unreadable),
    ] {
        assert_eq!(read(text).1, Err((word.to_owned(), fault)), "{text}");
    }
}

/// Reads a word with shakmaty.
fn shakmaty_reads(position: &Chess, word: &str) -> Option<Move> {
    word.parse::<SanPlus>().ok()?.san.to_move(position).ok()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn every_legal_move_is_read_from_shakmaty_s_notation(choices in proptest::collection::vec(0..10_000usize, 0..160)) {
        let mut position = Chess::default();
        for choice in choices {
            let moves = position.legal_moves();
            for &played in &moves {
                let word = SanPlus::from_move(position.clone(), played).to_string();
                prop_assert_eq!(read_san(&position, word.as_bytes()), Ok(played), "{}", word);
                let bare = San::from_move(&position, played).to_string().replace(['x', '='], "");
                if !bare.starts_with('O') {
                    prop_assert_eq!(read_san(&position, bare.as_bytes()), Ok(played), "{}", bare);
                }
            }
            if moves.is_empty() {
                break;
            }
            position.play_unchecked(moves[choice % moves.len()]);
        }
    }

    #[test]
    fn what_shakmaty_reads_is_read_alike(
        choices in proptest::collection::vec(0..10_000usize, 0..80),
        words in proptest::collection::vec("([NBRQK][a-h]?[1-8]?x?|([a-h][1-8]?x)?)[a-h][1-8](=[QRBN])?", 1..60),
    ) {
        let mut position = Chess::default();
        for choice in choices {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            position.play_unchecked(moves[choice % moves.len()]);
        }
        for word in words {
            if let Some(played) = shakmaty_reads(&position, &word) {
                prop_assert_eq!(read_san(&position, word.as_bytes()), Ok(played), "{}", word);
            }
        }
    }

    #[test]
    fn no_movetext_panics(text in "[ \\n{}();%.*0-9a-hNBRQKOx=+#-]{0,60}") {
        let _ = read(&text);
        let _ = tags(&text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn games_do_not_depend_on_the_size_of_blocks(
        lines in proptest::collection::vec(
            proptest::sample::select(vec![
                "", "[A \"1\"]", "1. e4", "{", "}", "e5 { x", "y } d4", "; {", "% {", " ", "\u{feff}", "(", "\r",
                "  [B \"2\"]", "   1. d4", "  % x",
            ]), 0..40),
        end in proptest::sample::select(vec!["\n", "\r\n", "\r"]),
        block in 1..50usize,
    ) {
        let text = lines.join(end);
        let whole = games_with(text.as_bytes(), 1 << 20, MAX_GAME_BYTES);
        prop_assert_eq!(&games_with(text.as_bytes(), block, MAX_GAME_BYTES), &whole);
        let lines_fed = text.replace("\r\n", "\u{1}\u{2}").replace('\r', "\n").replace("\u{1}\u{2}", "\r\n");
        for (at, game) in whole.iter().enumerate() {
            prop_assert_eq!(game.0, at as u64 + 1);
            prop_assert!(lines_fed[game.1 as usize..].starts_with(&game.2));
        }
    }
}

/// Plays each game with pgn-reader and shakmaty; what they cannot read ends the game.
struct Peer;

impl pgn_reader::Visitor for Peer {
    type Tags = ();
    type Movetext = (Chess, Vec<u16>);
    type Output = Vec<u16>;

    fn begin_tags(&mut self) -> ControlFlow<Vec<u16>, ()> {
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, _tags: ()) -> ControlFlow<Vec<u16>, (Chess, Vec<u16>)> {
        ControlFlow::Continue(Default::default())
    }

    fn san(&mut self, (position, moves): &mut (Chess, Vec<u16>), word: SanPlus) -> ControlFlow<Vec<u16>> {
        match word.san.to_move(position) {
            Ok(played) => {
                moves.push(cwm_encoding::PlainMove::from(played).packed());
                position.play_unchecked(played);
                ControlFlow::Continue(())
            }
            Err(_) => ControlFlow::Break(std::mem::take(moves)),
        }
    }

    fn end_game(&mut self, (_, moves): (Chess, Vec<u16>)) -> Vec<u16> {
        moves
    }
}

#[test]
fn real_games_are_read_as_pgn_reader_reads_them() {
    let Some(path) = shared("data/lichess-sample.pgn.zst") else { return };
    let mut peer = pgn_reader::Reader::new(PgnSource::open(&path, &Arc::default()).unwrap());
    let mut blocks = Blocks::new(BufReader::new(PgnSource::open(&path, &Arc::default()).unwrap()));
    let mut block = Block::default();
    let mut games = 0;
    while blocks.next(&mut block).unwrap() {
        for game in block.games() {
            games += 1;
            assert_eq!(game.number, games);
            let (_, movetext) = Tags::read(std::str::from_utf8(game.text).unwrap());
            let mut moves = Vec::new();
            read_moves(&game.text[movetext..], &mut moves).unwrap();
            assert_eq!(peer.read_game(&mut Peer).unwrap(), Some(moves), "game {games}");
        }
    }
    assert_eq!((games, peer.read_game(&mut Peer).unwrap()), (14_807, None));
}
