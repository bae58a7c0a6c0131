//! The curves of one cell, read as they grow and to their end.

use std::collections::BTreeMap;

use cwm_contract::{CurvePoint, Format, Inspector};

use cwm_core::files::Tail;
use cwm_core::{Error, Key};
use cwm_pipeline::plan::OutputPlan;
use cwm_store::{ActionRecord, DigestCache, OutputShape, Store};

/// The curves of one cell for one key.
pub struct CellCurves {
    /// The key of the cell.
    pub key: Key,
    inspector: &'static dyn Inspector,
    outputs: Vec<CurveOutput>,
    /// The last step of each curve that was read.
    last: BTreeMap<String, u64>,
}

/// An output that holds curves.
struct CurveOutput {
    name: String,
    /// The name of its file while it grows.
    file: String,
    format: Format,
    tail: Option<Tail>,
}

impl CellCurves {
    /// Makes the curves of a cell with these outputs, of which steps up to `last` are known.
    pub fn new(
        key: Key,
        outputs: &[OutputPlan],
        inspector: &'static dyn Inspector,
        last: BTreeMap<String, u64>,
    ) -> CellCurves {
        let outputs = outputs.iter().filter(|output| inspector.has_points(&output.format)).map(|output| {
            let (name, format) = (output.name.clone(), output.format.clone());
            let file = OutputShape::from(output.shape).file_name(&name);
            CurveOutput { name, file, format, tail: None }
        });
        CellCurves { key, inspector, outputs: outputs.collect(), last }
    }

    /// Reads the lines that were added since the last call, each as its points: from the result `record`, or from the files that
    /// the running stage keeps. Every step is returned once, also if an interrupted stage made it again; a line without new
    /// steps is left out.
    ///
    /// # Errors
    /// A file cannot be read, or holds other lines.
    pub fn read_new(
        &mut self,
        store: &Store,
        digests: &DigestCache,
        record: Option<&ActionRecord>,
    ) -> Result<Vec<Vec<CurvePoint>>, Error> {
        let mut lines = Vec::new();
        for CurveOutput { name, file, format, tail } in &mut self.outputs {
            let path = match record.and_then(|record| record.outputs.get(name)) {
                Some(output) => store.path_of(output, digests)?,
                None => store.work_folder(&self.key).checkpoint_folder().join(file),
            };
            let tail = match tail {
                Some(tail) if tail.path == path => tail,
                // A result is read from its start: another attempt may have made it.
                other => other.insert(Tail::of(path)),
            };
            let bytes = tail.more(false).map_err(|error| Error::io("read", &tail.path, error))?;
            for line in String::from_utf8_lossy(&bytes).lines() {
                let points = self.inspector.points(format, line);
                let mut points =
                    points.map_err(|failure| Error::store(format!("{}: {}", tail.path.display(), failure.message)))?;
                points.retain(|point| self.last.get(&point.curve).is_none_or(|last| point.step > *last));
                self.last.extend(points.iter().map(|point| (point.curve.clone(), point.step)));
                if !points.is_empty() {
                    lines.push(points);
                }
            }
        }
        Ok(lines)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use cwm_contract::{DescribeOptions, Description, ExportFormat, ExportOptions, ExportTarget, Failure};

    use super::*;

    /// Lines `STEP VALUE` of one curve.
    struct Plain;

    impl Inspector for Plain {
        fn describe(&self, _: &Format, _: &Path, _: DescribeOptions) -> Result<Option<Description>, Failure> {
            Ok(None)
        }
        fn related_formats(&self, _: &Format) -> Vec<Format> {
            Vec::new()
        }
        fn export_format(&self, _: &Format, _: &ExportOptions) -> Result<ExportFormat, Failure> {
            Err(Failure::input("none"))
        }
        fn export_as(&self, _: &Format, _: &Path, _: &ExportOptions, _: ExportTarget<'_>) -> Result<(), Failure> {
            Err(Failure::input("none"))
        }
        fn has_points(&self, format: &Format) -> bool {
            *format == Format::CURVES
        }
        fn points(&self, _: &Format, line: &str) -> Result<Vec<CurvePoint>, Failure> {
            let numbers =
                line.split_once(' ').and_then(|(step, value)| Some((step.parse().ok()?, value.parse().ok()?)));
            let (step, value) = numbers.ok_or_else(|| Failure::input(format!("no point: {line}")))?;
            Ok(vec![CurvePoint { curve: "loss".into(), step, value }])
        }
    }

    #[test]
    fn steps_come_once_though_an_interrupted_stage_makes_them_again() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path()).unwrap();
        let digests = DigestCache::of_store(&store);
        let key: Key = "ab".repeat(32).parse().unwrap();
        let keep = store.work_folder(&key).checkpoint_folder();
        fs::create_dir_all(&keep).unwrap();
        let output =
            CurveOutput { name: "curves".into(), file: "curves.jsonl".into(), format: Format::CURVES, tail: None };
        let mut curves = CellCurves { key, inspector: &Plain, outputs: vec![output], last: BTreeMap::new() };
        let mut steps_after = |text: &str| {
            fs::write(keep.join("curves.jsonl"), text).unwrap();
            let lines = curves.read_new(&store, &digests, None).map_err(|error| error.message)?;
            Ok::<_, String>(lines.concat().into_iter().map(|point| point.step).collect::<Vec<_>>())
        };
        assert!(steps_after("").unwrap().is_empty());
        assert_eq!(steps_after("1 0.5\n2 0.5\n3 0").unwrap(), [1, 2]);
        assert_eq!(steps_after("1 0.5\n2 0.5\n3 0.5\n").unwrap(), [3]);
        // Killed, and gone on with after the first step.
        assert!(steps_after("1 0.5\n").unwrap().is_empty());
        assert_eq!(steps_after("1 0.5\n2 0.5\n3 0.5\n4 0.5\n").unwrap(), [4]);
        assert!(
            steps_after("1 0.5\n2 0.5\n3 0.5\n4 0.5\nfive\n").unwrap_err().ends_with("curves.jsonl: no point: five")
        );
    }
}
