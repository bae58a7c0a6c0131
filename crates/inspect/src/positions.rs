//! Describes positions with their best moves, and with the moves that models chose in them.

use std::path::Path;

use cwm_choices::Choices;
use cwm_contract::{DescribeOptions, Description, Failure};
use cwm_encoding::PlainMove;
use cwm_evaluations::{Evaluations, Score, UNKNOWN_MOVES};
use cwm_measures::Measure;
use serde_json::{Map, Value, json};

use crate::format::{escape_controls, line, percent, with_separators};
use crate::models::{display, entries};

/// Characters of a text from a file that are shown.
const LONGEST: usize = 100;

/// Describes a file of format `evaluations`.
pub fn evaluations(path: &Path, detail: DescribeOptions) -> Result<Description, Failure> {
    let file = Evaluations::open(path)?;
    let (source, total) = (file.description().clone(), file.total());
    let (mut mates, mut examples, mut shown) = (0, Vec::new(), Vec::new());
    for (row, evaluation) in file.enumerate() {
        let evaluation = evaluation?;
        let (best, score) = (name(evaluation.best()), evaluation.lines.first().and_then(|line| line.score));
        mates += u64::from(matches!(score, Some(Score::Mate(_))));
        if row < detail.examples {
            let score = score.map(score_text);
            shown.extend(position(row, &evaluation.fen));
            let value = score.as_ref().map(|score| format!(", {score}")).unwrap_or_default();
            shown.push(line("", format!("best {best}{value}")));
            examples.push(json!({ "row": row, "fen": evaluation.fen, "best": best, "score": score }));
        }
    }
    let nodes = source.nodes.map(|nodes| format!(", {} nodes a position", with_separators(nodes))).unwrap_or_default();
    let mut lines = vec![line("source", format!("{}{nodes}", escape_controls(&source.made_by, LONGEST)))];
    lines.extend(
        source.digest.as_ref().map(|digest| line("program", format!("BLAKE3 {}", escape_controls(digest, LONGEST)))),
    );
    if !source.options.is_empty() {
        let options: Vec<_> = source.options.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        lines.push(line("options", escape_controls(&options.join(", "), LONGEST)));
    }
    lines.push(line("positions", with_separators(total)));
    lines.push(line("with mate", format!("{} ({})", with_separators(mates), percent(mates, total))));
    lines.append(&mut shown);
    let facts = json!({ "source": source, "positions": total, "mates": mates, "examples": examples });
    Ok(Description { lines, facts })
}

/// Describes a file of format `choices`.
pub fn choices(path: &Path, detail: DescribeOptions) -> Result<Description, Failure> {
    let file = Choices::open(path)?;
    let (chooser, total) = (file.description().clone(), file.total());
    let mut sums = Measure::ALL.map(|measure| (measure, 0.0, 0_u64));
    let (mut examples, mut shown) = (Vec::new(), Vec::new());
    for (row, choice) in file.enumerate() {
        let choice = choice?;
        for (measure, sum, number) in &mut sums {
            let value = measure.of(&choice);
            if !value.is_nan() {
                *sum += value;
                *number += 1;
            }
        }
        if row < detail.examples {
            let best = name(choice.best);
            shown.extend(position(row, &choice.fen));
            shown.push(line("", format!("best {best}, chosen {}", escape_controls(&choice.text, LONGEST))));
            examples.push(json!({ "row": row, "fen": choice.fen, "best": best, "chosen": choice.text }));
        }
    }
    let described = serde_json::to_value(&chooser).map_err(|error| Failure::internal(error.to_string()))?;
    let described = described.as_object().cloned().unwrap_or_default();
    let mut lines = vec![line("chosen by", entries(&described)), line("positions", with_separators(total))];
    let mut means = Map::new();
    for (measure, sum, number) in sums {
        if number > 0 {
            let (rate, mean) = (percent(sum as u64, number), json!(sum / number as f64));
            let text = if measure.is_rate() { rate } else { format!("{} nats a move", display(&mean)) };
            lines.push(line(measure.name(), text));
            means.insert(measure.name().to_owned(), mean);
        }
    }
    lines.append(&mut shown);
    let facts =
        json!({ "chooser": described, "positions": total, "means": Value::Object(means), "examples": examples });
    Ok(Description { lines, facts })
}

/// The first lines of a position that is shown by itself.
fn position(row: usize, fen: &str) -> [String; 2] {
    [String::new(), line(&format!("position {row}"), escape_controls(fen, LONGEST))]
}

/// A packed move in UCI.
fn name(packed: u16) -> String {
    PlainMove::from_packed(packed).map_or_else(|| format!("move {packed}"), |plain| plain.to_string())
}

fn score_text(score: Score) -> String {
    match score {
        Score::Centipawns(value) => format!("{value} centipawns"),
        Score::Mate(UNKNOWN_MOVES) => "mate".to_owned(),
        Score::Mate(moves) if moves == -UNKNOWN_MOVES => "mated".to_owned(),
        Score::Mate(moves) if moves > 0 => format!("mate in {moves}"),
        Score::Mate(moves) => format!("mated in {}", moves.unsigned_abs()),
    }
}
