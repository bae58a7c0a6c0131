//! Comments by rules.

use cwm_chess::sample;
use cwm_contract::testing::Trial;
use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess};

use super::{comments, text};
use crate::Comments;
use crate::facts::{Fact, facts};
use crate::sentences::sentence;

fn seen(fen: &str, uci: &str) -> Vec<Fact> {
    let (position, played) = position(fen, uci);
    facts(&position, played)
}

fn position(fen: &str, uci: &str) -> (Chess, shakmaty::Move) {
    let position: Chess = fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap();
    let played = uci.parse::<UciMove>().unwrap().to_move(&position).unwrap();
    (position, played)
}

#[test]
fn rules_see_what_a_move_does() {
    let square = |name: &str| name.parse().unwrap();
    let scholars = "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4";
    let facts = seen(scholars, "h5f7");
    assert_eq!(facts[0], Fact::Mate { king: square("e8") });
    assert!(matches!(facts[1], Fact::Capture { piece: "queen", taken: "pawn", .. }));
    let castling = seen("4k3/8/8/8/8/8/8/R3K3 w Q - 0 1", "e1c1");
    assert_eq!(castling[0], Fact::Castling { side: "White", wing: "queenside", to: square("c1") });
    let fork = seen("4k3/3q4/8/3N4/8/8/8/4K3 w - - 0 1", "d5f6");
    assert_eq!(fork[0], Fact::Check { king: square("e8"), side: "White" });
    let (first, second) = ("queen on d7".to_owned(), "king on e8".to_owned());
    assert_eq!(fork[1], Fact::Fork { piece: "knight", to: square("f6"), first, second });
    let pin = seen("4k3/3n4/8/8/8/8/4B3/4K3 w - - 0 1", "e2b5");
    let expected = Fact::Pin { pinned: "knight on d7".into(), by: "bishop on b5".into() };
    assert_eq!(pin, [expected]);
    let en_passant = seen("4k3/p7/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6");
    assert_eq!(en_passant[0], Fact::EnPassant { side: "White", from: square("e5"), to: square("d6") });
    assert_eq!(en_passant[1], Fact::PassedPawn { side: "White", to: square("d6") });
    let promotion = seen("8/P6k/8/8/8/8/8/4K3 w - - 0 1", "a7a8n");
    assert_eq!(promotion, [Fact::Promotion { side: "White", to: square("a8"), role: "knight" }]);
    let double = seen("4k3/8/8/8/4N3/8/8/4RK2 w - - 0 1", "e4d6");
    assert_eq!(double[0], Fact::DoubleCheck { king: square("e8") });
    assert!(seen("4k3/8/8/8/8/8/4P3/4K3 b - - 0 1", "e8d8").is_empty());
}

#[test]
fn comments_on_games_are_the_same_each_time_and_none_lacks_a_keyword() {
    let folder = tempfile::tempdir().unwrap();
    let games = folder.path().join("games");
    sample::write_games(&games, &sample::games()).unwrap();
    let run = |cores| Trial::new(folder.path()).cores(cores).input("games", &games).run(&Comments).unwrap();
    let outcome = run(1);
    let first = ["comments", "items", "counts"].map(|output| text(&outcome, output));
    let second = run(2);
    assert!(first == ["comments", "items", "counts"].map(|output| text(&second, output)));
    let kept = comments(&outcome);
    assert!(kept.len() > 10, "{}", kept.len());
    assert!(first[1].is_empty());
    let counts = super::counts(&outcome);
    assert_eq!((&counts["kept"], &counts["games"]), (&counts["comments"], &6.into()), "{counts}");
    for comment in kept {
        let after = position(&comment.fen_before, &comment.move_uci);
        assert!(sentence(&after.0, after.1).is_some(), "{comment:?}");
    }
}

#[test]
fn the_same_fact_has_the_same_words() {
    let words = |fen: &str, uci: &str| {
        let (before, played) = position(fen, uci);
        sentence(&before, played).unwrap()
    };
    let castling = words("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1");
    assert_eq!(castling, words("4k3/p7/8/8/8/8/P7/R3K2R w KQ - 0 1", "e1g1"));
    assert_ne!(castling, words("4k2r/8/8/8/8/8/8/4K3 b k - 0 1", "e8g8"));
}
