//! A session of the engine in which an artifact's tables are known, and nothing else.

use std::collections::BTreeMap;
use std::sync::Arc;

use cwm_contract::{Failure, StoredOutput, TableSchema};
use datafusion::common::SchemaError;
use datafusion::dataframe::DataFrame;
use datafusion::error::{DataFusionError, Result as Answer};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::context::SQLOptions;
use datafusion::execution::options::{ArrowReadOptions, ParquetReadOptions};
use datafusion::execution::registry::FunctionRegistry;
use datafusion::logical_expr::{Expr, LogicalPlan, Union, lit};
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_functions_nested::planner::{FieldAccessPlanner, NestedFunctionPlanner};

use crate::files::{self, Files, Kind};
use crate::json_lines::Columns;
use crate::{schema, suggestions};

/// The column that says which cell a row is of.
const CELL: &str = "cell";

/// Tables, ready for queries.
pub struct Session {
    context: SessionContext,
    /// The tables, by name.
    pub tables: Vec<TableSchema>,
}

/// A session over the tables of `artifacts`: those of one name are one table, and its first column `cell` tells them
/// apart.
///
/// # Errors
/// An artifact cannot be read, two of one name cannot be one table, or none of them holds any.
pub async fn open(artifacts: &[StoredOutput], cores: usize) -> Result<Session, Failure> {
    let mut named: BTreeMap<String, Vec<(&StoredOutput, Files)>> = BTreeMap::new();
    for artifact in artifacts {
        for (name, files) in files::tables(artifact)? {
            named.entry(name).or_default().push((artifact, files));
        }
    }
    if named.is_empty() {
        let mut names: Vec<_> = artifacts.iter().map(|artifact| format!("`{}`", artifact.output_name)).collect();
        names.dedup();
        let is_empty =
            |artifact: &StoredOutput| artifact.path.metadata().is_ok_and(|file| file.is_file() && file.len() == 0);
        let why = if artifacts.iter().all(is_empty) { ": the file is empty" } else { "" };
        return Err(Failure::input(format!("there is no table in {}{why}", names.join(", ")))
            .hint("tables are Parquet files, Arrow files and JSON lines; `cwm show STAGE` describes all outputs"));
    }
    let config = SessionConfig::new().with_target_partitions(cores).with_information_schema(true);
    let mut context = SessionContext::new_with_config(config);
    functions(&mut context).map_err(|error| Failure::internal(error_message(&error)))?;
    let mut tables = Vec::new();
    for (name, parts) in named {
        let failed = |error: DataFusionError| Failure::input(format!("the table `{name}`: {}", error_message(&error)));
        let lines = parts.iter().filter(|(_, files)| files.kind == Kind::JsonLines);
        let columns = Columns::infer(lines.flat_map(|(_, files)| &files.paths))
            .map_err(|failure| Failure::input(format!("the table `{name}`: {}", failure.message)))?;
        let mut plans = Vec::new();
        for (artifact, files) in &parts {
            plans.push(Arc::new(part(&context, artifact, files, &columns).await?));
        }
        let plan = match plans.len() {
            1 => Arc::unwrap_or_clone(plans.remove(0)),
            _ => LogicalPlan::Union(Union::try_new_by_name(plans).map_err(failed)?),
        };
        let frame = DataFrame::new(context.state(), plan);
        let about = schema::columns(frame.schema().as_arrow());
        context.register_table(name.as_str(), frame.into_view()).map_err(failed)?;
        let cells = parts.iter().map(|(artifact, _)| artifact.cell.clone()).collect();
        tables.push(TableSchema { name, cells, columns: about });
    }
    Ok(Session { context, tables })
}

/// Registers the engine's functions, those for lists, and our own.
fn functions(context: &mut SessionContext) -> Answer<()> {
    datafusion_functions_nested::register_all(context)?;
    context.register_expr_planner(Arc::new(NestedFunctionPlanner))?;
    context.register_expr_planner(Arc::new(FieldAccessPlanner))?;
    cwm_functions::register(context);
    Ok(())
}

/// The rows of one artifact's files, after the name of its cell; `columns` are those of its table, if these are JSON
/// lines.
async fn part(
    context: &SessionContext,
    artifact: &StoredOutput,
    files: &Files,
    columns: &Columns,
) -> Result<LogicalPlan, Failure> {
    let unreadable = |what: &str| {
        let StoredOutput { cell, output_name, path, .. } = artifact;
        Failure::input(format!("cannot read {cell}.{output_name} ({}): {what}", path.display()))
            .hint("the file may be damaged: `cwm store verify` finds out")
    };
    let urls: Vec<String> = files.paths.iter().map(|path| cwm_functions::file_url(path)).collect();
    // The store names files by digest, so there is no extension to go by.
    let frame = match files.kind {
        Kind::Parquet => context.read_parquet(urls, ParquetReadOptions::default().file_extension("")).await,
        Kind::Arrow => context.read_arrow(urls, ArrowReadOptions { file_extension: "", ..Default::default() }).await,
        Kind::JsonLines => {
            let mut rows = Vec::new();
            for path in &files.paths {
                rows.extend(columns.rows(path).map_err(|failure| unreadable(&failure.message))?);
            }
            context.read_batches(rows)
        }
    };
    let selected = frame.and_then(|frame| {
        let own = frame.schema().columns();
        let mut selected = Vec::new();
        if own.iter().all(|column| column.name != CELL) {
            selected.push(lit(artifact.cell.as_str()).alias(CELL));
        }
        selected.extend(own.into_iter().map(Expr::Column));
        frame.select(selected)
    });
    Ok(selected.map_err(|error| unreadable(&error_message(&error)))?.into_unoptimized_plan())
}

impl Session {
    /// The rows of `query`.
    ///
    /// # Errors
    /// It is no query, or would change something; it names what is not there.
    pub async fn execute(&self, query: &str) -> Result<SendableRecordBatchStream, Failure> {
        let plan = self.context.state().create_logical_plan(query).await.map_err(|error| self.query_failure(&error))?;
        let only_queries = SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
        only_queries.verify_plan(&plan).map_err(|error| {
            Failure::input(format!("only queries are answered, and nothing is changed: {}", error_message(&error)))
                .hint("a query begins with SELECT, WITH, VALUES, DESCRIBE, SHOW TABLES or EXPLAIN")
        })?;
        let frame = DataFrame::new(self.context.state(), plan);
        frame.execute_stream().await.map_err(|error| self.query_failure(&error))
    }

    fn query_failure(&self, error: &DataFusionError) -> Failure {
        Failure::input(query_message(error)).hint(suggestions::hint(error, &self.tables))
    }
}

/// Returns the message of a query that the engine cannot plan.
fn query_message(error: &DataFusionError) -> String {
    match error.find_root() {
        DataFusionError::SQL(fault, _) => {
            let fault = fault.to_string();
            format!("the query is not valid SQL: {}", fault.strip_prefix("sql parser error: ").unwrap_or(&fault))
        }
        // The engine's own message lists all columns, as the hint does.
        DataFusionError::SchemaError(fault, _) => match &**fault {
            SchemaError::FieldNotFound { field, .. } => format!("there is no column `{}`", field.flat_name()),
            _ => error_message(error),
        },
        DataFusionError::Plan(message) if let Some(name) = suggestions::missing_table(message) => {
            format!("there is no table `{name}`")
        }
        _ => error_message(error),
    }
}

/// Returns the engine's message without the hint at a backtrace that it adds.
pub fn error_message(error: &DataFusionError) -> String {
    error.strip_backtrace()
}
