//! Which answers are shown.

use std::collections::{BTreeMap, HashMap};
use std::io::BufReader;

use cwm_answers::{Answer, AnswersReader, Grade, Grades, Run};
use cwm_contract::{Context, Failure};
use cwm_page::visible;
use cwm_questions::{Item, UnknownTasks, read_items};

/// Answers of a run to a task, at most.
const EACH: usize = 3;

/// The answers of a run that are not correct.
pub(super) struct Picked {
    /// Its full name.
    pub(super) run: String,
    /// How many there are.
    pub(super) failed: u64,
    /// Some of each task, those of different tasks in turn.
    pub(super) answers: Vec<Shown>,
}

/// An answer with all that is known of it.
pub(super) struct Shown {
    /// Its place among the run's grades.
    pub(super) order: usize,
    pub(super) item: Item,
    pub(super) grade: Grade,
    pub(super) answer: Answer,
    /// How the run was asked; nothing of another program's.
    pub(super) run: Option<Run>,
}

/// How a run was asked and its answer, by run and item.
type Answers = HashMap<(String, String), (Option<Run>, Answer)>;

/// Grades of a run that are not correct, by task, with their places.
#[derive(Default)]
struct Failed {
    count: u64,
    grades: usize,
    tasks: Vec<(String, Vec<(usize, Grade)>)>,
}

/// The answers of all runs that have any, in the order of their names.
///
/// # Errors
/// A file cannot be read, or an item or answer of a grade is missing.
pub(super) fn pick(context: &Context) -> Result<Vec<Picked>, Failure> {
    let runs = failed(context)?;
    let items = items(context)?;
    context.check_cancelled()?;
    let mut answers = answers(context, &runs)?;
    let mut picked = Vec::new();
    for (run, failed) in runs.into_iter().filter(|(_, failed)| failed.count > 0) {
        let mut shown = Vec::new();
        for (order, grade) in in_turn(failed.tasks) {
            let missing = |what| {
                let task_id = visible(&grade.task_id);
                Failure::input(format!("the grades of {} have {task_id}, which no {what}", visible(&run)))
                    .hint("give `report` the items and answers of its grades")
            };
            let item = items.get(&grade.task_id).cloned().ok_or_else(|| missing("items have"))?;
            let answer = answers.remove(&(run.clone(), grade.task_id.clone()));
            let (run, answer) = answer.ok_or_else(|| missing("answers have"))?;
            shown.push(Shown { order, item, grade, answer, run });
        }
        picked.push(Picked { run: visible(&run), failed: failed.count, answers: shown });
    }
    Ok(picked)
}

fn failed(context: &Context) -> Result<BTreeMap<String, Failed>, Failure> {
    let mut runs: BTreeMap<String, Failed> = BTreeMap::new();
    for input in context.group("grades") {
        for grade in Grades::open(&input.path)? {
            let grade = grade?;
            let failed = runs.entry(grade.run.clone()).or_default();
            let order = failed.grades;
            failed.grades += 1;
            if grade.correct {
                continue;
            }
            failed.count += 1;
            match failed.tasks.iter_mut().find(|(task, _)| *task == grade.task) {
                Some((_, grades)) if grades.len() >= EACH => {}
                Some((_, grades)) => grades.push((order, grade)),
                None => failed.tasks.push((grade.task.clone(), vec![(order, grade)])),
            }
        }
    }
    Ok(runs)
}

/// The first of every task, then the second.
fn in_turn(tasks: Vec<(String, Vec<(usize, Grade)>)>) -> Vec<(usize, Grade)> {
    let mut all: Vec<_> = tasks.into_iter().flat_map(|(_, grades)| grades.into_iter().enumerate()).collect();
    all.sort_by_key(|(nth, (order, _))| (*nth, *order));
    all.into_iter().map(|(_, grade)| grade).collect()
}

fn items(context: &Context) -> Result<HashMap<String, Item>, Failure> {
    let mut items: HashMap<String, Item> = HashMap::new();
    for input in context.group("items") {
        let file = std::fs::File::open(&input.path).map_err(|error| Failure::io("open", &input.path, error))?;
        for item in read_items(BufReader::new(file), &input.label.to_string(), UnknownTasks::Keep)? {
            if let Some(other) = items.insert(item.task_id.clone(), item.clone())
                && other != item
            {
                return Err(Failure::input(format!("there are two different items {}", visible(&item.task_id)))
                    .hint("give `report` the items of one benchmark"));
            }
        }
    }
    Ok(items)
}

/// The answers that are to be shown.
fn answers(context: &Context, runs: &BTreeMap<String, Failed>) -> Result<Answers, Failure> {
    let mut found = Answers::new();
    for input in context.group("answers") {
        let answers = AnswersReader::open(&input.path)?;
        let run = answers.run().cloned();
        let name = run.as_ref().map_or_else(|| input.label.to_string(), Run::full_name);
        let Some(failed) = runs.get(&name) else { continue };
        let grades = failed.tasks.iter().flat_map(|(_, grades)| grades);
        let wanted: Vec<&str> = grades.map(|(_, grade)| grade.task_id.as_str()).collect();
        for answer in answers {
            let answer = answer?;
            if wanted.contains(&answer.task_id.as_str()) {
                found.insert((name.clone(), answer.task_id.clone()), (run.clone(), answer));
            }
        }
    }
    Ok(found)
}
