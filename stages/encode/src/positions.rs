//! Encoding positions, a window at a time.

use cwm_contract::{Context, Failure};
use cwm_evaluations::{Evaluation, Evaluations};
use rayon::ThreadPool;
use rayon::prelude::*;

use crate::encoded_sequence::EncodedSequence;
use crate::output::OutputWriter;

/// Positions that are encoded at once, on all cores.
const WINDOW: usize = 1 << 14;

/// Encodes all evaluations in order.
pub fn encode(
    context: &Context,
    threads: &ThreadPool,
    encode: fn(&Evaluation) -> Result<EncodedSequence, String>,
    output: &mut OutputWriter,
) -> Result<(), Failure> {
    let mut evaluations = Evaluations::open(context.input("evaluations")?)?;
    let (mut done, total) = (0, evaluations.total());
    loop {
        context.check_cancelled()?;
        let window = evaluations.by_ref().take(WINDOW).collect::<Result<Vec<_>, _>>()?;
        if window.is_empty() {
            return Ok(());
        }
        let encoded: Vec<_> = threads.install(|| window.par_iter().map(encode).collect());
        for (evaluation, encoded) in window.iter().zip(encoded) {
            output.push(encoded.map_err(|wrong| {
                let Evaluation { record, fen, .. } = evaluation;
                Failure::input(format!("record {record} of the evaluations, {fen:?}: {wrong}"))
            })?)?;
        }
        done += window.len() as u64;
        context.progress(done, Some(total), "positions");
    }
}
