//! Measures of answers to graded items, with intervals.

use std::collections::BTreeMap;

use cwm_answers::Measure;
use cwm_bootstrap::{Addend, confidence_interval};
use cwm_contract::{Context, Failure};
use cwm_reasoning::{AnswerVerdict, ReadAnswer, ReasoningTask};
use rayon::prelude::*;

use crate::answers::RunGrades;
use crate::config::Config;
use crate::items::{Items, Task};
use crate::judges::GradedItem;
use crate::resamples::{CONFIDENCE, sums};

/// Parts into which ranks are sorted.
const PARTS: usize = 10;

/// A measure: the sum of a number over the answers, divided by the sum of another, mostly by the number of answers that
/// count.
#[derive(Clone, Copy, Debug)]
enum MeasureKind {
    Reward,
    Readable,
    VerdictShare(AnswerVerdict),
    Accuracy,
    Iou,
    IouAll,
    Legal,
    Rank,
    RankPart(usize),
    Trivial,
    Best,
    WinLoss,
    CpLoss,
    Commonest,
    Grounded,
    Last,
    Moves,
    Pieces,
    Claims,
}

impl MeasureKind {
    /// The measures of a task, in the order of the table.
    fn of_task(task: ReasoningTask) -> Vec<MeasureKind> {
        let verdicts: &[AnswerVerdict] = match task {
            ReasoningTask::PredictMove => &[AnswerVerdict::Legal, AnswerVerdict::Illegal],
            ReasoningTask::BestMove | ReasoningTask::WorstMove => {
                &[AnswerVerdict::Right, AnswerVerdict::Wrong, AnswerVerdict::NotACandidate]
            }
            ReasoningTask::LegalMoves => &[AnswerVerdict::Scored],
        };
        let mut measures = vec![MeasureKind::Reward, MeasureKind::Readable];
        measures.extend(
            verdicts.iter().chain([&AnswerVerdict::Unreadable]).map(|verdict| MeasureKind::VerdictShare(*verdict)),
        );
        match task {
            ReasoningTask::BestMove | ReasoningTask::WorstMove => measures.push(MeasureKind::Accuracy),
            ReasoningTask::LegalMoves => measures.extend([MeasureKind::Iou, MeasureKind::IouAll]),
            ReasoningTask::PredictMove => {
                measures.extend([MeasureKind::Legal, MeasureKind::Rank]);
                measures.extend((0..PARTS).map(MeasureKind::RankPart));
                measures.extend([MeasureKind::Trivial, MeasureKind::Best, MeasureKind::WinLoss, MeasureKind::CpLoss]);
                measures.extend([MeasureKind::Commonest, MeasureKind::Grounded, MeasureKind::Last]);
            }
        }
        measures.extend([MeasureKind::Moves, MeasureKind::Pieces, MeasureKind::Claims]);
        measures
    }

    fn name(self) -> String {
        match self {
            MeasureKind::Reward => "reward",
            MeasureKind::Readable => "readable",
            MeasureKind::VerdictShare(verdict) => return format!("verdict_{}", verdict.name()),
            MeasureKind::Accuracy => "accuracy",
            MeasureKind::Iou => "iou",
            MeasureKind::IouAll => "iou_all",
            MeasureKind::Legal => "legal",
            MeasureKind::Rank => "rank",
            MeasureKind::RankPart(part) => return format!("rank_{part}"),
            MeasureKind::Trivial => "trivial",
            MeasureKind::Best => "best",
            MeasureKind::WinLoss => "win_loss",
            MeasureKind::CpLoss => "cp_loss",
            MeasureKind::Commonest => "commonest",
            MeasureKind::Grounded => "grounded",
            MeasureKind::Last => "last",
            MeasureKind::Moves => "referenced_accuracy",
            MeasureKind::Pieces => "pieces_accuracy",
            MeasureKind::Claims => "claims_accuracy",
        }
        .to_owned()
    }

    /// The addends of an answer to both sums; none if it does not count. `commonest` is the commonest legal move of the
    /// run.
    fn of_answer(self, answer: &GradedItem, commonest: Option<&str>) -> Option<[f64; 2]> {
        let GradedItem { judged, measures, claims } = answer;
        let share = |is: bool| f64::from(u8::from(is));
        let counted = |[all, true_ones]: [u64; 2]| [true_ones as f64, all as f64];
        let value = match self {
            MeasureKind::Reward => judged.reward,
            MeasureKind::Readable => share(judged.read.is_some()),
            MeasureKind::VerdictShare(verdict) => share(judged.verdict == verdict),
            MeasureKind::Accuracy => share(judged.verdict == AnswerVerdict::Right),
            MeasureKind::Iou => judged.score.filter(|_| judged.read.is_some())?,
            MeasureKind::IouAll => judged.score?,
            MeasureKind::Legal => share(judged.verdict == AnswerVerdict::Legal),
            MeasureKind::Rank => measures.rank?,
            MeasureKind::RankPart(part) => share(part_of(measures.rank?) == part),
            MeasureKind::Trivial => share(measures.trivial?),
            MeasureKind::Best => share(measures.best?),
            MeasureKind::WinLoss => measures.win_loss?,
            MeasureKind::CpLoss => measures.cp_loss?,
            MeasureKind::Commonest => share(legal_move(answer)? == commonest?),
            MeasureKind::Grounded => share(claims.as_ref()?.grounded?),
            MeasureKind::Last => share(claims.as_ref()?.last?),
            MeasureKind::Moves => return Some(counted(claims.as_ref()?.moves)),
            MeasureKind::Pieces => return Some(counted(claims.as_ref()?.pieces)),
            MeasureKind::Claims => {
                let [moves, pieces] = [claims.as_ref()?.moves, claims.as_ref()?.pieces].map(counted);
                return Some([moves[0] + pieces[0], moves[1] + pieces[1]]);
            }
        };
        Some([value, 1.0])
    }
}

/// The tenth in which a rank lies; 1 is in the last.
fn part_of(rank: f64) -> usize {
    // Ranks such as 1 - 7/10 must not fall into the tenth below for the sake of rounding.
    ((rank * PARTS as f64 + 1e-9) as usize).min(PARTS - 1)
}

/// The answered move, if it is a legal one where any can be answered.
fn legal_move(answer: &GradedItem) -> Option<&str> {
    match &answer.judged.read {
        Some(ReadAnswer::Move(uci)) if answer.judged.verdict == AnswerVerdict::Legal => Some(uci),
        _ => None,
    }
}

/// The measures of all runs, in the order of runs, tasks and measures.
///
/// # Errors
/// It was cancelled.
pub fn measures(
    context: &Context,
    items: &Items,
    runs: &[RunGrades],
    config: &Config,
) -> Result<Vec<Measure>, Failure> {
    let graded: Vec<(&Task, ReasoningTask)> =
        items.tasks.iter().filter_map(|task| Some((task, ReasoningTask::of_name(&task.name)?))).collect();
    let of_both: Vec<_> =
        runs.iter().flat_map(|run| graded.iter().map(move |(task, kind)| (run, *task, *kind))).collect();
    let measured: Vec<Result<Vec<Measure>, Failure>> = of_both
        .par_iter()
        .map(|(run, task, kind)| {
            context.check_cancelled()?;
            Ok(of_run(run, task, *kind, config))
        })
        .collect();
    Ok(measured.into_iter().collect::<Result<Vec<_>, _>>()?.concat())
}

/// The measures of a run and task; none if it was not asked.
fn of_run(run: &RunGrades, task: &Task, kind: ReasoningTask, config: &Config) -> Vec<Measure> {
    let moves = moves(run, task);
    // The first of equals.
    let commonest = moves.iter().rev().max_by_key(|(_, count)| **count).map(|(uci, _)| *uci);
    let kinds = MeasureKind::of_task(kind);
    let lists: Vec<Option<Vec<Addend<2>>>> =
        kinds.iter().map(|measured| Some(addends(run, task, *measured, commonest))).collect();
    let resampled = sums(task, &lists, config);
    let named =
        |measure: String, found| Measure { run: run.run.full_name(), task: task.name.clone(), measure, ..found };
    let mut rows = Vec::new();
    for ((measured, list), resampled) in
        kinds.into_iter().zip(lists.iter().flatten()).zip(resampled.into_iter().flatten())
    {
        let Some(found) = estimate(list, resampled) else { continue };
        let n = found.n;
        rows.push(named(measured.name(), found));
        if matches!(measured, MeasureKind::Commonest) {
            let value = moves.len() as f64 / n as f64;
            rows.push(named("distinct".to_owned(), Measure { n, value, ..Measure::default() }));
        }
    }
    rows
}

/// A measure without names: the first sum of all addends by the second, with the interval of the resamples; none of nothing.
pub fn estimate(list: &[Addend<2>], [drawn, of_drawn]: [Vec<f64>; 2]) -> Option<Measure> {
    let [sum, of] = list.iter().fold([0.0; 2], |sums, addend| std::array::from_fn(|at| sums[at] + addend.values[at]));
    if of <= 0.0 {
        return None;
    }
    let mut values: Vec<f64> = drawn.into_iter().zip(of_drawn).map(|(sum, of)| sum / of).collect();
    let (low, high) = confidence_interval(&mut values, CONFIDENCE).unzip();
    Some(Measure { n: of as u64, value: sum / of, low, high, ..Measure::default() })
}

/// The number of times that each legal move was answered.
fn moves<'r>(run: &'r RunGrades, task: &Task) -> BTreeMap<&'r str, u64> {
    let mut moves = BTreeMap::new();
    for answer in task.places.iter().flat_map(|place| &run.grades[*place]) {
        if let Some(uci) = answer.result.graded_item().and_then(legal_move) {
            *moves.entry(uci).or_default() += 1;
        }
    }
    moves
}

/// The addends of each item of the task to both sums, by its place in the task.
fn addends(run: &RunGrades, task: &Task, measured: MeasureKind, commonest: Option<&str>) -> Vec<Addend<2>> {
    let of_item = |place: &usize| {
        let answers = run.grades[*place].iter().filter_map(|answer| answer.result.graded_item());
        let parts = answers.filter_map(|answer| measured.of_answer(answer, commonest));
        parts.fold([0.0; 2], |sums, part| [sums[0] + part[0], sums[1] + part[1]])
    };
    let all = task.places.iter().map(of_item).enumerate();
    all.filter(|(_, [_, of])| *of > 0.0).map(Addend::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the tenths of ranks among up to 218 legal moves with those of whole numbers.
    #[test]
    fn ranks_are_sorted_into_tenths() {
        for others in 1..=217_usize {
            for better in 0..=others {
                let rank = 1.0 - better as f64 / others as f64;
                assert_eq!(part_of(rank), (10 * (others - better) / others).min(9), "{better} of {others}");
            }
        }
        assert_eq!([0.0, 0.1, 0.3, 0.7, 0.9, 1.0].map(part_of), [0, 1, 3, 7, 9, 9]);
    }
}
