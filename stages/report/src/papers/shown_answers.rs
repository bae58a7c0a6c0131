//! Picks the answers that a page shows with their items and grades: of each run and task the first few.

use std::collections::{BTreeMap, HashMap};
use std::io::BufReader;

use cwm_answers::{Answer, AnswersReader, Grade, Grades, PlayerSettings};
use cwm_contract::{Context, Failure, GroupInput};
use cwm_page::escape_controls;
use cwm_questions::{Item, UnknownTasks, read_items};

/// Characters of a text that are shown: of a response the last ones, where its answer is, otherwise the first.
pub(crate) const LONGEST: usize = 2_000;

/// Answers of a run to a task, at most.
const ANSWERS_PER_TASK: usize = 3;

/// Answers of a run.
pub(crate) struct PickedAnswers {
    /// Its full name.
    pub(crate) run: String,
    /// The number of the run's answers of the kind that is shown.
    pub(crate) count: u64,
    /// Some of each task, those of different tasks in turn.
    pub(crate) answers: Vec<ShownAnswer>,
}

/// An answer with its item, grade and run.
pub(crate) struct ShownAnswer {
    /// Its place among the run's grades.
    pub(crate) order: usize,
    pub(crate) item: Item,
    pub(crate) grade: Grade,
    pub(crate) answer: Answer,
    /// The settings with which the run was queried; `None` for answers of another program.
    pub(crate) run: Option<PlayerSettings>,
}

/// A run's settings and its answer, by run, item and sample.
type Answers = HashMap<(String, String, u64), (Option<PlayerSettings>, Answer)>;

/// Grades of a run that are shown, by task, with their places.
#[derive(Default)]
struct PickedGrades {
    count: u64,
    grades: usize,
    tasks: Vec<(String, Vec<(usize, Grade)>)>,
}

/// The answers of all runs that have any whose grades, in this input, `are_shown`; in the order of the runs' names.
///
/// # Errors
/// A file cannot be read, or an item or answer of a grade is missing.
pub(crate) fn pick(
    context: &Context,
    are_shown: impl Fn(&GroupInput, &Grade) -> bool,
) -> Result<Vec<PickedAnswers>, Failure> {
    let runs = grades(context, are_shown)?;
    if runs.values().all(|run| run.count == 0) {
        return Ok(Vec::new());
    }
    let items = items(context)?;
    context.check_cancelled()?;
    let mut answers = answers(context, &runs)?;
    let mut picked = Vec::new();
    for (run, of_run) in runs.into_iter().filter(|(_, of_run)| of_run.count > 0) {
        let mut shown = Vec::new();
        for (order, grade) in round_robin(of_run.tasks) {
            let missing = |what| {
                let task_id = escape_controls(&grade.task_id);
                Failure::input(format!("the grades of {} have {task_id}, which no {what}", escape_controls(&run)))
                    .hint("give `report` the items and answers of its grades")
            };
            let item = items.get(&grade.task_id).cloned().ok_or_else(|| missing("items have"))?;
            let answer = answers.remove(&(run.clone(), grade.task_id.clone(), grade.sample));
            let (run, answer) = answer.ok_or_else(|| missing("answers have"))?;
            shown.push(ShownAnswer { order, item, grade, answer, run });
        }
        picked.push(PickedAnswers { run: escape_controls(&run), count: of_run.count, answers: shown });
    }
    Ok(picked)
}

fn grades(
    context: &Context,
    are_shown: impl Fn(&GroupInput, &Grade) -> bool,
) -> Result<BTreeMap<String, PickedGrades>, Failure> {
    let mut runs: BTreeMap<String, PickedGrades> = BTreeMap::new();
    for input in context.group("grades") {
        for grade in Grades::open(&input.path)? {
            let grade = grade?;
            let of_run = runs.entry(grade.run.clone()).or_default();
            let order = of_run.grades;
            of_run.grades += 1;
            if !are_shown(input, &grade) {
                continue;
            }
            of_run.count += 1;
            match of_run.tasks.iter_mut().find(|(task, _)| *task == grade.task) {
                Some((_, grades)) if grades.len() >= ANSWERS_PER_TASK => {}
                Some((_, grades)) => grades.push((order, grade)),
                None => of_run.tasks.push((grade.task.clone(), vec![(order, grade)])),
            }
        }
    }
    Ok(runs)
}

/// Orders the grades: the first of every task, then the second, and so on.
fn round_robin(tasks: Vec<(String, Vec<(usize, Grade)>)>) -> Vec<(usize, Grade)> {
    let mut all: Vec<_> = tasks.into_iter().flat_map(|(_, grades)| grades.into_iter().enumerate()).collect();
    all.sort_by_key(|(nth, (order, _))| (*nth, *order));
    all.into_iter().map(|(_, grade)| grade).collect()
}

/// All items, by their ids.
///
/// # Errors
/// A file cannot be read, or two different items have one id.
pub(crate) fn items(context: &Context) -> Result<HashMap<String, Item>, Failure> {
    let mut items: HashMap<String, Item> = HashMap::new();
    for input in context.group("items") {
        let file = std::fs::File::open(&input.path).map_err(|error| Failure::io("open", &input.path, error))?;
        for item in read_items(BufReader::new(file), &input.label.to_string(), UnknownTasks::Keep)? {
            if let Some(other) = items.insert(item.task_id.clone(), item.clone())
                && other != item
            {
                return Err(Failure::input(format!(
                    "there are two different items {}",
                    escape_controls(&item.task_id)
                ))
                .hint("give `report` the items of one benchmark"));
            }
        }
    }
    Ok(items)
}

/// The answers that are to be shown.
fn answers(context: &Context, runs: &BTreeMap<String, PickedGrades>) -> Result<Answers, Failure> {
    let mut found = Answers::new();
    for input in context.group("answers") {
        let answers = AnswersReader::open(&input.path)?;
        let run = answers.run().cloned();
        let name = answers.run_or(&input.label.to_string()).full_name();
        let Some(of_run) = runs.get(&name) else { continue };
        let grades = of_run.tasks.iter().flat_map(|(_, grades)| grades);
        let wanted: Vec<(&str, u64)> = grades.map(|(_, grade)| (grade.task_id.as_str(), grade.sample)).collect();
        for answer in answers {
            let answer = answer?;
            let sample = answer.sample_number();
            if wanted.contains(&(answer.task_id.as_str(), sample)) {
                found.insert((name.clone(), answer.task_id.clone(), sample), (run.clone(), answer));
            }
        }
    }
    Ok(found)
}

/// The beginning of a text, safe to show.
pub(crate) fn beginning(text: &str) -> String {
    let is_cut = text.chars().nth(LONGEST).is_some();
    let kept: String = text.chars().take(LONGEST).collect();
    lines(&kept) + if is_cut { "…" } else { "" }
}

/// The text, safe to show; its lines stay lines.
pub(crate) fn lines(text: &str) -> String {
    text.lines().map(escape_controls).collect::<Vec<_>>().join("\n")
}
