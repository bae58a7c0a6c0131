//! The curves of one cell in a folder, for TensorBoard and for programs that read JSON lines.

use std::fs;
use std::path::{Path, PathBuf};

use cwm_contract::Inspector;

use super::cell_curves::CellCurves;
use super::metrics_file::MetricsFile;
use super::tensorboard_file::{self, EventFile};
use crate::workspace::Workspace;
use cwm_core::{Error, Key};
use cwm_pipeline::plan::Cell;

/// The name of the file of JSON lines.
const METRICS: &str = "metrics.jsonl";
/// The name of the file with the key of the curves.
const KEY: &str = ".cwm-key";

/// A folder with the curves of one cell.
pub struct CurveFolder {
    /// The folder.
    pub path: PathBuf,
    /// The curves, with the key of the cell.
    pub curves: CellCurves,
    metrics: MetricsFile,
    events: Option<EventFile>,
}

impl CurveFolder {
    /// Opens the folder of a cell in `folder`. Curves of the same key are continued, others are removed.
    ///
    /// # Errors
    /// The folder cannot be read or written.
    pub fn open(folder: &Path, cell: &Cell, key: Key, inspector: &'static dyn Inspector) -> Result<Self, Error> {
        let path = folder.join(cell.label.file_name());
        let key_file = path.join(KEY);
        let text = format!("{key}\n");
        let previous = fs::read_to_string(&key_file).ok();
        if previous.as_ref() != Some(&text) {
            if previous.is_some() {
                remove_curves(&path).map_err(|error| Error::io("empty", &path, error))?;
            }
            fs::create_dir_all(&path).map_err(|error| Error::io("make", &path, error))?;
            fs::write(&key_file, text).map_err(|error| Error::io("write", &key_file, error))?;
        }
        let (metrics, last) =
            MetricsFile::open(&path.join(METRICS)).map_err(|error| Error::io("write into", &path, error))?;
        Ok(CurveFolder { path, curves: CellCurves::new(key, &cell.outputs, inspector, last), metrics, events: None })
    }

    /// Writes the steps that are new. Returns true if there are any.
    ///
    /// # Errors
    /// The curves cannot be read, or the folder cannot be written.
    pub fn update(&mut self, workspace: &Workspace) -> Result<bool, Error> {
        let (store, key) = (&workspace.store, self.curves.key);
        // A process that builds it now adds to its files, not to those of the record.
        let record = if store.lock_owner(&key)?.is_some() { None } else { store.preferred_record(&key, None)? };
        let lines = self.curves.read_new(store, &workspace.digests, record.as_ref())?;
        // Seconds since 1970: now, or the time at which the result was made.
        let time = match record.map(|record| record.run_info) {
            Some(made) => made.started.as_millisecond() as f64 / 1e3 + made.wall_seconds,
            None => jiff::Timestamp::now().as_millisecond() as f64 / 1e3,
        };
        if lines.is_empty() {
            return Ok(false);
        }
        let mut write = || {
            let events = match &mut self.events {
                Some(events) => events,
                none => none.insert(EventFile::begin(&self.path, time)?),
            };
            lines.iter().try_for_each(|points| {
                events.push(points, time)?;
                self.metrics.push(points, time)
            })
        };
        write().map_err(|error| Error::io("write into", &self.path, error))?;
        Ok(true)
    }
}

/// Removes the files that cwm wrote into the folder of a cell, and nothing else.
fn remove_curves(folder: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name == METRICS || (name.starts_with(tensorboard_file::PREFIX) && name.ends_with(".cwm")) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}
