//! Positions that are placed by chance.

use std::collections::HashSet;

use cwm_encoding::legal;
use shakmaty::{Color, Position, Role};

use super::*;

/// A trial that places so many positions of at most six pieces, and values all moves.
fn placing(folder: &Path, number: i128, seed: i128) -> Trial {
    Trial::new(folder.join("work"))
        .with("place", Value::Int(number))
        .with("max_pieces", Value::Int(6))
        .with("min_legal", Value::Int(3))
        .with("multipv", Value::Text("all".into()))
        .with("depth", Value::Int(1))
        .with("seed", Value::Int(seed))
}

#[test]
fn placed_positions_are_different_and_all_their_moves_have_values() {
    let folder = tempdir().unwrap();
    let outcome = placing(folder.path(), 400, 1).run(&Analyse).unwrap();
    let rows = rows(&outcome);
    assert_eq!(rows.len(), 400);
    assert_eq!(rows.iter().map(|row| &row.fen).collect::<HashSet<_>>().len(), 400);
    let mut pieces = [0; 7];
    for (record, row) in rows.iter().enumerate() {
        assert_eq!((row.record, row.game, row.id.as_str(), row.t), (record as u64, None, "", None));
        let position = position(row);
        let moves = position.legal_moves();
        assert!(moves.len() >= 3 && row.lines.len() == moves.len(), "{}", row.fen);
        let valued: HashSet<_> = row.lines.iter().map(|line| line.moves[0]).collect();
        let all = moves.iter().all(|played| valued.contains(&PlainMove::from(*played).packed()));
        assert!(all && row.lines.iter().all(|line| line.score.is_some()), "{}", row.fen);
        pieces[position.board().occupied().count()] += 1;
    }
    // Three to six pieces, alike frequent.
    assert!(pieces[..3] == [0; 3] && pieces[3..].iter().all(|&number| (70..130).contains(&number)), "{pieces:?}");
    let boards: Vec<_> = rows.iter().map(|row| position(row).board().clone()).collect();
    let of = |role| boards.iter().map(|board| board.by_role(role).count()).sum::<usize>();
    let (pawns, knights) = (of(Role::Pawn), of(Role::Knight));
    assert!(pawns > knights && pawns < 3 * knights, "{pawns} {knights}");
    let white = rows.iter().filter(|row| position(row).turn() == Color::White).count();
    assert!((150..250).contains(&white), "{white}");
    let counts = counts(&outcome);
    assert_eq!(
        (&counts["positions"], &counts["incomplete"], &counts["games"]),
        (&400.into(), &0.into(), &serde_json::Value::Null)
    );
    assert!(counts["dropped"]["few_moves"].as_u64().unwrap() > 0, "{counts}");
    assert_eq!(counts["dropped"]["apart"], 0);
}

#[test]
fn our_own_engine_sees_mates_and_draws() {
    let folder = tempdir().unwrap();
    let rows = rows(&placing(folder.path(), 500, 5).run(&Analyse).unwrap());
    let value = |line: &cwm_evaluations::Line| match line.score.unwrap() {
        Score::Centipawns(centipawns) => (0, centipawns),
        Score::Mate(moves) => (moves.signum(), -moves),
    };
    let mut mates = 0;
    for row in &rows {
        let position = position(row);
        assert!(row.lines.is_sorted_by_key(|line| std::cmp::Reverse(value(line))), "{}", row.fen);
        for line in &row.lines {
            let mut next = position.clone();
            next.play_unchecked(legal(&position, PlainMove::from_packed(line.moves[0]).unwrap()).unwrap());
            // Positions that the rules decide: mates, and positions that neither side can win.
            if next.is_checkmate() {
                mates += 1;
                assert_eq!(line.score, Some(Score::Mate(1)), "{}", row.fen);
            } else if next.is_stalemate() || next.is_insufficient_material() {
                assert_eq!(line.score, Some(Score::Centipawns(0)), "{}", row.fen);
            }
        }
    }
    assert!(mates > 0);
}

#[test]
fn cores_and_interruptions_change_nothing_of_placed_positions() {
    let folder = tempdir().unwrap();
    let run = |name: &str, cores| placing(&folder.path().join(name), 600, 2).cores(cores).run(&Analyse).unwrap();
    let one = run("one", 1);
    assert_eq!(bytes(&one), bytes(&run("two", 2)));
    let kept = folder.path().join("two/work/checkpoints");
    std::fs::rename(kept.join("block-0000001.parquet"), kept.join("block-0000001.open")).unwrap();
    std::fs::remove_file(kept.join("block-0000002.parquet")).unwrap();
    assert_eq!(bytes(&run("two", 2)), bytes(&one));
    // Fewer positions are the first ones.
    let fewer = rows(&placing(&folder.path().join("fewer"), 30, 2).run(&Analyse).unwrap());
    assert_eq!(fewer, rows(&one)[..30]);
}

#[test]
fn positions_of_other_seeds_are_dropped() {
    let folder = tempdir().unwrap();
    // Three pieces: seeds have many positions in common.
    let run = |name: &str, number, seed: i128, apart: &[i128]| {
        let apart = Value::List(apart.iter().map(|seed| Value::Int(*seed)).collect());
        let trial = placing(&folder.path().join(name), number, seed).with("apart_from", apart);
        trial.with("max_pieces", Value::Int(3)).run(&Analyse).unwrap()
    };
    let boards = |outcome: &Outcome| rows(outcome).into_iter().map(|row| row.fen).collect::<HashSet<_>>();
    let (first, second) = (boards(&run("first", 3_000, 1, &[])), boards(&run("second", 1_000, 2, &[])));
    let apart = run("apart", 1_000, 2, &[1]);
    assert_eq!(boards(&apart).len(), 1_000);
    assert!(first.intersection(&second).count() > 0 && first.is_disjoint(&boards(&apart)));
    assert!(counts(&apart)["dropped"]["apart"].as_u64().unwrap() > 0);
}

#[test]
fn what_cannot_be_placed_is_an_error_in_words() {
    let folder = tempdir().unwrap();
    let fails = |trial: Trial| trial.run(&Analyse).err().unwrap().message;
    let plain = || placing(folder.path(), 5, 1);
    let message = fails(plain().with("min_legal", Value::Int(200)));
    assert_eq!(message, "of 10000 positions placed by chance none had 200 legal moves");
    for (name, value, words) in [
        ("max_pieces", Value::Int(2), "parameter `max_pieces` must be at least 3 with `place`"),
        ("apart_from", Value::List(vec![Value::Int(1)]), "parameter `apart_from` must not have the stage's own `seed`"),
        ("per_game", Value::Int(2), "parameter `per_game` is of games, and `place` needs none"),
        ("multipv", Value::Text("some".into()), "parameter `multipv` must be a number from 1 to 218, or `all`"),
        ("each", Value::Bool(true), "parameter `each` needs an `engine`: our own values each move by itself"),
    ] {
        let message = fails(plain().with(name, value));
        assert!(message.contains(words), "{message}");
    }
    let given = |place: bool, games: &[&str]| {
        let placed = [("place", Value::Int(5))];
        Analyse.check_inputs_for(&values(if place { &placed } else { &[] }), games)
    };
    assert_eq!(given(true, &[]), None);
    assert_eq!(given(false, &["games"]), None);
    assert_eq!(given(false, &[]).unwrap(), "needs an input `games`, or the parameter `place`");
    assert_eq!(given(true, &["games"]).unwrap(), "has an input `games`, which it does not read with `place`");
}

#[test]
fn a_probe_without_games_is_the_same_twice() {
    let probe = || {
        let folder = tempdir().unwrap();
        let values =
            Values::from([("place".to_owned(), Value::Int(40_000)), ("multipv".to_owned(), Value::Text("all".into()))]);
        testing::probe(&Analyse, values, folder.path()).unwrap().unwrap()
    };
    let one = probe();
    assert!(one.contains_key("run/evaluations") && one == probe());
}
