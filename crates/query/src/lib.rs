//! Queries in SQL over whatever an artifact holds as rows: Parquet files, Arrow files, JSON lines.
//!
//! `cwm sql` meets this crate through a trait of the contract. It must not depend on what the rows mean: it identifies
//! file formats by their first bytes, and depends on no stage.

mod files;
mod json_lines;
mod output;
mod schema;
mod session;
mod suggestions;
#[cfg(test)]
mod tests;

use std::io::Write;

use cwm_contract::{Failure, QueryEngine, QueryOutput, QuerySummary, StoredOutput, TableSchema};

/// Answers with DataFusion.
#[derive(Clone, Copy, Debug, Default)]
pub struct SqlEngine;

impl QueryEngine for SqlEngine {
    fn tables(&self, artifacts: &[StoredOutput]) -> Result<Vec<TableSchema>, Failure> {
        let artifacts = artifacts.to_vec();
        run_on_runtime(1, async move { Ok(session::open(&artifacts, 1).await?.tables) })
    }

    fn query(
        &self,
        artifacts: &[StoredOutput],
        query: &str,
        form: QueryOutput,
        cores: usize,
        answer: &mut (dyn Write + Send),
    ) -> Result<QuerySummary, Failure> {
        let (artifacts, query) = (artifacts.to_vec(), query.to_owned());
        run_on_runtime(cores, async move {
            let session = session::open(&artifacts, cores).await?;
            let rows = session.execute(&query).await?;
            output::write(rows, form, answer).await
        })
    }
}

/// Bytes of stack for the thread that plans: queries nest, and plans are walked recursively.
const STACK: usize = 64 << 20;

/// Runs `work` on an engine of so many threads, and waits for it.
fn run_on_runtime<T: Send>(cores: usize, work: impl Future<Output = Result<T, Failure>> + Send) -> Result<T, Failure> {
    let failed = |error: std::io::Error| Failure::system(format!("cannot start the query engine: {error}"));
    let engine = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(cores.max(1))
        .thread_stack_size(STACK)
        .build()
        .map_err(failed)?;
    std::thread::scope(|scope| {
        let planner = std::thread::Builder::new().stack_size(STACK);
        let planner = planner.spawn_scoped(scope, || engine.block_on(work)).map_err(failed)?;
        planner.join().unwrap_or_else(|_| Err(Failure::internal("the query engine stopped in the middle of its work")))
    })
}
