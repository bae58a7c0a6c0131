//! Cleaning, names and keywords.

use proptest::prelude::*;

use crate::clean::without_marks;
use crate::names::{Names, has_other_name};

#[test]
fn marks_are_taken_out() {
    for (comment, cleaned) in [
        ("[%eval -0.3] 24...Qd5! is [%clk 0:01] strong", "Qd5! is strong"),
        ("Better was (24... Qd5 25.Nf3, with $16 an edge)", "Better was (Qd5 Nf3, with an edge)"),
        ("In 1994. No move 12. Nothing", "In 1994. No move 12. Nothing"),
        ("♘f3 costs $5.", "f3 costs ."),
        ("cut [%csl Ra1", "cut"),
        ("1… e5\n\twas 2. O-O-O", "e5 was O-O-O"),
    ] {
        assert_eq!(without_marks(comment), cleaned);
    }
}

#[test]
fn the_players_become_their_sides() {
    let names = Names::of("van Marble, Ada", "Quill-Stone,T.");
    for (text, replaced) in [
        ("Ada van Marble's plan; Marble waits.", "White's plan; White waits."),
        ("T. Quill-Stone and Quill-Stone", "Black and Black"),
        ("Marbles and Adam, van T.", "Marbles and Adam, van T."),
    ] {
        assert_eq!(names.replaced_in(text), replaced);
    }
    let names = Names::of("Wood, Ann", "Wood, Bea");
    assert_eq!(names.replaced_in("Wood: Ann beats Bea"), "Wood: White beats Black");
    // A name is no pattern.
    assert_eq!(Names::of("Od(.*", "Ev+il").replaced_in("Od(.* Odx Evvil Ev+il."), "White Odx Evvil Black.");
    assert_eq!(Names::of("?", "White").replaced_in("White? ok"), "White? ok");
}

#[test]
fn other_names_are_seen_within_sentences() {
    for text in ["As Capablanca showed", "the Evans-like gambit", "a line of Tal's."] {
        assert!(has_other_name(text), "{text}");
    }
    for text in [
        "White takes, so Black's Knights and Kings wait.",
        "First. Then: Better is Nf3 or Qxd5+ or O-O-O, I think!",
        "\"Strong!\" And a plan",
    ] {
        assert!(!has_other_name(text), "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_is_cleaned(comment in "\\PC*|[\\[%\\]$0-9. ♔-♟A-Za-z{}]*", white in "\\PC{0,9}", black in "\\PC{0,9}") {
        let cleaned = without_marks(&comment);
        prop_assert!(!cleaned.contains(['♔', '♞']));
        prop_assert!(cleaned.trim() == cleaned);
        has_other_name(&Names::of(&white, &black).replaced_in(&cleaned));
    }
}
