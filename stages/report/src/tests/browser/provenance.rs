//! The provenance of a number: the panel that its cell opens, with the data of an export in the page and without.

use cwm_contract::provenance::{PLACEHOLDER, fill};
use serde_json::{Value, json};

use super::*;

/// The cells that the first numbers of the page come from; a label is text, whatever it looks like.
const SCORED_CELL: &str = "evaluation[size=</script><img src=x onerror=window.hacked=1>]";
const TRAINED_CELL: &str = "model[size=d32/l1]";

/// A report whose first number comes from one cell and whose second from two.
fn page(folder: &Path, provenance: Option<&Value>) -> PathBuf {
    let page = report(folder).join("index.html");
    let text = std::fs::read_to_string(&page).unwrap();
    let (before, rest) = text.split_once("id=\"cwm-sources\">").unwrap();
    let (_, after) = rest.split_once("</script>").unwrap();
    let labels = json!([SCORED_CELL, TRAINED_CELL]).to_string().replace('<', "\\u003c");
    let text = format!("{before}id=\"cwm-sources\">{labels}</script>{after}");
    // In place of the tables' own sources.
    let mut parts = text.split(" data-from=\"");
    let mut text = parts.next().unwrap().to_owned();
    parts.for_each(|part| text += part.split_once('"').unwrap().1);
    for places in ["0", "0 1", "1"] {
        let at = text.find("<td class=\"number\" data-value=").unwrap() + "<td class=\"number\"".len();
        text.replace_range(at..at, &format!(" data-from=\"{places}\""));
    }
    let text = match provenance {
        Some(export_data) => text.replace(PLACEHOLDER, &fill(&export_data.to_string())),
        None => text,
    };
    std::fs::write(&page, text).unwrap();
    page
}

fn cell(stage: &str, inputs: Value) -> Value {
    json!({
        "stage": stage, "key": "ab".repeat(32), "parameters": {"lr": 0.003, "seed": {"$int": "99999999999999999999"}},
        "explicit": ["lr"], "code": "0123456789ab", "inputs": inputs,
        "outputs": {"out": {"format": "scores", "digest": "cd".repeat(32), "size": 1_234_567}},
        "run_info": {"at": "2026-11-21T09:20:00Z", "on": "machine 1", "cores": 1, "device": "cpu", "cwm": "0.1.0", "seconds": 75.4,
                 "cpu_seconds": 140.0, "peak_memory_bytes": 2_000_000}
    })
}

fn export_data() -> Value {
    let stage = |name: &str, kind: &str| {
        json!({"name": name, "kind": kind, "cells": 1, "seconds": 75.4, "cpu_seconds": 140.0, "bytes": 1_234_567,
               "peak_memory_bytes": 2_000_000, "parameters": {"clip": 1.0}, "explicit": []})
    };
    let inputs = json!({"checkpoint": [{"cell": TRAINED_CELL, "output": "out"}]});
    json!({
        "format": 1, "cwm": "0.1.0", "pipeline": "pipeline", "report": "report.report",
        "stages": [stage("model", "train"), stage("evaluation", "evaluate")],
        "machines": [{"name": "machine 1", "os": "linux x86_64", "cores": 2}], "code": {},
        "cells": {SCORED_CELL: cell("evaluate", inputs), TRAINED_CELL: cell("train", json!({}))}
    })
}

const PANEL: &str = "document.getElementById('cwm-panel').innerText";
const OPEN: &str = "document.getElementById('cwm-panel').open";
const FOCUS: &str = "document.activeElement.closest('td')?.dataset.from ?? null";

#[test]
fn a_number_opens_what_made_it_and_leads_upstream() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut browser) = Browser::start() else { return };
    browser.open(&page(folder.path(), Some(&export_data())));
    // By keys alone: one stop in the table, arrows within it, Enter opens, Escape closes and the focus is where it was.
    assert_eq!(browser.eval("document.querySelectorAll('.from[tabindex=\"0\"]').length"), 1);
    browser.eval("document.querySelector('.from').focus()");
    assert_eq!(browser.eval(FOCUS), "0");
    browser.press("ArrowRight");
    browser.press("End");
    assert_eq!(browser.eval(FOCUS), "1");
    browser.press("Home");
    browser.press("Enter");
    assert_eq!(browser.eval(OPEN), true);
    let panel = browser.text(PANEL);
    for part in [
        SCORED_CELL,
        "evaluate",
        "cwm show abababababab",
        "2026-11-21 09:20:00 UTC",
        "machine 1 (linux x86_64, 1 core)",
    ] {
        assert!(panel.contains(part), "{part} is not in\n{panel}");
    }
    for part in ["1 min 15 s, 2 min 20 s of CPU", "2.0 MB at most", "0.003", "2 defaults", "1.2 MB"] {
        assert!(panel.contains(part), "{part} is not in\n{panel}");
    }
    browser.eval("document.querySelector('#cwm-panel .cell-link').click()");
    let panel = browser.text(PANEL);
    assert!(panel.contains(TRAINED_CELL) && panel.contains("Nothing: it begins here."), "{panel}");
    browser.eval("document.querySelector('.panel-bar button').click()");
    assert!(browser.text(PANEL).contains(SCORED_CELL), "back");
    browser.press("Escape");
    assert_eq!((browser.eval(OPEN), browser.eval(FOCUS)), (json!(false), json!("0")));
    // Several cells are listed first.
    browser.press("ArrowRight");
    browser.press("Enter");
    assert_eq!(browser.eval("document.querySelectorAll('#cwm-panel .cell-link').length"), 2);
    browser.press("Escape");
    assert_eq!(browser.eval(FOCUS), "0 1");
    // What all of it cost.
    let made = browser.text("document.getElementById('cwm-made').innerText");
    assert!(
        made.contains("The report rests on 2 cells of the pipeline pipeline, made by cwm 0.1.0 on machine 1"),
        "{made}"
    );
    assert_eq!(browser.eval("document.querySelectorAll('#cwm-made tbody tr').length"), 3);
    assert_eq!(browser.eval("[window.hacked ?? null, document.images.length]"), json!([null, 0]));
    browser.check_quiet();
}

#[test]
fn without_an_export_the_labels_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut browser) = Browser::start() else { return };
    browser.open(&page(folder.path(), None));
    browser.eval("document.querySelector('.from').click()");
    let panel = browser.text(PANEL);
    assert!(panel.contains(SCORED_CELL) && panel.contains("cwm export"), "{panel}");
    assert_eq!(browser.eval("document.querySelectorAll('#cwm-panel .cell-link').length"), 0);
    assert!(browser.text("document.getElementById('cwm-made').innerText").contains("provenance.json"));
    browser.check_quiet();
}
