//! Destinations of record batches: files in a folder, or one stream.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{ArrowError, SchemaRef};
use cwm_contract::{ExportTarget, Failure};

/// Games of one file but the last: with labels, about half a gigabyte.
pub const FILE_GAMES: usize = 100_000;

/// Bytes gathered before they are written.
const BLOCK: usize = 1 << 20;

/// Takes record batches of one schema.
pub enum Sink<'a> {
    /// Files in a folder.
    Folder(Files<'a>),
    /// One stream.
    Stream(StreamWriter<BufWriter<&'a mut (dyn Write + Send)>>),
}

/// Files `name-00000.arrow`, `name-00001.arrow`, … in a folder.
pub struct Files<'a> {
    folder: &'a Path,
    name: &'static str,
    schema: SchemaRef,
    files: usize,
    open: Option<OpenFile>,
}

struct OpenFile {
    path: PathBuf,
    writer: FileWriter<BufWriter<File>>,
    games: usize,
}

impl<'a> Sink<'a> {
    /// A sink for batches of this schema.
    pub fn new(target: ExportTarget<'a>, name: &'static str, schema: SchemaRef) -> Result<Self, Failure> {
        match target {
            ExportTarget::Folder(folder) => Ok(Sink::Folder(Files { folder, name, schema, files: 0, open: None })),
            ExportTarget::Stream(stream) => {
                let stream = BufWriter::with_capacity(BLOCK, stream);
                StreamWriter::try_new(stream, &schema).map(Sink::Stream).map_err(stream_failure)
            }
        }
    }

    /// Writes a batch.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), Failure> {
        match self {
            Sink::Folder(files) => files.write(batch),
            Sink::Stream(stream) => stream.write(batch).map_err(stream_failure),
        }
    }

    /// Ends the stream or the last file.
    pub fn finish(self) -> Result<(), Failure> {
        match self {
            Sink::Folder(files) => files.finish(),
            Sink::Stream(mut stream) => stream.finish().and_then(|()| stream.flush()).map_err(stream_failure),
        }
    }
}

impl Files<'_> {
    fn write(&mut self, batch: &RecordBatch) -> Result<(), Failure> {
        let mut open = match self.open.take() {
            Some(open) => open,
            None => self.next()?,
        };
        open.writer.write(batch).map_err(write_failure(&open.path))?;
        open.games += batch.num_rows();
        if open.games < FILE_GAMES {
            self.open = Some(open);
            return Ok(());
        }
        open.finish()
    }

    /// A folder always has at least one file.
    fn finish(mut self) -> Result<(), Failure> {
        match self.open.take() {
            Some(open) => open.finish(),
            None if self.files == 0 => self.next()?.finish(),
            None => Ok(()),
        }
    }

    fn next(&mut self) -> Result<OpenFile, Failure> {
        let path = self.folder.join(format!("{}-{:05}.arrow", self.name, self.files));
        let file = File::create_new(&path).map_err(|error| Failure::io("make", &path, error))?;
        let file = BufWriter::with_capacity(BLOCK, file);
        let writer = FileWriter::try_new(file, &self.schema).map_err(write_failure(&path))?;
        self.files += 1;
        Ok(OpenFile { path, writer, games: 0 })
    }
}

impl OpenFile {
    fn finish(mut self) -> Result<(), Failure> {
        self.writer.finish().map_err(write_failure(&self.path))
    }
}

fn write_failure(path: &Path) -> impl FnOnce(ArrowError) -> Failure {
    move |error| Failure::system(format!("cannot write {}: {}", path.display(), plain(error)))
}

fn stream_failure(error: ArrowError) -> Failure {
    Failure::system(format!("cannot write the stream: {}", plain(error)))
}

/// The system's words, where the error is the system's.
fn plain(error: ArrowError) -> String {
    match error {
        ArrowError::IoError(_, error) => error.to_string(),
        other => other.to_string(),
    }
}
