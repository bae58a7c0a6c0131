//! `cwm sql`: queries over what stages made, and the queries that docs/sql.md shows.

use std::path::Path;

use crate::context::{Context, Ran, finish};

/// JSON lines from cells of a matrix, hostile ones, and something that is no table.
const LINES: &str = r#"
cwm: 1
stages:
  rows:
    stage: command
    matrix: { part: [a, b] }
    with:
      part: $part
      run: |
        printf '{"name":"%s","value":%s}\n' "$part" 1 "$part" 2.5 > "$out"
  hostile:
    stage: command
    with:
      run: |
        printf '{"text":"a\\u001b[31m\\u202e,\\"b\\"","none":null,"list":[1,2]}\n' > "$out"
  names:
    stage: command
    with:
      run: |
        printf '{"a\\u001b[31m\\u202e":1}\n' > "$out"
  plain: { stage: command, with: { run: 'echo hello > "$out"' } }
"#;

fn made() -> Option<Context> {
    if !cfg!(feature = "sql") {
        println!("skipped: built without the feature `sql`");
        return None;
    }
    let context = Context::with(LINES);
    assert_eq!(context.run(&[]).raw.code, 0);
    Some(context)
}

#[track_caller]
fn answered(ran: Ran) -> String {
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    ran.stdout
}

#[test]
fn cells_of_a_matrix_are_one_table_with_their_coordinates() {
    let Some(context) = made() else { return };
    let query = "select cell, sum(value) as total from out group by cell order by cell";
    let table = "cell          total\n────────────  ─────\nrows[part=a]    3.5\nrows[part=b]    3.5\n";
    assert_eq!(answered(context.cwm(&["sql", "rows", query])), table);
    let csv = "cell,total\nrows[part=a],3.5\nrows[part=b],3.5\n";
    assert_eq!(answered(context.cwm(&["sql", "rows.out", query, "--csv"])), csv);
    let json = "{\"cell\":\"rows[part=b]\",\"total\":3.5}\n";
    assert_eq!(answered(context.cwm(&["sql", "rows[part=b]", query, "--json"])), json);
    // Two sources: their rows are one table where the output has one name.
    let both = answered(context.cwm(&["sql", "rows", "hostile", "select count(*) as rows from out", "--csv"]));
    assert_eq!(both, "rows\n5\n");
}

#[test]
fn tables_are_listed() {
    let Some(context) = made() else { return };
    let listed = answered(context.cwm(&["sql", "rows", "--tables"]));
    assert_eq!(listed, "out (2 cells)\n  cell   text\n  name   text\n  value  float64\n");
    let json: serde_json::Value =
        serde_json::from_str(&answered(context.cwm(&["sql", "hostile", "--tables", "--json"]))).expect("JSON");
    assert_eq!(json[0]["cells"][0], "hostile");
    assert_eq!(json[0]["columns"][0], serde_json::json!({ "name": "cell", "data_type": "text" }));
}

#[test]
fn nothing_in_an_answer_controls_the_terminal() {
    let Some(context) = made() else { return };
    let ask = |form: &[&str]| {
        answered(context.cwm(&[&["sql", "hostile", "select text, none, list from out"], form].concat()))
    };
    let table = ask(&[]);
    assert!(table.contains(r#"a\u{1b}[31m\u{202e},"b"  NULL  [1,2]"#), "{table}");
    let json = ask(&["--json"]);
    assert_eq!(json, "{\"text\":\"a\\u001b[31m\\u202e,\\\"b\\\"\",\"none\":null,\"list\":\"[1,2]\"}\n");
    // Nor in a list of columns, and in what is said of a query that fails.
    assert!(answered(context.cwm(&["sql", "names", "--tables"])).contains(r"  a\u{1b}[31m\u{202e}  int64"));
    let failed = context.cwm(&["sql", "names", "select absent from out"]);
    assert!(failed.stderr.contains(r"hint: `out` has cell, a\u{1b}[31m\u{202e}"), "{}", failed.stderr);
    assert!(!failed.stderr.contains(['\u{1b}', '\u{202e}']), "{}", failed.stderr);
    // Into a file or a program, values go as they are.
    assert_eq!(ask(&["--csv"]), "text,none,list\n\"a\u{1b}[31m\u{202e},\"\"b\"\"\",,\"[1,2]\"\n");
}

#[test]
fn only_queries_are_answered() {
    let Some(context) = made() else { return };
    let before = context.inventory("artifacts");
    let file = context.path("stolen.csv").display().to_string();
    for statement in [
        "create table copied as select * from out".to_owned(),
        "create external table other stored as csv location '/etc/passwd'".to_owned(),
        "create view other as select * from out".to_owned(),
        format!("copy (select * from out) to '{file}' stored as csv"),
        "insert into out values ('x', 'y', 1)".to_owned(),
        "drop table out".to_owned(),
        "set datafusion.execution.batch_size = 1".to_owned(),
        "explain insert into out values ('x', 'y', 1)".to_owned(),
    ] {
        let ran = context.cwm(&["sql", "rows", &statement]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{statement}");
        let words = "error: only queries are answered, and nothing is changed: ";
        assert!(ran.stderr.starts_with(words), "{statement}: {}", ran.stderr);
    }
    let two = context.cwm(&["sql", "rows", "select 1; drop table out"]);
    assert_eq!(two.code, 2, "{}", two.stderr);
    assert!(!context.path("stolen.csv").exists());
    assert_eq!(context.inventory("artifacts"), before, "asking leaves the store as it is");
    assert_eq!(
        answered(context.cwm(&["sql", "rows", "show tables", "--csv"])).lines().filter(|l| l.contains(",out,")).count(),
        1
    );
}

#[test]
fn wrong_names_are_reported_with_the_existing_ones() {
    let Some(context) = made() else { return };
    let refused = |arguments: &[&str]| {
        let ran = context.cwm(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
        ran.stderr
    };
    let column = refused(&["sql", "rows", "select nme from out"]);
    let columns = "hint: did you mean name?; `out` has cell, name, value\n";
    assert!(column.starts_with("error: there is no column `nme`\n") && column.ends_with(columns), "{column}");
    let there = "hint: there is out; `--tables` lists them with their columns\n";
    let table = refused(&["sql", "rows", "select * from rows"]);
    assert!(table.starts_with("error: there is no table `rows`\n") && table.ends_with(there), "{table}");
    let grammar = refused(&["sql", "rows", "select * frm out"]);
    assert!(grammar.contains("Line: 1, Column:") && !grammar.contains("backtrace"), "{grammar}");
    assert!(refused(&["sql", "rows"]).contains("needs a stage and a query\nhint: `cwm sql STAGE --tables` lists the"));
    assert!(refused(&["sql", "plain", "select 1"]).contains("there is no table in `out`"));
    assert!(refused(&["sql", "rws", "select 1"]).contains("this pipeline has no stage `rws`"));
    assert!(refused(&["sql", "rows.in", "select 1"]).contains("has no output `in`"));
    context.edit("pipeline.yaml", "[a, b]", "[a, b, c]");
    let some = context.cwm(&["sql", "rows", "select count(*) as rows from out", "--csv"]);
    assert_eq!((some.code, some.stdout.as_str()), (0, "rows\n4\n"));
    assert_eq!(some.stderr, "left out, since not computed yet: rows[part=c]\n");
    assert!(refused(&["sql", "rows[part=c]", "select 1"]).contains("rows[part=c] has no result yet"));
}

#[test]
fn a_long_answer_is_cut_in_a_table_alone_and_that_is_reported() {
    let Some(context) = made() else { return };
    let query = "select value as number from generate_series(1, 5000)";
    let cut = context.cwm(&["sql", "rows", query]);
    assert_eq!((cut.code, cut.stdout.lines().count()), (0, 1_002));
    assert_eq!(cut.stderr, "only the first 1000 rows are shown; --csv or --json gives all, LIMIT fewer\n");
    assert_eq!(answered(context.cwm(&["sql", "rows", query, "--csv"])).lines().count(), 5_001);
}

/// Runs every query of docs/sql.md, as it stands there, in a context in which `pipeline.yaml` has run.
pub fn ask_what_the_page_asks(context: &Context) {
    if !cfg!(feature = "sql") {
        println!("skipped: built without the feature `sql`");
        return;
    }
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/sql.md")).expect("the page");
    let queries: Vec<&str> =
        page.split("```sh\n").skip(1).map(|rest| rest.split("```").next().expect("an end")).collect();
    assert!(queries.len() >= 5, "{} queries", queries.len());
    for query in queries {
        let program = format!("cwm() {{ '{}' \"$@\"; }}\n{query}", env!("CARGO_BIN_EXE_cwm"));
        let mut shell = std::process::Command::new("sh");
        shell.args(["-euc", &program]).current_dir(context.path("")).env_remove("CWM_STORE");
        let ran = finish(shell.output().expect("a shell"));
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{query}\n{}", ran.stdout);
        assert!(ran.stdout.lines().count() > 2, "{query}\n{}", ran.stdout);
    }
}
