//! Inputs that cannot be encoded.

use cwm_chess::{GameRow, GamesWriter};
use cwm_evaluations::Line;

use super::*;
use crate::probe::{evaluations_of, shuffle};

fn labels(count: usize) -> Vec<Evaluation> {
    evaluations_of(0, &shuffle(4)).unwrap().into_iter().take(count).collect()
}

/// Two games of four plies, with these labels.
fn bench(labels: Vec<Evaluation>) -> Bench {
    Bench::new().games(&[shuffle(4), shuffle(4)]).evaluations(labels)
}

#[test]
fn evaluations_of_other_games_are_an_error_that_names_the_first() {
    let mut others = labels(3);
    others[1].game = Some(7);
    others[1].id = "other".to_owned();
    assert_eq!(
        bench(others).refused("moves"),
        "game 7 (\"other\") of the evaluations, record 1, is not among the games that follow"
    );
    let mut same_index = labels(3);
    same_index[0].id = "other".to_owned();
    assert_eq!(
        bench(same_index).refused("moves"),
        "game 0 (\"sample_0000\"): the evaluations of game 0 are of \"other\": another corpus"
    );
    let mut elsewhere = labels(3);
    elsewhere[2].fen = elsewhere[0].fen.clone();
    assert!(bench(elsewhere).refused("moves").contains("ply 2: the game has \"rnbqkb1r/"));
    let mut gameless = labels(1);
    gameless[0].game = None;
    assert_eq!(bench(gameless).refused("moves"), "record 0 of the evaluations is of no game");
    let reversed = (0..2).rev().flat_map(|index| evaluations_of(index, &shuffle(4)).unwrap()).collect();
    assert!(bench(reversed).refused("moves").starts_with("game 0 (\"sample_0000\") of the evaluations, record 4"));
}

#[test]
fn labels_that_fit_no_position_are_errors() {
    let twice = [labels(1), labels(1)].concat();
    assert!(bench(twice).refused("moves").ends_with("ply 0 is evaluated twice"));
    let mut beyond = labels(1);
    beyond[0].t = Some(5);
    assert!(bench(beyond).refused("moves").ends_with("an evaluation is of ply 5, and the game has 4"));
    let mut nowhere = labels(1);
    nowhere[0].t = None;
    assert!(bench(nowhere).refused("moves").ends_with("record 0 of the evaluations has no ply"));
    let mut illegal = labels(1);
    illegal[0].lines = vec![Line { score: None, depth: None, moves: vec![0] }];
    let bench = bench(illegal);
    assert!(bench.refused("moves").ends_with("ply 0: its best move, a1a1, is not legal"));
    assert!(bench.refused("board").ends_with("its best move, a1a1, is not legal"));
    assert!(bench.refused("prompt").starts_with("record 0 of the evaluations, \"rnbqkbnr/"));
}

#[test]
fn what_is_no_position_is_an_error_in_words() {
    let message = |fen: &str| {
        let rows = labels(1).into_iter().map(|row| Evaluation { fen: fen.to_owned(), ..row });
        Bench::new().evaluations(rows).refused("board")
    };
    assert!(
        message("4k3/8/8/8/8/8/8/4K3 w - - 0 1000").ends_with("the number of the move is 1000, and 999 is the most")
    );
    assert!(message("4k3/8/8/8/8/8/8/4K3 w - -").ends_with("a FEN has six fields, and this has 4"));
}

#[test]
fn an_illegal_game_is_an_error_in_words() {
    let mut game = shuffle(4);
    game[3] = game[0];
    let bench = Bench::new().games(&[shuffle(2), game]).evaluations([]);
    for form in ["characters", "moves", "words"] {
        assert!(bench.refused(form).starts_with("game 1 (\"sample_0001\"): move 4 is not legal"), "{form}");
    }
}

#[test]
fn a_game_of_other_rules_is_an_error_in_words() {
    let bench = Bench::new();
    let mut writer = GamesWriter::create(&bench.path("games"), 9).unwrap().labelled(true);
    let (moves, labels) = ([shuffle(1)[0].packed()], [1; 150]);
    let game = GameRow { index: 0, id: "a", site: "?", result: "*", moves: &moves, labels: Some(&labels) };
    writer.push(game).unwrap();
    writer.finish().unwrap();
    let message = bench.refused("characters");
    assert_eq!(message, "game 0 (\"a\") is not standard chess from the initial position");
}

#[test]
fn a_form_without_its_input_or_of_no_name_is_refused() {
    let bench = Bench::new().games(&[shuffle(2)]);
    assert_eq!(bench.refused("board"), "encode needs an input `evaluations`, which the form `board` reads");
    assert_eq!(
        bench.refused("boards"),
        "parameter `form` must be one of board, prompt, characters, moves, words, speech, not \"boards\""
    );
}
