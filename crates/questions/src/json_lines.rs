//! JSON as the published files have it: a space after each comma and colon, text as it is.

use std::io::{self, BufRead, Write};

use cwm_contract::Failure;
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// Writes `value` as one line, byte for byte as Python's `json.dumps(…, ensure_ascii=False)` does.
///
/// # Errors
///
/// `writer` fails.
pub fn write_line(mut writer: impl Write, value: &impl Serialize) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(&mut writer, SpacedFormatter))?;
    writer.write_all(b"\n")
}

/// Reads each line of `file` (its name in messages) with `read`, which returns what is wrong. Blank lines and a byte order mark
/// at the beginning are skipped.
///
/// # Errors
///
/// The line and what is wrong there.
pub fn read_lines<T>(
    reader: impl BufRead,
    file: &str,
    mut read: impl FnMut(&str) -> Result<T, String>,
) -> Result<Vec<T>, Failure> {
    let mut found = Vec::new();
    for (at, line) in reader.lines().enumerate() {
        let wrong = |what: String| Failure::input(format!("{file}, line {}: {what}", at + 1));
        let line = line.map_err(|error| wrong(format!("cannot be read: {error}")))?;
        let line = line.strip_prefix('\u{feff}').filter(|_| at == 0).unwrap_or(&line);
        if !line.trim().is_empty() {
            found.push(read(line).map_err(wrong)?);
        }
    }
    Ok(found)
}

struct SpacedFormatter;

impl Formatter for SpacedFormatter {
    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}
