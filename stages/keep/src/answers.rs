//! The answers that pass, as examples.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use cwm_answers::{Answer, AnswersReader, Grade, Grades};
use cwm_contract::{Context, Failure};
use cwm_questions::truth::chess_of_fen;
use cwm_questions::{Item, Metadata};
use cwm_reasoning::{AnswerVerdict, Example, Message, MessageRole, ReasoningTask, guided_example};
use shakmaty::Position;

use crate::config::Config;

/// An answer that passed.
#[derive(Debug)]
pub struct PassingAnswer {
    /// The index of its item, and its number among the answers to it.
    pub place: (usize, u64),
    /// The item's task.
    pub task: String,
    /// The full-move number of the position.
    pub fullmove: u32,
    /// The kind of piece whose moves are asked for, of `reasoning_legal_moves`.
    pub piece: Option<String>,
    /// The example, which has no id yet.
    pub example: Example,
}

/// The reason why an answer is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// There is no text.
    Unanswered,
    /// The answer is wrong, or its reward is below the threshold.
    BelowThreshold,
    /// An answer to the same item has the same text.
    Repeated,
    /// Its position's full-move number is not wanted.
    Fullmove,
    /// There are too many of its kind of piece.
    Piece,
}

impl Reason {
    /// All of them.
    pub const ALL: [Reason; 5] =
        [Reason::Unanswered, Reason::BelowThreshold, Reason::Repeated, Reason::Fullmove, Reason::Piece];

    /// Its name in counts.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Unanswered => "unanswered",
            Reason::BelowThreshold => "below",
            Reason::Repeated => "repeated",
            Reason::Fullmove => "fullmove",
            Reason::Piece => "piece",
        }
    }
}

/// The answers that were read.
#[derive(Debug, Default)]
pub struct TeacherAnswers {
    /// The answers that passed, in the order of the items and their numbers.
    pub passing: Vec<PassingAnswer>,
    /// The number of the others, by reason.
    pub dropped: BTreeMap<Reason, u64>,
    /// The number of all.
    pub total: u64,
}

impl TeacherAnswers {
    /// Counts an answer that is dropped.
    pub fn count_dropped(&mut self, reason: Reason) {
        *self.dropped.entry(reason).or_default() += 1;
    }
}

/// Reads answers to `items`.
///
/// # Errors
/// A file cannot be read; an answer is to no item, or has no grade.
pub fn read(context: &Context, config: &Config, items: &[Item]) -> Result<TeacherAnswers, Failure> {
    let input = &context.group("answers")[0];
    let answers = AnswersReader::open(&input.path)?;
    let run = answers.run().map_or_else(|| input.label.to_string(), |run| run.full_name());
    let grades = context.optional_input("grades").map(|path| grades_of(path, &run)).transpose()?;
    let by_id: HashMap<&str, usize> = items.iter().enumerate().map(|(at, item)| (&*item.task_id, at)).collect();
    let mut found = TeacherAnswers::default();
    let mut seen: HashSet<(usize, String)> = HashSet::new();
    for answer in answers {
        let answer = answer?;
        context.check_cancelled()?;
        if !answer.is_asked() {
            continue;
        }
        found.total += 1;
        let at = *by_id.get(&*answer.task_id).ok_or_else(|| {
            Failure::input(format!("the answers of {run} have one to {}, which is no item here", answer.task_id))
        })?;
        let filter = AnswerFilter { config, run: &run, grades: grades.as_ref() };
        match filter.example(&items[at], &answer)? {
            Err(reason) => found.count_dropped(reason),
            Ok(example) if !seen.insert((at, example.target().to_owned())) => found.count_dropped(Reason::Repeated),
            Ok(example) => found.passing.push(passing(&items[at], (at, answer.sample_number()), example)?),
        }
    }
    found.passing.sort_by_key(|answer| answer.place);
    Ok(found)
}

/// Grades by item and number of the answer.
type GradesByAnswer = HashMap<(String, u64), Grade>;

fn grades_of(path: &Path, run: &str) -> Result<GradesByAnswer, Failure> {
    let mut grades = HashMap::new();
    let mut others = HashSet::new();
    for grade in Grades::open(path)? {
        let grade = grade?;
        if grade.run == run {
            grades.insert((grade.task_id.clone(), grade.sample), grade);
        } else {
            others.insert(grade.run);
        }
    }
    if grades.is_empty() {
        let mut others: Vec<String> = others.into_iter().collect();
        others.sort_unstable();
        let message = format!("the grades ({}) have none of {run}, whose answers are given", path.display());
        let others = if others.is_empty() { "no run".to_owned() } else { others.join(", ") };
        return Err(Failure::input(message).hint(format!("they are grades of {others}")));
    }
    Ok(grades)
}

struct AnswerFilter<'a> {
    config: &'a Config,
    run: &'a str,
    grades: Option<&'a GradesByAnswer>,
}

impl AnswerFilter<'_> {
    /// The example that an answer becomes, or the reason why it is dropped.
    fn example(&self, item: &Item, answer: &Answer) -> Result<Result<Example, Reason>, Failure> {
        let Some(text) = answer.response.as_deref().filter(|text| !text.trim().is_empty()) else {
            return Ok(Err(Reason::Unanswered));
        };
        let Some(task) = ReasoningTask::of_name(&item.task_type) else {
            return Ok(guided_example(item, text, self.config.board())?.ok_or(Reason::BelowThreshold));
        };
        let grade = self.grades.and_then(|grades| grades.get(&(item.task_id.clone(), answer.sample_number())));
        let grade = grade.ok_or_else(|| {
            let (run, sample) = (self.run, answer.sample_number());
            Failure::input(format!("the answer {sample} of {run} to {} has no grade", item.task_id))
                .hint("give the input `grades` what `grade` made of these answers")
        })?;
        let at_least = |threshold: f64| grade.reward.is_some_and(|reward| reward >= threshold);
        let passes = match task {
            ReasoningTask::PredictMove => at_least(self.config.predict),
            ReasoningTask::LegalMoves => at_least(self.config.legal),
            ReasoningTask::BestMove | ReasoningTask::WorstMove => grade.verdict == AnswerVerdict::Right.name(),
        };
        Ok(if passes { Ok(conversation(item, text)) } else { Err(Reason::BelowThreshold) })
    }
}

/// The item as a conversation, with the whole answer.
fn conversation(item: &Item, text: &str) -> Example {
    let message = |role, content: &str| Message { role, content: content.to_owned() };
    let system = item.metadata.text("system").map(|system| message(MessageRole::System, system));
    let messages = [message(MessageRole::User, &item.question), message(MessageRole::Assistant, text)];
    let mut meta = Metadata::default();
    meta.insert("builder", "keep");
    meta.insert("fen", &*item.input);
    meta.insert("task", &*item.task_type);
    meta.insert("item", &*item.task_id);
    for name in ["candidates", "square"] {
        if let Some(value) = item.metadata.get(name) {
            meta.insert(name, value.clone());
        }
    }
    Example { id: String::new(), messages: system.into_iter().chain(messages).collect(), meta }
}

fn passing(item: &Item, place: (usize, u64), example: Example) -> Result<PassingAnswer, Failure> {
    let position = chess_of_fen(&item.input);
    let (position, _) = position.map_err(|wrong| Failure::input(format!("{}: {wrong}", item.task_id)))?;
    let is_legal_moves = ReasoningTask::of_name(&item.task_type) == Some(ReasoningTask::LegalMoves);
    // Such as `white knight`.
    let piece = item.metadata.text("piece").filter(|_| is_legal_moves).and_then(|piece| piece.split(' ').next_back());
    Ok(PassingAnswer {
        place,
        task: item.task_type.clone(),
        fullmove: position.fullmoves().get(),
        piece: piece.map(str::to_owned),
        example,
    })
}
