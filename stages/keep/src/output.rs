//! Writes `examples` and `counts`.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};

use cwm_contract::{Context, Failure};
use cwm_questions::write_line;
use serde_json::json;

use crate::answers::{Reason, TeacherAnswers};
use crate::config::Config;

/// Writes `examples` and `counts`.
///
/// # Errors
/// Nothing is kept, or an operation on the disk fails.
pub fn write(context: &Context, config: &Config, answers: TeacherAnswers, not_drawn: u64) -> Result<(), Failure> {
    let dropped: BTreeMap<&str, u64> =
        Reason::ALL.iter().map(|reason| (reason.name(), answers.dropped.get(reason).copied().unwrap_or(0))).collect();
    let count = answers.passing.len();
    let surplus = dropped[Reason::Piece.name()];
    if count == 0 {
        let reasons = dropped.iter().filter(|(_, count)| **count > 0);
        let reasons: Vec<String> = reasons.map(|(reason, count)| format!("{reason} {count}")).collect();
        let message = format!("no answer of {} is kept; dropped: {}", answers.total, reasons.join(", "));
        let hint = if surplus > 0 {
            "raise `largest_piece_share`, or give answers about more kinds of piece"
        } else {
            "lower `predict` or `legal`, or give more answers"
        };
        return Err(Failure::input(message).hint(hint));
    }
    if let Some(limit) = config.limit.filter(|limit| (count as u64) < *limit) {
        let why = match surplus {
            0 => "no more are right".to_owned(),
            _ => format!("{surplus} that were drawn are dropped by `largest_piece_share`"),
        };
        context.note(format!("{count} of {limit} answers: {why}"));
    }
    let mut tasks: BTreeMap<String, u64> = BTreeMap::new();
    let mut out = BufWriter::new(fs_err::File::create(context.output("examples")?)?);
    for (number, answer) in answers.passing.into_iter().enumerate() {
        *tasks.entry(answer.task).or_default() += 1;
        write_line(&mut out, &answer.example.numbered(number))?;
    }
    out.flush()?;
    let counts = json!({
        "stage": "keep", "answers": answers.total, "examples": count, "dropped": dropped, "not_drawn": not_drawn, "tasks": tasks,
    });
    fs_err::write(context.output("counts")?, format!("{counts}\n"))?;
    context.metric("examples", count as f64);
    Ok(())
}
