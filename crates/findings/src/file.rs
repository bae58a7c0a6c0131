//! Files of findings.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use cwm_contract::Failure;

use crate::Finding;

/// Version of the format.
const FORMAT: u32 = 1;

/// Writes findings in the order in which they come, one a line.
///
/// # Errors
/// The file cannot be written.
pub fn write(path: &Path, findings: impl IntoIterator<Item = Finding>) -> Result<(), Failure> {
    let failed = |error| Failure::io("write", path, error);
    let mut file = BufWriter::new(File::create(path).map_err(failed)?);
    for finding in findings {
        let line = serde_json::to_string(&finding).map_err(|error| failed(error.into()))?;
        // `format` comes before the other keys in the alphabet.
        writeln!(file, "{{\"format\":{FORMAT},{}", &line[1..]).map_err(failed)?;
    }
    file.flush().map_err(failed)
}

/// The findings of a file.
///
/// # Errors
/// The file cannot be read, or one of its lines is no finding; the error names the line.
pub fn read(path: &Path) -> Result<Vec<Finding>, Failure> {
    let failed = |error| Failure::io("read", path, error);
    let lines = BufReader::new(File::open(path).map_err(failed)?).lines();
    let finding = |(at, line): (usize, std::io::Result<String>)| {
        parse(&line.map_err(failed)?)
            .map_err(|what| Failure::input(format!("line {} of the findings {}: {what}", at + 1, path.display())))
    };
    lines.enumerate().map(finding).collect()
}

fn parse(line: &str) -> Result<Finding, String> {
    let mut object: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(line).map_err(|error| format!("no JSON object: {error}"))?;
    match object.remove("format").map(|format| format.as_u64()) {
        Some(Some(format)) if format == u64::from(FORMAT) => {
            serde_json::from_value(object.into()).map_err(|error| error.to_string())
        }
        Some(_) => Err(format!("`format` is not {FORMAT}, which is what this cwm reads")),
        None => Err("`format` is missing".to_owned()),
    }
}
