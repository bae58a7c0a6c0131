//! Live progress on a terminal: a bar for each running stage, and above the bars the text of events.

use std::collections::HashMap;
use std::time::Duration;

use cwm_contract::Label;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use owo_colors::{OwoColorize, Style};

use crate::events::text::EventText;
use cwm_engine::{EventSink, FailedCell, RunEvent};

/// The most groups of cache hits in a row that are listed.
const MAX_HITS: usize = 5;

/// Draws on standard error.
pub struct Terminal {
    bars: MultiProgress,
    running: HashMap<Label, ProgressBar>,
    text: EventText,
}

impl Terminal {
    /// Makes a sink without bars; if it is `verbose`, it shows each cache hit. `all` are the cells of the pipeline.
    pub fn new(verbose: bool, all: Vec<Label>) -> Self {
        let bars = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        Terminal { bars, running: HashMap::new(), text: EventText::new(verbose, MAX_HITS, all) }
    }

    fn print(&self, lines: &[String]) {
        for line in lines {
            let _ = self.bars.println(colour(line));
        }
    }

    fn bar(&mut self, label: &Label) -> &ProgressBar {
        self.running.entry(label.clone()).or_insert_with(|| {
            let bar = self.bars.add(ProgressBar::new_spinner());
            bar.set_style(style(None, false));
            bar.set_prefix(label.to_string());
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        })
    }
}

/// Returns the style of a bar that counts a unit, or of a spinner.
fn style(unit: Option<&str>, has_total: bool) -> ProgressStyle {
    let template = match (unit, has_total) {
        (None, _) => "{elapsed} {wide_msg:.dim}",
        (Some("bytes"), true) => {
            "{bar:24.cyan/dim} {decimal_bytes}/{decimal_total_bytes} {decimal_bytes_per_sec} {eta:.dim} left"
        }
        (Some("bytes"), false) => "{decimal_bytes} {decimal_bytes_per_sec} {elapsed:.dim}",
        (Some(_), true) => "{bar:24.cyan/dim} {human_pos}/{human_len} {msg} {per_sec:1.dim} {eta:.dim} left",
        (Some(_), false) => "{human_pos} {msg} {per_sec:1.dim} {elapsed:.dim}",
    };
    let style = ProgressStyle::with_template(&format!("  {{spinner}} {{prefix}} {template}"));
    style.expect("the template is well-formed").progress_chars("━━─")
}

/// Colours the first word of a line, if it is the state of a cell or `warning:`.
fn colour(line: &str) -> String {
    let word = line.split_whitespace().next().unwrap_or_default();
    let style = match word {
        "done" | "same" => Style::new().green(),
        "cached" | "pulled" | "pushed" => Style::new().cyan(),
        "FAILED" | "DIFFERS" => Style::new().red().bold(),
        "skipped" | "retrying" | "waiting" | "warning:" => Style::new().yellow(),
        _ => return line.to_owned(),
    };
    let indent = if word == "warning:" { "" } else { "  " };
    match line.strip_prefix(indent).and_then(|line| line.strip_prefix(word)) {
        Some(rest) if std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) => {
            format!("{indent}{}{rest}", word.style(style))
        }
        _ => line.to_owned(),
    }
}

impl EventSink for Terminal {
    fn event(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Progress { label, done, total, unit } => {
                let bar = self.bar(label);
                if bar.length() != *total || bar.message() != *unit {
                    bar.set_style(style(Some(unit), total.is_some()));
                    bar.set_message(unit.clone());
                    total.map_or_else(|| bar.unset_length(), |total| bar.set_length(total));
                }
                bar.set_position(*done);
            }
            RunEvent::Activity { label, activity } => {
                let bar = self.bar(label);
                bar.set_style(style(None, false));
                bar.unset_length();
                bar.set_message(activity.clone());
            }
            RunEvent::Started { label, .. } | RunEvent::Transferring { label, .. } => {
                let lines = self.text.take_collapsed();
                self.print(&lines);
                self.bar(label);
            }
            _ => {
                if let RunEvent::Transferred { label, .. }
                | RunEvent::Finished { label, .. }
                | RunEvent::Checked { label, .. }
                | RunEvent::Retrying { label, .. }
                | RunEvent::Failed(FailedCell { label, .. }) = event
                    && let Some(bar) = self.running.remove(label)
                {
                    bar.finish_and_clear();
                }
                let lines = self.text.lines(event);
                self.print(&lines);
            }
        }
    }

    fn tick(&mut self) {
        let lines = self.text.take_skipped();
        self.print(&lines);
    }
}
