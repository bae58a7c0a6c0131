//! The player `engine` with a program.

use std::os::unix::fs::PermissionsExt;

use super::*;
use stockfish::stockfish;

#[path = "../../../../crates/uci/src/tests/stockfish.rs"]
mod stockfish;

/// A mate in one, a won position with Black to move, and the end of a game.
fn run_on(folder: &Path, program: &Path) -> Result<Outcome, Failure> {
    let tactics = item(Task::of_name("short_tactics_theme_mateIn1").unwrap());
    let judgement = item(Task::of_name("position_judgement_winning").unwrap());
    let items = [
        Item { input: "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1".into(), ..tactics.clone() },
        Item { task_id: "ahead".into(), input: "6k1/5ppp/8/8/8/8/5PPP/4R1K1 b - -".into(), ..judgement },
        Item { task_id: "over".into(), input: "8/8/8/8/8/1q6/8/K1k5 w - - 0 1".into(), ..tactics },
    ];
    write_items(&folder.join("items.jsonl"), &items);
    let trial = Trial::new(folder.join("work")).input("items", folder.join("items.jsonl")).cores(1);
    let trial = trial.with("player", text("engine")).with("nodes", Value::Int(2_000));
    trial.with("engine", text(&program.display().to_string())).run(&Answer)
}

/// Stockfish behind a script that ends at the searches for which this condition on their number `n` holds; `n` is kept in a file.
fn dying(folder: &Path, program: &Path, condition: &str) -> PathBuf {
    let path = folder.join("dying");
    let count = folder.join("searches").display().to_string();
    let script = format!(
        "#!/bin/bash\nwhile read -r line; do\nif [[ $line == go* ]]; then\nn=$(($(cat {count} 2>/dev/null) + 1)); echo $n > {count}\n\
         (({condition})) && exit 1\nfi\necho \"$line\"\ndone | {}\n",
        program.display()
    );
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn a_program_answers_and_is_started_once_more_where_it_dies() {
    let Some(program) = stockfish() else { return };
    for condition in ["n < 0", "n == 1"] {
        let folder = tempfile::tempdir().unwrap();
        let program = dying(folder.path(), &program, condition);
        let (_, rows) = answers(&run_on(folder.path(), &program).unwrap());
        let found: Vec<_> = rows.iter().map(|row| row.response.as_deref().unwrap()).collect();
        assert_eq!(found, ["FINAL ANSWER: e1e8", "FINAL ANSWER: 400", "FINAL ANSWER: "], "{condition}");
    }
    let folder = tempfile::tempdir().unwrap();
    let program = dying(folder.path(), &program, "n >= 2");
    let failure = fails(run_on(folder.path(), &program));
    assert!(failure.message.starts_with("ahead: "), "{failure}");
    assert!(failure.message.contains("6k1/5ppp/8/8/8/8/5PPP/4R1K1 b"), "{failure}");
}
