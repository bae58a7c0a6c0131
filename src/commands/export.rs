//! `cwm export`: copies an output to a folder, or converts it for other programs.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::Path;

use cwm_contract::{ExportOptions, ExportTarget, Inspector, Label};
use serde_json::json;

use crate::cli::ExportArguments;
use crate::commands::contents::store_error;
use crate::output::{is_json, print, print_json, reject_json_with};
use crate::registry::not_compiled_in;
use crate::workspace::Workspace;
use cwm_core::{Error, Result};
use cwm_history::provenance::{self, Disclosure};
use cwm_pipeline::plan::{COLLISION_HINT, export_folders};
use cwm_store::{OutputRecord, OutputShape};

/// Runs `cwm export`.
///
/// # Errors
/// The output is not made yet, has no such form, or the destination cannot be written.
pub fn run(store: Option<&Path>, arguments: &ExportArguments) -> Result<()> {
    if arguments.is_stream() {
        return to_stdout(store, arguments);
    }
    let workspace = Workspace::open_skipping_damaged(store, &arguments.pipeline)?;
    let (plan, source) = (&workspace.plan, &arguments.source);
    let outputs = plan.select_outputs(source, None)?;
    let labels: Vec<&Label> = outputs.iter().map(|(index, _)| &plan.cells[*index].label).collect();
    let folders = export_folders(source, &labels).map_err(|problem| Error::usage(problem).hint(COLLISION_HINT))?;
    let cache_status = workspace.cache_status()?;
    // Nothing is written before all are known to be there, and their places are known to be free.
    let mut exports = Vec::new();
    for (((index, output_name), label), folder) in outputs.iter().zip(&labels).zip(folders) {
        let record = workspace.result(&label.to_string(), &cache_status, *index)?;
        let (output, path) = workspace.complete_output(record, output_name)?;
        let destination = folder.map_or(arguments.destination.clone(), |name| arguments.destination.join(name));
        exports.push((*index, output_name, output, path, destination));
    }
    let is_converted = arguments.labels || arguments.limit.is_some();
    for (_, output_name, output, _, destination) in &exports {
        let shape = if is_converted { OutputShape::Folder } else { output.shape.clone() };
        let checked = workspace.store.export_preflight(output_name, Some(&shape), destination);
        checked.map_err(Error::outside_store)?;
    }
    let mut rows = Vec::new();
    for (index, output_name, output, path, destination) in &exports {
        let exported = if is_converted {
            let (inspector, options) = inspector(output, arguments)?;
            workspace.store.export_generated(destination, |folder| {
                inspector.export_as(&output.format, path, &options, ExportTarget::Folder(folder)).map_err(store_error)
            })?
        } else {
            let record = |index: usize| cache_status.record(index);
            let disclosure = if arguments.names { Disclosure::Full } else { Disclosure::Public };
            let added = provenance::files(&workspace.store, plan, *index, output_name, disclosure, record)?;
            let exported = workspace.store.export(output_name, output, destination, &added, &workspace.digests);
            exported.map_err(Error::outside_store)?
        };
        let (label, path) = (&plan.cells[*index].label, exported.path.to_string_lossy());
        rows.push(json!({ "label": label, "output": output_name, "path": path, "replaced": exported.is_replacement }));
    }
    let replaced = rows.iter().filter(|row| row["replaced"] == true).count();
    if replaced > 0 && !is_json() {
        let of = if rows.len() > 1 { format!(" ({replaced} of {} cells)", rows.len()) } else { String::new() };
        eprintln!("replaced the earlier export there{of}");
    }
    match (is_json(), &rows[..]) {
        (true, [only]) => print_json(only),
        (true, rows) => print_json(&rows),
        (false, rows) => print(&rows.iter().filter_map(|row| row["path"].as_str()).collect::<Vec<_>>().join("\n")),
    }
}

/// Writes the output to standard output as one stream. A reader that closes it ends the work, and is no error.
fn to_stdout(store: Option<&Path>, arguments: &ExportArguments) -> Result<()> {
    reject_json_with("-")?;
    let workspace = Workspace::open_skipping_damaged(store, &arguments.pipeline)?;
    let (index, output_name) = workspace.output(&arguments.source)?;
    let (output, path) = workspace.stored_output(&arguments.source, index, &output_name)?;
    let (inspector, options) = inspector(&output, arguments)?;
    let stdout = io::stdout();
    if stdout.is_terminal() {
        return Err(Error::usage("an Arrow stream is not for a terminal").hint(
            "send it to a program or a file: `cwm export tokens.train - | …`; or name a folder in place of `-`",
        ));
    }
    // Without the buffer of `Stdout`, which looks for line ends.
    let file = stdout.as_fd().try_clone_to_owned();
    let file = file.map_err(|error| Error::system(format!("cannot use standard output: {error}")))?;
    let mut stream = Stream { file: File::from(file), closed: false };
    let written = inspector.export_as(&output.format, &path, &options, ExportTarget::Stream(&mut stream));
    if stream.closed { Ok(()) } else { written.map_err(store_error) }
}

/// Returns the inspector and its options, if it can convert the output.
fn inspector(output: &OutputRecord, arguments: &ExportArguments) -> Result<(&'static dyn Inspector, ExportOptions)> {
    let inspector = crate::registry::inspector()
        .ok_or_else(|| not_compiled_in("this build of cwm exports outputs only as they are, to a folder", "inspect"))?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let options = ExportOptions { labels: arguments.labels, limit: arguments.limit, cores };
    inspector.export_format(&output.format, &options)?;
    Ok((inspector, options))
}

/// Standard output. It records if its reader closes it.
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
