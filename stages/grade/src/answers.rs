//! The answers of a run, each judged.

use std::collections::BTreeMap;

use cwm_answers::{Answer, AnswersReader, Run, is_cost};
use cwm_contract::{Context, Failure, GroupInput};
use cwm_questions::{Judge, Judgement, Length};

use crate::config::Config;
use crate::cost::cost;
use crate::items::Items;

/// The answers of a run.
pub struct RunGrades {
    /// Who answered.
    pub run: Run,
    /// A place an item; none where the player was not asked.
    pub grades: Vec<Option<GradedAnswer>>,
    /// What people should know of them.
    pub notes: Vec<String>,
}

/// An answer, judged.
#[derive(Clone, Debug, PartialEq)]
pub struct GradedAnswer {
    /// What it is.
    pub judgement: Judgement,
    /// Tokens of the prompt.
    pub prompt_tokens: Option<u64>,
    /// Tokens of the completion.
    pub completion_tokens: Option<u64>,
    /// Tokens of the reasoning.
    pub reasoning_tokens: Option<u64>,
    /// All tokens.
    pub total_tokens: Option<u64>,
    /// Dollars.
    pub cost: Option<f64>,
}

impl RunGrades {
    /// Reads and judges the answers in the file of `input`; `judges` are those of the items.
    ///
    /// # Errors
    /// It is no file of answers, a row is of no item or of one that a row before was of, an item has no row, or only some items
    /// of a task were asked; or it was cancelled.
    pub fn read(
        context: &Context,
        input: &GroupInput,
        items: &Items,
        judges: &[Judge<'_>],
        config: &Config,
    ) -> Result<Self, Failure> {
        let reader = AnswersReader::open(&input.path)?;
        let label = input.label.to_string();
        let run = reader.run_or(&label);
        let wrong = |what: String| {
            let hint = "a row for every item, by its `task_id`";
            Failure::input(format!("the answers of {label} ({}) {what}", input.path.display())).hint(hint)
        };
        let prices = config.prices.get(&run.full_name()).or_else(|| config.prices.get(&run.name));
        let mut rows: Vec<Option<usize>> = vec![None; items.all.len()];
        let mut grades = vec![None; items.all.len()];
        let (mut impossible_costs, mut unpriced) = (0_usize, 0_usize);
        for (row, answer) in reader.enumerate() {
            if row % 1_024 == 0 {
                context.check_cancelled()?;
            }
            let answer = answer?;
            let Some(place) = items.place(&answer.task_id) else {
                return Err(wrong(format!("have {} in row {row}, which is no item", answer.task_id)));
            };
            if let Some(first) = rows[place].replace(row) {
                let id = &answer.task_id;
                return Err(wrong(format!("have {id} twice: in row {first} and in row {row}")));
            }
            if !answer.is_asked() {
                continue;
            }
            impossible_costs += usize::from(answer.cost.is_some_and(|cost| !is_cost(cost)));
            let graded = GradedAnswer::new(&answer, &judges[place], &run, prices);
            unpriced += usize::from(prices.is_some() && graded.cost.is_none());
            grades[place] = Some(graded);
        }
        if let Some(first) = rows.iter().position(Option::is_none) {
            let (missing, all) = (rows.iter().filter(|row| row.is_none()).count(), rows.len());
            let id = &items.all[first].task_id;
            return Err(wrong(format!("lack {missing} of {all} items: the first is {id}, item {first}")));
        }
        check_whole_tasks(items, &grades).map_err(wrong)?;
        let mut notes = Vec::new();
        if impossible_costs > 0 {
            notes
                .push(format!("{label}: {impossible_costs} answers have a cost that is none, which counts as unknown"));
        }
        if unpriced > 0 {
            notes.push(format!("{label}: the cost of {unpriced} answers is unknown, as they have no number of tokens"));
        }
        Ok(RunGrades { run, grades, notes })
    }
}

impl GradedAnswer {
    fn new(answer: &Answer, judge: &Judge<'_>, run: &Run, prices: Option<&BTreeMap<String, f64>>) -> Self {
        let length = Length { completion_tokens: answer.completion_tokens, max_tokens: run.max_tokens };
        GradedAnswer {
            judgement: judge.judge(answer.response.as_deref().unwrap_or_default(), length),
            prompt_tokens: answer.prompt_tokens,
            completion_tokens: answer.completion_tokens,
            reasoning_tokens: answer.reasoning_tokens,
            total_tokens: answer.total_tokens,
            cost: cost(answer, prices),
        }
    }
}

/// Checks that all items of a task were asked, or none: accuracies of different items cannot be compared.
fn check_whole_tasks(items: &Items, grades: &[Option<GradedAnswer>]) -> Result<(), String> {
    for task in &items.tasks {
        let asked = task.places.iter().filter(|place| grades[**place].is_some()).count();
        if let Some(first) = task.places.iter().find(|place| grades[**place].is_none()).filter(|_| asked > 0) {
            let (name, all, id) = (&task.name, task.places.len(), &items.all[*first].task_id);
            return Err(format!(
                "are of {asked} of {all} items of {name}, and {id} was not asked: all of a task, or none"
            ));
        }
    }
    Ok(())
}
