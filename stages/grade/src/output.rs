//! The file of grades.

use std::path::Path;

use cwm_answers::{Grade, Graded, GradesWriter};
use cwm_contract::Failure;
use cwm_questions::{MoveFault, PublishedVerdict};

use crate::answers::{GradedAnswer, RunGrades};
use crate::items::Items;

/// Writes the grades of all runs, in the order of the items.
///
/// # Errors
/// The disk refuses.
pub fn write(path: &Path, graded: &Graded, items: &Items, runs: &[RunGrades]) -> Result<(), Failure> {
    let mut writer = GradesWriter::create(path, graded)?;
    for run in runs {
        let name = run.run.full_name();
        for (item, answer) in items.all.iter().zip(&run.grades) {
            if let Some(answer) = answer {
                writer.push(Grade {
                    run: name.clone(),
                    task_id: item.task_id.clone(),
                    task: item.task_type.clone(),
                    category: item.task_category.clone(),
                    ..grade(answer)
                })?;
            }
        }
    }
    writer.finish()
}

/// The grade of an answer, without names.
fn grade(answer: &GradedAnswer) -> Grade {
    let judgement = &answer.judgement;
    Grade {
        extracted: judgement.extracted.clone(),
        verdict: judgement.verdict.name().to_owned(),
        correct: judgement.verdict == PublishedVerdict::Correct,
        sound: judgement.sound,
        fault: judgement.fault.map(|fault| MoveFault::name(fault).to_owned()),
        prompt_tokens: answer.prompt_tokens,
        completion_tokens: answer.completion_tokens,
        reasoning_tokens: answer.reasoning_tokens,
        total_tokens: answer.total_tokens,
        cost: answer.cost,
        ..Grade::default()
    }
}
