//! Live progress on a terminal: a bar a running stage, lines of what is done above.

use std::collections::HashMap;
use std::time::Duration;

use cwm_contract::Label;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::events::collapsed_hits::CollapsedHits;
use crate::events::plain::lines;
use cwm_engine::{EventSink, RunEvent};

/// Draws on standard error.
pub struct Terminal {
    bars: MultiProgress,
    running: HashMap<Label, ProgressBar>,
    /// True if each cached cell is shown.
    verbose: bool,
    cached: CollapsedHits,
}

/// So many cached cells in a row are listed; more are counted.
const FEW: usize = 5;

impl Terminal {
    /// Nothing drawn yet; `verbose` shows each cached cell.
    pub fn new(verbose: bool) -> Self {
        let bars = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        Terminal { bars, running: HashMap::new(), verbose, cached: CollapsedHits::new(FEW) }
    }

    fn print(&self, text: &[String]) {
        for line in text {
            let _ = self.bars.println(colour(line));
        }
    }

    fn flush_cached(&mut self) {
        let collapsed = self.cached.take();
        self.print(&collapsed);
    }

    fn bar(&mut self, label: &Label) -> &ProgressBar {
        self.running.entry(label.clone()).or_insert_with(|| {
            let bar = self.bars.add(ProgressBar::new_spinner());
            bar.set_style(spinner());
            bar.set_prefix(label.to_string());
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        })
    }

    fn end(&mut self, label: &Label) {
        if let Some(bar) = self.running.remove(label) {
            bar.finish_and_clear();
        }
    }
}

fn spinner() -> ProgressStyle {
    ProgressStyle::with_template("  {spinner} {prefix} {elapsed} {wide_msg:.dim}").expect("the template is well-formed")
}

fn counted(unit: &str) -> ProgressStyle {
    let figures = if unit == "bytes" {
        "{bytes}/{total_bytes} {bytes_per_sec}"
    } else {
        "{human_pos}/{human_len} {msg} {rate:.dim}"
    };
    let template = format!("  {{spinner}} {{prefix}} {{bar:24.cyan/dim}} {figures} {{eta:.dim}} left");
    with_rate(&template).progress_chars("━━─")
}

fn uncounted(unit: &str) -> ProgressStyle {
    let figures = if unit == "bytes" { "{bytes} {bytes_per_sec}" } else { "{human_pos} {msg} {rate:.dim}" };
    let template = format!("  {{spinner}} {{prefix}} {figures} {{elapsed:.dim}}");
    with_rate(&template)
}

/// A style that knows `{rate}`: `1.8/s`, `93/s`.
fn with_rate(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).expect("the template is well-formed");
    style.with_key("rate", |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        let rate = state.per_sec();
        let _ = if rate < 10.0 { write!(out, "{rate:.1}/s") } else { write!(out, "{rate:.0}/s") };
    })
}

/// Colours the word that a line begins with: readable without colour, quicker with it.
fn colour(line: &str) -> String {
    use owo_colors::OwoColorize;
    if std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) {
        return line.to_owned();
    }
    for (word, paint) in [
        ("  done   ", 2),
        ("  cached ", 6),
        ("  pulled ", 6),
        ("  pushed ", 6),
        ("  FAILED ", 1),
        ("  DIFFERS", 1),
        ("  same   ", 2),
        ("  skipped", 3),
        ("  retrying", 3),
        ("  waiting", 3),
        ("warning:", 3),
    ] {
        if let Some(rest) = line.strip_prefix(word) {
            let painted = match paint {
                1 => word.red().bold().to_string(),
                2 => word.green().to_string(),
                3 => word.yellow().to_string(),
                _ => word.cyan().to_string(),
            };
            return format!("{painted}{rest}");
        }
    }
    line.to_owned()
}

impl EventSink for Terminal {
    fn event(&mut self, event: &RunEvent) {
        if let RunEvent::Cached { label, origin, .. } = event
            && !self.verbose
        {
            self.cached.add(label, origin);
            return;
        }
        match event {
            RunEvent::Progress { label, done, total, unit } => {
                let bar = self.bar(label);
                match total {
                    Some(total) => {
                        if bar.length() != Some(*total) {
                            bar.set_style(counted(unit));
                            bar.set_length(*total);
                            bar.set_message(unit.clone());
                        }
                    }
                    None => {
                        if bar.message() != *unit {
                            bar.set_style(uncounted(unit));
                            bar.set_message(unit.clone());
                        }
                    }
                }
                bar.set_position(*done);
                return;
            }
            RunEvent::Doing { label, what } => {
                let bar = self.bar(label);
                bar.set_style(spinner());
                bar.unset_length();
                bar.set_message(what.clone());
                return;
            }
            RunEvent::Started { label, .. } => {
                self.flush_cached();
                self.bar(label);
                return;
            }
            RunEvent::Transferring { label, .. } => {
                self.flush_cached();
                self.bar(label);
                return;
            }
            RunEvent::Transferred { label, .. }
            | RunEvent::Finished { label, .. }
            | RunEvent::Checked { label, .. }
            | RunEvent::Retrying { label, .. }
            | RunEvent::Failed { label, .. } => {
                self.end(label);
            }
            RunEvent::Planned { .. } => return,
            _ => {}
        }
        self.flush_cached();
        self.print(&lines(event, false));
    }
}
