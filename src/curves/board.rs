//! The curves of many cells in a folder for TensorBoard, and for whoever reads JSON lines: a folder a cell.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use cwm_contract::{CurvePoint, Inspector, Label};

use super::event_file::{self, EventFile};
use super::follow::{Curve, curves_of};
use super::metrics_file::{MetricsFile, last_steps};
use cwm_core::{Error, Key};
use cwm_pipeline::plan::{Cell, OutputPlan, Plan};
use cwm_store::external_files::DigestCache;
use cwm_store::{ActionRecord, Store};

/// JSON lines of a cell.
const METRICS: &str = "metrics.jsonl";
/// Says whose curves a cell's folder holds.
const KEY: &str = ".cwm-key";

/// A folder of curves.
pub struct TensorBoardWriter {
    folder: PathBuf,
    store: Store,
    files: DigestCache,
    inspector: &'static dyn Inspector,
    /// The cells of the plan that have curves: their outputs, and what was looked at.
    cells: BTreeMap<Label, (Vec<OutputPlan>, Option<Shown>)>,
}

/// The curves of one cell.
struct Shown {
    key: Key,
    folder: PathBuf,
    curves: Vec<Curve>,
    written: Option<(EventFile, MetricsFile)>,
}

impl TensorBoardWriter {
    /// In this folder, of cells of this plan.
    pub fn new(folder: PathBuf, plan: &Plan, store: &Store, inspector: &'static dyn Inspector) -> Self {
        let has_some = |cell: &&Cell| !curves_of(&cell.outputs, inspector).is_empty();
        let cells = plan.cells.iter().filter(has_some);
        TensorBoardWriter {
            folder,
            store: store.clone(),
            files: DigestCache::of_store(store),
            inspector,
            cells: cells.map(|cell| (cell.label.clone(), (cell.outputs.clone(), None))).collect(),
        }
    }

    /// Returns true if the cell has curves at all.
    pub fn has_curves(&self, label: &Label) -> bool {
        self.cells.contains_key(label)
    }

    /// Writes what is new of a cell, whose key is `key`; how many lines that was.
    ///
    /// # Errors
    /// What it has cannot be read, or the folder cannot be written.
    pub fn update(&mut self, label: &Label, key: &Key) -> Result<usize, Error> {
        let Some((outputs, shown)) = self.cells.get_mut(label) else { return Ok(0) };
        let shown = match shown {
            Some(shown) if shown.key == *key => shown,
            other => other.insert(Shown::open(&self.folder, label, key, curves_of(outputs, self.inspector))?),
        };
        let running = self.store.holder(key)?.is_some();
        let made = if running { None } else { self.store.candidates(key, None)?.into_iter().next() };
        let mut lines = Vec::new();
        for curve in &mut shown.curves {
            lines.extend(curve.more(&self.store, &self.files, key, made.as_ref())?);
        }
        shown.write(&lines, time_of(made.as_ref()))?;
        Ok(lines.len())
    }

    /// Where the curves of a cell are.
    pub fn folder_of(&self, label: &Label) -> PathBuf {
        folder_of(&self.folder, label)
    }
}

impl Shown {
    /// Goes on with what stands in the folder if that is of the same key; else begins it anew.
    fn open(folder: &Path, label: &Label, key: &Key, mut curves: Vec<Curve>) -> Result<Self, Error> {
        let folder = folder_of(folder, label);
        let named = folder.join(KEY);
        let text = format!("{key}\n");
        if fs::read_to_string(&named).ok().as_ref() != Some(&text) {
            forget(&folder).map_err(|error| Error::io("empty", &folder, error))?;
            fs::create_dir_all(&folder).map_err(|error| Error::io("make", &folder, error))?;
            fs::write(&named, text).map_err(|error| Error::io("write", &named, error))?;
        }
        let metrics = folder.join(METRICS);
        let last = last_steps(&metrics).map_err(|error| Error::io("read", &metrics, error))?;
        curves.iter_mut().for_each(|curve| curve.known(last.clone()));
        Ok(Shown { key: *key, folder, curves, written: None })
    }

    fn write(&mut self, lines: &[Vec<CurvePoint>], time: f64) -> Result<(), Error> {
        if lines.is_empty() {
            return Ok(());
        }
        let folder = &self.folder;
        let (events, metrics) = match &mut self.written {
            Some(written) => written,
            none => {
                let opened = EventFile::begin(folder, time)
                    .and_then(|events| Ok((events, MetricsFile::open(&folder.join(METRICS))?)));
                none.insert(opened.map_err(|error| Error::io("write into", folder, error))?)
            }
        };
        for points in lines {
            let written = events.push(points, time).and_then(|()| metrics.push(points, time));
            written.map_err(|error| Error::io("write into", folder, error))?;
        }
        Ok(())
    }
}

/// A label as the name of a folder: sizes have a slash.
fn folder_of(folder: &Path, label: &Label) -> PathBuf {
    folder.join(label.to_string().replace('/', "_"))
}

/// Removes what this wrote into the folder of a cell, and nothing else.
fn forget(folder: &Path) -> std::io::Result<()> {
    if !folder.join(KEY).exists() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name == METRICS || (name.starts_with(event_file::PREFIX) && name.ends_with(".cwm")) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// When it was: now, or when the result was made. Seconds since 1970.
fn time_of(made: Option<&ActionRecord>) -> f64 {
    match made {
        Some(record) => record.circumstances.started.as_millisecond() as f64 / 1e3 + record.circumstances.wall_seconds,
        None => jiff::Timestamp::now().as_millisecond() as f64 / 1e3,
    }
}
