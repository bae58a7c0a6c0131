//! Describes what models answered to items, and what their answers are.

use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::Path;

use cwm_answers::{AnswersReader, Grades, Tallies, Tally};
use cwm_contract::{DescribeOptions, Description, Failure};
use cwm_questions::{UnknownTasks, read_items};
use serde_json::{Value, json};

use crate::format::{escape_controls, line, percent, with_separators};
use crate::models::entries;

/// Characters of a text from a file that are shown.
const LONGEST: usize = 100;

/// Runs that are shown; the rest is counted.
const SHOWN: usize = 40;

/// Describes a file of format `items`.
pub fn items(path: &Path, detail: DescribeOptions) -> Result<Description, Failure> {
    let file = BufReader::new(std::fs::File::open(path).map_err(|error| Failure::io("open", path, error))?);
    let items = read_items(file, &path.display().to_string(), UnknownTasks::Keep)?;
    let mut categories: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
    for item in &items {
        *categories.entry(&item.task_category).or_default().entry(&item.task_type).or_default() += 1;
    }
    let mut lines = vec![line("items", with_separators(items.len() as u64))];
    lines.extend(categories.iter().map(|(category, tasks)| {
        let number = with_separators(tasks.values().sum());
        line(&escape_controls(category, LONGEST), format!("{number} of {} tasks", tasks.len()))
    }));
    for item in items.iter().take(detail.examples) {
        let [id, input, key] =
            [&item.task_id, &item.input, &item.correct_answer].map(|text| escape_controls(text, LONGEST));
        lines.extend([String::new(), line(&id, input), line("", format!("key {key}"))]);
    }
    let examples = items.iter().take(detail.examples).map(serde_json::to_value).collect::<Result<Vec<Value>, _>>();
    let examples = examples.map_err(|error| Failure::internal(error.to_string()))?;
    Ok(Description { lines, facts: json!({ "items": items.len(), "tasks": categories, "examples": examples }) })
}

/// Describes a file of format `answers`.
pub fn answers(path: &Path, detail: DescribeOptions) -> Result<Description, Failure> {
    let file = AnswersReader::open(path)?;
    let run = file.run().cloned();
    let (mut total, mut asked, mut answered, mut with_tokens, mut tokens) = (0_u64, 0_u64, 0_u64, 0_u64, 0_u64);
    let (mut finishes, mut examples, mut shown) = (BTreeMap::<String, u64>::new(), Vec::new(), Vec::new());
    for answer in file {
        let answer = answer?;
        total += 1;
        asked += u64::from(answer.is_asked());
        answered += u64::from(answer.response.is_some());
        with_tokens += u64::from(answer.completion_tokens.is_some());
        tokens += answer.completion_tokens.unwrap_or_default();
        let finish =
            answer.finish.as_deref().map_or_else(|| "unknown".to_owned(), |word| escape_controls(word, LONGEST));
        *finishes.entry(finish).or_default() += 1;
        if examples.len() < detail.examples {
            let text = answer.response.as_deref().or(answer.fault.as_deref()).unwrap_or_default();
            shown.push(line(&escape_controls(&answer.task_id, LONGEST), escape_controls(text, LONGEST)));
            examples.push(json!({ "task_id": answer.task_id, "response": answer.response, "fault": answer.fault }));
        }
    }
    let described = serde_json::to_value(&run).map_err(|error| Failure::internal(error.to_string()))?;
    let by = described.as_object().map_or_else(|| "unknown".to_owned(), entries);
    let finished: Vec<_> = finishes.iter().map(|(word, count)| format!("{word} {}", with_separators(*count))).collect();
    let mut lines = vec![
        line("run", by),
        line(
            "items",
            format!(
                "{}, {} asked, {} answered",
                with_separators(total),
                with_separators(asked),
                with_separators(answered)
            ),
        ),
        line("finish", finished.join(", ")),
    ];
    if with_tokens > 0 {
        let mean = tokens as f64 / with_tokens as f64;
        lines.push(line("tokens", format!("{} of completions, {mean:.1} an answer", with_separators(tokens))));
    }
    if !shown.is_empty() {
        lines.push(String::new());
    }
    lines.append(&mut shown);
    let facts = json!({
        "run": run, "items": total, "asked": asked, "answered": answered, "finish": finishes,
        "completion_tokens": (with_tokens > 0).then_some(tokens), "examples": examples,
    });
    Ok(Description { lines, facts })
}

/// Describes a file of format `grades`.
pub fn grades(path: &Path) -> Result<Description, Failure> {
    let file = Grades::open(path)?;
    let (graded, total) = (file.description().clone(), file.total());
    let mut runs: BTreeMap<String, (u64, u64, u64)> = BTreeMap::new();
    for grade in file {
        let grade = grade?;
        let (items, correct, sound) = runs.entry(grade.run).or_default();
        *items += 1;
        *correct += u64::from(grade.correct);
        *sound += u64::from(grade.sound == Some(true));
    }
    let mut lines = vec![line("grades", with_separators(total))];
    let row = |(run, (items, correct, sound)): (&String, &(u64, u64, u64))| {
        let text = format!(
            "{} of {} correct, {} sound",
            percent(*correct, *items),
            with_separators(*items),
            percent(*sound, *items)
        );
        line(&escape_controls(run, LONGEST), text)
    };
    lines.extend(runs.iter().take(SHOWN).map(row));
    lines.extend(more(runs.len()));
    Ok(Description { lines, facts: json!({ "of": graded, "grades": total, "runs": runs }) })
}

/// Describes a folder of format `tallies`.
pub fn tallies(path: &Path) -> Result<Description, Failure> {
    let tallies = Tallies::read(path)?;
    let (tasks, items) = (tallies.items.len() as u64, tallies.items.iter().map(|task| task.items).sum());
    let mut lines = vec![
        line("tasks", with_separators(tasks)),
        line("items", with_separators(items)),
        line("resamples", with_separators(tallies.graded.resamples)),
    ];
    let row = |tally: &Tally| {
        let [accuracy, low, high] = [tally.accuracy, tally.low, tally.high].map(|share| share * 100.0);
        let items = with_separators(tally.items);
        let text = format!(
            "{accuracy:.1} % [{low:.1}, {high:.1}] of {items} correct, {} sound",
            percent(tally.sound, tally.items)
        );
        line(&escape_controls(&tally.run, LONGEST), text)
    };
    lines.extend(tallies.overall.iter().take(SHOWN).map(row));
    lines.extend(more(tallies.overall.len()));
    let overall = tallies.overall.iter().map(|tally| {
        json!({
            "run": tally.run, "items": tally.items, "correct": tally.correct, "accuracy": tally.accuracy,
            "low": tally.low, "high": tally.high, "sound": tally.sound,
        })
    });
    Ok(Description {
        lines,
        facts: json!({ "of": tallies.graded, "tasks": tasks, "items": items, "overall": overall.collect::<Vec<_>>() }),
    })
}

/// A line for the runs that are not shown.
fn more(runs: usize) -> Option<String> {
    let more = runs.checked_sub(SHOWN).filter(|more| *more > 0)?;
    Some(line("", format!("and {} more", with_separators(more as u64))))
}
