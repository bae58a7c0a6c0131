//! The functions as queries use them.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, Float64Array, UInt16Array, UInt64Array};
use datafusion::arrow::datatypes::{Float64Type, UInt64Type};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::error::Result;
use datafusion::prelude::{SessionConfig, SessionContext};

/// Positions of four games, in four batches that partitions share.
fn batches() -> Vec<RecordBatch> {
    let batch = |game: u64| {
        let squares: ArrayRef = Arc::new(UInt64Array::from(vec![u64::MAX, u64::MAX ^ (1 << game), 0]));
        let state: ArrayRef = Arc::new(UInt16Array::from(vec![2047u16, 2047 ^ (1 << 10), 0]));
        let loss: ArrayRef = Arc::new(Float64Array::from(vec![1e100, game as f64, -1e100]));
        let games: ArrayRef = Arc::new(UInt64Array::from(vec![game; 3]));
        let columns = [("game", games), ("right_squares", squares), ("right_state", state), ("loss", loss)];
        RecordBatch::try_from_iter(columns).unwrap()
    };
    (0..4).map(batch).collect()
}

fn ask(query: &str) -> Result<RecordBatch> {
    let engine = tokio::runtime::Builder::new_current_thread().build().unwrap();
    engine.block_on(async {
        let session = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(3));
        crate::register(&session);
        let table = session.read_batches(batches())?;
        session.register_table("scores", table.into_view())?;
        Ok(session.sql(query).await?.collect().await?.remove(0))
    })
}

#[test]
fn exact_sum_loses_nothing_in_any_order() {
    let sums = ask("SELECT exact_sum(loss) AS loss FROM scores").unwrap();
    assert_eq!(sums["loss"].as_primitive::<Float64Type>().value(0), 6.0);
    let sums = ask("SELECT game, exact_sum(loss) AS loss FROM scores GROUP BY game ORDER BY game").unwrap();
    assert_eq!(sums["loss"].as_primitive::<Float64Type>().values(), &[0.0, 1.0, 2.0, 3.0]);
}

#[test]
fn wrong_labels_counts_each_label() {
    let found = ask("SELECT wrong_labels(right_squares, right_state) AS wrong FROM scores").unwrap();
    let counts = found["wrong"].as_list::<i32>().value(0);
    let counts = counts.as_primitive::<UInt64Type>().values();
    assert_eq!(counts.len(), 75);
    // In each game one position has everything wrong, and one the square of the game's number and the last label.
    let expected = |label: usize| if label < 4 { 5 } else { 4 + 4 * u64::from(label == 74) };
    assert!((0..75).all(|label| counts[label] == expected(label)), "{counts:?}");
    let none = ask("SELECT wrong_labels(right_squares, right_state) AS wrong FROM scores WHERE game > 9").unwrap();
    let counts = none["wrong"].as_list::<i32>().value(0);
    assert_eq!(counts.as_primitive::<UInt64Type>().values(), &[0; 75]);
}

#[test]
fn is_right_says_what_wrong_labels_counts() {
    let query = |label: i64| {
        format!("SELECT count(*) FILTER (WHERE NOT is_right(right_squares, right_state, {label})) AS wrong FROM scores")
    };
    let wrong =
        |label| ask(&query(label)).unwrap()["wrong"].as_primitive::<datafusion::arrow::datatypes::Int64Type>().value(0);
    assert_eq!([0, 3, 4, 63, 64, 73, 74].map(wrong), [5, 5, 4, 4, 4, 4, 8]);
    let fault = ask(&query(75)).unwrap_err().strip_backtrace();
    assert!(fault.contains("is_right: there is no label 75; they are 0 to 74"), "{fault}");
}
