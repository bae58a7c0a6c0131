//! The answers of a run, each judged.

use std::collections::BTreeMap;

use cwm_answers::{Answer, AnswersReader, PlayerSettings, is_cost};
use cwm_contract::{Context, Failure, GroupInput};
use cwm_questions::{Judgement, PublishedVerdict};
use rayon::prelude::*;

use crate::config::Config;
use crate::cost::cost;
use crate::items::Items;
use crate::judges::{GradedResult, ItemJudge};

/// Answers that are judged side by side.
const BLOCK: usize = 1_024;

/// The answers of a run.
pub struct RunGrades {
    /// The player that answered, and its settings.
    pub run: PlayerSettings,
    /// A place an item, with its answers by sample; empty where the player was not asked.
    pub grades: Vec<Vec<GradedAnswer>>,
    /// Notes about the answers for the user.
    pub notes: Vec<String>,
}

/// An answer, judged.
#[derive(Clone, Debug, PartialEq)]
pub struct GradedAnswer {
    /// The number of the answer among those to the item.
    pub sample: u64,
    /// The judgement: its verdict, and the text that was read.
    pub judgement: Judgement,
    /// The result beside the judgement, by the rules of a task or as a judge's answer.
    pub result: GradedResult,
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
    /// It is no file of answers, a row is of no item, two rows are of one item and sample, an item has no row or
    /// another number of rows than others, or only some items of a task were asked; or it was cancelled.
    pub fn read(
        context: &Context,
        input: &GroupInput,
        items: &Items,
        judges: &[ItemJudge<'_>],
        config: &Config,
    ) -> Result<Self, Failure> {
        let mut reader = AnswersReader::open(&input.path)?;
        let label = input.label.to_string();
        let run = reader.run_or(&label);
        let wrong = |what: String| {
            let hint = "a row for every item, by its `task_id`, or as many for each, with a `sample`";
            Failure::input(format!("the answers of {label} ({}) {what}", input.path.display())).hint(hint)
        };
        let prices = config.prices.get(&run.full_name()).or_else(|| config.prices.get(&run.name));
        let options = config.options();
        let mut rows = Rows::new(items);
        let mut grades = vec![Vec::new(); items.all.len()];
        let (mut impossible_costs, mut unpriced) = (0_usize, 0_usize);
        loop {
            context.check_cancelled()?;
            let block: Vec<Answer> = reader.by_ref().take(BLOCK).collect::<Result<_, _>>()?;
            if block.is_empty() {
                break;
            }
            let places: Vec<usize> =
                block.iter().map(|answer| rows.add(answer)).collect::<Result<_, _>>().map_err(wrong)?;
            let asked: Vec<(usize, &Answer)> =
                places.into_iter().zip(&block).filter(|(_, answer)| answer.is_asked()).collect();
            let judge = |(place, answer): &(usize, &Answer)| {
                GradedAnswer::new(answer, judges[*place].judge(answer, run.max_tokens, &options), prices)
            };
            let judged: Vec<GradedAnswer> = asked.par_iter().map(judge).collect();
            for ((place, answer), graded) in asked.into_iter().zip(judged) {
                impossible_costs += usize::from(answer.cost.is_some_and(|cost| !is_cost(cost)));
                unpriced += usize::from(prices.is_some() && graded.cost.is_none());
                grades[place].push(graded);
            }
        }
        rows.check().map_err(wrong)?;
        check_whole_tasks(items, &grades).map_err(wrong)?;
        grades.iter_mut().for_each(|answers| answers.sort_by_key(|answer| answer.sample));
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

    /// The share of the answers to an item that are correct; none where the player was not asked.
    pub fn correct_share(&self, place: usize) -> Option<f64> {
        let answers = &self.grades[place];
        let correct = answers.iter().filter(|answer| answer.is_correct()).count();
        (!answers.is_empty()).then(|| correct as f64 / answers.len() as f64)
    }
}

impl GradedAnswer {
    fn new(
        answer: &Answer,
        (judgement, result): (Judgement, GradedResult),
        prices: Option<&BTreeMap<String, f64>>,
    ) -> Self {
        GradedAnswer {
            sample: answer.sample_number(),
            judgement,
            result,
            prompt_tokens: answer.prompt_tokens,
            completion_tokens: answer.completion_tokens,
            reasoning_tokens: answer.reasoning_tokens,
            total_tokens: answer.total_tokens,
            cost: cost(answer, prices),
        }
    }

    /// Returns true if its verdict is correct, its reward is 1, or it is a judge's that can be read.
    pub fn is_correct(&self) -> bool {
        self.judgement.verdict == PublishedVerdict::Correct
    }
}

/// The rows of a file by their items.
struct Rows<'i> {
    items: &'i Items,
    /// By the place of an item: the sample of each of its rows, and the row.
    by_item: Vec<Vec<(u64, usize)>>,
    read: usize,
}

impl<'i> Rows<'i> {
    fn new(items: &'i Items) -> Self {
        Rows { items, by_item: vec![Vec::new(); items.all.len()], read: 0 }
    }

    /// Adds the next row. Returns the place of its item.
    fn add(&mut self, answer: &Answer) -> Result<usize, String> {
        let (row, id, sample) = (self.read, &answer.task_id, answer.sample_number());
        self.read += 1;
        let place = self.items.place(id).ok_or_else(|| format!("have {id} in row {row}, which is no item"))?;
        let of_item = &mut self.by_item[place];
        if let Some((_, first)) = of_item.iter().find(|(other, _)| *other == sample) {
            let of_sample = answer.sample.map(|sample| format!(" with the sample {sample}")).unwrap_or_default();
            return Err(format!("have {id}{of_sample} twice: in row {first} and in row {row}"));
        }
        of_item.push((sample, row));
        Ok(place)
    }

    /// Checks that each item has a row, and all have the same number.
    fn check(&self) -> Result<(), String> {
        let id = |place: usize| &self.items.all[place].task_id;
        if let Some(first) = self.by_item.iter().position(Vec::is_empty) {
            let (missing, all) = (self.by_item.iter().filter(|rows| rows.is_empty()).count(), self.by_item.len());
            return Err(format!("lack {missing} of {all} items: the first is {}, item {first}", id(first)));
        }
        let samples = self.by_item.first().map_or(0, Vec::len);
        match self.by_item.iter().position(|rows| rows.len() != samples) {
            Some(other) => {
                Err(format!("have {samples} rows of {}, and {} of {}", id(0), self.by_item[other].len(), id(other)))
            }
            None => Ok(()),
        }
    }
}

/// Checks that all items of a task were asked, or none: accuracies of different items cannot be compared.
fn check_whole_tasks(items: &Items, grades: &[Vec<GradedAnswer>]) -> Result<(), String> {
    for task in &items.tasks {
        let asked = task.places.iter().filter(|place| !grades[**place].is_empty()).count();
        if let Some(first) = task.places.iter().find(|place| grades[**place].is_empty()).filter(|_| asked > 0) {
            let (name, all, id) = (&task.name, task.places.len(), &items.all[*first].task_id);
            return Err(format!(
                "are of {asked} of {all} items of {name}, and {id} was not asked: all of a task, or none"
            ));
        }
    }
    Ok(())
}
