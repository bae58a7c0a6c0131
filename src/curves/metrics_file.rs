//! `metrics.jsonl`: a line a step, as other programs take them in (Weights & Biases, pandas, jq).

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Result, Write};
use std::path::Path;

use cwm_contract::CurvePoint;
use serde_json::{Map, Value as Json, json};

/// The keys of a line that are no curves, with the names that Weights & Biases gives them.
const STEP: &str = "_step";
const TIME: &str = "_timestamp";

/// A file of metrics, open at its end.
pub struct MetricsFile(File);

impl MetricsFile {
    /// Opens the file at `path`, and creates it if it does not exist. Returns the last step of each curve, too. A cut last line is
    /// removed. The length of a file that ends with a complete line is not set, so that lines which another process adds
    /// meanwhile stay.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn open(path: &Path) -> Result<(Self, BTreeMap<String, u64>)> {
        let mut file = OpenOptions::new().create(true).read(true).append(true).open(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let complete = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        if complete < bytes.len() {
            file.set_len(complete as u64)?;
        }
        let mut last = BTreeMap::new();
        for line in bytes[..complete].split(|byte| *byte == b'\n') {
            let Ok(Json::Object(line)) = serde_json::from_slice(line) else { continue };
            let Some(step) = line.get(STEP).and_then(Json::as_u64) else { continue };
            let curves = line.into_iter().map(|(name, _)| name).filter(|name| ![STEP, TIME].contains(&name.as_str()));
            last.extend(curves.map(|curve| (curve, step)));
        }
        Ok((MetricsFile(file), last))
    }

    /// Adds the points of one step, as of `time` (seconds since 1970).
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn push(&mut self, points: &[CurvePoint], time: f64) -> Result<()> {
        let Some(first) = points.first() else { return Ok(()) };
        let mut line: Map<String, Json> =
            points.iter().map(|point| (point.curve.clone(), number(point.value))).collect();
        line.insert(STEP.to_owned(), json!(first.step));
        line.insert(TIME.to_owned(), json!(time));
        self.0.write_all(format!("{}\n", Json::Object(line)).as_bytes())
    }
}

/// Returns a number as JSON. Numbers that are not finite are the texts `inf`, `-inf` and `nan`, which Python's `float` reads.
fn number(value: f64) -> Json {
    if value.is_finite() { json!(value) } else { json!(value.to_string().to_lowercase()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_flat_and_say_how_far_they_go() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.jsonl");
        let (mut file, last) = MetricsFile::open(&path).unwrap();
        assert!(last.is_empty());
        let point = |curve: &str, step, value| CurvePoint { curve: curve.into(), step, value };
        file.push(&[point("train/loss", 10, 0.5), point("train/norm", 10, f64::INFINITY)], 1.5).unwrap();
        file.push(&[point("validation/loss", 20, f64::NAN)], 2.0).unwrap();
        file.0.write_all(b"{\"_step\":30,\"tra").unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], r#"{"_step":10,"_timestamp":1.5,"train/loss":0.5,"train/norm":"inf"}"#);
        assert_eq!(lines[1], r#"{"_step":20,"_timestamp":2.0,"validation/loss":"nan"}"#);
        let (_, last) = MetricsFile::open(&path).unwrap();
        let expected = [("train/loss", 10), ("train/norm", 10), ("validation/loss", 20)];
        assert_eq!(last, expected.map(|(name, step)| (name.to_owned(), step)).into());
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().collect::<Vec<_>>(), lines[..2]);
    }
}
