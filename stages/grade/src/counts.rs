//! Sums of the answers of a run.

use cwm_answers::Tally;
use cwm_questions::{MoveFault, PublishedVerdict};

use crate::answers::GradedAnswer;

/// Returns the sums of these answers, without names and accuracy.
pub fn count<'g>(grades: impl Iterator<Item = &'g GradedAnswer>) -> Tally {
    let mut tally = Tally::default();
    for graded in grades {
        let judgement = &graded.judgement;
        tally.items += 1;
        *verdict_count(&mut tally, judgement.verdict) += 1;
        let is_correct = graded.is_correct();
        match judgement.sound {
            Some(true) => {
                tally.sound += 1;
                tally.format_cost += u64::from(!is_correct);
            }
            Some(false) => tally.key_cost += u64::from(is_correct),
            None => tally.unread += 1,
        }
        if let Some(fault) = judgement.fault {
            *fault_count(&mut tally, fault) += 1;
        }
        tally.with_tokens += u64::from(graded.completion_tokens.is_some());
        tally.with_cost += u64::from(graded.cost.is_some());
        add(&mut tally.prompt_tokens, graded.prompt_tokens);
        add(&mut tally.completion_tokens, graded.completion_tokens);
        add(&mut tally.reasoning_tokens, graded.reasoning_tokens);
        add(&mut tally.total_tokens, graded.total_tokens);
        if let Some(cost) = graded.cost {
            tally.cost = Some(tally.cost.unwrap_or(0.0) + cost);
        }
    }
    tally
}

fn add(sum: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or(0).saturating_add(more));
    }
}

fn verdict_count(tally: &mut Tally, verdict: PublishedVerdict) -> &mut u64 {
    match verdict {
        PublishedVerdict::Correct => &mut tally.correct,
        PublishedVerdict::MaxTokenReached => &mut tally.max_token_reached,
        PublishedVerdict::FormatError => &mut tally.format_error,
        PublishedVerdict::WrongAnswer => &mut tally.wrong_answer,
        PublishedVerdict::MultiExtraItems => &mut tally.multi_extra_items,
        PublishedVerdict::MultiMissingItems => &mut tally.multi_missing_items,
        PublishedVerdict::MultiFalseItems => &mut tally.multi_false_items,
    }
}

fn fault_count(tally: &mut Tally, fault: MoveFault) -> &mut u64 {
    match fault {
        MoveFault::IllegalMove => &mut tally.illegal_move,
        MoveFault::NotAMove => &mut tally.not_a_move,
        MoveFault::LegalButWrong => &mut tally.legal_but_wrong,
        MoveFault::NoMove => &mut tally.says_none,
    }
}
