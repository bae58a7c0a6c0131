//! The file of grades.

use std::path::Path;

use cwm_answers::{Grade, GradesDescription, GradesWriter};
use cwm_contract::Failure;
use cwm_questions::MoveFault;

use crate::answers::{GradedAnswer, RunGrades};
use crate::items::Items;
use crate::judges::GradedResult;

/// Writes the grades of all runs, in the order of the items.
///
/// # Errors
/// An operation on the disk fails.
pub fn write(path: &Path, graded: &GradesDescription, items: &Items, runs: &[RunGrades]) -> Result<(), Failure> {
    let mut writer = GradesWriter::create(path, graded)?;
    for run in runs {
        let name = run.run.full_name();
        for (item, answers) in items.all.iter().zip(&run.grades) {
            for answer in answers {
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
    let (judgement, graded_item) = (&answer.judgement, answer.result.graded_item());
    let verdict = match &answer.result {
        GradedResult::ByKey => judgement.verdict.name(),
        GradedResult::ByRules(graded_item) => graded_item.judged.verdict.name(),
        GradedResult::JudgeScores(Some(_)) => "judged",
        GradedResult::JudgeScores(None) => "judge_failed",
    };
    let of_judge = answer.result.judge_scores().and_then(|scores| scores.score());
    let measures = graded_item.map(|graded_item| graded_item.measures).unwrap_or_default();
    let claims = graded_item.and_then(|graded_item| graded_item.claims);
    Grade {
        sample: answer.sample,
        extracted: judgement.extracted.clone(),
        verdict: verdict.to_owned(),
        correct: answer.is_correct(),
        sound: judgement.sound,
        fault: judgement.fault.map(|fault| MoveFault::name(fault).to_owned()),
        prompt_tokens: answer.prompt_tokens,
        completion_tokens: answer.completion_tokens,
        reasoning_tokens: answer.reasoning_tokens,
        total_tokens: answer.total_tokens,
        cost: answer.cost,
        score: graded_item.and_then(|graded_item| graded_item.judged.score).or(of_judge),
        reward: graded_item.map(|graded_item| graded_item.judged.reward),
        rank: measures.rank,
        win_loss: measures.win_loss,
        cp_loss: measures.cp_loss,
        trivial: measures.trivial,
        move_claims: claims.map(|claims| claims.moves[0]),
        true_move_claims: claims.map(|claims| claims.moves[1]),
        piece_claims: claims.map(|claims| claims.pieces[0]),
        true_piece_claims: claims.map(|claims| claims.pieces[1]),
        grounded: claims.and_then(|claims| claims.grounded),
        last: claims.and_then(|claims| claims.last),
        ..Grade::default()
    }
}
