//! Queries over files made here.

mod best_moves;

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use cwm_contract::{Failure, FailureKind, Format, QueryEngine, QueryOutput, QuerySummary, StoredOutput};
use datafusion::arrow::array::{ArrayRef, Float64Array, ListArray, StringArray, UInt16Array, UInt32Array, UInt64Array};
use datafusion::arrow::datatypes::UInt16Type;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::parquet::arrow::ArrowWriter;

use crate::SqlEngine;

fn artifact(cell: &str, output_name: &str, path: &Path) -> StoredOutput {
    StoredOutput { cell: cell.into(), output_name: output_name.into(), format: Format::ANY, path: path.to_owned() }
}

/// Scores of one position that is right but for label 64.
fn write_scores(path: &Path, loss: f64) {
    let columns: [(&str, ArrayRef); 4] = [
        ("game", Arc::new(UInt32Array::from(vec![0u32]))),
        ("right_squares", Arc::new(UInt64Array::from(vec![u64::MAX]))),
        ("right_state", Arc::new(UInt16Array::from(vec![2046u16]))),
        ("loss", Arc::new(Float64Array::from(vec![loss]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// A shard of games as `parse` compresses them.
fn write_games(path: &Path, site: &str) {
    let moves = ListArray::from_iter_primitive::<UInt16Type, _, _>([Some([Some(3u16), Some(4)])]);
    let columns: [(&str, ArrayRef); 2] =
        [("site", Arc::new(StringArray::from(vec![site]))), ("moves", Arc::new(moves))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let options = arrow_ipc::writer::IpcWriteOptions::default();
    let options = options.try_with_compression(Some(arrow_ipc::CompressionType::ZSTD)).unwrap();
    let file = File::create(path).unwrap();
    let mut writer = arrow_ipc::writer::FileWriter::try_new_with_options(file, &batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
}

fn ask(artifacts: &[StoredOutput], query: &str, form: QueryOutput) -> Result<(String, QuerySummary), Failure> {
    let mut answer = Vec::new();
    let answered = SqlEngine.query(artifacts, query, form, 2, &mut answer)?;
    Ok((String::from_utf8(answer).unwrap(), answered))
}

fn json(artifacts: &[StoredOutput], query: &str) -> String {
    ask(artifacts, query, QueryOutput::Json).unwrap().0
}

#[test]
fn parquet_of_several_cells_is_one_table_and_bits_can_be_asked() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["a b[1]*", "other"].map(|name| folder.path().join(name));
    write_scores(&paths[0], f64::INFINITY);
    write_scores(&paths[1], 0.5);
    let artifacts = [artifact("e[size=1]", "scores", &paths[0]), artifact("e[size=2]", "scores", &paths[1])];
    let query = "select cell, loss, is_right(right_squares, right_state, 63) as square,
        is_right(right_squares, right_state, 64) as side from scores order by cell";
    assert_eq!(
        json(&artifacts, query),
        "{\"cell\":\"e[size=1]\",\"loss\":\"inf\",\"square\":true,\"side\":false}\n\
         {\"cell\":\"e[size=2]\",\"loss\":0.5,\"square\":true,\"side\":false}\n"
    );
    let wrong = "select wrong_labels(right_squares, right_state)[65] as wrong, exact_sum(loss) as loss from scores";
    assert_eq!(json(&artifacts[1..], wrong), "{\"wrong\":1,\"loss\":0.5}\n");
    let tables = SqlEngine.tables(&artifacts).unwrap();
    assert_eq!((tables.len(), tables[0].name.as_str(), tables[0].cells.len()), (1, "scores", 2));
    let columns: Vec<_> =
        tables[0].columns.iter().map(|column| (column.name.as_str(), column.data_type.as_str())).collect();
    let expected = [
        ("cell", "text"),
        ("game", "uint32"),
        ("right_squares", "uint64"),
        ("right_state", "uint16"),
        ("loss", "float64"),
    ];
    assert_eq!(columns, expected);
}

#[test]
fn compressed_arrow_files_in_series_are_one_table_and_lists_can_be_asked() {
    let folder = tempfile::tempdir().unwrap();
    write_games(&folder.path().join("games-00000.arrow"), "first");
    write_games(&folder.path().join("games-00001.arrow"), "second");
    std::fs::write(folder.path().join("about.json"), "{}").unwrap();
    let artifacts = [artifact("corpus", "games", folder.path())];
    let query = "select site, array_length(moves) as plies, moves[1] as first from games order by site";
    assert_eq!(
        json(&artifacts, query),
        "{\"site\":\"first\",\"plies\":2,\"first\":3}\n{\"site\":\"second\",\"plies\":2,\"first\":3}\n"
    );
    assert_eq!(json(&artifacts, "select sum(m) as sum from (select unnest(moves) as m from games)"), "{\"sum\":14}\n");
}

/// Curves hold numbers, and texts where one is not finite.
#[test]
fn json_lines_with_other_keys_and_types_on_each_line_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("0c1f");
    let lines = "{\"kind\":\"train\",\"step\":1,\"loss\":0.5}\n{\"kind\":\"validation\",\"step\":2,\"loss\":\"inf\",\"exact\":0}\n";
    std::fs::write(&path, lines).unwrap();
    let artifacts = [artifact("model", "curves", &path)];
    let query = "select step, loss, exact from curves order by step";
    assert_eq!(
        json(&artifacts, query),
        "{\"step\":1,\"loss\":0.5,\"exact\":null}\n{\"step\":2,\"loss\":\"inf\",\"exact\":0}\n"
    );
}

#[test]
fn a_table_is_cut_where_it_is_asked_to_be() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    std::fs::write(&path, "{\"a\":1}\n{\"a\":10}\n{\"a\":2}\n").unwrap();
    let artifacts = [artifact("x", "out", &path)];
    let (text, answered) = ask(&artifacts, "select a from out order by a", QueryOutput::Table { rows: 2 }).unwrap();
    assert_eq!((text.as_str(), answered), ("a\n─\n1\n2\n", QuerySummary { rows: 2, is_truncated: true }));
    let (text, answered) = ask(&artifacts, "select a from out order by a", QueryOutput::Table { rows: 3 }).unwrap();
    assert_eq!((text.lines().last(), answered), (Some("10"), QuerySummary { rows: 3, is_truncated: false }));
}

#[test]
fn damaged_files_are_reported_by_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scores");
    std::fs::write(&path, "PAR1 and nothing more").unwrap();
    let failure = SqlEngine.tables(&[artifact("e[size=1]", "scores", &path)]).unwrap_err();
    assert!(failure.message.starts_with("cannot read e[size=1].scores ("), "{}", failure.message);
}

#[test]
fn a_query_that_errs_is_reported_what_it_may_have_meant() {
    let folder = tempfile::tempdir().unwrap();
    let (scores, curves) = (folder.path().join("scores"), folder.path().join("curves"));
    write_scores(&scores, 0.5);
    std::fs::write(&curves, "{\"step\":1}\n").unwrap();
    let artifacts = [artifact("e", "scores", &scores), artifact("m", "curves", &curves)];
    let hint = |query: &str| ask(&artifacts, query, QueryOutput::Json).unwrap_err().hint.unwrap();
    let columns = "`scores` has cell, game, right_squares, right_state, loss";
    assert_eq!(hint("select los from scores"), format!("did you mean loss?; {columns}"));
    assert_eq!(hint("select s.right_sqares from scores s"), "did you mean right_squares or right_state?");
    assert_eq!(hint("select zzz from scores"), columns);
    let all = "there are curves, scores; `--tables` lists them with their columns";
    assert_eq!(hint("select 1 from scroes"), format!("did you mean scores or curves?; {all}"));
    assert_eq!(hint("select 1 frm scores"), all);
    std::fs::write(&curves, "{\"logLoss\":1}\n").unwrap();
    assert!(hint("select logLoss from curves").starts_with("did you mean \"logLoss\"?"));
    let message = |query: &str| ask(&artifacts, query, QueryOutput::Json).unwrap_err().message;
    assert_eq!(message("select s.los from scores s"), "there is no column `s.los`");
    assert_eq!(hint("select s.zzz from scores s"), all);
    let fault = message("select 1 frm scores");
    assert!(fault.starts_with("the query is not valid SQL: Expected") && fault.contains("Line: 1"), "{fault}");
}

/// Statements that write are refused at any depth, and files that are no tables are not found.
#[test]
fn nothing_but_the_tables_is_read_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    std::fs::write(&path, "{\"a\":1}\n").unwrap();
    let artifacts = [artifact("x", "out", &path)];
    let refused = |statement: &str| {
        let failure = ask(&artifacts, statement, QueryOutput::Json).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Input, "{statement}: {}", failure.message);
        failure.message
    };
    for statement in [
        "insert into out values ('y', 2)",
        "explain analyze insert into out values ('y', 2)",
        "prepare asked as select 1",
        "select * into copied from out",
    ] {
        let message = refused(statement);
        assert!(message.starts_with("only queries are answered, and nothing is changed: "), "{statement}: {message}");
    }
    for name in ["secret.csv", "secret.parquet", "secret.json"] {
        let secret = folder.path().join(name);
        std::fs::write(&secret, "{\"word\":\"sesame\"}\n").unwrap();
        let message = refused(&format!("select * from '{}'", secret.display()));
        assert!(!message.contains("sesame"), "{message}");
    }
    refused("select * from '/etc/passwd'");
    assert_eq!(json(&artifacts, "select a from out"), "{\"a\":1}\n");
}
