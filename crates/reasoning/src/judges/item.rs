//! The items of judges: a position, the question about it and the output, each fenced.

use cwm_questions::{AnswerType, Item, Metadata};

use super::{JUDGES, JudgeTask};
use crate::texts;

/// The fewest equals signs of a fence.
const SHORTEST: usize = 8;

/// The output that is judged: an answer to an item.
#[derive(Clone, Copy, Debug)]
pub struct JudgedOutput<'a> {
    /// The item.
    pub item: &'a Item,
    /// The full name of the run that answered.
    pub run: &'a str,
    /// The number of the answer among those of the run to the item, from 0.
    pub sample: u64,
    /// Its whole text: the reasoning and the answer.
    pub output: &'a str,
}

/// The item of a judge's task about an answer. It has no `task_id` yet.
pub fn judge_item(task: JudgeTask, judged: &JudgedOutput<'_>) -> Item {
    let JudgedOutput { item, run, sample, output } = *judged;
    let mut metadata = Metadata::default();
    metadata.insert("system", texts::JUDGE);
    for (name, value) in [("of", item.task_id.as_str()), ("task", item.task_type.as_str()), ("run", run)] {
        metadata.insert(name, value);
    }
    metadata.insert("sample", sample);
    let parts = [item.input.as_str(), &item.question, output];
    let longest = parts.into_iter().map(longest_run).max().unwrap_or(0);
    let fence = "=".repeat(SHORTEST.max(longest + 1));
    let asked = match task {
        JudgeTask::Quality => texts::JUDGE_QUALITY,
        JudgeTask::Strategies => texts::JUDGE_STRATEGIES,
        JudgeTask::Claims => texts::JUDGE_CLAIMS,
    };
    Item {
        task_id: String::new(),
        task_type: task.name().to_owned(),
        task_category: JUDGES.to_owned(),
        input: item.input.clone(),
        question: format!(
            "The position: {}\n\nThe question to the player:\n{fence}\n{}\n{fence}\n\n\
             All that the player wrote:\n{fence}\n{output}\n{fence}\n\n{asked}",
            item.input, item.question
        ),
        format_examples: Vec::new(),
        correct_answer: String::new(),
        answer_type: AnswerType::Graded,
        metadata,
    }
}

/// The output in the question of an item of a judge: the text between the last two of its four fences. No other run of
/// equals signs is as long as these.
pub(super) fn output_of(question: &str) -> Option<&str> {
    let fence = "=".repeat(longest_run(question));
    let parts: Vec<&str> = question.split(&fence).take(6).collect();
    match parts[..] {
        [_, _, _, output, _] => output.strip_prefix('\n')?.strip_suffix('\n'),
        _ => None,
    }
}

/// The number of equals signs in the longest run of them.
fn longest_run(text: &str) -> usize {
    text.split(|character| character != '=').map(str::len).max().unwrap_or(0)
}
