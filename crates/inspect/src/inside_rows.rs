//! Describes transpositions, and the words that models of moves expect.

use std::path::Path;

use cwm_contract::{DescribeOptions, Description, Failure};
use cwm_inside_rows::{LegalityReader, Transposition, TranspositionsReader};
use serde_json::json;

use crate::format::{counted, escape_controls, line, percent, with_separators};

/// Characters of a text from a file that are shown.
const LONGEST: usize = 100;

/// Describes a file of format `transpositions`.
pub fn transpositions(path: &Path, detail: DescribeOptions) -> Result<Description, Failure> {
    let file = TranspositionsReader::open(path)?;
    let (of, total) = (file.description().clone(), file.total());
    let mut examples: Vec<Vec<Transposition>> = Vec::new();
    for row in file {
        let row = row?;
        let shown = examples.len();
        match examples.last_mut().filter(|class| class[0].class == row.class) {
            Some(class) => class.push(row),
            None if shown < detail.examples => examples.push(vec![row]),
            None => break,
        }
    }
    let plies = of.plies.map(|[min, max]| format!(" of {min} to {max} plies")).unwrap_or_default();
    let [same, sequences] = [&of.same, &of.sequences].map(|text| escape_controls(text, LONGEST));
    let largest = of.sizes.keys().max().copied().unwrap_or_default();
    let mut lines = vec![
        line("same", format!("{same}, {sequences}{plies}")),
        line("games", with_separators(of.games)),
        line("sequences", format!("{} different ones", with_separators(of.different))),
        line("classes", format!("{}, the largest of {}", with_separators(of.classes), with_separators(largest))),
        line("written", counted(total, "sequence")),
    ];
    for class in &examples {
        let member = |row: &Transposition| format!("game {} after {} plies", row.game, row.ply);
        let members: Vec<String> = class.iter().map(member).collect();
        lines.push(String::new());
        lines.push(line(&format!("class {}", class[0].class), escape_controls(&class[0].key, LONGEST)));
        lines.push(line("", members.join(", ")));
    }
    let example = |class: &Vec<Transposition>| {
        let members: Vec<[u32; 2]> = class.iter().map(|row| [row.game, row.ply]).collect();
        json!({ "class": class[0].class, "key": class[0].key, "members": members })
    };
    let examples: Vec<_> = examples.iter().map(example).collect();
    Ok(Description { lines, facts: json!({ "of": of, "rows": total, "examples": examples }) })
}

/// Describes a file of format `legality`.
pub fn legality(path: &Path) -> Result<Description, Failure> {
    let file = LegalityReader::open(path)?;
    let (of, total) = (file.description().clone(), file.total());
    let (mut legal, mut loose, mut right, mut over) = (0, 0, 0, 0);
    let (mut mass, mut loss) = (0.0, 0.0);
    for row in file {
        let row = row?;
        legal += u64::from(row.legal == Some(true));
        loose += u64::from(row.loose == Some(true));
        right += u64::from(row.right);
        over += u64::from(row.legal.is_none());
        mass += row.mass.unwrap_or_default();
        loss += row.loss;
    }
    let cut = of.max_tokens.map(|most| format!(", cut after {} words", with_separators(most))).unwrap_or_default();
    let dropped: Vec<String> = of
        .dropped
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(reason, count)| format!("{} {}", escape_controls(reason, LONGEST), with_separators(*count)))
        .collect();
    let share = |part: u64, whole: u64| format!("{} ({})", with_separators(part), percent(part, whole));
    let mean =
        |sum: f64, number: u64| if number > 0 { format!("{:.4}", sum / number as f64) } else { "none".to_owned() };
    let open = total - over;
    let mut lines =
        vec![line("model", escape_controls(&of.model, LONGEST)), line("games", with_separators(of.games) + &cut)];
    if !dropped.is_empty() {
        lines.push(line("dropped", dropped.join(", ")));
    }
    lines.extend([
        line("words", format!("{}, of which {} after the end", with_separators(total), with_separators(over))),
        line("legal", share(legal, open)),
        line("loose", share(loose, open)),
        line("right", share(right, total)),
        line("mass", format!("{} on legal words", mean(mass, open))),
        line("loss", mean(loss, total)),
    ]);
    let facts = json!({ "of": of, "rows": total, "over": over, "legal": legal, "loose": loose, "right": right });
    Ok(Description { lines, facts })
}
