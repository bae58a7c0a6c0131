//! Answers of earlier runs, whose questions are not sent again.

use std::collections::HashMap;

use cwm_answers::{Answer, AnswersReader};
use cwm_contract::{Context, Failure};
use cwm_journal::Journal;

use crate::entry::Entry;
use crate::question::{Question, QuestionHash};

/// The request of an earlier answer that can be taken over; none of one without a text or with a fault.
pub fn request_of(answer: &Answer) -> Option<QuestionHash> {
    answer.request.filter(|_| answer.response.is_some() && answer.fault.is_none())
}

/// Takes over the answers of the input `known` whose requests are those of open questions; of several the first. Returns how many.
///
/// # Errors
/// A file cannot be read, or an operation on the disk fails.
pub fn take(context: &Context, questions: &[Question], journal: &Journal<Entry>) -> Result<usize, Failure> {
    let mut open: HashMap<QuestionHash, Vec<usize>> = HashMap::new();
    for index in journal.missing() {
        open.entry(questions[index].request).or_default().push(index);
    }
    let mut taken = 0;
    for input in context.group("known") {
        let reader = AnswersReader::open(&input.path)?;
        let served = reader.run().and_then(|run| run.served_model.clone());
        for answer in reader {
            let answer = answer?;
            let Some(request) = request_of(&answer) else { continue };
            for index in open.remove(&request).unwrap_or_default() {
                let Entry { task_id, sample, .. } = Entry::new(&questions[index]);
                let entry = Entry::of_known(answer.clone(), request, served.clone());
                journal.push(index, &Entry { task_id, sample, ..entry })?;
                taken += 1;
            }
        }
    }
    if !context.group("known").is_empty() {
        context.log(format!("{taken} of {} answers are known", questions.len()));
    }
    Ok(taken)
}
