//! `import` as the executor runs it.

mod faults;
mod golden;

use std::io::Write;
use std::path::Path;

use cwm_chess::Games;
use cwm_contract::testing::{Outcome, Trial};
use cwm_contract::{Failure, Value};
use tempfile::tempdir;

use crate::Import;

/// Two games that python-chess played and wrote by the schema of the paper's program: a mate in two moves; then
/// en passant by both, castling by both and a promotion to a knight.
const RECORDS: &str = include_str!("../../tests/records.jsonl");

fn path(path: &Path) -> Value {
    Value::Text(path.display().to_string())
}

fn import(folder: &Path, source: Value, parameters: &[(&str, Value)]) -> Result<Outcome, Failure> {
    let mut trial = Trial::new(folder.join("work")).with("source", source);
    for (name, value) in parameters {
        trial = match *name {
            "cores" => trial.cores(value.to_string().parse().unwrap()),
            _ => trial.with(name, value.clone()),
        };
    }
    trial.run(&Import)
}

/// Imports a file of this text.
fn import_text(folder: &Path, text: &[u8], parameters: &[(&str, Value)]) -> Result<Outcome, Failure> {
    let file = folder.join("chess_000000.jsonl");
    std::fs::write(&file, text).unwrap();
    import(folder, path(&file), parameters)
}

fn counts(outcome: &Outcome) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(&outcome.outputs["counts"]).unwrap()).unwrap()
}

/// Ids, sites, results and moves.
fn games(outcome: &Outcome) -> Vec<(String, String, String, Vec<u16>)> {
    let games = Games::open(&outcome.outputs["games"]).unwrap();
    let rows = (0..).zip(games.iter()).map(|(at, game)| {
        let game = game.unwrap();
        let row = game.row();
        assert_eq!(row.index, at);
        assert!(row.labels.is_none());
        (row.id.to_owned(), row.site.to_owned(), row.result.to_owned(), row.moves.to_vec())
    });
    rows.collect()
}

#[test]
fn the_records_of_another_program_become_games() {
    let folder = tempdir().unwrap();
    let outcome = import_text(folder.path(), RECORDS.as_bytes(), &[]).unwrap();
    let found = games(&outcome);
    assert_eq!(found.len(), 2);
    assert_eq!((&found[0].0[..], &found[0].1[..], &found[0].2[..]), ("cwm_0123456789abcdef01234567", "?", "0-1"));
    // f2f3 e7e5 g2g4 d8h4.
    assert_eq!(found[0].3, [13 | 21 << 6, 52 | 36 << 6, 14 | 30 << 6, 59 | 31 << 6]);
    assert_eq!((&found[1].0[..], found[1].3.len()), ("cwm_random_00007", 18));
    // c7b8 with promotion to a knight; castling is the king's move.
    assert_eq!((found[1].3[8], found[1].3[9]), (50 | 57 << 6 | 4 << 12, 60 | 62 << 6));
    assert_eq!(
        std::fs::read_to_string(&outcome.outputs["counts"]).unwrap(),
        "{\"dropped\":{\"differs\":0,\"duplicate_id\":0,\"illegal_move\":0,\"no_id\":0,\"too_long\":0,\"unreadable\":0},\
         \"kept\":2,\"plies\":22,\"read\":2,\"stage\":\"import\"}\n"
    );
    let unchecked = import_text(folder.path(), RECORDS.as_bytes(), &[("check", Value::Bool(false))]).unwrap();
    assert_eq!(games(&unchecked), found);
}

#[test]
fn files_folders_and_lists_plain_and_compressed_are_read_in_order() {
    let folder = tempdir().unwrap();
    let lines: Vec<&str> = RECORDS.lines().collect();
    let third = lines[0].replace("cwm_0123456789abcdef01234567", "third");
    let deep = folder.path().join("data/deep");
    std::fs::create_dir_all(&deep).unwrap();
    let gz = std::fs::File::create(folder.path().join("data/chess_000001.jsonl.gz")).unwrap();
    let mut gz = flate2::write::GzEncoder::new(gz, flate2::Compression::fast());
    gz.write_all(lines[1].as_bytes()).unwrap();
    gz.finish().unwrap();
    let zst = zstd::encode_all(lines[0].as_bytes(), 1).unwrap();
    std::fs::write(folder.path().join("data/chess_000000.jsonl.zst"), zst).unwrap();
    std::fs::write(folder.path().join("data/notes.txt"), "not a record").unwrap();
    std::fs::write(deep.join("chess_000002.jsonl"), &third).unwrap();
    let ids = |source: Value| -> Vec<String> {
        let outcome = import(folder.path(), source, &[]).unwrap();
        games(&outcome).into_iter().map(|game| game.0).collect()
    };
    let first = "cwm_0123456789abcdef01234567";
    assert_eq!(ids(path(&folder.path().join("data"))), [first, "cwm_random_00007", "third"]);
    let list = vec![path(&deep), path(&folder.path().join("data/chess_000001.jsonl.gz"))];
    assert_eq!(ids(Value::List(list)), ["third", "cwm_random_00007"]);
}

#[test]
fn the_bytes_do_not_depend_on_the_number_of_cores() {
    let folder = tempdir().unwrap();
    let game = |number: usize| RECORDS.lines().nth(number % 2).unwrap().replace("\"cwm_", &format!("\"{number}_"));
    let text: String = (0..2_000).map(|number| game(number) + "\n").collect();
    let bytes = [1, 2, 3].map(|cores| {
        let outcome = import_text(folder.path(), text.as_bytes(), &[("cores", Value::Int(cores))]).unwrap();
        assert_eq!(counts(&outcome)["kept"], 2_000);
        std::fs::read(outcome.outputs["games"].join("games-00000.arrow")).unwrap()
    });
    assert!(text.len() > 6 << 20, "there are several windows");
    assert!(bytes[0] == bytes[1] && bytes[1] == bytes[2]);
}

#[test]
fn a_record_may_say_where_it_was_played() {
    let folder = tempdir().unwrap();
    let text = RECORDS.replace("{\"example_id\"", "{\"site\": \"https://a/b\", \"example_id\"");
    let outcome = import_text(folder.path(), text.as_bytes(), &[]).unwrap();
    assert!(games(&outcome).iter().all(|game| game.1 == "https://a/b"));
}
