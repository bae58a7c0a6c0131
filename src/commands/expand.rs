//! Exports in another form: what the inspector makes of an output, into a folder or to standard output.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;

use cwm_contract::{ExportOptions, ExportTarget, Inspector};

use crate::cli::ExportArguments;
use crate::commands::contents::store_error;
use crate::workspace::Workspace;
use cwm_core::Error;
use cwm_store::{Export, OutputRecord};

/// Writes the output to a folder.
///
/// # Errors
/// It has no such form or cannot be read; something is in the way; the disk refuses.
pub fn to_folder(workspace: &Workspace, output: &OutputRecord, arguments: &ExportArguments) -> Result<Export, Error> {
    let (inspector, wanted) = inspector(output, arguments)?;
    let path = workspace.store.path_of(output, &workspace.files)?;
    workspace.store.export_generated(&arguments.destination, |folder| {
        inspector.export_as(&output.format, &path, &wanted, ExportTarget::Folder(folder)).map_err(store_error)
    })
}

/// Writes the output to standard output as one stream. A reader that has seen enough and closes it ends the work, and
/// is no error.
///
/// # Errors
/// It has no such form or cannot be read, or standard output cannot be written.
pub fn to_stdout(workspace: &Workspace, output: &OutputRecord, arguments: &ExportArguments) -> Result<(), Error> {
    let (inspector, wanted) = inspector(output, arguments)?;
    let stdout = io::stdout();
    if stdout.is_terminal() {
        return Err(Error::usage("an Arrow stream is not for a terminal").hint(
            "send it to a program or a file: `cwm export tokens.train - | …`; or name a folder in place of `-`",
        ));
    }
    let path = workspace.store.path_of(output, &workspace.files)?;
    // Past the buffer that looks for line ends.
    let file = stdout
        .as_fd()
        .try_clone_to_owned()
        .map_err(|error| Error::system(format!("cannot use standard output: {error}")))?;
    let mut stream = Stream { file: File::from(file), closed: false };
    let written = inspector.export_as(&output.format, &path, &wanted, ExportTarget::Stream(&mut stream));
    if stream.closed { Ok(()) } else { written.map_err(store_error) }
}

/// Who makes what is asked for, which it can, and what that is.
fn inspector(
    output: &OutputRecord,
    arguments: &ExportArguments,
) -> Result<(&'static dyn Inspector, ExportOptions), Error> {
    let inspector = crate::registry::inspector().ok_or_else(|| {
        Error::usage("this build of cwm exports outputs only as they are, to a folder")
            .hint("build it with the cargo feature `inspect`, which is on by default")
    })?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let wanted = ExportOptions { labels: arguments.labels, limit: arguments.limit, cores };
    inspector.export_format(&output.format, &wanted).map_err(|failure| {
        let error = Error::usage(failure.message);
        failure.hint.into_iter().fold(error, Error::hint)
    })?;
    Ok((inspector, wanted))
}

/// Standard output, and whether its reader has closed it.
struct Stream {
    file: File,
    closed: bool,
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes);
        self.closed |= written.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe);
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
