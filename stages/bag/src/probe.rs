//! The probe: a few sound records and one of each kind of fault, which are dropped.

use cwm_contract::{Failure, Label, ProbeContext, ProbeOutput, Value};

use crate::Bag;

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// Positions with promotions, castling and en passant, and what is faulty.
const RECORDS: &[(&str, &str)] = &[
    (START, "g1f3"),
    ("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 3 40", "e8c8"),
    ("1n5k/P7/8/8/8/8/7p/K5N1 w - - 0 1", "a7b8n"),
    ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "e5d6"),
    ("8/2P5/8/8/8/8/5k2/7K w - - 120 999", "c7c8q"),
    ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", "e1e3"),
    // The first position has two moves more, of which one is as good, and one better.
    (START, "e2e4"),
    (START, "d2d4"),
    ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", "Kd1"),
    ("4k3/8/8/8/8/8/8/8 w - - 0 1", "e8e7"),
    ("4k3/8/8/8/8/8/8/4K3 w - - 1000 1", "e1e2"),
];

/// Runs `bag` on a made-up file.
pub fn probe(context: &ProbeContext) -> Result<ProbeOutput, Failure> {
    let path = context.folder().join("probe.bag");
    let has_values = context.values().get("records") == Some(&Value::Text("action_value".to_owned()));
    let mut records: Vec<Vec<u8>> = if has_values {
        // Every record a second time, too: of those that are sound the move is repeated.
        let wins = [0.5, 1.0, 0.0, 0.25, f64::NAN, -0.5].into_iter().cycle();
        RECORDS
            .iter()
            .cycle()
            .take(2 * RECORDS.len())
            .zip(wins)
            .map(|((fen, best), win)| valued(fen, best, win))
            .collect()
    } else {
        RECORDS.iter().map(|(fen, best)| record(fen, best)).collect()
    };
    records.push(vec![0xff, 0x01, b'x']);
    records.push(vec![1, 0xfe]);
    fs_err::write(&path, file(&records))?;
    let values = context.values_with([("on_error", Value::Text("drop".to_owned()))]);
    context.run(&Bag, "run", &values, &[("bag", Label::stage("source"), path)])
}

/// A record of these texts.
pub fn record(fen: &str, best: &str) -> Vec<u8> {
    [&[fen.len() as u8], fen.as_bytes(), best.as_bytes()].concat()
}

/// A record with a win probability.
pub fn valued(fen: &str, best: &str, win: f64) -> Vec<u8> {
    [&[fen.len() as u8], fen.as_bytes(), &[best.len() as u8], best.as_bytes(), &win.to_be_bytes()].concat()
}

/// A file of these records.
pub fn file(records: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = records.concat();
    let mut end = 0u64;
    for record in records {
        end += record.len() as u64;
        bytes.extend(end.to_le_bytes());
    }
    bytes
}
