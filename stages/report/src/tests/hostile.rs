//! Text that means harm, in every place where text from data stands, in every format of the tables.

use std::path::{Path, PathBuf};

use cwm_contract::testing::Trial;
use cwm_contract::{Label, Value};

use super::{files, run, trial};
use crate::synthetic::scored;

/// Texts that would be markup, a command, a formula, a new line or a new column, or would hide the text after them.
pub(super) const HOSTILE: [&str; 6] = [
    "=HYPERLINK(\"x\",\"y\")",
    "@SUM(1)|<script>alert(1)</script>",
    "\\input{secret} \\write18{x} $a_1^2$ %# ~ & {",
    "]]><!--\u{202e}evil\u{0}\u{7}\nnext line\u{2028}",
    "[-- `code` ''",
    "中文 é \u{200b}\u{e0041}",
];

/// A report in which labels, families, sizes, test sets, reasons, parameters and titles all are `text`.
pub(super) fn report(folder: &Path, text: &str) -> PathBuf {
    let coordinate = |axis: &str| vec![(axis.to_owned(), text.to_owned())];
    let mut row = scored("d32/l1", 0, "held_out", [0.5, 0.9, 0.2, 0.1], &[(0.9, 0.2), (0.8, 0.1)]);
    row.label = format!("evaluation[variant={text}]");
    (row.family, row.size) = (text.into(), text.into());
    let mut shifted = row.clone();
    (shifted.test, shifted.label) = (text.into(), format!("shifted[variant={text}]"));
    let write = |name: &str, value: serde_json::Value| {
        let path = folder.join(name);
        std::fs::write(&path, format!("{value}\n")).unwrap();
        path
    };
    let sets = serde_json::json!({text: {"games": 1, "plies": 2, "positions": 3, "unique_moves": 2}});
    let candidate = serde_json::json!({
        "rank": 1, "chosen": true, "why": text, "label": text, "family": text, "size": text, "status": "finished",
        "parameters": {text: text, "lr": 0.5}, "loss": 0.5, "labelwise": 0.5, "exact": 0.5, "trajectory": 0.5, "steps": 1,
    });
    let difference = serde_json::json!({
        "family": text, "size": text, "variant": text, "baseline": text, "test": text, "games": 1, "positions": 1,
        "difference": 0.5, "low": 0.25, "high": 0.75, "confidence": 0.95, "lower_games": 0.5,
    });
    let parse = serde_json::json!({"stage": "parse", "read": 2, "kept": 1, "dropped": {text: 1}});
    let tokens = serde_json::json!({"stage": "tokenize", "sets": sets});
    let label = |stage: &str| Label { stage: stage.into(), coordinates: coordinate("x") };
    let trial: Trial = trial(folder, &[row, shifted])
        .labelled("counts", label("parse"), write("parse", parse))
        .labelled("counts", Label::stage(text), write("tokens", tokens))
        .labelled("candidates", label("choice"), write("candidates", candidate))
        .labelled("differences", label("differences"), write("differences", difference))
        .with("title", Value::Text(text.into()));
    run(trial).unwrap()
}

/// Fields of a CSV file: lines of texts without their quotes.
pub(super) fn fields(csv: &str) -> Vec<Vec<String>> {
    let (mut lines, mut line, mut field, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut characters = csv.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => field.extend(characters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => line.push(std::mem::take(&mut field)),
            '\n' if !quoted => {
                line.push(std::mem::take(&mut field));
                lines.push(std::mem::take(&mut line));
            }
            other => field.push(other),
        }
    }
    assert!(!quoted && field.is_empty() && line.is_empty(), "{csv}");
    lines
}

#[test]
fn hostile_text_is_text_in_every_table() {
    for text in HOSTILE {
        let folder = tempfile::tempdir().unwrap();
        let mut seen = Vec::new();
        for (name, bytes) in files(&report(folder.path(), text)) {
            let ending = name.extension().unwrap().to_str().unwrap().to_owned();
            if !name.starts_with("tables") {
                continue;
            }
            let content = String::from_utf8(bytes).unwrap();
            let invisible = |at: char| {
                (at.is_control() && at != '\n') || matches!(at, '\u{202e}' | '\u{2028}' | '\u{200b}' | '\u{e0041}')
            };
            assert!(!content.contains(invisible), "{}: {content}", name.display());
            match ending.as_str() {
                "csv" => {
                    let lines = fields(&content);
                    for field in lines.iter().flatten() {
                        let formula = field.trim_start().starts_with(['=', '+', '@']);
                        let number = field.trim_start_matches('-');
                        let minus = field.trim_start().starts_with('-') && number.parse::<f64>().is_err();
                        assert!(!formula && !minus, "{field} in {}", name.display());
                    }
                    assert!(lines.iter().all(|line| line.len() == lines[0].len()), "{content}");
                }
                "json" => {
                    serde_json::from_str::<serde_json::Value>(&content).unwrap();
                }
                "tex" => {
                    assert!(!content.contains("\\input") && !content.contains("\\write"), "{content}");
                }
                other => panic!("{other} is a format of tables that is not looked at here"),
            }
            seen.push(name.display().to_string());
        }
        for table in ["table-03", "table-05", "table-08", "shifts", "candidates", "differences", "drops", "sets"] {
            for ending in ["tex", "csv", "json"] {
                assert!(seen.contains(&format!("tables/{table}.{ending}")), "{table}.{ending} of {text}: {seen:?}");
            }
        }
    }
}
