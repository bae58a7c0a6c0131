//! The probe: claims about the made-up choices of two models and the made-up grades of two runs; one of each holds and one does
//! not.

use std::path::Path;

use cwm_answers::{Grade, GradesDescription, GradesWriter};
use cwm_choices::{Choice, ChoicesWriter, Chooser, Correctness};
use cwm_contract::{Failure, Label, ProbeContext, ProbeOutput, Value};

use crate::Claim;

/// Positions, ten of each game.
const POSITIONS: u64 = 400;

/// Runs the stage on them.
///
/// # Errors
/// An operation on the disk fails.
pub fn probe(context: &ProbeContext) -> Result<ProbeOutput, Failure> {
    let mut inputs = Vec::new();
    for (name, nth) in [("board", 2), ("moves", 5)] {
        let path = context.folder().join(name);
        write(&path, name, nth)?;
        inputs.push(("choices", Label::stage(name), path));
    }
    let resamples = context.at_most("resamples", 200);
    let claimed = |claim: &str| {
        let expect = Value::List(vec![Value::Text(claim.to_owned())]);
        context.values_with([("expect", expect), ("resamples", resamples.clone())])
    };
    let mut probed = ProbeOutput::new();
    for (name, claim) in [("holds", "board.best > moves.best from ply 4"), ("fails", "board.loss > moves.loss")] {
        probed.extend(context.run(&Claim, name, &claimed(claim), &inputs)?);
    }
    let grades = context.folder().join("grades");
    write_grades(&grades)?;
    let inputs = [("grades", Label::stage("grades"), grades)];
    for (name, claim) in
        [("rises", "after.reward > before.reward on task"), ("falls", "before.reward >= after.reward on every task")]
    {
        probed.extend(context.run(&Claim, name, &claimed(claim), &inputs)?);
    }
    Ok(probed)
}

/// Grades of two runs, the later one with more legal answers.
fn write_grades(path: &Path) -> Result<(), Failure> {
    let mut writer = GradesWriter::create(path, &GradesDescription::default())?;
    for (run, nth) in [("after", 2), ("before", 5)] {
        for item in 0..POSITIONS {
            let legal = (item + item / 7) % nth == 0;
            writer.push(Grade {
                run: run.to_owned(),
                task_id: format!("task_{item:04}"),
                task: "task".to_owned(),
                verdict: if legal { "legal" } else { "illegal" }.to_owned(),
                score: legal.then_some(0.75),
                reward: Some(if legal { 0.75 } else { -0.2 }),
                ..Grade::default()
            })?;
        }
    }
    writer.finish()
}

/// Choices of which every `nth` is the best move.
fn write(path: &Path, name: &str, nth: u64) -> Result<(), Failure> {
    let mut writer = ChoicesWriter::create(path, &Chooser { name: name.to_owned(), ..Chooser::default() })?;
    for record in 0..POSITIONS {
        let best = (record + record / 7) % nth == 0;
        writer.push(Choice {
            record,
            game: Some(record / 10),
            t: Some((record % 10) as u32),
            legal_moves: 20,
            loss: Some(if best { 0.5 } else { 3.0 }),
            tokens: Some(1),
            free: Correctness { valid: true, legal: true, best },
            ..Choice::default()
        })?;
    }
    writer.finish()
}
