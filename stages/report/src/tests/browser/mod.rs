//! The page in a real browser, headless: its response to keys, and the requests that it does not make.

mod access;
mod board_view;
mod chromium;
mod hostile;
mod provenance;
mod screenshots;
mod sorting;

use std::path::{Path, PathBuf};

use chromium::Browser;
use cwm_contract::testing::Trial;

use super::boards::write_boards;
use super::{label, read, rows, run, trial};
use crate::synthetic::scored;

/// A report with tables, figures and the boards of two models on two test sets.
fn report(folder: &Path) -> PathBuf {
    run(with_boards(folder)).unwrap()
}

fn with_boards(folder: &Path) -> Trial {
    let mut trial = trial(folder, &rows());
    for (size, model) in [("d32/l1", 1), ("d128/l1", 0)] {
        for test in ["held_out", "random_uniform"] {
            let path = folder.join(format!("boards-{model}-{test}"));
            write_boards(&path, model, test);
            trial = trial.labelled("boards", label(&format!("evaluation[size={size},seed=0,test={test}]")), path);
        }
    }
    trial
}

/// The page of that report, open in a browser, if there is one.
fn opened(folder: &Path) -> Option<Browser> {
    let mut browser = Browser::start()?;
    browser.open(&report(folder).join("index.html"));
    Some(browser)
}
