//! Items of judges, about the answers of runs to items of Reasoning.

use std::collections::{BTreeMap, HashMap, HashSet};

use cwm_answers::{Answer, AnswersReader};
use cwm_contract::{Context, Failure, GroupInput};
use cwm_questions::build::Order;
use cwm_questions::{Item, UnknownTasks, read_items};
use cwm_reasoning::{JudgeTask, JudgedOutput, RandomChoices, ReasoningTask, judge_item};

use crate::config::Config;
use crate::counts::SourceCounts;
use crate::files::Text;

/// The reasons why answers are dropped: the item is none of Reasoning; there is no text.
const REASONS: [&str; 2] = [OTHER_TASK, UNANSWERED];
const OTHER_TASK: &str = "other_task";
const UNANSWERED: &str = "unanswered";

/// An answer that is judged.
struct ChosenAnswer {
    /// The place of its item.
    place: usize,
    sample: u64,
    output: String,
}

/// Reads the inputs `items` and `answers`, and builds an item of each of `tasks` for the same answers: of every run and
/// task of Reasoning those to as many items as `per_task` allows, the same items of all runs that answered them.
///
/// # Errors
///
/// An input is missing or cannot be read, two have the same run, or an answer is to no item.
pub fn read(context: &Context, config: &Config, tasks: &[JudgeTask]) -> Result<(Vec<Item>, SourceCounts), Failure> {
    context.activity("reading answers");
    let path = context.optional_input("items").filter(|_| !context.group("answers").is_empty());
    let path = path.ok_or_else(|| Failure::input("judges need the inputs `items` and `answers`"))?;
    let items = read_items(Text::open(path)?.reader, &path.display().to_string(), UnknownTasks::Keep)?;
    let ranks = ranks(items.len(), config);
    let mut counts = SourceCounts::new(REASONS);
    let mut runs: Vec<(String, Vec<ChosenAnswer>)> = Vec::new();
    for input in context.group("answers") {
        let (run, chosen) = of_run(context, input, &items, &ranks, config.per_task as usize, &mut counts)?;
        if runs.iter().any(|(known, _)| *known == run) {
            return Err(Failure::input(format!("the answers of {} are of the run {run}, as others are", input.label))
                .hint("give each `answer` another `name`"));
        }
        runs.push((run, chosen));
    }
    let mut built = Vec::new();
    for task in tasks {
        let answers = runs.iter().flat_map(|(run, chosen)| chosen.iter().map(move |chosen| (run, chosen)));
        built.extend(answers.enumerate().map(|(number, (run, ChosenAnswer { place, sample, output }))| {
            let item = judge_item(*task, &JudgedOutput { item: &items[*place], run, sample: *sample, output });
            Item { task_id: format!("{task}_{number:04}"), ..item }
        }));
    }
    Ok((built, counts))
}

/// The place of each of so many items in the order in which answers are taken.
fn ranks(items: usize, config: &Config) -> Vec<usize> {
    let mut order: Vec<usize> = (0..items).collect();
    if config.order() == Order::Shuffled {
        RandomChoices::new("judges", config.seed, 0).shuffle(&mut order);
    }
    let mut ranks = vec![0; items];
    order.into_iter().enumerate().for_each(|(rank, place)| ranks[place] = rank);
    ranks
}

/// The full name of a run, and its answers that are judged, in the order of the items.
fn of_run(
    context: &Context,
    input: &GroupInput,
    items: &[Item],
    ranks: &[usize],
    per_task: usize,
    counts: &mut SourceCounts,
) -> Result<(String, Vec<ChosenAnswer>), Failure> {
    let places: HashMap<&str, usize> =
        items.iter().enumerate().map(|(place, item)| (item.task_id.as_str(), place)).collect();
    let reader = AnswersReader::open(&input.path)?;
    let run = reader.run_or(&input.label.to_string()).full_name();
    let mut seen = HashSet::new();
    // By task, and then by rank and sample.
    let mut chosen: BTreeMap<ReasoningTask, BTreeMap<(usize, u64), ChosenAnswer>> = BTreeMap::new();
    for (row, answer) in reader.enumerate() {
        context.check_cancelled()?;
        let answer = answer?;
        counts.count_read();
        let (id, sample) = (&answer.task_id, answer.sample_number());
        let wrong = |what: &str| {
            let message = format!("the answers of {} ({}) have {id} {what}", input.label, input.path.display());
            Failure::input(message).hint("`items` must be those that were answered")
        };
        let place = *places.get(id.as_str()).ok_or_else(|| wrong(&format!("in row {row}, which is no item")))?;
        if !seen.insert((place, sample)) {
            return Err(wrong(&format!("with the sample {sample} twice")));
        }
        let Some(task) = ReasoningTask::of_name(&items[place].task_type) else {
            counts.count_dropped(OTHER_TASK);
            continue;
        };
        let Some(output) = output(&answer) else {
            counts.count_dropped(UNANSWERED);
            continue;
        };
        let of_task = chosen.entry(task).or_default();
        of_task.insert((ranks[place], sample), ChosenAnswer { place, sample, output });
        if of_task.len() > per_task {
            of_task.pop_last();
        }
    }
    let mut chosen: Vec<ChosenAnswer> = chosen.into_values().flat_map(BTreeMap::into_values).collect();
    chosen.sort_by_key(|chosen| (chosen.place, chosen.sample));
    Ok((run, chosen))
}

/// All that was written: the reasoning, where the server sends it apart, and the answer; nothing without a text.
fn output(answer: &Answer) -> Option<String> {
    let response = answer.response.as_ref()?;
    let reasoning = answer.reasoning.as_ref().map(|reasoning| format!("{reasoning}\n"));
    Some(reasoning.unwrap_or_default() + response).filter(|text| !text.trim().is_empty())
}
