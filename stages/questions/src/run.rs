//! The run of `questions`.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};

use cwm_contract::{Context, Failure, ParameterError};
use cwm_questions::build::{Order, PositionJudgement, Positions, StateTracking, Tactics};
use cwm_questions::prompt::Wording;
use cwm_questions::{Band, Category, Distractors, Item, Task, UnknownTasks, read_items, write_line};
use cwm_reasoning::{JudgeTask, ReasoningTask};

use crate::config::Config;
use crate::counts::{self, SourceCounts, TaskItems};
use crate::files::Text;
use crate::{comments, evaluations, games, judges, puzzles, reasoning};

/// Reads the sources and writes `items` and `counts`.
pub fn run(context: &Context) -> Result<(), Failure> {
    let config: Config = context.parameters()?;
    let wanted = config.wanted().map_err(failure)?;
    let wording = wording(context, &config)?;
    let has = |input| context.optional_input(input).is_some();
    // Without embeddings, words decide which comments are near.
    let lexical = Task::Semantic(Distractors::Lexical);
    let has_source = |task| wanted.has(task) && has(config.source(task)) && !(task == lexical && has("embeddings"));
    if let Some(task) = Task::all().find(|&task| has_source(task) && !wording.has(task)) {
        return Err(Failure::input(format!("the wording has no item of the task {task}"))
            .hint("give the wording of all tasks that are built, or leave this one out with `tasks`"));
    }
    let (mut items, mut sources) = build(context, &config, &has_source)?;
    items.sort_by_key(|item| item.task().map(Task::category));
    for item in &mut items {
        wording.set_question(item)?;
    }
    let reasoned: Vec<ReasoningTask> = ReasoningTask::ALL.into_iter().filter(|task| wanted.has(*task)).collect();
    if let Some(path) = context.optional_input("evaluations").filter(|_| !reasoned.is_empty()) {
        let (found, counts) = reasoning::read(context, path, &config, &reasoned)?;
        items.extend(found);
        sources.insert("values", counts);
    }
    let judging: Vec<JudgeTask> = JudgeTask::ALL.into_iter().filter(|task| wanted.has(*task)).collect();
    if !judging.is_empty() {
        let (found, counts) = judges::read(context, &config, &judging)?;
        items.extend(found);
        sources.insert("answers", counts);
    }
    let found = |name: &str| items.iter().filter(|item| item.task_type == name).count();
    let tasks = Task::all().filter(|&task| has_source(task)).map(|task| TaskItems {
        name: task.name(),
        found: found(task.name()),
        most: config.items_of(task),
        is_named: wanted.names(task),
        source: config.source(task),
    });
    let reasoned = reasoned.into_iter().filter(|_| has("evaluations")).map(|task| TaskItems {
        name: task.name(),
        found: found(task.name()),
        most: config.per_task as usize,
        is_named: wanted.names(task),
        source: "evaluations",
    });
    // A judge has as many items as there are answers.
    let judging = judging.into_iter().map(|task| (task.name(), found(task.name())));
    let judging =
        judging.map(|(name, found)| TaskItems { name, found, most: found, is_named: false, source: "answers" });
    let tasks: Vec<TaskItems> = tasks.chain(reasoned).chain(judging).collect();
    check(context, config.order(), &tasks, &sources)?;
    let mut out = BufWriter::new(fs_err::File::create(context.output("items")?)?);
    for item in &items {
        write_line(&mut out, item)?;
    }
    out.flush()?;
    counts::write(context, &sources, &tasks, &items)?;
    context.metric("items", items.len() as f64);
    Ok(())
}

/// Returns the failure of a faulty parameter.
pub fn failure(fault: ParameterError) -> Failure {
    Failure::input(format!("`{}` {}", fault.parameter, fault.message))
}

/// Returns the wording of the tasks: that of the input `wording`, else our own.
fn wording(context: &Context, config: &Config) -> Result<Wording, Failure> {
    let wordings = context.group("wording");
    if wordings.is_empty() {
        return Ok(Wording::own(config.keys()));
    }
    let mut items = Vec::new();
    for input in wordings {
        let text = Text::open(&input.path)?;
        items.extend(read_items(text.reader, &input.path.display().to_string(), UnknownTasks::Fail)?);
    }
    Wording::of_items(&items)
}

/// Builds items of all sources, without their questions.
fn build(
    context: &Context,
    config: &Config,
    has_source: &dyn Fn(Task) -> bool,
) -> Result<(Vec<Item>, BTreeMap<&'static str, SourceCounts>), Failure> {
    let (order, seed, keys) = (config.order(), config.seed, config.keys());
    let wanted = |task| if has_source(task) { config.items_of(task) } else { 0 };
    let positions = |source| (config.positions == source).then(|| Positions::new(order, seed, keys, wanted));
    let is_semantic = |task: Task| task.category() == Category::Semantic && wanted(task) > 0;
    let (mut items, mut sources) = (Vec::new(), BTreeMap::new());
    let mut add = |source, (found, counts): (Vec<Item>, SourceCounts)| {
        items.extend(found);
        sources.insert(source, counts);
    };
    if let Some(path) = context.optional_input("puzzles") {
        let tactics = Tactics::new(order, seed, wanted);
        add("puzzles", puzzles::read(context, path, positions("puzzles"), tactics)?);
    }
    if let Some(folder) = context.optional_input("games") {
        let tracking = StateTracking::new(order, seed, keys, wanted);
        add("games", games::read(context, folder, positions("games"), tracking)?);
    }
    if let Some(path) = context.optional_input("evaluations") {
        let judgement = PositionJudgement::new(order, seed, keys, wanted);
        let bands: Vec<Band> = Band::ALL.into_iter().filter(|&band| has_source(Task::Judgement(band))).collect();
        if !bands.is_empty() {
            add("evaluations", evaluations::read(context, path, judgement, config.first, &bands)?);
        }
    }
    if let Some(path) = context.optional_input("comments").filter(|_| Task::all().any(is_semantic)) {
        add("comments", comments::read(context, path, seed, wanted)?);
    }
    Ok((items, sources))
}

/// Notes tasks that have fewer items than wanted.
///
/// # Errors
///
/// One of them is named, or none has an item.
fn check(
    context: &Context,
    order: Order,
    tasks: &[TaskItems],
    sources: &BTreeMap<&'static str, SourceCounts>,
) -> Result<(), Failure> {
    let hint = match order {
        Order::File => "give more, or lower `per_task` or `per_theme`",
        Order::Shuffled => {
            "give more, lower `per_task` or `per_theme`, or set `order: file`, where full tasks leave rows to others"
        }
    };
    for TaskItems { name, found, most, is_named, source } in tasks {
        let message = format!("{name} has {found} of {most} items");
        if found < most && *is_named {
            return Err(Failure::input(format!("{message}: `{source}` has no more for it")).hint(hint));
        }
        if found < most {
            context.note(message);
        }
    }
    if tasks.iter().all(|task| task.found == 0) {
        let dropped: Vec<String> = sources.values().flat_map(SourceCounts::dropped).collect();
        let dropped = if dropped.is_empty() { String::new() } else { format!("; dropped: {}", dropped.join(", ")) };
        return Err(Failure::input(format!("no item could be built{dropped}"))
            .hint("give more puzzles, games, evaluations, comments or answers"));
    }
    Ok(())
}
