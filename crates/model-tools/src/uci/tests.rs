use std::io::Cursor;

use cwm_contract::{ModelTools, UciRequest};
use cwm_player::Form;
use cwm_player::sample::write_checkpoint;
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Position};
use tempfile::{TempDir, tempdir};

use crate::ChessModelTools;

fn model(form: Form) -> TempDir {
    let folder = tempdir().unwrap();
    write_checkpoint(&folder.path().join("model"), form, "d32/l1", "causal", 1).unwrap();
    folder
}

/// The lines that a model with fresh weights answers to these commands.
fn answers(form: Form, is_masked: bool, commands: &[u8]) -> Vec<String> {
    let folder = model(form);
    let request = UciRequest { model: folder.path().join("model"), device: "cpu".to_owned(), is_masked };
    let mut lines = Vec::new();
    let mut report = |line: &str| {
        lines.push(line.to_owned());
        Ok(())
    };
    ChessModelTools.play_uci(&request, &mut Cursor::new(commands), &mut report).unwrap();
    lines
}

/// The moves of all `bestmove`.
fn best(lines: &[String]) -> Vec<&str> {
    lines.iter().filter_map(|line| line.strip_prefix("bestmove ")).collect()
}

fn position(moves: &str) -> Chess {
    let mut position = Chess::default();
    for word in moves.split_whitespace() {
        let played = word.parse::<UciMove>().unwrap().to_move(&position).unwrap();
        position.play_unchecked(played);
    }
    position
}

fn is_legal(position: &Chess, word: &str) -> bool {
    word.parse::<UciMove>().is_ok_and(|word| word.to_move(position).is_ok())
}

#[test]
fn it_names_itself_and_is_ready() {
    let lines = answers(Form::Board, true, b"uci\nisready\nquit\nisready\n");
    assert_eq!(lines, ["id name cwm board d32/l1", "id author cwm", "uciok", "readyok"]);
}

#[test]
fn models_of_every_form_answer_with_a_legal_move() {
    let castled = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1";
    let commands = format!(
        "ucinewgame\nposition startpos\ngo movetime 100\nposition startpos moves {castled}\n\
         go wtime 1000 btime 1000 winc 0 binc 0\n"
    );
    for form in Form::ALL {
        let lines = answers(form, true, commands.as_bytes());
        let best = best(&lines);
        assert_eq!(best.len(), 2, "{lines:?}");
        assert!(is_legal(&Chess::default(), best[0]) && is_legal(&position(castled), best[1]), "{form:?} {lines:?}");
        let info = lines.iter().find(|line| line.starts_with("info depth 1 ")).unwrap();
        assert!(info.ends_with(&format!("pv {}", best[0])), "{info}");
        assert_eq!(lines, answers(form, true, commands.as_bytes()));
    }
}

#[test]
fn forms_that_read_games_refuse_another_beginning() {
    let fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
    let commands = format!("position fen {fen}\ngo nodes 1\n");
    for (form, reads_games) in
        [(Form::Board, false), (Form::Prompt, false), (Form::Moves, true), (Form::Characters, true)]
    {
        let lines = answers(form, true, commands.as_bytes());
        if reads_games {
            assert!(lines[0].starts_with("info string no move: the model reads games from the initial position"));
            assert_eq!(lines[1..], ["bestmove 0000"]);
        } else {
            assert!(best(&lines)[0].len() == 4 && best(&lines)[0] != "0000", "{form:?} {lines:?}");
        }
    }
    // The initial position is the same in words.
    let initial = "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 moves e2e4\ngo depth 3\n";
    let lines = answers(Form::Moves, true, initial.as_bytes());
    assert!(is_legal(&position("e2e4"), best(&lines)[0]), "{lines:?}");
}

#[test]
fn lines_that_are_not_understood_are_ignored_but_not_positions() {
    let lines =
        answers(Form::Board, true, b"\n\xff\xfe\nhello\nsetoption name Hash value 3\nbestmove e2e4\nstop\nisready");
    assert_eq!(lines, ["readyok"]);
    for wrong in ["position", "position fen x", "position startpos moves e2e5", "position startpos moves nonsense"] {
        let lines = answers(Form::Board, true, format!("{wrong}\ngo\nposition startpos\ngo\n").as_bytes());
        assert!(lines[0].starts_with("info string no move: "), "{wrong}: {lines:?}");
        assert_eq!(best(&lines).len(), 2);
        assert!(best(&lines)[0] == "0000" && is_legal(&Chess::default(), best(&lines)[1]), "{lines:?}");
    }
    let mated = answers(Form::Board, true, b"position startpos moves f2f3 e7e5 g2g4 d8h4\ngo\n");
    assert_eq!(mated, ["info string no move: the game is over", "bestmove 0000"]);
}

#[test]
fn a_search_without_a_limit_is_answered_when_it_is_stopped() {
    let before = answers(Form::Board, true, b"position startpos\ngo infinite\n");
    assert!(best(&before).is_empty(), "{before:?}");
    for end in ["stop", "ponderhit"] {
        let lines = answers(Form::Board, true, format!("go ponder wtime 1\nisready\n{end}\n{end}\n").as_bytes());
        assert_eq!(best(&lines).len(), 1);
        assert_eq!(lines[lines.len() - 2], "readyok");
    }
}

#[test]
fn moves_to_search_are_the_choice() {
    let lines = answers(Form::Board, true, b"go searchmoves a2a3 nodes 5\ngo searchmoves h2h4\n");
    assert_eq!(best(&lines), ["a2a3", "h2h4"]);
}

#[test]
fn attempts_without_a_legal_answer_are_reported() {
    let lines = answers(Form::Characters, false, b"position startpos\ngo\n");
    assert_eq!(lines.iter().filter(|line| line.ends_with("is no legal move")).count(), 5, "{lines:?}");
    assert_eq!(lines[5..], ["info string no move: no answer of 5 is a legal move", "bestmove 0000"]);
}

#[test]
fn other_models_are_refused() {
    let folder = model(Form::Board);
    let play = |path: &std::path::Path, device: &str| {
        let request = UciRequest { model: path.to_owned(), device: device.to_owned(), is_masked: true };
        ChessModelTools.play_uci(&request, &mut Cursor::new(b"uci\n"), &mut |_| Ok(())).unwrap_err().message
    };
    assert!(play(&folder.path().join("absent"), "cpu").contains("absent"));
    assert!(play(&folder.path().join("model"), "gpu").contains("`gpu` is no device"));
}
