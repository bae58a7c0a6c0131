//! Bad positions and bad engines.

use std::os::unix::fs::PermissionsExt;

use cwm_contract::Stage;

use super::*;

/// A program at `path`.
fn script(path: &Path, text: &str) -> Value {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    Value::Text(path.display().to_string())
}

/// An engine in bash with this answer to `go`.
fn engine(answer: &str) -> String {
    format!(
        "#!/bin/bash\nwhile read -r line; do case $line in\n\
         uci) echo 'id name Scripted'; echo 'option name MultiPV type spin default 1 min 1 max 99'; echo uciok;;\n\
         isready) echo readyok;;\n\
         go*) {answer};;\n\
         quit) exit;;\nesac; done\n"
    )
}

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

#[test]
fn a_position_that_ends_engines_is_refused_with_its_row() {
    let folder = tempdir().unwrap();
    for (fen, fault) in [
        // White could take the king.
        ("4k3/8/8/8/8/8/8/4RK2 w - - 0 1", "is no position of a game"),
        ("8/8/8/8/8/8/8/4RK2 w - - 0 1", "is no position of a game"),
        ("P3k3/8/8/8/8/8/8/4K3 w - - 0 1", "is no position of a game"),
        ("nothing", "is no FEN"),
    ] {
        let rows: [(&str, &[(&str, i32)]); 2] = [(START, &[("e2e4", 1)]), (fen, &[("e1e2", 1)])];
        // The engine does not exist: nothing is searched before all positions are read.
        let trial = on_evaluations(folder.path(), "best_line", &rows).with("engine", text("/nowhere/engine"));
        let failure = trial.run(&Examples).err().unwrap();
        assert!(failure.message.contains(&format!("row 1: {fen:?} {fault}")), "{}", failure.message);
    }
}

#[test]
fn a_best_move_that_is_not_legal_is_refused_with_its_row() {
    let folder = tempdir().unwrap();
    let rows: [(&str, &[(&str, i32)]); 2] =
        [(START, &[("e2e4", 1)]), ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", &[("d2d4", 1)])];
    let failure = on_evaluations(folder.path(), "best_move", &rows).run(&Examples).err().unwrap();
    assert!(failure.message.contains("row 1: its best move d2d4 is not legal in"), "{}", failure.message);
}

#[test]
fn an_engine_is_tried_twice_and_named_with_the_position() {
    let folder = tempdir().unwrap();
    let mark = folder.path().join("mark");
    let rows: [(&str, &[(&str, i32)]); 1] = [(START, &[("e2e4", 1)])];
    // It dies at its first search, and then answers.
    let line = "echo 'info depth 1 score cp 9 pv e2e4 e7e5 g1f3 b8c6 f1c4 f8c5'; echo 'bestmove e2e4'";
    let dies_once = format!("if [ -e {0} ]; then {line}; else touch {0}; exit 1; fi", mark.display());
    let program = script(&folder.path().join("once"), &engine(&dies_once));
    // The end of the line is another position, in which that line is illegal: so the second search of each example fails twice.
    let failure =
        on_evaluations(folder.path(), "best_line", &rows).with("engine", program).run(&Examples).err().unwrap();
    assert!(mark.exists());
    assert!(failure.message.contains("which is no legal move, in the position `r1bqk1nr/"), "{}", failure.message);
    let program = script(&folder.path().join("dies"), &engine("exit 1"));
    let failure =
        on_evaluations(folder.path(), "best_line", &rows).with("engine", program).run(&Examples).err().unwrap();
    assert!(failure.message.contains(&format!("in the position `{START}`")), "{}", failure.message);
}

#[test]
fn incomplete_values_make_no_example() {
    let folder = tempdir().unwrap();
    let rows: [(&str, &[(&str, i32)]); 1] = [(START, &[("e2e4", 1)])];
    let few = engine("echo 'info depth 1 multipv 1 score cp 9 pv e2e4'; echo 'bestmove e2e4'");
    let program = script(&folder.path().join("few"), &few);
    let failure =
        on_evaluations(folder.path(), "verbalised", &rows).with("engine", program).run(&Examples).err().unwrap();
    assert_eq!(failure.message, "no example of `verbalised` can be built of 1 positions; dropped: incomplete 1");
}

#[test]
fn what_is_no_engine_is_an_error_in_words() {
    let folder = tempdir().unwrap();
    let run = |engine: &str| {
        on_games(folder.path(), "best_line", 1, 3).with("engine", text(engine)).run(&Examples).err().unwrap()
    };
    let failure = run(&folder.path().display().to_string());
    assert!(failure.message.starts_with("parameter `engine` cannot be used: "), "{}", failure.message);
    assert!(failure.hint.unwrap().contains("apt-get install stockfish"));
    assert!(run("/bin/true").message.contains("uciok"));
    let failure = on_games(folder.path(), "best_line", 1, 3).with("depth", Value::Int(5)).run(&Examples).err().unwrap();
    assert_eq!(failure.message, "parameter `depth` is at most 4 for our own engine");
}

#[test]
fn weights_whose_sum_is_no_number_are_too_large() {
    let folder = tempdir().unwrap();
    let rows: [(&str, &[(&str, i32)]); 1] = [(START, &[("e2e4", 1)])];
    let kinds = [("legal", i128::from(u64::MAX)), ("check", 9)];
    let kinds = kinds.map(|(name, weight)| (name.to_owned(), Value::Int(weight)));
    let trial = on_evaluations(folder.path(), "factual", &rows).with("kinds", Value::Map(kinds.into()));
    let failure = trial.run(&Examples).err().unwrap();
    assert_eq!(failure.message, "parameter `kinds` has weights of more than 1000 in all");
}

#[test]
fn best_moves_need_evaluations() {
    let given = |name: &str, default| (name.to_owned(), if name == "builder" { text("best_move") } else { default });
    let specs = Examples.parameters().into_iter();
    let values: Values = specs.map(|spec| given(spec.name, spec.default.unwrap_or_default())).collect();
    assert!(Examples.check_inputs_for(&values, &["games"]).unwrap().contains("it needs an input `evaluations`"));
    assert_eq!(Examples.check_inputs_for(&values, &["evaluations"]), None);
    assert_eq!(Examples.check_inputs(&["games", "evaluations"]).unwrap(), "needs one input: `evaluations` or `games`");
    assert!(Examples.check_inputs(&[]).is_some() && Examples.check_inputs(&["games"]).is_none());
    assert!(Examples.check_inputs(&["apart"]).is_some() && Examples.check_inputs(&["apart", "games"]).is_none());
}
