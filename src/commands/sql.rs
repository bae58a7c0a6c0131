//! `cwm sql`: queries the tables that stages wrote.

use std::collections::BTreeSet;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::Path;

use cwm_contract::{QueryOutput, StoredOutput, TableSchema};

use crate::cli::SqlArguments;
use crate::commands::results::cells_or_outputs;
use crate::output::{columns, is_json, print_result, reject_json_with};
use crate::registry::{not_compiled_in, query_engine};
use crate::workspace::Workspace;
use cwm_core::{Error, escape_controls, list_some};
use cwm_engine::KeyStatus;

/// The number of rows that are shown as a table.
const MAX_ROWS: usize = 1_000;

/// Runs `cwm sql`.
///
/// # Errors
/// There is no such output, none is made yet, or they hold no table; the query cannot be answered; or this build answers
/// none.
pub fn run(store: Option<&Path>, arguments: &SqlArguments) -> Result<(), Error> {
    let query_engine = query_engine().ok_or_else(|| not_compiled_in("this build of cwm has no query engine", "sql"))?;
    if arguments.csv {
        reject_json_with("--csv")?;
    }
    let (sources, query) = match &arguments.words[..] {
        sources if arguments.tables => (sources, None),
        [sources @ .., query] if !sources.is_empty() => (sources, Some(query)),
        _ => {
            return Err(Error::usage("`cwm sql` needs a stage and a query")
                .hint("`cwm sql STAGE --tables` lists the tables, `cwm sql STAGE 'select …'` queries them"));
        }
    };
    let workspace = Workspace::open_skipping_damaged(store, &arguments.pipeline)?;
    let artifacts = artifacts(workspace, sources)?;
    let Some(query) = query else {
        let tables = query_engine.tables(&artifacts)?;
        return print_result(&tables, || tables.iter().map(description).collect::<Vec<_>>().join("\n"));
    };
    let stdout = std::io::stdout();
    let form = match arguments.csv {
        true => QueryOutput::Csv { for_terminal: stdout.is_terminal() },
        false if is_json() => QueryOutput::Json,
        false => QueryOutput::Table { rows: MAX_ROWS },
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut answer = BufWriter::new(stdout);
    let answered = query_engine.query(&artifacts, query, form, cores, &mut answer)?;
    answer.flush().map_err(|error| Error::system(format!("cannot write to standard output: {error}")))?;
    if answered.is_truncated {
        eprintln!("only the first {} rows are shown; --csv or --json gives all, LIMIT fewer", answered.rows);
    }
    Ok(())
}

/// Finds the outputs that `sources` name, of the cells that have a result. The others are listed on standard error.
fn artifacts(workspace: Workspace, sources: &[String]) -> Result<Vec<StoredOutput>, Error> {
    let mut selected = BTreeSet::new();
    for source in sources {
        for (cell, output_name) in cells_or_outputs(&workspace.plan, source)? {
            let outputs = workspace.plan.cells[cell].outputs.iter().map(|output| &output.name);
            let is_named = |name: &&String| output_name.as_ref().is_none_or(|output_name| output_name == *name);
            selected.extend(outputs.filter(is_named).map(|name| (cell, name.clone())));
        }
    }
    let cache_status = workspace.cache_status()?;
    let mut artifacts = Vec::new();
    let mut not_made = Vec::new();
    for (index, output_name) in selected {
        let KeyStatus::Cached(record) = &cache_status.states[index] else {
            not_made.push(index);
            continue;
        };
        // Optional outputs may not have been written.
        if !record.outputs.contains_key(&output_name) {
            continue;
        }
        let (output, path) = workspace.complete_output(record, &output_name)?;
        let cell = workspace.plan.cells[index].label.to_string();
        artifacts.push(StoredOutput { cell, output_name, format: output.format.clone(), path });
    }
    not_made.dedup();
    let labels = list_some(not_made.iter().map(|index| &workspace.plan.cells[*index].label), 3);
    if artifacts.is_empty() {
        let unwritten = || Error::usage("none of these outputs was written");
        return Err(not_made.first().map_or_else(unwritten, |first| workspace.no_result(&cache_status, *first)));
    }
    if !not_made.is_empty() {
        eprintln!("left out, since not computed yet: {labels}");
    }
    Ok(artifacts)
}

/// Returns the name of a table, the number of its cells, and a line for each column.
fn description(table: &TableSchema) -> String {
    let cells = match table.cells.as_slice() {
        [only] => only.clone(),
        several => format!("{} cells", several.len()),
    };
    let rows = table.columns.iter();
    let rows = rows.map(|column| [format!("  {}", escape_controls(&column.name)), escape_controls(&column.data_type)]);
    format!("{} ({cells})\n{}", escape_controls(&table.name), columns(rows))
}
