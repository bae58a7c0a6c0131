//! Boards with the answers of all arms.

use super::*;

/// White can play Ra8+ and Nf3, not Nf4 or Ke3; the best move is a1a8.
const FEN: &str = "4k3/8/8/8/8/8/8/R3K1N1 w - - 0 1";
const BEST: u16 = 56 << 6;

fn answered(text: &str, [legal, best]: [bool; 2]) -> Vec<Choice> {
    let free = Correctness { valid: true, legal, best };
    vec![Choice { fen: FEN.into(), best: BEST, t: Some(6), text: text.into(), free, ..choice(0) }]
}

fn page(given: &[(&str, &str, Vec<Choice>)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut trial = Trial::new(folder.path().join("trial"));
    for (form, mask, choices) in given {
        let path = write(folder.path(), form, &chooser(form, mask, 0), choices);
        trial = trial.labelled("choices", label(&format!("choices[arm={form}]")), path);
    }
    read(&run(trial).unwrap(), "index.html")
}

#[test]
fn a_board_has_the_pieces_the_best_move_and_each_answer() {
    let page = page(&[
        ("board", "none", answered("g1f3", [true, false])),
        ("moves", "causal", answered("e1e3", [false, false])),
        ("prompt", "causal", answered("a1a8", [true, true])),
    ]);
    assert_eq!(page.matches("<figure class=\"position\">").count(), 1);
    for piece in [
        "<use class=\"black\" href=\"#piece-K\" x=\"160\" y=\"0\"/>",
        "<use class=\"white\" href=\"#piece-R\" x=\"0\" y=\"280\"/>",
        "<use class=\"white\" href=\"#piece-N\" x=\"240\" y=\"280\"/>",
    ] {
        assert!(page.contains(piece), "{piece}");
    }
    assert_eq!(page.matches("<use class").count(), 4);
    for arrow in [
        "class=\"arrow best\" d=\"M25.0 300.0L",
        "<title>a1a8, best: chosen by prompt/causal d64/l2</title>",
        "<title>g1f3, legal: chosen by board/none d64/l2</title>",
        "<title>e1e3, illegal: chosen by moves/causal d64/l2</title>",
        "moves/causal d64/l2: <code>e1e3</code>, illegal</li>",
        "aria-label=\"Ply 6, White to move: 4k3/8/8/8/8/8/8/R3K1N1 w - - 0 1; best a1a8; board/none d64/l2 g1f3, legal; ",
    ] {
        assert!(page.contains(arrow), "{arrow}");
    }
}

#[test]
fn answers_in_san_have_an_arrow_where_they_are_legal() {
    let of = |text, is| page(&[("characters", "causal", answered(text, is))]);
    assert!(of("Nf3", [true, false]).contains("<title>g1f3, legal: chosen by characters/causal d64/l2</title>"));
    assert!(of("Ra8+", [true, true]).contains("<title>a1a8, best: chosen by characters/causal d64/l2</title>"));
    let illegal = of("Nf4", [false, false]);
    assert!(illegal.contains("<title>a1a8, best: chosen by no arm</title>"));
    assert!(!illegal.contains(" illegal: chosen") && illegal.contains("<code>Nf4</code>, illegal</li>"));
}
