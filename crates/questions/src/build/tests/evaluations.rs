use std::io::{BufReader, Cursor};

use serde::Deserialize;

use crate::build::judgement::band_of;
use crate::build::{EvaluationDropReason, EvaluationReader, Order, PositionJudgement};
use crate::truth::Keys;
use crate::{Band, golden};

/// A line of golden `evaluations-expected.jsonl`.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    line: u64,
    #[serde(default)]
    cp: Option<i64>,
    #[serde(default)]
    depth: Option<i64>,
    #[serde(default)]
    position_id: Option<String>,
    #[serde(default)]
    band: Option<String>,
    #[serde(default)]
    answer: Option<String>,
    #[serde(default)]
    skipped: Option<String>,
}

#[test]
fn what_each_line_of_evaluations_gives_is_golden() {
    let Some(expected) = golden::lines::<Expected>("evaluations-expected.jsonl") else { return };
    let Some(text) = golden::text("evaluations.jsonl") else { return };
    let mut reader = EvaluationReader::new(Cursor::new(text), "evaluations.jsonl");
    let mut judgement = PositionJudgement::new(Order::File, 0, Keys::Published, |_| 1_000);
    let mut found = Vec::new();
    let mut line = 0;
    while let Some(row) = reader.read().unwrap() {
        line += 1;
        let mut of_line = Expected { line, ..Expected::default() };
        let skipped = match row {
            Err(reason) => Some(reason),
            Ok(position) => {
                of_line.cp = Some(position.centipawns);
                of_line.depth = position.depth;
                of_line.position_id = Some(position.id().to_string());
                judgement.add_candidate(&position).unwrap()
            }
        };
        of_line.skipped = skipped.map(|reason| reason.name().to_owned());
        found.push(of_line);
    }
    assert_eq!(judgement.impossible_rights(), 2);
    assert!(judgement.found().map(|(band, _)| band).eq(Band::ALL));
    let items = judgement.finish();
    for of_line in found.iter_mut().filter(|of_line| of_line.skipped.is_none()) {
        let item =
            items.iter().find(|item| item.metadata.text("position_id") == of_line.position_id.as_deref()).unwrap();
        of_line.band = item.metadata.text("category").map(str::to_owned);
        of_line.answer = Some(item.correct_answer.clone());
    }
    assert_eq!(found, expected);
}

#[test]
fn a_line_that_is_too_long_is_skipped_and_read_over() {
    let good = r#"{"fen":"8/8/8/8/8/4k3/8/4K3 w - - 0 1","evals":[{"depth":3,"pvs":[{"cp":5}]}]}"#;
    let text = format!("{}\n{good}", "x".repeat(17 << 20));
    let mut reader = EvaluationReader::new(BufReader::new(text.as_bytes()), "evaluations");
    assert_eq!(reader.read().unwrap(), Some(Err(EvaluationDropReason::TooLong)));
    let found = reader.read().unwrap().unwrap().unwrap();
    assert_eq!((&found.fen[..], found.centipawns, found.knodes), ("8/8/8/8/8/4k3/8/4K3 w - -", 5, None));
    assert_eq!(reader.read().unwrap(), None);
}

#[test]
fn any_value_has_its_band_or_none() {
    let line = r#"{"fen":"8/8/8/8/8/4k3/8/4K3 w - -","evals":[{"pvs":[{"cp":-9223372036854775808}]}]}"#;
    let position = EvaluationReader::new(line.as_bytes(), "evaluations").read().unwrap().unwrap().unwrap();
    let mut judgement = PositionJudgement::new(Order::File, 0, Keys::Published, |_| 1);
    assert_eq!(judgement.add_candidate(&position).unwrap(), Some(EvaluationDropReason::NoBand));
    let bands = [i64::MAX, 451, 450, 350, 349, 50, -150, -450, -451, i64::MIN].map(band_of);
    let (winning, neutral) = (Some(Band::Winning), Some(Band::Neutral));
    let (disadvantage, losing) = (Some(Band::Disadvantage), Some(Band::Losing));
    assert_eq!(bands, [None, None, winning, winning, None, neutral, disadvantage, losing, None, None]);
}
