use std::collections::BTreeMap;
use std::io::Read;

use cwm_chess::sample;
use cwm_contract::testing::{Outcome, Trial, shared};
use cwm_contract::{Stage, Value, Values};
use cwm_encoding::PlainMove;
use cwm_evaluations::{Evaluations, Score};
use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Move, Position};

use super::find::{AnalysedPosition, find};
use super::themes::themes;
use crate::Analyse;
use crate::tests::stockfish::stockfish;

fn position(fen: &str) -> Chess {
    fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap()
}

/// The moves from `position`, which is then the position after them.
fn played(position: &mut Chess, moves: &str) -> Vec<Move> {
    let play = |word: &str| {
        let played = word.parse::<UciMove>().unwrap().to_move(position).unwrap();
        position.play_unchecked(played);
        played
    };
    moves.split(' ').map(play).collect()
}

#[test]
fn rules_see_themes() {
    for (fen, solution, expected) in [
        ("6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1", "a1a8", &["backRankMate", "mateIn1"][..]),
        ("6rk/6pp/8/6N1/8/8/8/4K3 w - - 0 1", "g5f7", &["mateIn1", "smotheredMate"]),
        ("8/P6k/8/8/8/8/8/4K3 w - - 0 1", "a7a8q", &["promotion"]),
        ("7k/8/P7/8/8/8/8/4K3 w - - 0 1", "a6a7", &["advancedPawn"]),
        ("r3k3/8/8/3N4/8/8/8/4K3 w - - 0 1", "d5c7", &["fork"]),
        ("4k3/3r4/8/8/8/8/4B3/4K3 w - - 0 1", "e2b5", &["pin"]),
        ("3q4/8/3k4/8/8/8/8/R3K3 w - - 0 1", "a1d1", &["skewer"]),
        ("4k3/8/8/8/4N3/8/8/4RK2 w - - 0 1", "e4d6", &["discoveredAttack", "doubleCheck"]),
        ("4k3/8/2n5/8/8/8/6B1/4K3 w - - 0 1", "g2c6", &["hangingPiece"]),
        ("4k3/p7/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", &["advancedPawn", "enPassant"]),
        ("6k1/5ppp/8/8/8/8/Q7/1R2K3 w - - 0 1", "a2f7 g8f7 b1b7", &["sacrifice"]),
        ("4k3/8/8/8/8/8/8/R3K3 w Q - 0 1", "e1c1", &["castling"]),
        ("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "e2e4", &[]),
    ] {
        let start = position(fen);
        assert_eq!(themes(&start, &played(&mut start.clone(), solution)), expected, "{solution} in {fen}");
    }
}

/// Analysed positions by hand: the values of the best and the second move.
fn analysed(position: &Chess, moves: &str, values: &[Score]) -> AnalysedPosition {
    let first = moves.split(' ').map(|word| word.parse::<UciMove>().unwrap().to_move(position).unwrap());
    AnalysedPosition {
        position: position.clone(),
        moves: first.zip(values.iter().map(|value| Some(*value))).collect(),
        effort: 4_000.0,
    }
}

#[test]
fn a_puzzle_needs_a_mistake_and_one_move_that_uses_it() {
    use Score::{Centipawns, Mate};
    let before = position("4k3/8/2n5/8/8/8/6B1/4K3 b - - 0 1");
    let mut after = before.clone();
    let mistake = played(&mut after, "e8d8")[0];
    let puzzle = |old, best, second| {
        let before = analysed(&before, "e8d7 e8d8", &[old, Centipawns(-500)]);
        let after = analysed(&after, "g2c6 g2d5", &[best, second]);
        find(&before, mistake, &after, 200, |_| Ok(None)).unwrap().map(|puzzle| puzzle.row())
    };
    let row = puzzle(Centipawns(0), Centipawns(200), Centipawns(0)).unwrap();
    let (id, rest) = row.split_once(',').unwrap();
    assert_eq!(rest, "4k3/8/2n5/8/8/8/6B1/4K3 b - - 0 1,e8d8 g2c6,1000,0,100,0,hangingPiece,proxy,\n");
    assert!(id.len() == 8 && id.chars().all(|digit| digit.is_ascii_hexdigit()), "{id}");
    assert!(puzzle(Centipawns(-1), Centipawns(200), Centipawns(0)).is_none(), "the mistake costs too little");
    assert!(puzzle(Centipawns(0), Centipawns(200), Centipawns(1)).is_none(), "another move is nearly as good");
    assert!(puzzle(Centipawns(50), Centipawns(199), Centipawns(-100)).is_none(), "the best move wins too little");
    assert!(puzzle(Centipawns(0), Mate(2), Mate(3)).is_none(), "two moves mate");
    assert!(puzzle(Mate(-2), Mate(1), Centipawns(0)).is_none(), "it was lost before");
    assert!(puzzle(Centipawns(0), Mate(3), Centipawns(600)).is_some());
    assert!(puzzle(Mate(3), Centipawns(300), Centipawns(-600)).is_some());
}

fn run(folder: &std::path::Path, games: &[Vec<PlainMove>], with: &[(&str, Value)]) -> Outcome {
    let _ = std::fs::remove_dir_all(folder.join("games"));
    sample::write_games(&folder.join("games"), games).unwrap();
    let trial = Trial::new(folder.join("work")).input("games", folder.join("games"));
    with.iter().fold(trial, |trial, (name, value)| trial.with(name, value.clone())).run(&Analyse).unwrap()
}

fn text(outcome: &Outcome, output: &str) -> String {
    std::fs::read_to_string(&outcome.outputs[output]).unwrap()
}

#[test]
fn our_own_engine_finds_the_scholars_mate() {
    let folder = tempfile::tempdir().unwrap();
    let game: Vec<PlainMove> = {
        let mut position = Chess::default();
        played(&mut position, "e2e4 e7e5 f1c4 b8c6 d1h5 g8f6 h5f7").into_iter().map(PlainMove::from).collect()
    };
    // The same game a second time has the same puzzles.
    let games = [game.clone(), game];
    let with = [("puzzles", Value::Bool(true)), ("every", Value::Int(3)), ("depth", Value::Int(2))];
    let outcome = run(folder.path(), &games, &with);
    let puzzles = text(&outcome, "puzzles");
    let lines: Vec<&str> = puzzles.lines().collect();
    assert!(lines[0].starts_with("PuzzleId,FEN,Moves,"), "{puzzles}");
    let mate: Vec<_> = lines.iter().filter(|line| line.contains(",g8f6 h5f7,")).collect();
    assert_eq!(mate.len(), 1, "{puzzles}");
    assert!(mate[0].contains("/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 3 3,"), "{puzzles}");
    assert!(
        mate[0].contains(",0,100,0,hangingPiece mateIn1,proxy,") || mate[0].contains(",0,100,0,mateIn1,proxy,"),
        "{puzzles}"
    );
    let rows: Vec<_> = Evaluations::open(&outcome.outputs["evaluations"]).unwrap().map(Result::unwrap).collect();
    assert_eq!(rows.iter().map(|row| row.t.unwrap()).collect::<Vec<_>>(), [0, 3, 6, 0, 3, 6]);
    assert!(rows.iter().all(|row| row.lines.len() == 2));
    let again = run(folder.path(), &games, &with);
    for output in ["puzzles", "evaluations", "counts"] {
        assert!(std::fs::read(&outcome.outputs[output]).unwrap() == std::fs::read(&again.outputs[output]).unwrap());
    }
    let none = run(folder.path(), &games, &[]);
    assert_eq!(text(&none, "puzzles"), super::HEADER);
}

#[test]
fn results_from_before_puzzles_keep_their_keys() {
    let with = |others: &[(&str, Value)]| {
        let defaults =
            Analyse.parameters().into_iter().map(|spec| (spec.name.to_owned(), spec.default.unwrap_or_default()));
        let mut values: Values = defaults.collect();
        values.extend(others.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        let unused = Analyse.unused_parameters(&values);
        let errors: Vec<_> = Analyse.check(&values).into_iter().map(|error| error.parameter).collect();
        (["puzzles", "margin", "every"].map(|name| unused.contains(&name)), errors)
    };
    assert_eq!(with(&[]), ([true, true, true], vec![]));
    assert_eq!(with(&[("every", Value::Int(2))]), ([true, true, false], vec![]));
    assert_eq!(with(&[("puzzles", Value::Bool(true))]), ([false, false, true], vec![]));
    let errors =
        with(&[("puzzles", Value::Bool(true)), ("side", Value::Text("white".into())), ("every", Value::Int(0))]).1;
    assert_eq!(errors, ["every", "puzzles"]);
}

#[test]
fn a_programs_puzzles_do_not_depend_on_cores_and_interruptions() {
    let Some(engine) = stockfish() else { return };
    let folder = tempfile::tempdir().unwrap();
    let games: Vec<_> = sample::games().iter().cycle().take(20).map(|game| game[..20].to_vec()).collect();
    let run = |cores| {
        sample::write_games(&folder.path().join("games"), &games).unwrap();
        let trial = Trial::new(folder.path().join("work")).input("games", folder.path().join("games")).cores(cores);
        let trial = trial.with("engine", Value::Text(engine.display().to_string())).with("nodes", Value::Int(500));
        let outcome = trial.with("puzzles", Value::Bool(true)).run(&Analyse).unwrap();
        let _ = std::fs::remove_dir_all(folder.path().join("games"));
        text(&outcome, "puzzles")
    };
    let one = run(1);
    assert!(one.lines().count() > 3, "{one}");
    let kept = folder.path().join("work/checkpoints");
    std::fs::rename(kept.join("block-0000001.parquet"), kept.join("block-0000001.open")).unwrap();
    assert_eq!(run(2), one);
    for line in one.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let mut position = position(fields[1]);
        let moves = played(&mut position, fields[2]);
        assert!([2, 4].contains(&moves.len()) && (400..=2_800).contains(&fields[3].parse::<i32>().unwrap()), "{line}");
    }
}

/// Returns true if the side to move mates in so many of its moves, by full search.
fn mates_in(position: &Chess, moves: u32) -> bool {
    moves > 0
        && position.legal_moves().iter().any(|&played| {
            let mut after = position.clone();
            after.play_unchecked(played);
            after.is_checkmate() || moves > 1 && !after.is_stalemate() && is_mated_in(&after, moves - 1)
        })
}

/// Returns true if every move of the side to move lets the other side mate in so many moves.
fn is_mated_in(position: &Chess, moves: u32) -> bool {
    position.legal_moves().iter().all(|&played| {
        let mut after = position.clone();
        after.play_unchecked(played);
        mates_in(&after, moves)
    })
}

#[test]
fn themes_of_lichess_puzzles_are_found_with_few_mistakes() {
    let Some(path) = shared("systems/questions-golden/lichess-puzzles-6605.csv.zst") else { return };
    let mut csv = String::new();
    zstd::Decoder::new(std::fs::File::open(path).unwrap()).unwrap().read_to_string(&mut csv).unwrap();
    // Of each theme: puzzles in which rules see it, and those of them that have it in the file.
    let mut seen: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    let mut searched = 0;
    for line in csv.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let mut start = position(fields[1]);
        let (mistake, solution) = fields[2].split_once(' ').unwrap();
        played(&mut start, mistake);
        let moves = played(&mut start.clone(), solution);
        if moves.len() > 3 {
            continue;
        }
        let ours = themes(&start, &moves);
        if ours.contains(&"mateIn2") && searched < 40 {
            searched += 1;
            assert!(mates_in(&start, 2) && !mates_in(&start, 1), "{line}");
        }
        for theme in ours {
            let (found, right) = seen.entry(theme).or_default();
            *found += 1;
            *right += u32::from(fields[7].split(' ').any(|other| other == theme));
        }
    }
    println!("{seen:?}");
    for theme in ["mateIn1", "mateIn2", "promotion", "doubleCheck", "backRankMate"] {
        let (found, right) = seen[theme];
        assert!(found > 10 && f64::from(right) >= 0.9 * f64::from(found), "{theme}: {right} of {found}; {seen:?}");
    }
}
