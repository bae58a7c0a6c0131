//! `cwm verify`: is everything in the store what it says it is?

use std::io::{IsTerminal, stderr};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cwm_contract::{Label, amount};
use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::VerifyArguments;
use crate::commands::ls::of_lock;
use crate::locate::{open_existing_store, pipeline_file};
use crate::output::{is_json, print_json, print_text};
use cwm_core::text::duration;
use cwm_core::{Error, ExitCode, plural};
use cwm_gc::selection;
use cwm_project::lock_file::LockFile;
use cwm_store::VerifyProgress;

/// Runs `cwm verify`. Damaged files are set aside; a run that needs them makes them again.
///
/// # Errors
/// The store cannot be read.
pub fn run(store: Option<&Path>, arguments: &VerifyArguments) -> Result<ExitCode, Error> {
    let named =
        (!arguments.stages.is_empty()).then(|| pipeline_file(arguments.pipeline.file.as_deref())).transpose()?;
    let store = open_existing_store(store, arguments.pipeline.file.as_deref())?;
    let progress = Progress::new();
    let report = match named {
        None => {
            let mut report = store.verify(|so_far| progress.update(so_far))?;
            report.findings.extend(cwm_gc::check(&store)?);
            report.findings.sort_by(|a, b| a.path.cmp(&b.path));
            report
        }
        Some(file) => {
            let lock = LockFile::read(&LockFile::path_for(&file))?;
            let mut results = of_lock(&store, &lock)?;
            let known: Vec<Label> = results.iter().map(|record| record.label.clone()).collect();
            let meant = selection::stages(&arguments.stages, known.iter())?;
            results.retain(|record| selection::matches_selection(&record.label, &meant));
            store.verify_results(&results, |so_far| progress.update(so_far))?
        }
    };
    let took = progress.end();
    if is_json() {
        print_json(&report)?;
    } else {
        let mut text = String::new();
        for finding in &report.findings {
            text += &format!("{finding}\n");
        }
        for note in &report.notes {
            text += &format!("note: {note}\n");
        }
        text += &format!(
            "{}, {} checked{}; {}, {}",
            plural(report.objects, "object", "objects"),
            amount::format_bytes(report.bytes),
            rate(report.bytes, took),
            plural(report.actions, "action", "actions"),
            if report.findings.is_empty() {
                "all sound".to_owned()
            } else {
                plural(report.findings.len() as u64, "finding", "findings")
            }
        );
        print_text(&text)?;
        if !report.findings.is_empty() {
            eprintln!(
                "hint: a run makes again what it reads of that; `cwm run STAGE` makes all of a stage's result again, also what \
                 nothing reads"
            );
        }
    }
    Ok(if report.findings.is_empty() { ExitCode::OK } else { ExitCode::DAMAGED })
}

/// How far it is: a bar on a terminal, else a line now and then on standard error.
struct Progress {
    began: Instant,
    bar: Option<ProgressBar>,
    /// Seconds after which the next line is due.
    due: AtomicU64,
}

impl Progress {
    /// A short check tells nothing.
    const FIRST: Duration = Duration::from_secs(1);
    /// Seconds between lines where there is no terminal.
    const LINES: u64 = 30;

    fn new() -> Self {
        let style = ProgressStyle::with_template("{bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left");
        let bar = stderr()
            .is_terminal()
            .then(|| ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())));
        Progress { began: Instant::now(), bar, due: AtomicU64::new(Self::LINES) }
    }

    fn update(&self, VerifyProgress { done, total }: VerifyProgress) {
        let passed = self.began.elapsed();
        match &self.bar {
            Some(bar) if passed >= Self::FIRST => {
                bar.set_length(total);
                bar.set_position(done);
            }
            Some(_) => {}
            None => {
                let due = self.due.load(Ordering::Relaxed);
                let next = passed.as_secs() + Self::LINES;
                let is_due = passed.as_secs() >= due;
                // Of several threads one tells.
                if is_due && self.due.compare_exchange(due, next, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                    let (so_far, all) = (amount::format_bytes(done), amount::format_bytes(total));
                    eprintln!("{so_far} of {all} checked{}", rate(done, passed));
                }
            }
        }
    }

    /// How long it took.
    fn end(self) -> Duration {
        self.bar.inspect(ProgressBar::finish_and_clear);
        self.began.elapsed()
    }
}

/// How fast that was, where it took long enough to tell.
fn rate(bytes: u64, took: Duration) -> String {
    if took < Progress::FIRST {
        return String::new();
    }
    let each = (bytes as f64 / took.as_secs_f64()) as u64;
    format!(" in {}, {} a second", duration(took.as_secs_f64()), amount::format_bytes(each))
}
